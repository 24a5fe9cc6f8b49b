/* SPDX-License-Identifier: MIT
 *
 * show.h - the findings of `flynn taxonomy` as tables.
 */
#pragma once

#include <jansson.h>

/* Prints the document's key "taxonomy". */
void taxonomy_show(const json_t *taxonomy);
