/* SPDX-License-Identifier: MIT
 *
 * convolve.h - compares the results of `flynn convolve` with the reference.
 */
#ifndef FLYNN_APPS_CHECKS_CONVOLVE_H
#define FLYNN_APPS_CHECKS_CONVOLVE_H

#include "harness/verdict.h"
#include "support/host_array.h"
#include "support/options.h"

#include <flynn/flynn.h>

/* What is expected: all of the result, or windows of it where all would cost too much. */
typedef struct convolve_oracle convolve_oracle;

/* Computes, once for all backends, what the `reference` variant gives for image and kernel (2-D). `full` takes every
 * element, `sampled` windows at the corners and at places drawn with `seed`, `automatic` the former up to 2^30
 * multiply-adds. Ends the command when no plugin here has the variant. */
convolve_oracle *convolve_oracle_create(const host_array *image, const host_array *kernel, fl_mode mode,
                                        check_choice choice, uint64_t seed);
void convolve_oracle_free(convolve_oracle *oracle);

/* Compares a result with it, and says in `method` how: "reference", "reference, 4096 sampled windows of 8x8". Each
 * element may be off by (kernel's elements + 16) units of rounding of the same sum over absolute values: the bound that
 * flynn.h gives for every variant. */
compare_result convolve_oracle_check(const convolve_oracle *oracle, const host_array *result, char *method,
                                     size_t size);

#endif
