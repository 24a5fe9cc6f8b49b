/* SPDX-License-Identifier: MIT */
#include "convolve.h"

#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Multiply-adds that checking every element may cost, and that samples may cost: below 1 s of one core. At least FEWEST
 * elements are sampled, but not more than a SHARE of a small result, which naive sums faster; at most MOST. */
static const double MOST_WORK[] = {0x1p29, 0x1p30}, SAMPLED_WORK = 0x1p28; /* of vectors; of images */
enum { FEWEST = 1 << 12, SHARE = 8, MOST = 1 << 19, CORNERS = 4, EDGES = 4 };

/* Rows and columns of the kernel, from `first` to before `end`. */
typedef struct taps {
    int64_t first[2], end[2];
} taps;

struct convolve_oracle {
    int ndim;
    int64_t shape[2];  /* of the result; a signal is a single row */
    int64_t origin[2]; /* of the result in the full one */
    bool window;       /* the result is any window of the full one, in no mode */
    int64_t terms;     /* of an element's sum, at most */
    double fft_error;  /* what the variant fft may add to each bound */
    int64_t work;      /* multiply-adds that were done */
    bool whole;        /* all elements by the reference; else `count` of them by the definition */
    int64_t count;
    int64_t *places; /* of the elements, row-major; NULL: all in order */
    host_array expected, bound;
};

static bool has_negative_element(const host_array *array)
{
    for (int64_t i = 0; i < host_array_size(array); i++)
        if (host_array_get(array, i) < 0)
            return true;
    return false;
}

/* Where the result starts within the full one, in a dimension (flynn.h). */
static int64_t origin_of(fl_mode mode, int64_t image, int64_t kernel)
{
    return mode == FL_FULL ? 0 : mode == FL_SAME ? (kernel - 1) / 2 : int64_smaller(image, kernel) - 1;
}

/* Every element by the reference, for the inputs or for their absolute values. */
static host_array by_reference(const convolve_oracle *o, const host_array *inputs, fl_mode mode, fl_dtype dtype,
                               bool absolute)
{
    const bool line = o->ndim == 1;
    const fl_run run = {.variant = "reference"};
    fl_device *device = reference_device(line ? "convolve1d" : "convolve", "reference");
    fl_array *in[2], *out;
    host_array values;

    for (int i = 0; i < 2; i++)
        in[i] = reference_upload(device, &inputs[i], absolute);
    must(fl_array_create(device, dtype, o->ndim, o->shape + line, &out));
    if (o->window && line)
        must(fl_convolve1d_window(device, in[0], in[1], o->origin[1], out, &run));
    else if (o->window)
        must(fl_convolve_window(device, in[0], in[1], o->origin, out, &run));
    else
        must((line ? fl_convolve1d : fl_convolve)(device, in[0], in[1], mode, out, &run));
    values = reference_fetch(out);
    for (int i = 0; i < 2; i++)
        fl_array_free(in[i]);
    fl_device_close(device);
    return values;
}

/* Without signs nothing cancels, and the values are the sums over absolute values. */
static void expect_all(convolve_oracle *o, const host_array *inputs, fl_mode mode, fl_dtype dtype, bool negative)
{
    host_array magnitudes = {0};

    o->expected = by_reference(o, inputs, mode, dtype, false);
    if (negative)
        magnitudes = by_reference(o, inputs, mode, dtype, true);
    o->bound = reference_convert(negative ? &magnitudes : &o->expected, FL_F64);
    host_array_free(&magnitudes);
}

/* First the corners, then any places, every fourth of an image's on an edge. */
static void choose_places(convolve_oracle *o, uint64_t seed)
{
    const int64_t size = o->shape[0] * o->shape[1];
    const double samples = fmax(SAMPLED_WORK / (double)o->terms, fmin(FEWEST, (double)size / SHARE));
    random_state random = random_start(seed);

    o->count = int64_smaller(size, int64_larger(1, (int64_t)fmin(samples, MOST)));
    if (o->count == size)
        return;
    o->places = memory_zeroed((size_t)o->count, sizeof *o->places);
    for (int64_t i = 0; i < o->count; i++) {
        int64_t at[] = {random_below(&random, o->shape[0]), random_below(&random, o->shape[1])};
        for (int d = 0; d < 2; d++)
            if (i < CORNERS)
                at[d] = (i >> d & 1) * (o->shape[d] - 1);
            else if (o->ndim == 2 && i % EDGES == 0 && i / EDGES % 2 == d)
                at[d] = random_below(&random, 2) * (o->shape[d] - 1);
        o->places[i] = at[0] * o->shape[1] + at[1];
    }
}

/* Adds a row's products, the image read backwards. One sum would wait for each addition before the next. */
static void add_row(const double *image, const double *kernel, int64_t count, long double *sum, double *magnitude)
{
    long double sums[4] = {0};
    double magnitudes[4] = {0};

    for (int64_t q = 0; q < count; q += 4)
        for (int64_t k = 0; k < 4 && q + k < count; k++) {
            sums[k] += (long double)image[-q - k] * kernel[q + k];
            magnitudes[k] += fabs(image[-q - k] * kernel[q + k]);
        }
    *sum += sums[0] + sums[1] + (sums[2] + sums[3]);
    *magnitude += magnitudes[0] + magnitudes[1] + (magnitudes[2] + magnitudes[3]);
}

/* The n-th element from the products that it consists of. It is NaN where one of the `spoilt` taps, which are not
 * finite, meets the zeros of the border. */
static void define_element(convolve_oracle *o, const host_array *image, const host_array *kernel, const taps *spoilt,
                           int64_t n)
{
    const int64_t place = o->places ? o->places[n] : n;
    const int64_t at[] = {place / o->shape[1] + o->origin[0], place % o->shape[1] + o->origin[1]};
    const double *pixels = image->data, *weights = kernel->data;
    long double sum = 0;
    double magnitude = 0;
    taps t;

    for (int d = 0; d < 2; d++) {
        t.first[d] = int64_larger(0, at[d] - image->shape[d] + 1);
        t.end[d] = int64_smaller(kernel->shape[d], at[d] + 1);
        if (spoilt->first[d] < t.first[d] || spoilt->end[d] > t.end[d])
            sum = NAN;
    }
    for (int64_t p = t.first[0]; p < t.end[0]; p++) {
        add_row(pixels + (at[0] - p) * image->shape[1] + at[1] - t.first[1],
                weights + p * kernel->shape[1] + t.first[1], t.end[1] - t.first[1], &sum, &magnitude);
        o->work += t.end[1] - t.first[1];
    }
    host_array_set(&o->expected, n, (double)sum);
    host_array_set(&o->bound, n, magnitude);
}

/* The smallest rectangle that holds all taps that are not finite; empty where there is no border. */
static taps taps_not_finite(const host_array *kernel, bool border)
{
    taps t = {{INT64_MAX, INT64_MAX}, {0, 0}};

    for (int64_t i = 0; border && i < host_array_size(kernel); i++)
        for (int d = 0; d < 2 && !isfinite(host_array_get(kernel, i)); d++) {
            const int64_t at = d == 0 ? i / kernel->shape[1] : i % kernel->shape[1];
            t.first[d] = int64_smaller(t.first[d], at);
            t.end[d] = int64_larger(t.end[d], at + 1);
        }
    return t;
}

/* A copy in f64; a signal is a single row. */
static host_array as_image(const host_array *array)
{
    host_array copy = reference_convert(array, FL_F64);

    if (copy.ndim == 1) {
        copy.shape[1] = copy.shape[0];
        copy.shape[0] = 1;
        copy.ndim = 2;
    }
    return copy;
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

/* At least the root of the sum of squares of any tile with these edges: such a tile lies in four of the cells that the
 * image is cut into. */
static double largest_norm_of_tiles(const host_array *image, const int64_t *edge)
{
    const int64_t across = (image->shape[1] + edge[1] - 1) / edge[1];
    double *above = memory_zeroed((size_t)across + 1, sizeof *above), *here, largest = 0;

    for (int64_t top = 0; top < image->shape[0]; top += edge[0]) {
        here = memory_zeroed((size_t)across + 1, sizeof *here); /* with a cell of zeros after the last one */
        for (int64_t i = top; i < int64_smaller(top + edge[0], image->shape[0]); i++)
            for (int64_t j = 0; j < image->shape[1]; j++) {
                const double element = host_array_get(image, i * image->shape[1] + j);
                here[j / edge[1]] += element * element;
            }
        for (int64_t cell = 0; cell < across; cell++)
            largest = fmax(largest, above[cell] + above[cell + 1] + here[cell] + here[cell + 1]);
        free(above);
        above = here;
    }
    free(above);
    return sqrt(largest);
}

static double sum_of_magnitudes(const host_array *array)
{
    double sum = 0;

    for (int64_t i = 0; i < host_array_size(array); i++)
        sum += fabs(host_array_get(array, i));
    return sum;
}

/* The bound of the variant fft of images, from flynn.h. In mode valid the input that contains the other is the image.
 */
static double fft_error_of_images(const host_array *image, const host_array *kernel, fl_mode mode, fl_dtype dtype)
{
    const bool swapped = mode == FL_VALID && (image->shape[0] < kernel->shape[0] || image->shape[1] < kernel->shape[1]);
    const host_array *larger = swapped ? kernel : image, *lesser = swapped ? image : kernel;
    const int64_t edge[] = {int64_larger(512, 4 * lesser->shape[0]), int64_larger(512, 4 * lesser->shape[1])};

    return 20 * (log2((double)edge[0]) + log2((double)edge[1]) + 2) * unit_roundoff(dtype) *
           largest_norm_of_tiles(larger, edge) * sum_of_magnitudes(lesser);
}

/* The bound of the variant fft of signals, from flynn.h. */
static double fft_error(const host_array *signal, const host_array *kernel, fl_dtype dtype)
{
    const bool swapped = host_array_size(signal) < host_array_size(kernel);
    const host_array *longer = swapped ? kernel : signal, *shorter = swapped ? signal : kernel;
    const int64_t length = int64_larger(65536, 16 * host_array_size(shorter));

    return 20 * (log2((double)length) + 2) * unit_roundoff(dtype) * largest_norm(longer, length) *
           sum_of_magnitudes(shorter);
}

/* Some elements by the definition, or all of a small result. */
static void expect_samples(convolve_oracle *o, const host_array *inputs, fl_mode mode, fl_dtype dtype, uint64_t seed)
{
    host_array image = as_image(&inputs[0]), kernel = as_image(&inputs[1]);
    const taps spoilt = taps_not_finite(&kernel, o->ndim == 2 && mode != FL_VALID);

    choose_places(o, seed);
    o->expected = reference_array(dtype, 1, &o->count);
    o->bound = reference_array(FL_F64, 1, &o->count);
    for (int64_t n = 0; n < o->count; n++)
        define_element(o, &image, &kernel, &spoilt, n);
    host_array_free(&image);
    host_array_free(&kernel);
}

/* The shape of the result, and where it starts in the full one; 1 and 0 in the first dimension of a signal. */
static void measure_result(convolve_oracle *o, const host_array *image, const host_array *kernel, fl_mode mode)
{
    const int skip = 2 - o->ndim;

    o->shape[0] = 1;
    if (skip)
        must(fl_convolve1d_shape(image->shape[0], kernel->shape[0], mode, &o->shape[1]));
    else
        must(fl_convolve_shape(image->shape, kernel->shape, mode, o->shape));
    for (int d = 0; d < o->ndim; d++)
        o->origin[d + skip] = origin_of(mode, image->shape[d], kernel->shape[d]);
}

/* Computes the expected values of the result that `o` describes. */
static convolve_oracle *compute(convolve_oracle *o, const host_array *image, const host_array *kernel, fl_mode mode,
                                check_choice choice, uint64_t seed)
{
    const host_array inputs[] = {*image, *kernel};
    const fl_dtype dtype = fl_dtype_float_result((fl_dtype[]){image->dtype, kernel->dtype}, 2);
    const bool negative = has_negative_element(image) || has_negative_element(kernel);
    double work;

    o->terms = int64_smaller(host_array_size(image), host_array_size(kernel));
    o->fft_error = o->ndim == 1 ? fft_error(image, kernel, dtype) : fft_error_of_images(image, kernel, mode, dtype);
    /* The reference multiplies each tap of an image's kernel, also where it meets the border. */
    work = (double)o->shape[0] * (double)o->shape[1] * (negative ? 2 : 1) *
           (double)(o->ndim == 1 || mode == FL_VALID ? o->terms : host_array_size(kernel));
    o->whole = choice == CHECK_FULL || (choice == CHECK_AUTO && work <= MOST_WORK[o->ndim == 2]);
    o->whole = o->whole && (o->terms > 0 || !o->window); /* the reference refuses an empty window */
    o->count = o->shape[0] * o->shape[1];
    if (o->whole) {
        o->work = (int64_t)work;
        expect_all(o, inputs, mode, dtype, negative);
    } else {
        expect_samples(o, inputs, mode, dtype, seed);
    }
    for (int64_t n = 0; n < o->count; n++)
        ((double *)o->bound.data)[n] *= (double)(o->terms + 16) * unit_roundoff(dtype);
    return o;
}

convolve_oracle *convolve_oracle_create(const host_array *image, const host_array *kernel, fl_mode mode,
                                        check_choice choice, uint64_t seed)
{
    convolve_oracle *o = memory_zeroed(1, sizeof *o);

    o->ndim = image->ndim;
    measure_result(o, image, kernel, mode);
    return compute(o, image, kernel, mode, choice, seed);
}

convolve_oracle *convolve_oracle_of_window(const host_array *image, const host_array *kernel, const int64_t *origin,
                                           const int64_t *shape, check_choice choice, uint64_t seed)
{
    convolve_oracle *o = memory_zeroed(1, sizeof *o);

    o->ndim = image->ndim;
    o->window = true;
    o->shape[0] = 1;
    memcpy(o->origin + 2 - o->ndim, origin, (size_t)o->ndim * sizeof *origin);
    memcpy(o->shape + 2 - o->ndim, shape, (size_t)o->ndim * sizeof *shape);
    if (o->shape[0] * o->shape[1] == 0)
        return o; /* which expects nothing */
    return compute(o, image, kernel, FL_FULL, choice, seed);
}

void convolve_oracle_free(convolve_oracle *o)
{
    if (!o)
        return;
    host_array_free(&o->expected);
    host_array_free(&o->bound);
    free(o->places);
    free(o);
}

int64_t convolve_oracle_work(const convolve_oracle *o, int64_t *elements)
{
    *elements = o->count;
    return o->work;
}

compare_result convolve_oracle_check(const convolve_oracle *o, const host_array *result, const char *variant,
                                     char *method, size_t size)
{
    const bool fft = strcmp(variant, "fft") == 0;
    compare_result found = compare_start();
    char samples[64] = "reference";

    if (!o->whole)
        snprintf(samples, sizeof samples, "definition, %s%" PRId64 " %selements", o->places ? "" : "all ", o->count,
                 o->places ? "sampled " : "");
    snprintf(method, size, "%s%s", samples, fft ? "; error relative to the largest sums" : "");
    for (int64_t n = 0; n < o->count; n++) {
        const int64_t at = o->places ? o->places[n] : n;
        compare_add(&found, at, host_array_get(result, at), host_array_get(&o->expected, n),
                    host_array_get(&o->bound, n) + (fft ? o->fft_error : 0));
    }
    return o->whole ? reference_verdict(found, variant, method, size) : found;
}
