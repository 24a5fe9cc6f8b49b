/* SPDX-License-Identifier: MIT
 *
 * source.h - an array that a word names: of a file, or made (made.h).
 */
#pragma once

#include "made.h"

#include "files/files.h"

/* A word; where it makes an array, the seed and the dtype (NULL: the kind's own) of what it makes. */
typedef struct array_source {
    const char *word;
    uint64_t seed;
    const fl_dtype *dtype;
} array_source;

/* Returns how many of the words before the i-th one make arrays: the k-th made array of a command has the seed of the
 * command plus k, so that two of them differ. */
uint64_t source_made_before(const char *const *words, int i);

/* Returns whether the word makes an array: KIND:SHAPE..., or a range FIRST:END[:STEP]. */
bool source_is_made(const char *word);

/* Ends the command where the file is of a kind that Flynn does not read and another program converts, by its ending:
 * with the command that does. */
void source_refuse_foreign(const char *path);

/* These are file_read, file_look and file_read_elements (files.h) for a word of either sort. */
bool source_read(const array_source *source, host_array *array, problem *why);
bool source_look(const array_source *source, npy_layout *layout, problem *why);
bool source_elements(const array_source *source, const npy_layout *layout, int64_t first, int64_t count,
                     host_array *array, problem *why);
