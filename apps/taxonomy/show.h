/* SPDX-License-Identifier: MIT
 *
 * show.h - the findings of `flynn taxonomy` as tables.
 */
#ifndef FLYNN_APPS_TAXONOMY_SHOW_H
#define FLYNN_APPS_TAXONOMY_SHOW_H

#include <jansson.h>

/* Prints the document's key "taxonomy". */
void taxonomy_show(const json_t *taxonomy);

#endif
