/* SPDX-License-Identifier: MIT
 *
 * pair.h - compares two arrays that are shown.
 */
#pragma once

#include "load.h"

#include "display/verdict.h"

typedef struct pair_result {
    bool one_shape, exactly; /* exactly: integers without --rtol and --atol */
    double relative, absolute;
    compare_result found;
    differences wrong;
} pair_result;

/* Compares element by element as numpy.allclose with equal_nan, integers exactly unless a tolerance is given. */
pair_result pair_compare(const show_options *own, const shown_array *a, const shown_array *b);
void pair_free(pair_result *pair);

/* "rtol 1e-05, atol 1e-08", or "exactly" */
void pair_method(const pair_result *pair, char text[64]);
void pair_print(int width, const pair_result *pair, const shown_array *a, const shown_array *b);
