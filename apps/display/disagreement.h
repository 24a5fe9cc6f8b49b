/* SPDX-License-Identifier: MIT
 *
 * disagreement.h - how two arrays differ: the first elements that do, and where all of them are.
 */
#pragma once

#include "differences.h"

#include <stdio.h>

typedef struct disagreement {
    const differences *found;
    const char *names[2];        /* titles of the columns with the result and with the expected values */
    const host_array *arrays[2]; /* from which the elements are written; NULL: from `found`, in `dtype` */
    fl_dtype dtype;
    int ndim;
    const int64_t *shape;
    const int *block; /* threads of the block that computed the first array; NULL: there is none */
} disagreement;

/* Prints a table of the first ones, how many more there are, their pattern, and the picture of where they are. Elements
 * outside the shape are listed, but have no place in the picture. */
void disagreement_print(FILE *stream, int width, const disagreement *d);
