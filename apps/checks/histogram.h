/* SPDX-License-Identifier: MIT
 *
 * histogram.h - the counts of a histogram by its definition, which looks at all edges of its bins.
 */
#pragma once

#include "support/host_array.h"

/* Returns how many elements are in each of `bins` bins of one width from lo to hi, to be freed; doubles, which are
 * exact up to 2^53. A bin has its lower edge, lo + b * width rounded after each operation, and the last bin both.
 * Elements outside are left out, or with `clip` are in the first and the last bin; NaN is left out. Threads share the
 * work. */
double *histogram_count(const host_array *array, double lo, double hi, int64_t bins, bool clip);
