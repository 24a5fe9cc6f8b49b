/* SPDX-License-Identifier: MIT */
#include "convolve1d.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fl_dtype dtype_of(const struct matrix *signal, const struct matrix *kernel)
{
    return signal->dtype == FL_F32 && kernel->dtype == FL_F32 ? FL_F32 : FL_F64;
}

/* ----------------------------------------------------------------------------------------- the expected result ---- */

/* Element m of the full result. */
static void sum_element(struct sums *sums, const struct matrix *signal, const struct matrix *kernel, int64_t m,
                        int64_t i)
{
    long double sum = 0, magnitude = 0;
    for (int64_t p = 0; p < kernel->shape[1]; p++)
        if (m - p >= 0 && m - p < signal->shape[1]) {
            long double term = (long double)matrix_get(signal, 0, m - p) * matrix_get(kernel, 0, p);
            sum += term;
            magnitude += fabsl(term);
        }
    sums->value[i] =
        dtype_of(signal, kernel) == FL_F32 && fabsl(sum) > FLT_MAX ? (double)(sum * INFINITY) : (double)sum;
    sums->magnitude[i] = (double)magnitude;
}

struct sums sums_create(const struct matrix *signal, const struct matrix *kernel, fl_mode mode)
{
    int64_t size = signal->shape[1], taps = kernel->shape[1], shorter = size < taps ? size : taps;
    int64_t origin = mode == FL_FULL ? 0 : mode == FL_SAME ? (taps - 1) / 2 : shorter - 1;
    const struct matrix *longer = size < taps ? kernel : signal, *other = size < taps ? signal : kernel;
    struct sums sums = {.terms = shorter};
    must(fl_convolve1d_shape(size, taps, mode, &sums.length));
    size_t bytes = 2 * (size_t)sums.length * sizeof(double); /* the magnitudes lie behind the values */
    sums.value = malloc(bytes + 1);
    sums.magnitude = sums.value + sums.length;
    uint64_t key = hash_matrix(hash_matrix((uint64_t)mode, signal), kernel);
    if (!recall(key, sums.value, bytes)) {
        for (int64_t i = 0; i < sums.length; i++)
            sum_element(&sums, signal, kernel, i + origin, i);
        remember(key, sums.value, bytes);
    }
    for (int64_t i = 0; i < longer->shape[1]; i++)
        if (isfinite(matrix_get(longer, 0, i))) /* else the block is summed directly */
            sums.signal_norm += matrix_get(longer, 0, i) * matrix_get(longer, 0, i);
    sums.signal_norm = sqrt(sums.signal_norm);
    for (int64_t i = 0; i < shorter; i++)
        if (isfinite(matrix_get(other, 0, i)))
            sums.kernel_norm += matrix_get(other, 0, i) * matrix_get(other, 0, i);
    sums.kernel_norm = sqrt(sums.kernel_norm);
    return sums;
}

void sums_free(struct sums *sums)
{
    free(sums->value);
}

/* Blocks of at most N elements; flynn.h says how this follows from Higham's theorem 24.2. */
double fft_bound(fl_dtype dtype, int64_t taps, double signal_norm, double kernel_norm)
{
    double length = fmax(65536, 16 * (double)taps), epsilon = dtype == FL_F32 ? FLT_EPSILON : DBL_EPSILON;
    return 10 * (log2(length) + 2) * epsilon * signal_norm * kernel_norm;
}

/* A sum of n products in any order is wrong by at most n units of rounding of the sum over absolute values (Higham,
 * "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.1); flynn.h grants 16 more, and the expected
 * value, in f64, may be off by as many again: epsilon is two units. Written so that a NaN fails. */
static bool element_near(const struct sums *sums, int64_t i, fl_dtype dtype, bool fft, double got)
{
    double wanted = sums->value[i], epsilon = dtype == FL_F32 ? FLT_EPSILON : DBL_EPSILON;
    double bound = (double)(sums->terms + 16) * epsilon * sums->magnitude[i];
    if (isnan(wanted))
        return isnan(got);
    if (isinf(wanted))
        return got == wanted;
    if (fft)
        bound += fft_bound(dtype, sums->terms, sums->signal_norm, sums->kernel_norm);
    return fabs(got - wanted) <= bound;
}

static int64_t first_not_near(const struct sums *sums, const struct matrix *got, bool fft)
{
    for (int64_t i = 0; i < sums->length; i++)
        if (!element_near(sums, i, got->dtype, fft, matrix_get(got, 0, i)))
            return i;
    return -1;
}

bool sums_are_near(const struct sums *sums, const struct matrix *got, bool fft)
{
    return got->shape[1] == sums->length && first_not_near(sums, got, fft) < 0;
}

void sums_expect(const struct sums *sums, const struct matrix *got, bool fft, const char *what, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    cr_assert(got->shape[1] == sums->length, "%s: %lld elements, expected %lld", text, (long long)got->shape[1],
              (long long)sums->length);
    int64_t i = first_not_near(sums, got, fft);
    if (i >= 0)
        cr_expect(false, "%s: [%lld]: expected %.17g, got %.17g, sum over absolute values %g", text, (long long)i,
                  sums->value[i], matrix_get(got, 0, i), sums->magnitude[i]);
}

/* ------------------------------------------------------------------------------------------------------- calls ---- */

fl_array *vector_inside(fl_device *device, const struct matrix *vector, int64_t start)
{
    int64_t size = vector->shape[1], whole_size = size + start + 5;
    struct matrix larger = matrix_create(vector->dtype, 1, whole_size);
    double outside = vector->dtype == FL_F32 || vector->dtype == FL_F64 ? (double)NAN : 111.0;
    fl_array *whole = NULL, *view = NULL;
    for (int64_t i = 0; i < whole_size; i++)
        matrix_set(&larger, 0, i, outside);
    memcpy((char *)larger.data + (size_t)start * fl_dtype_size(vector->dtype), vector->data,
           (size_t)size * fl_dtype_size(vector->dtype));
    must(fl_array_from_host(device, vector->dtype, 1, &whole_size, larger.data, &whole));
    must(fl_array_view(whole, &start, &size, &view));
    fl_array_free(whole);
    matrix_free(&larger);
    return view;
}

void check_one(fl_device *device, const struct matrix *signal, const struct matrix *kernel, fl_mode mode,
               const fl_run *run, const struct sums *sums, struct starts starts)
{
    static const char *const modes[] = {"full", "same", "valid"};
    const char *variant = run && run->variant ? run->variant : "auto";
    char what[200];
    snprintf(what, sizeof what, "%s %s %s %lld * %s %lld %s block %dx%d starts %lld %lld %lld",
             fl_device_describe(device)->resource, variant, fl_dtype_name(signal->dtype), (long long)signal->shape[1],
             fl_dtype_name(kernel->dtype), (long long)kernel->shape[1], modes[mode], run ? run->block[0] : 0,
             run ? run->block[1] : 0, (long long)starts.signal, (long long)starts.kernel, (long long)starts.out);
    fl_array *a = vector_inside(device, signal, starts.signal), *b = vector_inside(device, kernel, starts.kernel);
    struct guarded guarded = guarded_create(device, dtype_of(signal, kernel), 1, &sums->length, starts.out);
    fl_status status = fl_convolve1d(device, a, b, mode, guarded.out, run);
    status = status ? status : fl_device_wait(device);
    cr_expect(status == FL_OK, "%s: %s", what, fl_last_error());
    if (status == FL_OK) {
        struct matrix got = matrix_create(dtype_of(signal, kernel), 1, sums->length);
        guarded_copy(&guarded, got.data, what);
        sums_expect(sums, &got, strcmp(variant, "fft") == 0, "%s", what);
        matrix_free(&got);
    }
    guarded_free(&guarded);
    free_arrays(a, b);
}

void check_variants(fl_device *device, const struct matrix *signal, const struct matrix *kernel, fl_mode mode,
                    const struct sums *sums)
{
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "convolve1d", dtype_of(signal, kernel), v)) != NULL; v++)
        check_one(device, signal, kernel, mode, &(fl_run){.variant = variant}, sums,
                  (struct starts){sums->length % 4, sums->terms % 3, sums->length % 5});
}

void check_random(fl_device *device, fl_dtype dtype, int64_t size, int64_t taps, fl_mode mode, uint64_t seed)
{
    if (is_left_out(4))
        return;
    struct matrix signal = matrix_random(dtype, 1, size, seed), kernel = matrix_random(dtype, 1, taps, seed + 1000);
    struct sums sums = sums_create(&signal, &kernel, mode);
    check_variants(device, &signal, &kernel, mode, &sums);
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
}

struct matrix convolved(fl_device *device, const struct matrix *signal, const struct matrix *kernel, fl_mode mode,
                        const fl_run *run)
{
    fl_array *a = vector_inside(device, signal, 0), *b = vector_inside(device, kernel, 0), *out = NULL;
    fl_dtype dtype = dtype_of(signal, kernel);
    int64_t length;
    must(fl_convolve1d_shape(signal->shape[1], kernel->shape[1], mode, &length));
    struct matrix result = matrix_create(dtype, 1, length);
    must(fl_array_create(device, dtype, 1, &length, &out));
    must(fl_convolve1d(device, a, b, mode, out, run));
    must(fl_array_to_host(out, result.data));
    free_arrays(a, b, out);
    return result;
}
