/* SPDX-License-Identifier: MIT
 *
 * html.h - the parts of HTML that the page of `flynn report` is made of.
 */
#ifndef FLYNN_APPS_REPORT_HTML_H
#define FLYNN_APPS_REPORT_HTML_H

#include "plot.h"

#include "view/table.h"

#include <jansson.h>

/* Text that comes from a document or a file's name; what is no UTF-8 is left out. */
void html_text(FILE *out, const char *text);

/* <tag>text</tag>; the tag may have attributes. */
void html_element(FILE *out, const char *tag, const char *text);

/* Any value of JSON in short: "16x16x1", "1.5e-05", "yes". */
void html_value(FILE *out, const json_t *value);

/* A table that scrolls by itself where it is too wide; between these: <thead> and <tbody>. */
void html_table_begin(FILE *out, const char *label);
void html_table_heads(FILE *out, const table_column *columns);
void html_table_end(FILE *out);

void html_plot(FILE *out, const report_plot *plot);

#endif
