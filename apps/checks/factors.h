/* SPDX-License-Identifier: MIT
 *
 * factors.h - holds what a batch's pipeline made of one matrix against what it must be, for less than it cost.
 */
#ifndef FLYNN_APPS_CHECKS_FACTORS_H
#define FLYNN_APPS_CHECKS_FACTORS_H

#include "harness/verdict.h"
#include "support/host_array.h"

/* y (rows x columns) against u diag(s) vt: sums of neighbours and sampled elements, as reconstruct_check.h has them.
 * Finds a single wrong element. */
compare_result batch_check_product(const host_array *u, const host_array *s, const host_array *vt, const host_array *y,
                                   uint64_t seed);

/* A few elements of y, chosen by the seed, against the definition: each may be off by (rank + 4) units of rounding of
 * the same sum over absolute values, flynn.h's bound. Cheap enough for what is timed. */
void batch_check_samples(const host_array *u, const host_array *s, const host_array *vt, const void *y, int samples,
                         uint64_t seed, compare_result *found);

/* u (m x k), s (k), vt (k x n) against the matrix that they are to be the leading singular values and vectors of. With
 * e a unit of rounding of f32, g = 16 + 4 max(m, n)^(1/2), as svd_check.h has them, and z of k random signs:
 *
 * - s does not rise and is not negative;
 * - u' (u z) = z and vt (vt' z) = z, each element within k g e;
 * - a' (u z) = v (s z) and a (v z) = u (s z), each element within k g e s[0]: sums over what svd_check.h bounds one by
 *   one, after Freivalds;
 * - no singular value of a - y is above s[k - 1] by more than 2 g e s[0], and what y may be off by: (k + 4) e times the
 *   sum of s. Some steps of the power method from a random vector, which find a larger one that was left out.
 *
 * Of a decomposition that is not exact (a randomized one) a v = u s and the last one do not hold: they are left out.
 * The index of an element is the row of what was compared. */
compare_result batch_check_factors(const host_array *a, const host_array *u, const host_array *s, const host_array *vt,
                                   const host_array *y, bool exact, uint64_t seed);

#endif
