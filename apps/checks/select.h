/* SPDX-License-Identifier: MIT
 *
 * select.h - whether a result has the elements of an array that are not zero, in their order.
 */
#pragma once

#include "display/verdict.h"

/* Compares with a loop on the host, bit for bit, and stores in `kept` how many elements are not zero. What the result
 * has beyond them is not looked at. */
compare_result select_compare(const host_array *in, const host_array *result, int64_t *kept);

/* Compares the shares of all ranks, of which each gives its own part of the input and of the result: how many elements,
 * and a checksum of them in their order. All ranks call it. */
compare_result select_compare_distributed(const host_array *in, const host_array *result);
