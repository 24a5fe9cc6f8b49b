/* SPDX-License-Identifier: MIT
 *
 * total.h - the sum or an extreme of each rank's elements, and of the elements of several ranks. All on the host.
 */
#ifndef FLYNN_DIST_TOTAL_H
#define FLYNN_DIST_TOTAL_H

#include "group.h"

/* The sum or extreme of some elements in the member that fits their dtype (f64 for f32 and f64, else i64; the other is
 * 0), and the place of an extreme among them. */
typedef struct dist_total {
    int64_t count, place, whole;
    double real;
} dist_total;

/* One reduction on one rank: of x, or of the products of x and y, to `dtype`. */
typedef struct dist_reduction {
    fl_device *device;
    const fl_array *x, *y; /* y: NULL, or as x */
    fl_reduction reduction;
    fl_dtype dtype;
    const fl_run *run;
} dist_reduction;

/* If `status` is FL_OK on every rank: each reduces its own elements; then (*all)[r] is the total of rank r, on every
 * rank, until the next call of dist_scratch. Ends in the same status for all. Adds what it took to *cost. */
fl_status dist_totals(fl_group *group, fl_status status, const dist_reduction *reduction, const dist_total **all,
                      fl_group_timing *cost);

/* The total of the elements of of[0], of[1] ... In this order, so that the bits are the same each time; of equal
 * extremes the first. */
dist_total dist_combine(fl_reduction reduction, const dist_total *of, int count);

/* Reads the element at a place in row-major order into the total's whole and real. */
fl_status dist_read_element(const fl_array *array, int64_t place, dist_total *total);

/* Stores the total's whole or real as an element of `dtype`. */
void dist_store(const dist_total *total, fl_dtype dtype, void *element);

#endif
