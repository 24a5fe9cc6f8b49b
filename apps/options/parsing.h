/* SPDX-License-Identifier: MIT
 *
 * parsing.h - a command line while it is parsed: for options.c, which reads it, and explain.c, which says what is wrong
 * with it.
 */
#pragma once

#include "command_line.h"

#include <argp.h>
#include <stdnoreturn.h>

enum { MOST_OPTIONS = 48, MOST_OTHER_NAMES = 4, KEY_FIRST = 0x100 }; /* of a command; the key of its first option */

/* An option of the command that is being parsed. */
typedef struct entry {
    const own_option *option;
    void *values;     /* the base of its offset */
    unsigned shared;  /* TAKES_...; 0: no shared option */
    bool variable;    /* its value came from its variable */
    const char *text; /* its value as text, "" for none; NULL: neither a variable nor a word set it */
} entry;

/* The parser's state: the command, where its values go, and its options: its own, then shared ones. */
typedef struct parsing {
    const command_line *command;
    common_options *common;
    bool quiet;
    unsigned set;     /* TAKES_... of the options that a variable or a word gave */
    uint64_t set_own; /* likewise, a bit each */
    struct argp argp;
    int count, own_count; /* own_count: the command's own, then those of command_line.more */
    entry entries[MOST_OPTIONS];
    own_option more[MOST_OPTIONS];
    struct argp_option options[MOST_OPTIONS + MOST_OTHER_NAMES + 1];
} parsing;

/* The place of the option with argp's key; p->count: there is none. */
int parsing_place(const parsing *p, int key);

/* Returns whether the command has an option of that name. */
bool parsing_has(const parsing *p, const char *name);

/* A shared option that the command does not take is not an abbreviation of another one: batch has no --output, but
 * --output-dir. Nor is --rank, the former name of --keep, one of --ranks. Ends the command where the words have one. */
void parsing_refuse_foreign(const parsing *p, char **argv);

/* Ends the command where the argument is not a file that exists, but a backend's name, or a number that an option
 * says: with the corrected command. */
void parsing_refuse_argument(const parsing *p, const char *word);

/* Ends the command with what is wrong with the word at which argp gave up: the one before state->next, but that one
 * itself while letters of a cluster are left. */
noreturn void parsing_explain(const parsing *p, const struct argp_state *state);

/* Ends the command where a name of --columns (NULL: not given) is none of the titles. */
void parsing_check_columns(const char *names, const char *const *titles);
