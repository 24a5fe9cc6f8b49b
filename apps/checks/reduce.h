/* SPDX-License-Identifier: MIT
 *
 * reduce.h - whether sums, extremes and their places are right.
 */
#pragma once

#include "display/verdict.h"

/* A reduction of x, or of the products of x and y, along an axis or FL_ALL_AXES. */
typedef struct reduce_work {
    const host_array *x, *y; /* y: NULL, or of x's shape and dtype */
    fl_reduction reduction;
    int axis;
    bool naive; /* the result comes from one accumulator */
} reduce_work;

/* Compares with a loop on the host, which threads share. Integers, extremes and places: exactly. Sums of floats: with a
 * compensated sum within the bound that flynn.h states. */
compare_result reduce_compare(const reduce_work *work, const host_array *result);

/* As reduce_compare, over the elements of all ranks: x and y are this rank's. Rank 0 has the result, the others have an
 * empty one. All ranks call it. */
compare_result reduce_compare_distributed(const reduce_work *work, const host_array *result);
