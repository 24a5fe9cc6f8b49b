/* SPDX-License-Identifier: MIT
 *
 * convolve1d.h - holds the results of `flynn convolve1d` against the oracle.
 */
#ifndef FLYNN_APPS_CHECKS_CONVOLVE1D_H
#define FLYNN_APPS_CHECKS_CONVOLVE1D_H

#include "harness/verdict.h"
#include "support/host_array.h"
#include "support/options.h"

#include <flynn/flynn.h>

/* What is expected: all of the result, or elements of it where all would cost too much. */
typedef struct convolve1d_oracle convolve1d_oracle;

/* Computes, once for all backends, what the `reference` variant gives for signal and kernel (1-D). `full` takes every
 * element, `sampled` the first, the last and some drawn with `seed`, `automatic` the former up to 2^30 multiply-adds.
 * Ends the command when no plugin here has the variant. */
convolve1d_oracle *convolve1d_oracle_create(const host_array *signal, const host_array *kernel, fl_mode mode,
                                            check_choice choice, uint64_t seed);
void convolve1d_oracle_free(convolve1d_oracle *oracle);

/* Compares what `variant` gave with it, each element with the bound that flynn.h gives for that variant, and says in
 * `method` how: "reference", "reference, 4096 sampled elements; ...". */
compare_result convolve1d_oracle_check(const convolve1d_oracle *oracle, const host_array *result, const char *variant,
                                       char *method, size_t size);

#endif
