/* SPDX-License-Identifier: MIT
 *
 * position.h - the position of an element in an array.
 */
#pragma once

#include "support/host_array.h"

/* The position in an array of that shape that has the row-major index `index`: "[12, 7]"; "-" for -1. */
typedef struct index_text {
    char text[96];
} index_text;
/* "[12, 7]" */
index_text format_position(int ndim, const int64_t *position);
void split_index(int64_t index, int ndim, const int64_t *shape, int64_t *position);
index_text format_index(int64_t index, int ndim, const int64_t *shape);
