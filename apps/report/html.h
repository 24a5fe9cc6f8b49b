/* SPDX-License-Identifier: MIT
 *
 * html.h - the parts of HTML that the page of `flynn report` is made of.
 */
#pragma once

#include "plot.h"

#include "view/columns.h"

/* Text that comes from a document or a file's name. Bytes that are not UTF-8 are left out. */
void html_text(FILE *out, const char *text);

/* HTML with %s for such text, %d and %%. */
void html_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table that scrolls by itself where it is too wide. Rows that are alike in their first `group` columns stand
 * together (0: all of them do); rows whose check failed are marked. */
void html_table(FILE *out, const char *label, const column *columns, const json_t *rows, int group);

/* The titles and texts of an object's columns, without those that are "-". */
void html_terms(FILE *out, const column *columns, const json_t *object);

void html_plot(FILE *out, const report_plot *plot);
