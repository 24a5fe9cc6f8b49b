/* SPDX-License-Identifier: MIT
 *
 * file_bytes.h - opens input files, and holds a file's bytes in memory: reading is separate from decoding, encoding
 * from writing.
 */
#pragma once

#include "output.h"

#include "support/problem.h"

#include <stdint.h>
#include <stdio.h>

/* Opens `path` for reading and stores its size, at least 1, in `size`. `expected` ends the error message, such as
 * "a .npy file". "-" and /dev/stdin are the standard input; a pipe there, or at /dev/fd/N, is read to its end first.
 * NULL, with a problem, for a file that is missing, unreadable or empty, and for a folder, device or any other pipe,
 * because one without a writer would block forever. Two threads must not open pipes at the same time. */
FILE *file_open(const char *path, const char *expected, int64_t *size, problem *why);

/* Reads the next `bytes` bytes of a file that file_open opened; false if there are fewer, or, with *failed, they cannot
 * be read. Threads share many bytes, because the first touch of fresh memory costs more than the copy. */
bool file_next(FILE *stream, void *to, size_t bytes, bool *failed);

/* Zeroed, it is empty and may be freed. */
typedef struct file_bytes {
    uint8_t *data; /* malloc; NULL if empty */
    size_t size;
} file_bytes;

/* Reads a whole file. false, with a problem and no bytes, if file_open refuses it or reading fails. */
bool file_bytes_read(const char *path, const char *expected, file_bytes *bytes, problem *why);

/* Creates a file with them, which output_commit completes; NULL, with a problem, if it cannot be written. */
output *file_bytes_begin(const char *path, const file_bytes *bytes, problem *why);
/* Writes them, whole or not at all (output.h). */
bool file_bytes_write(const char *path, const file_bytes *bytes, problem *why);

/* Frees the data and empties the structure. */
void file_bytes_free(file_bytes *bytes);
