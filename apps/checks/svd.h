/* SPDX-License-Identifier: MIT
 *
 * svd.h - compares the results of `flynn svd` with the matrix and its exact singular values.
 */
#pragma once

#include "display/verdict.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

/* The matrix in f64, all its singular values, and a device of this machine's processor that computes products. */
typedef struct svd_oracle svd_oracle;

/* Decomposes the matrix in f64 on a processor, once for all backends: by LAPACK, or without it by Jacobi rotations.
 * Ends the command if there is no such backend, or if the matrix has elements that are not finite.
 *
 * Several ranks (group.h) call it, and the functions below, together, each with its rows of the matrix, of u and of y.
 * Sums over rows are those of all ranks, and the values are the roots of the eigenvalues of a'a, of which the smaller
 * ones are less exact; of more than 4096 columns a'a is not made, and the values are not known. */
svd_oracle *svd_oracle_create(const host_array *a);
void svd_oracle_free(svd_oracle *oracle);

/* Below, a norm or an error is NaN where it needs the values and they are not known.
 *
 * The least error of rank k: the root of the sum of the squares of the singular values from the k-th on (Eckart and
 * Young, "The approximation of one matrix by another of lower rank", Psychometrika 1, 1936). k = 0: the Frobenius norm
 * of the matrix. */
double svd_oracle_tail(const svd_oracle *oracle, int64_t k);

/* The largest error that `randomized` leaves on average over its random numbers: (2 + k / (p - 1))^(1/2) tail, with
 * p = 10 vectors more than k. (1 + k / (p - 1))^(1/2) tail is theorem 10.5 of Halko, Martinsson and Tropp for the
 * basis; the rest is cut off from it; powers make it much less. Tail itself where k and p take the whole range. */
double svd_oracle_randomized(const svd_oracle *oracle, int64_t k);

/* Returns whether this is the variant that approximates. */
bool svd_is_randomized(const char *variant);

/* The product of the factors u, s and vt. */
typedef struct svd_report {
    host_array y;         /* u diag(s) vt */
    double reconstruct_s; /* median of several times on the device */
    double error;         /* ||a - y||_F */
    double implied_error; /* the same from s alone: the root of ||a||_F^2 less the squares of s */
} svd_report;
svd_report svd_oracle_report(const svd_oracle *oracle, fl_device *device, const host_array *factors);

/* Checks u, s and vt, and writes to `method` how; the index of an element is that of u, sometimes only its column. With
 * e the distance of 1 to the next number of their dtype, of `single` to that of f32, and g = 16 + 4 max(m, n)^(1/2)
 * (the errors of a decomposition by orthogonal transformations add up like random steps, with the root of their number:
 * Higham, "Accuracy and stability of numerical algorithms", 2nd ed., sections 2.8 and 19.3):
 *
 * - s does not rise, is not negative, and is within g e s[0] of the exact values, where these are known: the factors
 * are the exact decomposition of a matrix that is this close, and no singular value moves further (Weyl). `randomized`:
 * s may also be below by the error expected of it;
 * - u'u and vt vt' are the identity within g e;
 * - a' u = v diag(s) and a v = u diag(s), each element within g e s[0]: that finds a single wrong one, whatever rank
 * is left out. `randomized` decomposes u u' a, for which only the first holds;
 * - `single` decomposes the matrix rounded to f32, which is e/2 of its Frobenius norm away: values and elements may be
 * off by that, too.
 */
compare_result svd_oracle_check(const svd_oracle *oracle, const host_array *factors, const char *variant, char *method,
                                size_t size);
