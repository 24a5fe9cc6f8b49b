/* SPDX-License-Identifier: MIT
 *
 * picture.h - --picture: a matrix as characters, or as colours on a terminal.
 */
#pragma once

#include "display/rows.h"

/* Prints the first matrix of the array, or a vector as one line: from its smallest to its largest number in characters
 * of more and more ink or, on a terminal with colours and UTF-8, in viridis, two numbers for each character, one above
 * the other. A small array has two characters for each column, so that both axes have the same scale; of a larger one
 * each number is the mean of some elements. At most `width` columns and 40 lines. */
void picture_print(FILE *stream, int width, const host_array *array, const array_origin *origin);
