/* SPDX-License-Identifier: MIT */
#include "convolve.h"

#include "harness/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8, FEWEST_WINDOWS = 64, MOST_WINDOWS = 4096 };

static bool has_negative_element(const host_array *array)
{
    for (int64_t i = 0; i < host_array_size(array); i++)
        if (host_array_get(array, i) < 0)
            return true;
    return false;
}

/* Where the result begins within the full one, in a dimension (flynn.h). */
static int64_t window_origin(fl_mode mode, int64_t image, int64_t kernel)
{
    return mode == FL_FULL ? 0 : mode == FL_SAME ? (kernel - 1) / 2 : int64_smaller(image, kernel) - 1;
}

/* Multiply-adds that checking every element may cost, and that checking samples may cost. About 1 ns each. */
static const double MOST_WORK = 0x1p30, SAMPLED_WORK = 0x1p27;

/* A part of the result. */
typedef struct window {
    int64_t start[2], length[2];
    host_array expected, bound;
} window;

struct convolve_oracle {
    int ndim;
    int64_t shape[2]; /* of the result; 1 beyond ndim */
    int64_t terms;    /* of an element's sum, at most */
    double fft_error; /* what the variant fft may add to each bound */
    bool whole;
    int count;
    window *windows;
};

/* The inputs, or their absolute values, on the device that has the reference. */
typedef struct inputs {
    fl_device *device;
    fl_array *image, *kernel;
    fl_dtype dtype; /* of the result */
    fl_mode mode;
} inputs;

/* The window's values by the reference, from the parts of image and kernel that meet in it: in mode valid where that
 * gives the window, and else cut out of their full convolution. */
static host_array window_values(const inputs *in, const window *w)
{
    const int ndim = fl_array_ndim(in->image);
    const fl_run run = {.variant = "reference"};
    int64_t image_start[2], image_part[2], kernel_start[2], kernel_part[2], start[2] = {0}, full[2];
    fl_array *image, *kernel, *result, *cut;
    bool fits = true, contains = true, is_contained = true, valid;
    host_array values;

    for (int d = 0; d < ndim; d++) {
        const int64_t n = fl_array_shape(in->image, d), k = fl_array_shape(in->kernel, d);
        const int64_t first = w->start[d] + window_origin(in->mode, n, k), end = first + w->length[d];
        image_start[d] = int64_larger(0, first - k + 1);
        image_part[d] = int64_smaller(n, end) - image_start[d];
        kernel_start[d] = int64_larger(0, first - n + 1);
        kernel_part[d] = int64_smaller(k, end) - kernel_start[d];
        full[d] = image_part[d] + kernel_part[d] - 1;
        start[d] = first - image_start[d] - kernel_start[d];
        contains = contains && image_part[d] >= kernel_part[d];
        is_contained = is_contained && image_part[d] <= kernel_part[d];
        fits = fits && start[d] == int64_smaller(image_part[d], kernel_part[d]) - 1 &&
               w->length[d] == full[d] - 2 * start[d];
    }
    valid = fits && (contains || is_contained);
    must(fl_array_view(in->image, image_start, image_part, &image));
    must(fl_array_view(in->kernel, kernel_start, kernel_part, &kernel));
    must(fl_array_create(in->device, in->dtype, ndim, valid ? w->length : full, &result));
    must(
        (ndim == 1 ? fl_convolve1d : fl_convolve)(in->device, image, kernel, valid ? FL_VALID : FL_FULL, result, &run));
    must(fl_array_view(result, valid ? (int64_t[2]){0} : start, w->length, &cut));
    values = reference_fetch(cut);
    fl_array_free(result);
    fl_array_free(image);
    fl_array_free(kernel);
    return values;
}

/* Of a sum's rounding: (terms + 16) units of the same sum over absolute values. Without signs nothing cancels, and the
 * values are those sums. */
static void fill_window(window *w, int64_t terms, const inputs *in, const inputs *magnitude)
{
    host_array sums;

    w->expected = window_values(in, w);
    sums = magnitude->image ? window_values(magnitude, w) : reference_convert(&w->expected, in->dtype);
    w->bound = reference_convert(&sums, FL_F64);
    host_array_free(&sums);
    for (int64_t i = 0; i < host_array_size(&w->bound); i++)
        ((double *)w->bound.data)[i] *= (double)(terms + 16) * unit_roundoff(in->dtype);
}

/* At least the root of the sum of squares of any `length` consecutive elements: such a stretch lies in two of the
 * pieces that the array is cut into. */
static double largest_norm(const host_array *array, int64_t length)
{
    double before = 0, largest = 0;

    for (int64_t start = 0; start < host_array_size(array); start += length) {
        double squares = 0;
        for (int64_t i = start; i < int64_smaller(start + length, host_array_size(array)); i++)
            squares += host_array_get(array, i) * host_array_get(array, i);
        largest = fmax(largest, before + squares);
        before = squares;
    }
    return sqrt(largest);
}

/* The bound of the variant fft, from flynn.h. */
static double fft_error(const host_array *signal, const host_array *kernel, fl_dtype dtype)
{
    const bool swapped = host_array_size(signal) < host_array_size(kernel);
    const host_array *longer = swapped ? kernel : signal, *shorter = swapped ? signal : kernel;
    const int64_t length = int64_larger(65536, 16 * host_array_size(shorter));
    double sum = 0;

    for (int64_t i = 0; i < host_array_size(shorter); i++)
        sum += fabs(host_array_get(shorter, i));
    return 20 * (log2((double)length) + 2) * unit_roundoff(dtype) * largest_norm(longer, length) * sum;
}

/* The whole result, or windows: first the corners, then random places. */
static void choose_windows(convolve_oracle *o, check_choice choice, uint64_t seed)
{
    const double whole_work = (double)o->shape[0] * (double)o->shape[1] * (double)o->terms;
    const int64_t edge = o->ndim == 1 ? 1 : WINDOW;
    const double window_work = (double)(edge * edge) * (double)o->terms;
    random_state random = random_start(seed);

    o->whole = choice == CHECK_FULL || (choice == CHECK_AUTO && whole_work <= MOST_WORK);
    o->count = o->whole ? 1 : (int)fmin(MOST_WINDOWS, fmax(FEWEST_WINDOWS, SAMPLED_WORK / window_work));
    o->windows = memory_zeroed((size_t)o->count, sizeof *o->windows);
    for (int i = 0; i < o->count; i++)
        for (int d = 0; d < 2; d++) {
            const int64_t length = o->whole ? o->shape[d] : int64_smaller(edge, o->shape[d]);
            const int64_t last = o->shape[d] - length;
            o->windows[i].length[d] = length;
            o->windows[i].start[d] = i < 1 << o->ndim ? (i >> d & 1) * last : random_below(&random, last + 1);
        }
}

convolve_oracle *convolve_oracle_create(const host_array *image, const host_array *kernel, fl_mode mode,
                                        check_choice choice, uint64_t seed)
{
    const bool line = image->ndim == 1;
    const bool negative = has_negative_element(image) || has_negative_element(kernel);
    inputs in = {.device = reference_device(line ? "convolve1d" : "convolve", "reference"),
                 .dtype = fl_dtype_float_result((fl_dtype[]){image->dtype, kernel->dtype}, 2),
                 .mode = mode};
    inputs magnitude = in;
    convolve_oracle *o = memory_zeroed(1, sizeof *o);

    *o = (convolve_oracle){.ndim = image->ndim, .shape = {1, 1}};
    o->terms = int64_smaller(host_array_size(image), host_array_size(kernel));
    if (line)
        must(fl_convolve1d_shape(image->shape[0], kernel->shape[0], mode, o->shape));
    else
        must(fl_convolve_shape(image->shape, kernel->shape, mode, o->shape));
    o->fft_error = line ? fft_error(image, kernel, in.dtype) : 0;
    choose_windows(o, choice, seed);
    in.image = reference_upload(in.device, image, false);
    in.kernel = reference_upload(in.device, kernel, false);
    magnitude.image = negative ? reference_upload(in.device, image, true) : NULL;
    magnitude.kernel = negative ? reference_upload(in.device, kernel, true) : NULL;
    for (int i = 0; i < o->count; i++)
        fill_window(&o->windows[i], o->terms, &in, &magnitude);
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

compare_result convolve_oracle_check(const convolve_oracle *o, const host_array *result, const char *variant,
                                     char *method, size_t size)
{
    const bool fft = o->ndim == 1 && strcmp(variant, "fft") == 0;
    compare_result found = compare_start();
    char samples[64] = "";

    if (!o->whole && o->ndim == 1)
        snprintf(samples, sizeof samples, ", %d sampled elements", o->count);
    else if (!o->whole)
        snprintf(samples, sizeof samples, ", %d sampled windows of %" PRId64 "x%" PRId64, o->count,
                 o->windows->length[0], o->windows->length[1]);
    snprintf(method, size, "reference%s%s", samples, fft ? "; error relative to the largest sums" : "");
    for (const window *w = o->windows; w < o->windows + o->count; w++)
        for (int64_t i = 0; i < w->length[0] * w->length[1]; i++) {
            const int64_t row = w->start[0] + i / w->length[1], column = w->start[1] + i % w->length[1];
            const int64_t at = row * o->shape[1] + column;
            compare_add(&found, at, host_array_get(result, at), host_array_get(&w->expected, i),
                        host_array_get(&w->bound, i) + (fft ? o->fft_error : 0));
        }
    return found;
}
