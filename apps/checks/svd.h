/* SPDX-License-Identifier: MIT
 *
 * svd.h - holds the results of `flynn svd` against what is expected.
 */
#ifndef FLYNN_APPS_CHECKS_SVD_H
#define FLYNN_APPS_CHECKS_SVD_H

#include "harness/verdict.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

/* The matrix in f64, all its singular values, and a device of this machine's processor that computes products. */
typedef struct svd_oracle svd_oracle;

/* Decomposes the matrix in f64 on a processor, once for all backends: by LAPACK, or without one by Jacobi rotations.
 * Ends the command when there is no such backend, or the matrix has elements that are not finite. */
svd_oracle *svd_oracle_create(const host_array *a);
void svd_oracle_free(svd_oracle *oracle);

/* The least error that rank k can leave: the root of the sum of the squares of the singular values from the k-th on
 * (Eckart and Young, "The approximation of one matrix by another of lower rank", Psychometrika 1, 1936). k = 0: the
 * Frobenius norm of the matrix. */
double svd_oracle_tail(const svd_oracle *oracle, int64_t k);

/* The error that `randomized` leaves at most, on average over its random numbers: (2 + k / (p - 1))^(1/2) tail, with
 * p = 10 vectors more than k. Of that, (1 + k / (p - 1))^(1/2) tail is theorem 10.5 of Halko, Martinsson and Tropp for
 * the basis, and tail what is cut off from it; powers make it much less. Tail itself where k and p take the whole
 * range. */
double svd_oracle_randomized(const svd_oracle *oracle, int64_t k);

/* Is it the variant that approximates? */
bool svd_is_randomized(const char *variant);

/* One decomposition (u, s and vt), put together again. */
typedef struct svd_report {
    host_array y;         /* u diag(s) vt */
    double reconstruct_s; /* the median of some times on the device */
    double error;         /* ||a - y||_F */
    double implied_error; /* what s says that it is: the root of ||a||_F^2 less the squares of s */
} svd_report;
svd_report svd_oracle_report(const svd_oracle *oracle, fl_device *device, const host_array *factors);

/* Compares u, s and vt with what they must be, and says in `method` how; the index of an element is that of u, of which
 * it may only be the column. Let e be a unit of rounding of their dtype and g = 16 + 4 max(m, n)^(1/2): the errors of a
 * decomposition by orthogonal transformations add up like steps at random, with the root of their number (Higham,
 * "Accuracy and stability of numerical algorithms", 2nd ed., sections 2.8 and 19.3).
 *
 * - s does not rise, is not negative, and is within g e s[0] of the exact values: what the factors are the exact
 *   decomposition of is that near to the matrix, and no singular value moves further (Weyl). `randomized`: not above
 *   that, and not below by more than the error that is expected of it;
 * - u'u and vt vt' are the identity within g e;
 * - a' u = v diag(s) and a v = u diag(s), each element within g e s[0]: which finds a single one that is wrong,
 * whatever rank is left out. `randomized` keeps the first alone: it decomposes u u' a.
 */
compare_result svd_oracle_check(const svd_oracle *oracle, const host_array *factors, const char *variant, char *method,
                                size_t size);

#endif
