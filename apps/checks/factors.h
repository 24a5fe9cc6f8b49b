/* SPDX-License-Identifier: MIT
 *
 * factors.h - checks what a pipeline of `flynn batch` made of one matrix, for less work than the pipeline's.
 */
#pragma once

#include "display/verdict.h"
#include "support/host_array.h"

/* y (rows x columns) against u diag(s) vt, by sums of neighbours and sampled elements (reconstruct.h). Finds a single
 * wrong element. */
compare_result batch_check_product(const host_array *u, const host_array *s, const host_array *vt, const host_array *y,
                                   uint64_t seed);

/* `samples` elements of y, chosen by the seed, against the definition: each may be off by (keep + 4) units of rounding
 * of the same sum over absolute values, flynn.h's bound. Cheap enough for timed runs. */
void batch_check_samples(const host_array *u, const host_array *s, const host_array *vt, const void *y, int samples,
                         uint64_t seed, compare_result *found);

/* u (m x k), s (k), vt (k x n) against the matrix whose leading singular values and vectors they must be. With e a unit
 * of rounding of f32, g = 16 + 4 max(m, n)^(1/2) as in svd.h, and z of k random signs:
 *
 * - s does not rise and is not negative;
 * - u' (u z) = z and vt (vt' z) = z, each element within k g e;
 * - a' (u z) = v (s z) and a (v z) = u (s z), each element within k g e s[0]: sums over what svd.h bounds one by one,
 *   after Freivalds;
 * - no singular value of a - y exceeds s[k - 1] by more than 2 g e s[0] and the bound of y, (k + 4) e times the sum of
 *   s. Some steps of the power method from a random vector find a larger one that was left out.
 *
 * For a randomized decomposition (not `exact`) a v = u s and the last rule do not hold and are left out. The index of
 * an element is the row of what was compared. */
compare_result batch_check_factors(const host_array *a, const host_array *u, const host_array *s, const host_array *vt,
                                   const host_array *y, bool exact, uint64_t seed);
