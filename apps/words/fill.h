/* SPDX-License-Identifier: MIT
 *
 * fill.h - random numbers for arrays.
 */
#pragma once

#include "support/host_array.h"

/* Fills the array with the elements from `first` on of one stream of uniform random numbers from `low` up to, not
 * including, `high`; if `whole`, or for an integer dtype, they are rounded down. The same seed gives the same numbers
 * on every machine. */
void random_fill(host_array *array, int64_t first, double low, double high, bool whole, uint64_t seed);
