/* SPDX-License-Identifier: MIT
 *
 * lines.h - lines of a given width on a stream: a terminal's, or that of COLUMNS, or 80.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { LEAST_WIDTH = 20 };

/* The columns of the lines that are shown, at least LEAST_WIDTH. */
int lines_width(void);

/* Returns whether the user's locale writes UTF-8. */
bool lines_are_utf8(void);

/* The columns that the text takes, control characters shown as text.h says. */
int lines_length(const char *text);

/* Prints the text, broken between words, and within a word that is longer than a line; lines after the first one start
 * with two more blanks. Control characters in it are shown. */
void lines_print(FILE *stream, int width, const char *format, ...) __attribute__((format(printf, 3, 4)));
