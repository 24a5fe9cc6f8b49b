/* SPDX-License-Identifier: MIT
 *
 * decomposition.h - what the tests of svd share: a decomposition by a device, and what makes it right.
 */
#ifndef FLYNN_TESTS_DECOMPOSITION_H
#define FLYNN_TESTS_DECOMPOSITION_H

#include "harness.h"

/* A decomposition on the host. */
struct factors {
    struct matrix u, s, vt; /* s: one row */
};

void factors_free(struct factors *f);

/* min(m, n), and the dtype of the results. */
int64_t shorter(const struct matrix *a);
fl_dtype computed_in(const struct matrix *a);

/* Decomposes on the device: views for one half of the shapes, packed arrays for the other, and guards around the
 * outputs. `run` may be NULL. */
struct factors decompose(fl_device *device, const struct matrix *a, int64_t k, uint64_t seed, const fl_run *run,
                         const char *what);

/* The bound of the errors; `single`: of that variant, which computes in f32. With e a unit of rounding, errors of a
 * decomposition by orthogonal transformations add up like steps at random: with the root of their number (Higham,
 * "Accuracy and stability of numerical algorithms", 2nd ed., sections 2.8 and 19.3). No singular value moves further
 * than the matrix does (Weyl). */
double rounding(const struct matrix *a);
double rounding_of(const struct matrix *a, bool single);

/* Returns whether it is the variant that computes in f32. */
bool is_single(const char *variant);

/* ||a - u diag(s) vt||_F / first */
double off_product(const struct matrix *a, const struct factors *f, double first);

/* The error that rank k leaves at least, relative to the first value. values: one row. */
double tail(const struct matrix *values, int64_t k);

/* The bound of `randomized`, relative to the first value. As it draws 10 vectors more than k: theorem 10.5 of Halko,
 * Martinsson and Tropp, and what is cut off. */
double randomized_bound(const struct matrix *a, const struct matrix *values, int64_t k);

/* Fails the test unless the factors, which the variant computed, are those of `a`, whose singular values are `values`:
 * orthonormal vectors, a' u = v diag(s), a v = u diag(s), and the product. Returns the largest error, as a part of its
 * bound. */
double expect_decomposition(const struct matrix *a, const struct factors *f, const struct matrix *values,
                            const char *variant, const char *what);

#endif
