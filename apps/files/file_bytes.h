/* SPDX-License-Identifier: MIT
 *
 * file_bytes.h - a file's bytes in memory: reading is separate from decoding, encoding from writing.
 */
#ifndef FLYNN_APPS_FILES_FILE_BYTES_H
#define FLYNN_APPS_FILES_FILE_BYTES_H

#include "support/problem.h"

#include <stddef.h>
#include <stdint.h>

/* Zeroed, it is empty and may be freed. */
typedef struct file_bytes {
    uint8_t *data; /* malloc; NULL if empty */
    size_t size;
} file_bytes;

/* Reads a whole regular file of at least one byte. `expected` ends the error message, such as "a PNG file". false, with
 * a problem and no bytes, if input_open (input.h) refuses the file (empty, a folder, a pipe) or reading fails. */
bool file_bytes_read(const char *path, const char *expected, file_bytes *bytes, problem *why);

/* Writes them, whole or not at all (output.h). */
bool file_bytes_write(const char *path, const file_bytes *bytes, problem *why);

/* Frees the data and empties the structure. */
void file_bytes_free(file_bytes *bytes);

#endif
