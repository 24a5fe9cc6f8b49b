/* SPDX-License-Identifier: MIT
 *
 * reconstruct.h - compares the results of `flynn reconstruct` and `flynn matmul` with the reference, or with sums of
 * the factors.
 */
#pragma once

#include "display/verdict.h"
#include "options/options.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

/* The expected values: each element, or sums of neighbours if each element costs too much. */
typedef struct reconstruct_oracle reconstruct_oracle;

/* Prepares, once for all backends, to check u diag(s) vt with the leading `keep` terms; the factors are as
 * fl_reconstruct takes them, and must stay. s may be NULL, which checks u vt, where all of u's columns take part.
 * `full` computes every element by the `reference` variant; `sampled` checks some elements, and sums (below) of all;
 * `auto` is `full` up to 2^28 multiply-adds, in f64 2^27. A result without multiply-adds is checked in full. Ends the
 * command if no plugin here has the variant. */
reconstruct_oracle *reconstruct_oracle_create(const host_array *u, const host_array *s, const host_array *vt,
                                              int64_t keep, check_choice choice, uint64_t seed);
void reconstruct_oracle_free(reconstruct_oracle *oracle);

/* Checks a result, and writes to `method` how. Each element may be off by (keep + 4) units of rounding of the same sum
 * over absolute values, without s by (keep + 1): the bounds that flynn.h gives for every variant.
 *
 * The sums are of 64 neighbours in a row, each with a random sign, after Freivalds ("Probabilistic machines can use
 * less running time", IFIP Congress 1977): those of the product are u diag(s) times the sums of vt's rows, a 64th of
 * the work. A single element in a run that is wrong by more than 64 such bounds is always found, several with a
 * probability of at least one half. (The sums are of more neighbours where those of 64 cost more than 2^34
 * multiply-adds.) Where a sum differs or is not finite, its elements are compared one by one: as many as 2^24
 * multiply-adds allow, or a 256th of the result if that is more, and then one element of each such run. A sum of finite
 * factors that differs is always followed to its wrong element, until one is found. 4096 other elements are compared,
 * too, or as many as that limit allows. */
compare_result reconstruct_oracle_check(reconstruct_oracle *oracle, const host_array *result, const char *variant,
                                        char *method, size_t size);

/* The multiply-adds that the check has cost so far. */
int64_t reconstruct_oracle_work(const reconstruct_oracle *oracle);

/* Adds element `at` of y (row-major; also of a batch) as the definition gives it, with the bound above. */
void reconstruct_compare_element(const host_array *u, const host_array *s, const host_array *vt, int64_t keep,
                                 const host_array *y, int64_t at, compare_result *found);
