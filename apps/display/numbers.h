/* SPDX-License-Identifier: MIT
 *
 * numbers.h - an element of an array as text: the shortest digits that read back as the same number, as NumPy writes
 * them, without a point that nothing follows.
 *
 * The room display/ shows arrays as text: numbers, rows, statistics, and where two arrays differ.
 */
#pragma once

#include "support/host_array.h"

typedef struct number_text {
    char text[48];
} number_text;

/* Element i of the array in row-major order: "3", "1.4142135", "1e-05", "nan". */
number_text number_of_element(const host_array *array, int64_t i);

/* The number as an element of that dtype would be written; an integer dtype writes a number that is whole, else f64's
 * text. A number that f32 does not hold is written as f64. */
number_text number_in(fl_dtype dtype, double value);

/* "1,234,567" */
number_text number_grouped(int64_t count);
