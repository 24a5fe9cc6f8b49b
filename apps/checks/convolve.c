/* SPDX-License-Identifier: MIT */
#include "convolve.h"
#include "convolve_fft.h"

#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/threads.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Multiply-adds that checking every element may cost, and that samples may cost: below 1 s of one core. At least FEWEST
 * elements are sampled, but not more than a SHARE of a small result, which naive sums faster; at most MOST. */
static const double MOST_WORK[] = {0x1p29, 0x1p30}, SAMPLED_WORK = 0x1p28; /* of vectors; of images */
enum { FEWEST = 1 << 12, SHARE = 8, MOST = 1 << 19, CORNERS = 4, EDGES = 4 };
enum { DEFINED = 64, BAND = 1 << 16 }; /* elements that a thread defines, or compares with the reference, at a time */

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
    fl_mode mode;
    double fft_error; /* what the variant fft may add to each bound; NaN: the check computes it where it needs it */
    double most;      /* that a magnitude of the result can be; NaN: likewise */
    int64_t work;     /* multiply-adds that were done */
    bool whole;       /* all elements by the reference; else `count` of them by the definition */
    int64_t count;
    int64_t *places; /* of the elements, row-major; NULL: all in order */
    host_array expected, bound;
    bool later; /* all elements are expected, by the check and of these: */
    host_array inputs[2];
    fl_dtype dtype;
    bool negative; /* there are negative elements in them */
};

static bool has_negative_element(const host_array *array)
{
    for (int64_t i = 0, size = host_array_size(array); i < size; i++)
        if (host_array_get(array, i) < 0)
            return true;
    return false;
}

/* The largest magnitude of the array's finite elements. */
static double largest_of(const host_array *array)
{
    double largest = 0;

    for (int64_t i = 0, size = host_array_size(array); i < size; i++) {
        const double magnitude = fabs(host_array_get(array, i));
        largest = magnitude > largest && isfinite(magnitude) ? magnitude : largest;
    }
    return largest;
}

/* An upper bound of the result's magnitudes, from the finite elements of the inputs. */
static double most_of(const host_array *image, const host_array *kernel)
{
    double sum = 0;

    for (int64_t i = 0, size = host_array_size(kernel); i < size; i++)
        sum += isfinite(host_array_get(kernel, i)) ? fabs(host_array_get(kernel, i)) : 0;
    return 1.001 * sum * largest_of(image); /* 0.1 % for rounding */
}

/* Where the result starts within the full one, in a dimension (flynn.h). */
static int64_t origin_of(fl_mode mode, int64_t image, int64_t kernel)
{
    return mode == FL_FULL ? 0 : mode == FL_SAME ? (kernel - 1) / 2 : int64_smaller(image, kernel) - 1;
}

/* Every element by the reference, for the inputs or for their absolute values. */
static host_array by_reference(const convolve_oracle *o, fl_device *device, const host_array *inputs, fl_mode mode,
                               bool absolute)
{
    const bool line = o->ndim == 1;
    const fl_run run = {.variant = "reference", .stream = reference_stream(device)};
    fl_array *in[2], *out;

    for (int i = 0; i < 2; i++)
        in[i] = reference_upload(device, &inputs[i], absolute);
    must(fl_array_create(device, o->dtype, o->ndim, o->shape + line, &out));
    if (o->window && line)
        must(fl_convolve1d_window(device, in[0], in[1], o->origin[1], out, &run));
    else if (o->window)
        must(fl_convolve_window(device, in[0], in[1], o->origin, out, &run));
    else
        must((line ? fl_convolve1d : fl_convolve)(device, in[0], in[1], mode, out, &run));
    fl_stream_free(run.stream);
    for (int i = 0; i < 2; i++)
        fl_array_free(in[i]);
    return reference_fetch(out);
}

static fl_device *open_reference(const convolve_oracle *o)
{
    return reference_device(o->ndim == 1 ? "convolve1d" : "convolve", "reference");
}

/* Without signs nothing cancels, and the values are the sums over absolute values. */
static void expect_all(convolve_oracle *o, fl_device *device, const host_array *inputs, fl_mode mode)
{
    host_array magnitudes = {0};

    o->expected = by_reference(o, device, inputs, mode, false);
    if (o->negative)
        magnitudes = by_reference(o, device, inputs, mode, true);
    o->bound = reference_convert(o->negative ? &magnitudes : &o->expected, FL_F64);
    host_array_free(&magnitudes);
}

/* From sums of absolute values to what rounding may change; where products underflow, that is more (docs/accuracy.md).
 */
static void scale_bounds(convolve_oracle *o)
{
    double *bounds = o->bound.data;

    for (int64_t n = 0; n < o->count; n++)
        bounds[n] = (double)(o->terms + 16) * unit_roundoff(o->dtype) * bounds[n] +
                    2 * (double)o->terms * smallest_subnormal(o->dtype);
}

/* A place in each of `count` parts, in order, so that the rows of the image that neighbours share are still in the
 * cache. The first places are moved to the corners, and every fourth of an image's to an edge. */
static void choose_places(convolve_oracle *o, uint64_t seed)
{
    const int64_t size = o->shape[0] * o->shape[1];
    const double samples = fmax(SAMPLED_WORK / (double)o->terms, fmin(FEWEST, (double)size / SHARE));
    random_state random = random_start(seed);

    o->count = int64_smaller(size, (int64_t)fmax(1, fmin(samples, MOST)));
    if (o->count == size)
        return;
    o->places = memory_zeroed((size_t)o->count, sizeof *o->places);
    for (int64_t i = 0; i < o->count; i++) {
        const int64_t first = i * size / o->count, end = (i + 1) * size / o->count;
        const int64_t place = first + random_below(&random, end - first);
        int64_t at[] = {place / o->shape[1], place % o->shape[1]};
        for (int d = 0; d < 2; d++)
            if (i < CORNERS)
                at[d] = (i >> d & 1) * (o->shape[d] - 1);
            else if (o->ndim == 2 && i % EDGES == 0 && i / EDGES % 2 == d)
                at[d] = random_below(&random, 2) * (o->shape[d] - 1);
        o->places[i] = at[0] * o->shape[1] + at[1];
    }
}

/* Adds a row's products, the image read backwards from its element `from`. One sum would wait for each addition before
 * the next. The dtype of f32, which most inputs are, is looked at once. */
static void add_row(const host_array *image, int64_t from, const double *kernel, int64_t count, long double *sum,
                    double *magnitude)
{
    enum { CHUNK = 64 };
    const float *const floats = image->dtype == FL_F32 ? image->data : NULL;
    long double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    double magnitudes[4] = {0}, pixels[CHUNK];

    for (int64_t start = 0; start < count; start += CHUNK) {
        const double *const weights = kernel + start;
        int64_t q = 0, length = count - start < CHUNK ? count - start : CHUNK;

        for (int64_t k = 0, last = from - start; k < length; k++)
            pixels[k] = floats ? floats[last - k] : host_array_get(image, last - k);
        for (; q + 4 <= length; q += 4) {
            s0 += (long double)pixels[q] * weights[q];
            s1 += (long double)pixels[q + 1] * weights[q + 1];
            s2 += (long double)pixels[q + 2] * weights[q + 2];
            s3 += (long double)pixels[q + 3] * weights[q + 3];
            for (int64_t k = 0; k < 4; k++)
                magnitudes[k] += fabs(pixels[q + k] * weights[q + k]);
        }
        for (int64_t k = q; k < length; k++) /* at most three, of the last chunk */
            magnitudes[k - q] += fabs(pixels[k] * weights[k]);
        s0 += q < length ? (long double)pixels[q] * weights[q] : 0;
        s1 += q + 1 < length ? (long double)pixels[q + 1] * weights[q + 1] : 0;
        s2 += q + 2 < length ? (long double)pixels[q + 2] * weights[q + 2] : 0;
    }
    *sum += s0 + s1 + (s2 + s3);
    *magnitude += magnitudes[0] + magnitudes[1] + (magnitudes[2] + magnitudes[3]);
}

/* The taps that meet the image in the element whose place in the full result is `at`. */
static taps taps_of(const int64_t *at, const host_array *image, const host_array *kernel)
{
    taps t;

    for (int d = 0; d < 2; d++) {
        t.first[d] = int64_larger(0, at[d] - image->shape[d] + 1);
        t.end[d] = int64_smaller(kernel->shape[d], at[d] + 1);
    }
    return t;
}

/* The inputs from which threads compute expected elements. */
typedef struct definition {
    convolve_oracle *oracle;
    host_array image, kernel;
    taps spoilt; /* which are not finite */
    _Atomic int64_t work;
} definition;

/* The n-th element from the products that it consists of. It is NaN where one of the spoilt taps meets the zeros of the
 * border. */
static void define_element(definition *by, int64_t n)
{
    const convolve_oracle *o = by->oracle;
    const host_array *image = &by->image, *kernel = &by->kernel;
    const int64_t place = o->places ? o->places[n] : n;
    const int64_t at[] = {place / o->shape[1] + o->origin[0], place % o->shape[1] + o->origin[1]};
    const double *weights = kernel->data;
    long double sum = 0;
    double magnitude = 0;
    const taps t = taps_of(at, image, kernel);

    for (int d = 0; d < 2; d++)
        if (by->spoilt.first[d] < t.first[d] || by->spoilt.end[d] > t.end[d])
            sum = NAN;
    for (int64_t p = t.first[0]; p < t.end[0]; p++)
        add_row(image, (at[0] - p) * image->shape[1] + at[1] - t.first[1], weights + p * kernel->shape[1] + t.first[1],
                t.end[1] - t.first[1], &sum, &magnitude);
    atomic_fetch_add(&by->work, int64_larger(0, t.end[0] - t.first[0]) * int64_larger(0, t.end[1] - t.first[1]));
    host_array_set(&by->oracle->expected, n, (double)sum);
    host_array_set(&by->oracle->bound, n, magnitude);
}

static void define_some(void *user, int64_t i)
{
    definition *const by = user;

    for (int64_t n = i * DEFINED; n < int64_smaller((i + 1) * DEFINED, by->oracle->count); n++)
        define_element(by, n);
}

/* The smallest rectangle that holds all taps that are not finite; empty where there is no border. */
static taps taps_not_finite(const host_array *kernel, bool border)
{
    taps t = {{INT64_MAX, INT64_MAX}, {0, 0}};

    for (int64_t i = 0, size = host_array_size(kernel); border && i < size; i++)
        for (int d = 0; d < 2 && !isfinite(host_array_get(kernel, i)); d++) {
            const int64_t at = d == 0 ? i / kernel->shape[1] : i % kernel->shape[1];
            t.first[d] = int64_smaller(t.first[d], at);
            t.end[d] = int64_larger(t.end[d], at + 1);
        }
    return t;
}

/* Returns a signal as an image of one row, over the same memory. */
static host_array as_image(const host_array *array)
{
    return array->ndim == 1 ? (host_array){array->dtype, 2, {1, array->shape[0], 1, 1}, array->data} : *array;
}

/* Some elements by the definition, or all of a small result. */
static void expect_samples(convolve_oracle *o, const host_array *inputs, fl_mode mode, uint64_t seed)
{
    host_array weights = reference_convert(&inputs[1], FL_F64);
    definition by = {.oracle = o, .image = as_image(&inputs[0]), .kernel = as_image(&weights)};

    by.spoilt = taps_not_finite(&by.kernel, o->ndim == 2 && mode != FL_VALID);
    choose_places(o, seed);
    o->expected = reference_array(o->dtype, 1, &o->count);
    o->bound = reference_array(FL_F64, 1, &o->count);
    threads_share(group_threads(), (o->count + DEFINED - 1) / DEFINED, define_some, &by);
    o->work += by.work;
    host_array_free(&weights);
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

/* Returns whether the result is worth bands, and the kernel lies within the image, so that a few rows of the image are
 * enough for one. */
static bool has_bands(const convolve_oracle *o)
{
    const host_array *image = &o->inputs[0], *kernel = &o->inputs[1];

    return o->terms > 0 && o->count > BAND && kernel->shape[0] <= image->shape[0] &&
           kernel->shape[1] <= image->shape[1];
}

/* Computes the expected values of the result that `o` describes, unless the check may do so. */
static convolve_oracle *compute(convolve_oracle *o, const host_array *image, const host_array *kernel, fl_mode mode,
                                check_choice choice, uint64_t seed)
{
    const host_array inputs[] = {*image, *kernel};
    double work;

    memcpy(o->inputs, inputs, sizeof inputs);
    o->dtype = fl_dtype_float_result((fl_dtype[]){image->dtype, kernel->dtype}, 2);
    o->negative = has_negative_element(image) || has_negative_element(kernel);
    o->terms = int64_smaller(host_array_size(image), host_array_size(kernel));
    o->mode = mode;
    o->fft_error = o->later ? NAN : convolve_fft_error(image, kernel, mode, o->dtype);
    o->most = o->window ? most_of(image, kernel) : NAN; /* the image of a window may be freed before the check */
    /* The reference multiplies each tap of an image's kernel, also where it meets the border. */
    work = (double)o->shape[0] * (double)o->shape[1] * (o->negative ? 2 : 1) *
           (double)(o->ndim == 1 || mode == FL_VALID ? o->terms : host_array_size(kernel));
    o->whole = choice == CHECK_FULL || (choice == CHECK_AUTO && work <= MOST_WORK[o->ndim == 2]);
    o->whole = o->whole && (o->terms > 0 || !o->window); /* the reference refuses an empty window */
    o->count = o->shape[0] * o->shape[1];
    o->later = o->later && o->whole && has_bands(o);
    if (o->whole) {
        fl_device *device = open_reference(o); /* ends the command where there is none */
        o->work = (int64_t)work;
        if (!o->later)
            expect_all(o, device, inputs, mode);
        fl_device_close(device);
    } else {
        expect_samples(o, inputs, mode, seed);
    }
    if (!o->later)
        scale_bounds(o);
    return o;
}

static convolve_oracle *create(const host_array *image, const host_array *kernel, fl_mode mode, check_choice choice,
                               uint64_t seed, bool later)
{
    convolve_oracle *o = memory_zeroed(1, sizeof *o);

    o->ndim = image->ndim;
    o->later = later;
    measure_result(o, image, kernel, mode);
    return compute(o, image, kernel, mode, choice, seed);
}

convolve_oracle *convolve_oracle_create(const host_array *image, const host_array *kernel, fl_mode mode,
                                        check_choice choice, uint64_t seed)
{
    return create(image, kernel, mode, choice, seed, false);
}

convolve_oracle *convolve_oracle_later(const host_array *image, const host_array *kernel, fl_mode mode,
                                       check_choice choice, uint64_t seed)
{
    return create(image, kernel, mode, choice, seed, true);
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

/* An element's error may be its sum's rounding plus `added`, and in any case `least`. */
typedef struct allowance {
    double added, least;
} allowance;

/* Compares the elements that are expected. `result` starts with the element `first` of the whole one. */
static compare_result compare_expected(const convolve_oracle *o, const host_array *result, int64_t first,
                                       allowance also)
{
    compare_result found = compare_start();

    for (int64_t n = 0; n < o->count; n++) {
        const int64_t at = o->places ? o->places[n] : n;
        compare_add(&found, first + at, host_array_get(result, at), host_array_get(&o->expected, n),
                    fmax(host_array_get(&o->bound, n) + also.added, also.least));
    }
    return found;
}

/* A result that threads compare in bands of rows, or a signal's in pieces. */
typedef struct bands {
    const convolve_oracle *oracle;
    fl_device *device;
    const host_array *result;
    allowance also;
    int64_t rows, width; /* of a band */
} bands;

static host_array rows_of(const host_array *array, int64_t first, int64_t end)
{
    host_array rows = *array;

    rows.shape[0] = end - first;
    rows.data = (char *)array->data + (size_t)(first * array->shape[1]) * fl_dtype_size(array->dtype);
    return rows;
}

/* A band of the result needs as many rows of the image, and above them as many as the kernel has but one. */
static compare_result compare_band(const void *user, int64_t i)
{
    const bands *b = user;
    const convolve_oracle *o = b->oracle;
    const int d = o->ndim == 1;
    const int64_t first = i * b->rows, end = int64_smaller(first + b->rows, o->shape[d]);
    const int64_t above = int64_larger(0, first + o->origin[d] - (o->inputs[1].shape[0] - 1));
    const int64_t below = int64_smaller(o->inputs[0].shape[0], end + o->origin[d]);
    const host_array inputs[] = {rows_of(&o->inputs[0], above, below), o->inputs[1]};
    const host_array result = rows_of(b->result, first, end);
    convolve_oracle band = {.ndim = o->ndim,
                            .shape = {o->shape[0], o->shape[1]},
                            .origin = {o->origin[0], o->origin[1]},
                            .window = true,
                            .terms = o->terms,
                            .dtype = o->dtype,
                            .negative = o->negative};

    band.shape[d] = end - first;
    band.origin[d] = first + o->origin[d] - above;
    band.count = band.shape[0] * band.shape[1];
    expect_all(&band, b->device, inputs, FL_FULL);
    scale_bounds(&band);
    const compare_result found = compare_expected(&band, &result, first * b->width, b->also);
    host_array_free(&band.expected);
    host_array_free(&band.bound);
    return found;
}

static compare_result compare_bands(const convolve_oracle *o, const host_array *result, allowance also)
{
    const int64_t width = o->ndim == 1 ? 1 : o->shape[1], rows = int64_larger(1, BAND / width),
                  all = o->shape[0] * o->shape[1] / width;
    const bands b = {o, open_reference(o), result, also, rows, width};
    const compare_result found = reference_blocks((all + rows - 1) / rows, compare_band, &b);

    fl_device_close(b.device);
    return found;
}

/* The error that a tolerance allows: that part of the result's largest magnitude. A wrong result may have any
 * magnitude, so it counts up to the bound that the inputs give. */
static double allowed(const convolve_oracle *o, const host_array *result, double tolerance)
{
    if (tolerance == 0 || o->count == 0)
        return 0;
    return tolerance * fmin(largest_of(result), isnan(o->most) ? most_of(&o->inputs[0], &o->inputs[1]) : o->most);
}

compare_result convolve_oracle_check(const convolve_oracle *o, const host_array *result, const char *variant,
                                     double tolerance, char *method, size_t size)
{
    const bool fft = strcmp(variant, "fft") == 0 && tolerance == 0;
    const allowance also = {!fft                  ? 0
                            : isnan(o->fft_error) ? convolve_fft_error(&o->inputs[0], &o->inputs[1], o->mode, o->dtype)
                                                  : o->fft_error,
                            allowed(o, result, tolerance)};
    char samples[64] = "reference", within[64] = "";

    if (!o->whole)
        snprintf(samples, sizeof samples, "definition, %s%" PRId64 " %selements", o->places ? "" : "all ", o->count,
                 o->places ? "sampled " : "");
    if (tolerance > 0)
        snprintf(within, sizeof within, "; within %g of the largest element", tolerance);
    snprintf(method, size, "%s%s", samples, fft ? "; error relative to the largest sums" : within);
    const compare_result found = o->later ? compare_bands(o, result, also) : compare_expected(o, result, 0, also);
    return o->whole ? reference_verdict(found, variant, method, size) : found;
}
