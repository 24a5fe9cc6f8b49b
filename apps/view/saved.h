/* SPDX-License-Identifier: MIT
 *
 * saved.h - reads documents that --json saved.
 */
#pragma once

#include <jansson.h>

/* Reads a document of this version or, with its keys renamed, of an earlier one. Its "results", if it has any, are
 * objects. Ends the command for any other file, and for a document with none of the `keys` (a NULL ends them); the
 * message names `writers`. */
json_t *saved_read(const char *path, const char *const *keys, const char *writers);
