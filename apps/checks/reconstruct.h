/* SPDX-License-Identifier: MIT
 *
 * reconstruct.h - holds the results of `flynn reconstruct` against what is expected.
 */
#ifndef FLYNN_APPS_CHECKS_RECONSTRUCT_H
#define FLYNN_APPS_CHECKS_RECONSTRUCT_H

#include "harness/verdict.h"
#include "support/host_array.h"
#include "support/options.h"

#include <flynn/flynn.h>

/* What is expected: each element, or sums of neighbours where each would cost too much. */
typedef struct reconstruct_oracle reconstruct_oracle;

/* Prepares, once for all backends, to check u diag(s) vt with the leading `rank` terms; the factors are as
 * fl_reconstruct takes them, and must stay. `full` computes every element by the `reference` variant; `sampled` a
 * number of elements, and of all others sums (below); `automatic` the former up to 2^28 multiply-adds. Ends the command
 * when no plugin here has the variant. */
reconstruct_oracle *reconstruct_oracle_create(const host_array *u, const host_array *s, const host_array *vt,
                                              int64_t rank, check_choice choice, uint64_t seed);
void reconstruct_oracle_free(reconstruct_oracle *oracle);

/* Compares a result with it, and says in `method` how. Each element may be off by (rank + 4) units of rounding of the
 * same sum over absolute values: the bound that flynn.h gives for every variant.
 *
 * The sums are of 64 neighbours in a row, each taken with a sign drawn at random, after Freivalds ("Probabilistic
 * machines can use less running time", IFIP Congress 1977): those of the product are u diag(s) times the sums of vt's
 * rows, a 64th of the work. An element that is wrong by more than 64 such bounds is found for certain unless another
 * one in its run is wrong too, and then with a probability of one half at least. Where a sum is not as expected, or not
 * finite, its elements are compared one by one. */
compare_result reconstruct_oracle_check(const reconstruct_oracle *oracle, const host_array *result, char *method,
                                        size_t size);

#endif
