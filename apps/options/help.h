/* SPDX-License-Identifier: MIT
 *
 * help.h - what --help prints, man pages and the words for a shell's completion, all from a command's table.
 *
 * A command's summary has up to three parts with '\v' between them: a sentence or two; more to say; examples, a line
 * each, as "WORDS\tWHAT\n", where WORDS follow the command's name. An option's help has up to two: at most 53
 * characters for a line of --help; more to say.
 */
#pragma once

#include "command_line.h"

#include <stdio.h>

typedef enum help_form {
    HELP_SHORT, /* at most 40 lines of 80 characters */
    HELP_LONG,  /* with all there is to say */
    HELP_MAN,   /* the same as the source of a man page */
    HELP_WORDS, /* "--mode=full\tdescription": a line for each word that may follow */
} help_form;

/* Chooses what --help of the command that is run next prints; HELP_SHORT unless this is called. `what` the command does
 * in a few words, for the name of its man page; NULL: its summary. */
void help_choose(help_form form, const char *what);

/* Prints it to stdout; `options` are all of the command, in the order of the tables. */
void help_print(const command_line *command, const own_option *const *options, int count);

/* Help of `flynn` itself, which has no options but commands: a line of HELP_WORDS, and the head and the end of its man
 * page and of each other one. */
void help_print_word(FILE *out, const char *word, const char *what);
void help_man_start(FILE *out, const char *name, const char *summary);
void help_man_text(FILE *out, const char *text);
