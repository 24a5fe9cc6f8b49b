/* SPDX-License-Identifier: MIT
 *
 * convolve.h - compares the results of `flynn convolve` and `flynn convolve1d` with the reference.
 *
 * The room checks/ decides whether results are right, for less work than making them.
 */
#pragma once

#include "display/verdict.h"
#include "options/options.h"
#include "support/host_array.h"

#include <flynn/flynn.h>

/* The expected values of all elements, or of some if all cost too much. */
typedef struct convolve_oracle convolve_oracle;

/* Computes, once for all backends, what image and kernel (both 2-D), or signal and kernel (both 1-D), give. `full`
 * takes every element, by the `reference` variant; `sampled` computes some by the definition, each for its own products
 * alone: the corners and places drawn with `seed`, every fourth of them on an edge of an image, as many as 2^28
 * multiply-adds allow, but at least 4096, or an eighth of a small result, and at most 2^19. `auto` is `full` up to 2^30
 * multiply-adds (a sum with negative terms costs them twice: its bound is a second sum). Ends the command if no plugin
 * here has the variant. */
convolve_oracle *convolve_oracle_create(const host_array *image, const host_array *kernel, fl_mode mode,
                                        check_choice choice, uint64_t seed);
/* convolve_oracle_create for inputs that stay as they are until the check, which then computes what `full` expects in
 * bands: these take little memory, and threads share them. */
convolve_oracle *convolve_oracle_later(const host_array *image, const host_array *kernel, fl_mode mode,
                                       check_choice choice, uint64_t seed);
/* convolve_oracle_create for a window of the full result, as fl_convolve_window and fl_convolve1d_window compute it; of
 * vectors only the first elements of `origin` and `shape` count. */
convolve_oracle *convolve_oracle_of_window(const host_array *image, const host_array *kernel, const int64_t *origin,
                                           const int64_t *shape, check_choice choice, uint64_t seed);
void convolve_oracle_free(convolve_oracle *oracle);

/* The multiply-adds that the expected values have cost, and how many elements they are: the tests compare them with
 * the work of the convolution. */
int64_t convolve_oracle_work(const convolve_oracle *oracle, int64_t *elements);

/* Compares what `variant` gave, each element with the bound that flynn.h gives for that variant, and writes to `method`
 * how: "reference", "definition, 8321 sampled elements". With a tolerance (fl_run; 0: none) each element may be off by
 * that part of the largest magnitude of the result, if this is more than the bound of the direct variants. */
compare_result convolve_oracle_check(const convolve_oracle *oracle, const host_array *result, const char *variant,
                                     double tolerance, char *method, size_t size);
