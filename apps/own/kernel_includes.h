/* SPDX-License-Identifier: MIT
 *
 * kernel_includes.h - a kernel's text with the headers that lie beside it, or in the folders of --include.
 */
#pragma once

#include <stddef.h>

/* Where the lines of the text come from. */
typedef struct included_lines included_lines;

/* Reads a kernel's file. In place of a line #include "NAME" stands the file NAME, seen from the folder of the file that
 * includes it or, as that of #include <NAME>, from the first of `folders` (NULL ends them) that has it; each file once.
 * An include of another file stays. The result is to be freed; so are the *lines, by included_free. Ends
 * the command if a file cannot be read. */
char *included_read(const char *path, const char *const *folders, included_lines **lines);
void included_free(included_lines *lines);
/* The first header of the user's own that was not found: "NAME", but for those of CUDA and HIP; NULL: none. */
const char *included_missing(const included_lines *lines);

/* Copies a message about the text, in which "PATH:7:" at its start and "line 7" name a line of the text, with the file
 * and the line that the user wrote. */
void included_tell(const included_lines *lines, const char *message, char *to, size_t size);
