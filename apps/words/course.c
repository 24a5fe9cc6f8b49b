/* SPDX-License-Identifier: MIT */
#include "course.h"

#include "support/fail.h"

#include <math.h>
#include <string.h>

enum { TILE = COURSE_TILE, IMPULSE = TILE / 2, TAPS = 15, COLUMNS = 2048 };

/* An array; --size is to blame when it is too large. */
static host_array create(fl_dtype dtype, int ndim, const int64_t *shape)
{
    host_array array;
    problem why;

    must_do(host_array_create(&array, dtype, ndim, shape, "--size", &why), &why);
    return array;
}

static host_array zeros(fl_dtype dtype, int ndim, const int64_t *shape)
{
    host_array array = create(dtype, ndim, shape);

    memset(array.data, 0, host_array_bytes(&array));
    return array;
}

host_array course_image_rows(int64_t edge, int64_t first, int64_t rows, fl_dtype dtype)
{
    host_array image = zeros(dtype, 2, (int64_t[]){rows, edge});

    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = IMPULSE; x < edge && (first + y) % TILE == IMPULSE; x += TILE)
            host_array_set(&image, y * edge + x, 1);
    return image;
}

host_array course_signal_part(int64_t first, int64_t count, fl_dtype dtype)
{
    host_array signal = zeros(dtype, 1, &count);

    for (int64_t i = (first + TILE - 1 - IMPULSE) / TILE * TILE + IMPULSE; i < first + count; i += TILE)
        if (i / COLUMNS % TILE == IMPULSE)
            host_array_set(&signal, i - first, 1);
    return signal;
}

/* np.linspace(-2, 2, taps)[i]: start + i * step, the last element the end itself; the middle of a single one. */
static double place(int64_t i, int64_t taps)
{
    if (taps == 1)
        return 0;
    return i == taps - 1 ? 2 : (double)i * (4.0 / (double)(taps - 1)) - 2;
}

double course_gaussian_at(int width, int ndim, const int64_t *shape, const int64_t *index)
{
    double squares = 0;

    for (int d = ndim - 1; d >= 0; d--)
        squares += place(index[d], shape[d]) * place(index[d], shape[d]);
    return exp(-squares / (width == GAUSSIAN_WIDE ? 2 : 1));
}

static double gaussian(int width, int y, int x)
{
    return course_gaussian_at(width, 2, (int64_t[]){TAPS, TAPS}, (int64_t[]){y, x});
}

host_array course_gaussian(int width, fl_dtype image)
{
    host_array kernel = create(image == FL_F32 ? FL_F32 : FL_F64, 2, (int64_t[]){TAPS, TAPS});

    for (int i = 0; i < TAPS * TAPS; i++)
        host_array_set(&kernel, i, gaussian(width, i / TAPS, i % TAPS));
    return kernel;
}

host_array course_gaussian_line(int width, bool whole, fl_dtype signal)
{
    const int64_t taps = whole ? TAPS * TAPS : TAPS;
    host_array kernel = create(signal == FL_F32 ? FL_F32 : FL_F64, 1, &taps);

    for (int i = 0; i < taps; i++)
        host_array_set(&kernel, i, whole ? gaussian(width, i / TAPS, i % TAPS) : gaussian(width, i, i));
    return kernel;
}

/* Ten ellipses: value, half axes, centre, degrees that it is turned by.
 * Shepp and Logan, "The Fourier reconstruction of a head section", IEEE Trans. Nucl. Sci. 21, 1974, with the contrast
 * of Toft, "The Radon transform", 1996. */
static const double ellipses[][6] = {
    {1, 0.69, 0.92, 0, 0, 0},          {-0.8, 0.6624, 0.8740, 0, -0.0184, 0},
    {-0.2, 0.11, 0.31, 0.22, 0, -18},  {-0.2, 0.16, 0.41, -0.22, 0, 18},
    {0.1, 0.21, 0.25, 0, 0.35, 0},     {0.1, 0.046, 0.046, 0, 0.1, 0},
    {0.1, 0.046, 0.046, 0, -0.1, 0},   {0.1, 0.046, 0.023, -0.08, -0.605, 0},
    {0.1, 0.023, 0.023, 0, -0.606, 0}, {0.1, 0.023, 0.046, 0.06, -0.605, 0},
};

static double phantom_at(double x, double y)
{
    double value = 0;

    for (size_t i = 0; i < sizeof ellipses / sizeof *ellipses; i++) {
        const double *e = ellipses[i], turn = e[5] * acos(-1) / 180, dx = x - e[3], dy = y - e[4];
        const double along = (dx * cos(turn) + dy * sin(turn)) / e[1],
                     across = (dy * cos(turn) - dx * sin(turn)) / e[2];
        if (along * along + across * across <= 1)
            value += e[0];
    }
    return value;
}

double course_phantom_at(int64_t height, int64_t width, int64_t y, int64_t x)
{
    return phantom_at((2 * (double)x + 1) / (double)width - 1, 1 - (2 * (double)y + 1) / (double)height);
}

host_array course_phantom_rows(int64_t edge, int64_t first, int64_t rows)
{
    host_array image = create(FL_F32, 2, (int64_t[]){rows, edge});

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < edge; j++)
            host_array_set(&image, i * edge + j, course_phantom_at(edge, edge, first + i, j));
    return image;
}
