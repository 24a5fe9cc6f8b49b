/* SPDX-License-Identifier: MIT
 *
 * sort.h - whether an array is another one sorted, found out without sorting.
 */
#ifndef FLYNN_APPS_CHECKS_SORT_H
#define FLYNN_APPS_CHECKS_SORT_H

#include "harness/verdict.h"

#include <stdint.h>

/* The sum of a 64-bit mix of each element's bits, whatever their order. */
uint64_t sort_checksum(const host_array *array);

/* Every element of `result` that is less than the one before it (NaN is more than any number), and index -1 where its
 * checksum is not that of the input. */
compare_result sort_compare(const host_array *result, uint64_t checksum);

#endif
