/* SPDX-License-Identifier: MIT
 *
 * file_bytes.h - a file's bytes in memory: read apart from being understood, made apart from being written.
 */
#ifndef FLYNN_APPS_FILES_FILE_BYTES_H
#define FLYNN_APPS_FILES_FILE_BYTES_H

#include "support/problem.h"

#include <stddef.h>
#include <stdint.h>

/* Zeroed, there are none, and they may be freed. */
typedef struct file_bytes {
    uint8_t *data; /* malloc; NULL without bytes */
    size_t size;
} file_bytes;

/* Reads all of a regular file of at least one byte. `expected` ends the error message, such as "a PNG". false, with a
 * problem and no bytes, for what input_open (input.h) refuses (an empty file, a folder, a pipe) and for what cannot be
 * read to its end. */
bool file_bytes_read(const char *path, const char *expected, file_bytes *bytes, problem *why);

/* Writes them, whole or not at all (output.h). */
bool file_bytes_write(const char *path, const file_bytes *bytes, problem *why);

/* Frees the data and empties the structure. */
void file_bytes_free(file_bytes *bytes);

#endif
