/* SPDX-License-Identifier: MIT
 *
 * gnuplot.h - plots by gnuplot, a program that is looked for when it is needed.
 */
#ifndef FLYNN_APPS_REPORT_GNUPLOT_H
#define FLYNN_APPS_REPORT_GNUPLOT_H

#include "files/file_bytes.h"

#include <stdio.h>

/* Is there a gnuplot? Else a problem with exit code 3 that says how to get it. */
bool gnuplot_find(problem *why);

/* A text as gnuplot's scripts write one: in single quotes, within which no character is special. Control characters
 * become blanks; bytes that are not UTF-8 are left out. */
void gnuplot_text(FILE *script, const char *text);

/* The picture that gnuplot draws by the script, after `set terminal <terminal>`, with a NUL behind it; ends the command
 * when it draws nothing. */
file_bytes gnuplot_draw(const char *terminal, const char *script);

/* Makes the SVG that gnuplot drew fit to stand in a page beside others: no prologue, no ids, no titles. In place. */
void gnuplot_svg_bare(char *svg);

#endif
