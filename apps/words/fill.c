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

/* The next number: 24 bits are exact in f32, too. */
static inline double next_number(random_state *random, double low, double width)
{
    return low + (double)(random_next(random) >> 40) * 0x1p-24 * width;
}

void random_fill(host_array *array, int64_t first, double low, double high, bool whole, uint64_t seed)
{
    const int64_t n = host_array_size(array);
    const double width = high - low, largest = low + (1 - 0x1p-24) * width;
    const bool is_float = fl_dtype_is_float(array->dtype);
    random_state random = random_start(seed);

    random_skip(&random, (uint64_t)first);
    if (is_float && !whole &&
        below(array->dtype, largest, low, high) == largest) { /* no number needs to be corrected */
        for (int64_t i = 0; i < n; i++)
            host_array_set(array, i, next_number(&random, low, width));
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const double next = next_number(&random, low, width), value = whole || !is_float ? floor(next) : next;
        host_array_set(array, i, is_float ? below(array->dtype, value, low, high) : value);
    }
}
