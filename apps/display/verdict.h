/* SPDX-License-Identifier: MIT
 *
 * verdict.h - compares a result with the expected one, element by element.
 */
#pragma once

#include "display/differences.h"
#include "display/position.h"

#include "support/host_array.h"

/* The result of a comparison. An element is right when |result - expected| <= its bound; when both are NaN; or when
 * both are the same infinity. Anything else, a NaN or infinity of one side alone included, is wrong, whatever the
 * bound. */
typedef struct compare_result {
    bool ok;             /* all that were compared are right, and there was at least one */
    bool unknown;        /* there is nothing to compare with: neither right nor wrong */
    int64_t compared;    /* elements */
    int64_t failed;      /* of them */
    double max_abs;      /* largest |result - expected|; infinite where only one side is finite */
    double max_rel;      /* largest |result - expected| / |expected|, over the elements that are not expected to be 0 */
    double excess;       /* largest |result - expected| / bound: above 1 when something failed */
    int64_t worst_index; /* of the element with the largest excess, in row-major order; -1 if none was compared */
    double worst_result, worst_expected, worst_bound; /* that element's */
} compare_result;

/* A comparison of nothing yet: ok is false. */
compare_result compare_start(void);

/* Returns the verdict `not checked`; `method` says why, and `how` what would check the result. */
compare_result compare_unknown(char *method, size_t size, const char *how);

/* From then on the comparisons of this thread also add wrong elements to `wrong`; NULL: no longer. Returns where they
 * went before. */
differences *compare_watch(differences *wrong);

/* Adds one element. `index` is only kept, for worst_index. */
void compare_add(compare_result *found, int64_t index, double result, double expected, double bound);

/* Adds `count` elements, the first of which has the index `index`. For large arrays: a run of right elements, none of
 * which has the largest error so far, costs a few multiplications each, where compare_add divides. */
void compare_add_run(compare_result *found, int64_t index, int64_t count, const double *result, const double *expected,
                     const double *bound);

/* Adds one element that must be exactly the expected one. `same`: whether it is, which two doubles may not show, such
 * as those of large integers. */
void compare_add_exact(compare_result *found, int64_t index, bool same, double result, double expected);

/* Adds `count` elements that are as expected, the first of which is `value` at `index`. */
void compare_add_equal(compare_result *found, int64_t index, double value, int64_t count);

/* Adds all elements of two arrays of one shape and dtype, which must have the same bits; `first` is the index of the
 * first of them. */
void compare_add_same_bits(compare_result *found, int64_t first, const host_array *result, const host_array *expected);

/* Adds the elements from `first` on that have the same bits in both arrays, in blocks, which costs no more than to read
 * them; returns the index of the first one that is not added. Arrays of other shapes or dtypes: none is. */
int64_t compare_skip_equal(compare_result *found, const host_array *result, const host_array *expected, int64_t first);

/* Adds another comparison, whose indices start at `first`. */
void compare_merge(compare_result *all, const compare_result *one, int64_t first);

/* Compares arrays of one shape, any dtypes. bound[i] = absolute + relative * |expected[i]|: np.allclose's rule, with
 * equal_nan. */
compare_result compare_allclose(const host_array *result, const host_array *expected, double relative, double absolute);

/* Compares with a bound for each element: arrays of one shape, any dtypes. */
compare_result compare_bounded(const host_array *result, const host_array *expected, const host_array *bound);
