/* SPDX-License-Identifier: MIT */
#include "convolve1d.h"

#include "harness/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_SAMPLES = 64, MOST_SAMPLES = 4096 };

/* Multiply-adds that checking every element may cost, and that checking samples may cost. About 1 ns each. */
static const double MOST_WORK = 0x1p30, SAMPLED_WORK = 0x1p27;

struct convolve1d_oracle {
    fl_dtype dtype; /* computed in */
    int64_t terms;  /* of a sum at most */
    double spread;  /* what fft may be wrong by, beyond the others */
    int64_t count;
    int64_t *places;           /* of the elements that are held against the result; NULL: all of them */
    double *expected, *bounds; /* theirs */
};

/* The inputs, or their absolute values, on the device that has the reference. */
typedef struct inputs {
    fl_device *device;
    fl_array *signal, *kernel;
    int64_t size, taps;
    fl_dtype dtype;
    fl_mode mode;
} inputs;

/* ------------------------------------------------------------------------------------- by the reference ---- */

/* The reference's result for arrays of the oracle's device, in f64. */
static void convolve(const inputs *in, fl_array *signal, fl_array *kernel, fl_mode mode, double *values)
{
    host_array result, wide;
    fl_array *out;
    int64_t length;

    must(fl_convolve1d_shape(fl_array_shape(signal, 0), fl_array_shape(kernel, 0), mode, &length));
    must(fl_array_create(in->device, in->dtype, 1, &length, &out));
    must(fl_convolve1d(in->device, signal, kernel, mode, out, &(fl_run){.variant = "reference"}));
    result = reference_fetch(out);
    wide = reference_convert(&result, FL_F64);
    memcpy(values, wide.data, host_array_bytes(&wide));
    host_array_free(&wide);
    host_array_free(&result);
}

/* One element: those parts of signal and kernel that meet in it have one length, and one sum in mode valid. */
static double one_value(const inputs *in, int64_t place)
{
    int64_t last = place + window_origin(in->mode, in->size, in->taps);
    int64_t first_tap = int64_larger(0, last - in->size + 1), length = int64_smaller(in->taps, last + 1) - first_tap;
    int64_t start = last - first_tap - length + 1;
    fl_array *signal, *kernel;
    double value;

    must(fl_array_view(in->signal, &start, &length, &signal));
    must(fl_array_view(in->kernel, &first_tap, &length, &kernel));
    convolve(in, signal, kernel, FL_VALID, &value);
    fl_array_free(signal);
    fl_array_free(kernel);
    return value;
}

static void take_values(const inputs *in, const convolve1d_oracle *o, double *values)
{
    if (!o->places) {
        convolve(in, in->signal, in->kernel, in->mode, values);
        return;
    }
    for (int64_t i = 0; i < o->count; i++)
        values[i] = one_value(in, o->places[i]);
}

/* -------------------------------------------------------------------------------------------- the bounds ---- */

/* At least the root of the sum of squares of any `length` elements that follow each other: such a stretch lies in two
 * of the pieces that the array is cut into. */
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

/* The bound of fft in flynn.h, which says where it is from. */
static double fft_spread(const host_array *signal, const host_array *kernel, fl_dtype dtype)
{
    bool swapped = host_array_size(signal) < host_array_size(kernel);
    const host_array *longer = swapped ? kernel : signal, *shorter = swapped ? signal : kernel;
    int64_t length = int64_larger(65536, 16 * host_array_size(shorter));
    double unit = unit_roundoff(dtype), sum = 0;

    for (int64_t i = 0; i < host_array_size(shorter); i++)
        sum += fabs(host_array_get(shorter, i));
    return 20 * (log2((double)length) + 2) * unit * largest_norm(longer, length) * sum;
}

/* ------------------------------------------------------------------------------------------- the oracle ---- */

/* All elements, or the first, the last and some at random. */
static void choose_places(convolve1d_oracle *o, int64_t length, check_choice choice, uint64_t seed)
{
    bool whole = choice == CHECK_FULL || (choice == CHECK_AUTO && (double)length * (double)o->terms <= MOST_WORK);
    random_state random = random_start(seed);

    o->count =
        whole ? length
              : int64_smaller(MOST_SAMPLES, int64_larger(FEWEST_SAMPLES, (int64_t)(SAMPLED_WORK / (double)o->terms)));
    o->expected = memory_zeroed((size_t)o->count, sizeof *o->expected);
    o->bounds = memory_zeroed((size_t)o->count, sizeof *o->bounds);
    if (whole)
        return;
    o->places = memory_zeroed((size_t)o->count, sizeof *o->places);
    for (int64_t i = 0; i < o->count; i++)
        o->places[i] = i == 0 ? 0 : i == 1 ? length - 1 : random_below(&random, length);
}

/* Without signs nothing cancels, and the values are the sums over absolute values. */
static void fill_bounds(convolve1d_oracle *o, const inputs *in, const host_array *signal, const host_array *kernel)
{
    double unit = unit_roundoff(o->dtype);
    inputs magnitude = *in;

    memcpy(o->bounds, o->expected, (size_t)o->count * sizeof *o->bounds);
    if (has_negative_element(signal) || has_negative_element(kernel)) {
        magnitude.signal = reference_upload(in->device, signal, true);
        magnitude.kernel = reference_upload(in->device, kernel, true);
        take_values(&magnitude, o, o->bounds);
        fl_array_free(magnitude.signal);
        fl_array_free(magnitude.kernel);
    }
    for (int64_t i = 0; i < o->count; i++)
        o->bounds[i] *= (double)(o->terms + 16) * unit;
}

convolve1d_oracle *convolve1d_oracle_create(const host_array *signal, const host_array *kernel, fl_mode mode,
                                            check_choice choice, uint64_t seed)
{
    fl_dtype dtype = fl_dtype_float_result((fl_dtype[]){signal->dtype, kernel->dtype}, 2);
    inputs in = {.device = reference_device("convolve1d", "reference"),
                 .size = signal->shape[0],
                 .taps = kernel->shape[0],
                 .dtype = dtype,
                 .mode = mode};
    convolve1d_oracle *o = memory_zeroed(1, sizeof *o);
    int64_t length;

    must(fl_convolve1d_shape(in.size, in.taps, mode, &length));
    o->dtype = dtype;
    o->terms = int64_smaller(in.size, in.taps);
    o->spread = fft_spread(signal, kernel, dtype);
    choose_places(o, length, choice, seed);
    in.signal = reference_upload(in.device, signal, false);
    in.kernel = reference_upload(in.device, kernel, false);
    take_values(&in, o, o->expected);
    fill_bounds(o, &in, signal, kernel);
    fl_array_free(in.signal);
    fl_array_free(in.kernel);
    fl_device_close(in.device);
    return o;
}

void convolve1d_oracle_free(convolve1d_oracle *o)
{
    if (!o)
        return;
    free(o->places);
    free(o->expected);
    free(o->bounds);
    free(o);
}

compare_result convolve1d_oracle_check(const convolve1d_oracle *o, const host_array *result, const char *variant,
                                       char *method, size_t size)
{
    bool fft = strcmp(variant, "fft") == 0;
    compare_result found = compare_start();
    int used = snprintf(method, size, "reference");

    if (o->places)
        used += snprintf(method + used, size - (size_t)used, ", %lld sampled elements", (long long)o->count);
    if (fft)
        snprintf(method + used, size - (size_t)used, "; error relative to the largest sums");
    for (int64_t i = 0; i < o->count; i++) {
        int64_t at = o->places ? o->places[i] : i;
        compare_add(&found, at, host_array_get(result, at), o->expected[i], o->bounds[i] + (fft ? o->spread : 0));
    }
    return found;
}
