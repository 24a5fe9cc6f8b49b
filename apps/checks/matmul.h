/* SPDX-License-Identifier: MIT
 *
 * matmul.h - compares the results of `flynn matmul` with the reference, or with the products of random vectors.
 */
#pragma once

#include "display/verdict.h"
#include "options/options.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

/* The expected products, and the error that each may have. */
typedef struct matmul_oracle matmul_oracle;

/* Prepares, once for all backends, to check the product in `dtype` of a and b, which are as fl_matmul takes them, and
 * must stay. Floats are checked as reconstruct.h tells; integers always by vectors (below), whatever the choice. */
matmul_oracle *matmul_oracle_create(const host_array *a, bool transpose_a, const host_array *b, bool transpose_b,
                                    fl_dtype dtype, check_choice choice, uint64_t seed);
void matmul_oracle_free(matmul_oracle *oracle);

/* Checks a result, and writes to `method` how.
 *
 * Integers: c x = a (b x), after Freivalds ("Probabilistic machines can use less running time", IFIP Congress 1977),
 * for two vectors x, in the integers modulo 2^32 or 2^64, in which nothing is rounded: n^2 operations for n^3. The
 * first x is of odd numbers, so that a single wrong element in a row is always found; several of them are missed with a
 * probability of at most one half. A row that differs is computed again, as many as 2^28 multiply-adds allow, at least
 * one. */
compare_result matmul_oracle_check(matmul_oracle *oracle, const host_array *result, const char *variant, char *method,
                                   size_t size);
