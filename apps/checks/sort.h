/* SPDX-License-Identifier: MIT
 *
 * sort.h - checks that an array is another one sorted, without sorting.
 */
#pragma once

#include "display/verdict.h"

/* The sum of a 64-bit mix of each element's bits, whatever their order. */
uint64_t sort_checksum(const host_array *array);

/* Wrong are: each element that is less than the one before it (NaN is more than any number), and index -1 if the
 * checksum of `result` is not `checksum`, the input's. */
compare_result sort_compare(const host_array *result, uint64_t checksum);

/* sort_compare for this rank's share of a result of several ranks (group.h), with its share of the input's checksum:
 * the first element also comes after the last one of lower ranks, and rank 0 compares the sums of all. */
compare_result sort_compare_distributed(const host_array *result, uint64_t checksum);
