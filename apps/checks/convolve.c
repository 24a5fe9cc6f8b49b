/* SPDX-License-Identifier: MIT */
#include "convolve.h"

#include "harness/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8, FEWEST_WINDOWS = 64, MOST_WINDOWS = 4096 };

/* Multiply-adds that checking every element may cost, and that checking samples may cost. About 1 ns each. */
static const double MOST_WORK = 0x1p30, SAMPLED_WORK = 0x1p27;

/* Part of the result: rows x columns from (row, column) on. */
typedef struct window {
    int64_t row, column, rows, columns;
    host_array expected, bound;
} window;

struct convolve_oracle {
    fl_mode mode;
    int64_t shape[2]; /* of the result */
    int count;
    window *windows;
    char method[96];
};

/* The inputs, or their absolute values, on the device that has the reference. */
typedef struct inputs {
    fl_device *device;
    fl_array *image, *kernel;
    int64_t image_shape[2], kernel_shape[2];
    fl_mode mode;
} inputs;

/* ---------------------------------------------------------------------------------- one window's values ---- */

/* The window's values by the reference: the full convolution of that part of the image which reaches it, cut out. */
static host_array window_values(const inputs *in, const window *w)
{
    int64_t from[2] = {w->row, w->column}, length[2] = {w->rows, w->columns}, start[2], part[2], shape[2];
    fl_array *image, *whole, *cut;
    host_array values;

    for (int d = 0; d < 2; d++) {
        from[d] += window_origin(in->mode, in->image_shape[d], in->kernel_shape[d]);
        start[d] = int64_larger(0, from[d] - in->kernel_shape[d] + 1);
        part[d] = int64_smaller(in->image_shape[d], from[d] + length[d]) - start[d];
        shape[d] = part[d] + in->kernel_shape[d] - 1;
        from[d] -= start[d];
    }
    must(fl_array_view(in->image, start, part, &image));
    must(fl_array_create(in->device,
                         fl_dtype_float_result((fl_dtype[]){fl_array_dtype(image), fl_array_dtype(in->kernel)}, 2), 2,
                         shape, &whole));
    must(fl_convolve(in->device, image, in->kernel, FL_FULL, whole, &(fl_run){.variant = "reference"}));
    must(fl_array_view(whole, from, length, &cut));
    values = reference_fetch(cut);
    fl_array_free(whole);
    fl_array_free(image);
    return values;
}

/* The bounds from the sums over absolute values. */
static host_array bounds_of(const host_array *sums, int64_t taps)
{
    host_array bounds = reference_convert(sums, FL_F64);

    for (int64_t i = 0; i < host_array_size(&bounds); i++)
        ((double *)bounds.data)[i] *= (double)(taps + 16) * unit_roundoff(sums->dtype);
    return bounds;
}

/* Expected values and bounds. Without signs nothing cancels, and the values are the sums over absolute values. */
static void fill_window(window *w, const inputs *in, const inputs *magnitude)
{
    int64_t taps = int64_smaller(in->kernel_shape[0] * in->kernel_shape[1], in->image_shape[0] * in->image_shape[1]);
    host_array sums;

    w->expected = window_values(in, w);
    if (!magnitude->image) {
        w->bound = bounds_of(&w->expected, taps);
        return;
    }
    sums = window_values(magnitude, w);
    w->bound = bounds_of(&sums, taps);
    host_array_free(&sums);
}

/* ------------------------------------------------------------------------------------------- the oracle ---- */

/* All of the result in bands of rows, or windows at the corners and at random. */
static void choose_windows(convolve_oracle *o, check_choice choice, int64_t taps, uint64_t seed)
{
    double work = (double)o->shape[0] * (double)o->shape[1] * (double)taps;
    bool whole = choice == CHECK_FULL || (choice == CHECK_AUTO && work <= MOST_WORK);
    int64_t rows = int64_smaller(WINDOW, o->shape[0]), columns = int64_smaller(WINDOW, o->shape[1]);
    int64_t last[2] = {o->shape[0] - rows, o->shape[1] - columns};
    random_state random = random_start(seed);

    o->count = whole ? 1
                     : (int)int64_smaller(MOST_WINDOWS,
                                          int64_larger(FEWEST_WINDOWS, (int64_t)(SAMPLED_WORK / (double)(64 * taps))));
    o->windows = memory_zeroed((size_t)o->count, sizeof *o->windows);
    if (whole) {
        o->windows[0] = (window){.rows = o->shape[0], .columns = o->shape[1]};
        strcpy(o->method, "reference");
        return;
    }
    for (int i = 0; i < o->count; i++) {
        int64_t row = i < 4 ? (i & 1) * last[0] : random_below(&random, last[0] + 1);
        int64_t column = i < 4 ? (i >> 1) * last[1] : random_below(&random, last[1] + 1);
        o->windows[i] = (window){.row = row, .column = column, .rows = rows, .columns = columns};
    }
    snprintf(o->method, sizeof o->method, "reference, %d sampled windows of %lldx%lld", o->count, (long long)rows,
             (long long)columns);
}

convolve_oracle *convolve_oracle_create(const host_array *image, const host_array *kernel, fl_mode mode,
                                        check_choice choice, uint64_t seed)
{
    inputs in = {.device = reference_device("convolve", "reference"),
                 .image_shape = {image->shape[0], image->shape[1]},
                 .kernel_shape = {kernel->shape[0], kernel->shape[1]},
                 .mode = mode};
    bool negative = has_negative_element(image) || has_negative_element(kernel);
    inputs magnitude = in;
    convolve_oracle *o = memory_zeroed(1, sizeof *o);

    o->mode = mode;
    must(fl_convolve_shape(in.image_shape, in.kernel_shape, mode, o->shape));
    choose_windows(o, choice, host_array_size(kernel), seed);
    in.image = reference_upload(in.device, image, false);
    in.kernel = reference_upload(in.device, kernel, false);
    magnitude.image = negative ? reference_upload(in.device, image, true) : NULL;
    magnitude.kernel = negative ? reference_upload(in.device, kernel, true) : NULL;
    for (int i = 0; i < o->count; i++)
        fill_window(&o->windows[i], &in, &magnitude);
    fl_array_free(in.image);
    fl_array_free(in.kernel);
    fl_array_free(magnitude.image);
    fl_array_free(magnitude.kernel);
    fl_device_close(in.device);
    return o;
}

void convolve_oracle_free(convolve_oracle *o)
{
    for (int i = 0; o && i < o->count; i++) {
        host_array_free(&o->windows[i].expected);
        host_array_free(&o->windows[i].bound);
    }
    if (o)
        free(o->windows);
    free(o);
}

compare_result convolve_oracle_check(const convolve_oracle *o, const host_array *result, char *method, size_t size)
{
    compare_result found = compare_start();

    snprintf(method, size, "%s", o->method);
    for (int n = 0; n < o->count; n++) {
        const window *w = &o->windows[n];
        for (int64_t i = 0; i < w->rows * w->columns; i++) {
            int64_t at = (w->row + i / w->columns) * o->shape[1] + w->column + i % w->columns;
            compare_add(&found, at, host_array_get(result, at), host_array_get(&w->expected, i),
                        host_array_get(&w->bound, i));
        }
    }
    return found;
}
