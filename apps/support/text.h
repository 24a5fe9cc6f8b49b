/* SPDX-License-Identifier: MIT
 *
 * text.h - text from files, documents, plugins and the environment, as a terminal may show it: control characters (C0,
 * DEL, C1) and bytes that are not UTF-8 become \x1b or \u009b, so that no name can move the cursor, set the terminal or
 * imitate another line.
 */
#pragma once

#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>

enum { LONGEST_SHOWN = 8 };

/* Writes the first letter of *text or what is shown in its place, steps over it, and returns the bytes that were
 * written. */
int text_next(const char **text, char *shown);

/* Writes the text to `shown`, and cuts off what does not fit. */
void text_show(char *shown, size_t size, const char *text);

/* Writes the text to a stream. */
void text_write(FILE *stream, const char *text);

/* Columns of the lines of a stream: the number in COLUMNS, else those of the terminal that it is, else 80. */
int text_width(FILE *stream);

/* Writes the text to stderr, in lines of at most text_width columns, broken between words. `used`: columns of the first
 * line that are taken. */
void text_error_wrapped(const char *text, int used);

/* Returns whether the stream is a terminal that shows colours, and NO_COLOR does not forbid them (no-color.org). */
bool text_has_colour(FILE *stream);

/* What follows the next such character of a text; NULL: it has none. */
const char *text_after(const char *text, char mark);
