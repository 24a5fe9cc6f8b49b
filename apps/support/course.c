/* SPDX-License-Identifier: MIT */
#include "course.h"

#include <math.h>
#include <string.h>

enum { TILE = 16, IMPULSE = 8, TAPS = 15 };

bool course_image(int64_t edge, fl_dtype dtype, host_array *image, problem *why)
{
    if (!host_array_create(image, dtype, 2, (int64_t[]){edge, edge}, "--size", why))
        return false;
    memset(image->data, 0, host_array_bytes(image));
    for (int64_t y = IMPULSE; y < edge; y += TILE)
        for (int64_t x = IMPULSE; x < edge; x += TILE)
            host_array_set(image, y * edge + x, 1);
    return true;
}

/* np.linspace(-2, 2, 15)[i]: start + i * step, the last element the end itself. */
static double place(int i)
{
    return i == TAPS - 1 ? 2 : i * (4.0 / (TAPS - 1)) - 2;
}

bool course_gaussian(gaussian_width width, fl_dtype dtype, host_array *kernel, problem *why)
{
    if (!host_array_create(kernel, dtype, 2, (int64_t[]){TAPS, TAPS}, "--gaussian", why))
        return false;
    double divisor = width == GAUSSIAN_WIDE ? 2 : 1;
    for (int y = 0; y < TAPS; y++)
        for (int x = 0; x < TAPS; x++)
            host_array_set(kernel, y * TAPS + x, exp(-(place(x) * place(x) + place(y) * place(y)) / divisor));
    return true;
}
