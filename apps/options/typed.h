/* SPDX-License-Identifier: MIT
 *
 * typed.h - the words of the command line as they were typed: put in order before they are parsed, and corrected where
 * the command refuses them. The corrected command is a line of its own, which a shell runs as it stands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdnoreturn.h>

/* Keeps the words of main, and puts in order what has one meaning only: options before the command go after it, and
 * `--json FILE.json` becomes `--json=FILE.json` (--csv likewise), but for commands whose arguments are such files.
 * Returns how many words there are. */
int typed_order(int argc, char **argv, bool (*is_command)(const char *word));

/* Corrections, of which typed_refuse makes the line. A text `to` is written as it is; NULL leaves the word out. */
/* The first word that is `word`, or ends in it. */
void typed_change(const char *word, const char *to);
/* The option in any of its forms (`--name=V`, `--name V`, `-lV`, `-l V`) with its value. Without it on the command line
 * `to` is added. */
void typed_change_option(const char *name, char letter, const char *to);
/* Written before the command, such as "convert a.jpg a.png && ". */
void typed_put_before(const char *text);

/* The word as a shell reads it, quoted where it must be; free it. */
char *typed_quote(const char *word);

/* The value of the option as it was typed; NULL: it was not. */
const char *typed_value(const char *name, char letter);

/* The i-th word after the command; NULL: there are fewer. */
const char *typed_word(int i);

/* Ends the command with exit code 2, one line with the message, and the corrected command in a line of its own; without
 * that line where what was to be corrected is not on the command line (such as a variable's value). */
noreturn void typed_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The name that was meant: one that begins with `wanted` (the shortest), else one with which `wanted` begins (the
 * longest), else the nearest in its letters; NULL: none is close. */
const char *typed_nearest(const char *wanted, const char *const *names, size_t count);
