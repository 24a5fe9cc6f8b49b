/* SPDX-License-Identifier: MIT
 *
 * html.h - the parts of HTML that the page of `flynn report` is made of.
 */
#pragma once

#include "plot.h"

#include "view/columns.h"

/* HTML with %s for text from a document or a file's name (shown as text.h shows it), %d and %%. */
void html_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table that scrolls by itself where it is too wide, without the columns that say nothing about the rows. Rows that
 * are alike in their first `group` columns stand together (0: all of them do); rows whose check failed are marked. A
 * `~` marks noisy rows' times, and a line below says what disturbed them. */
void html_table(FILE *out, const char *label, const column *columns, const json_t *rows, int group);

/* A list of terms: the title of each column and the object's text in it. A text "-" is left out. */
void html_terms(FILE *out, const column *columns, const json_t *object);

void html_plot(FILE *out, const report_plot *plot);
