/* SPDX-License-Identifier: MIT
 *
 * rows.h - the elements of an array: a vector on a line, a matrix with the indices of its rows and columns.
 */
#pragma once

#include "support/host_array.h"

#include <stdio.h>

/* The array was cut from another one: its index i is the other's index first + i * step. */
typedef struct array_origin {
    int64_t first[FL_MAX_DIMS], step[FL_MAX_DIMS];
} array_origin;

/* An array that is no part of another one. */
array_origin whole_origin(void);

/* Prints the elements. Of a vector that fits neither on a line nor has at most 64 elements the first and last three; of
 * a matrix at most eight rows, and the columns that fit; of an array of more dimensions the first matrix. `most` > 0:
 * at most so many elements of a vector, or rows of a matrix. */
/* Prints which matrix of an array of more than two dimensions is shown: "[0, 0]: the first of 12 matrices ...". */
void rows_print_which(FILE *stream, int width, const host_array *array, const array_origin *origin);
void rows_print(FILE *stream, int width, const host_array *array, const array_origin *origin, int64_t most);
