/* SPDX-License-Identifier: MIT */
#include "course.h"

#include <math.h>
#include <string.h>

enum { TILE = 16, IMPULSE = 8, TAPS = 15, COLUMNS = 2048 };

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

bool course_signal(int64_t size, fl_dtype dtype, host_array *signal, problem *why)
{
    if (!host_array_create(signal, dtype, 1, &size, "--size", why))
        return false;
    memset(signal->data, 0, host_array_bytes(signal));
    for (int64_t row = IMPULSE * COLUMNS; row < size; row += TILE * COLUMNS)
        for (int64_t i = row + IMPULSE; i < row + COLUMNS && i < size; i += TILE)
            host_array_set(signal, i, 1);
    return true;
}

bool course_gaussian_line(gaussian_width width, bool whole, fl_dtype dtype, host_array *kernel, problem *why)
{
    const int64_t taps = whole ? TAPS * TAPS : TAPS, step = whole ? 1 : TAPS + 1;
    host_array square;

    if (!course_gaussian(width, dtype, &square, why))
        return false;
    bool made = host_array_create(kernel, dtype, 1, &taps, "--taps", why);
    for (int64_t i = 0; made && i < taps; i++)
        host_array_set(kernel, i, host_array_get(&square, i * step));
    host_array_free(&square);
    return made;
}
