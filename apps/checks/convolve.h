/* SPDX-License-Identifier: MIT
 *
 * convolve.h - compares the results of `flynn convolve` and `flynn convolve1d` with the reference.
 *
 * The room checks/ decides whether results are right, for less work than making them.
 */
#pragma once

#include "harness/verdict.h"
#include "support/host_array.h"
#include "support/options.h"

#include <flynn/flynn.h>

/* The expected values: the whole result, or windows of it if the whole costs too much. */
typedef struct convolve_oracle convolve_oracle;

/* Computes, once for all backends, what the `reference` variant gives for image and kernel (both 2-D), or signal and
 * kernel (both 1-D). `full` takes every element; `sampled` takes windows (8x8, or one element of a signal) at the
 * corners and at places drawn with `seed`; `auto` is `full` up to 2^30 multiply-adds. Ends the command if no plugin
 * here has the variant. */
convolve_oracle *convolve_oracle_create(const host_array *image, const host_array *kernel, fl_mode mode,
                                        check_choice choice, uint64_t seed);
void convolve_oracle_free(convolve_oracle *oracle);

/* Compares what `variant` gave, each element with the bound that flynn.h gives for that variant, and writes to `method`
 * how: "reference", "reference, 4096 sampled windows of 8x8". */
compare_result convolve_oracle_check(const convolve_oracle *oracle, const host_array *result, const char *variant,
                                     char *method, size_t size);
