/* SPDX-License-Identifier: MIT
 *
 * Random numbers for arrays.
 */
#include "fill.h"

#include "support/random.h"

#include <math.h>

/* A number next to `high` may be rounded to it: the largest number of the dtype below `high` is taken instead. */
static double below(fl_dtype dtype, double value, double low, double high)
{
    if (dtype == FL_F32 && (double)(float)value >= high)
        value = (double)nextafterf((float)high, -INFINITY);
    else if (dtype == FL_F64 && value >= high)
        value = nextafter(high, -(double)INFINITY);
    return value < low ? low : value;
}

void random_fill(host_array *array, int64_t first, double low, double high, uint64_t seed)
{
    random_state random = random_start(seed);

    random_skip(&random, (uint64_t)first);
    for (int64_t i = 0, n = host_array_size(array); i < n; i++) {
        const double unit = (double)(random_next(&random) >> 40) * 0x1p-24; /* 24 bits: exact in f32, too */
        const double value = low + unit * (high - low);
        host_array_set(array, i,
                       fl_dtype_is_float(array->dtype) ? below(array->dtype, value, low, high) : floor(value));
    }
}
