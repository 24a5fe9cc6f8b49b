/* SPDX-License-Identifier: MIT
 *
 * fl_run.tolerance: each variant states the least that it takes, and keeps it for data of any scale.
 */
#include "calls.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype floats[] = {FL_F32, FL_F64};

/* ------------------------------------------------------------------------------------------ every operation ---- */

static fl_status status_of(fl_device *device, const struct call *call, double tolerance, fl_timing *timing)
{
    const fl_run run = {.tolerance = tolerance, .timing = timing};
    struct call with = *call;
    with.with = &run;
    struct outputs got = run_call(device, &with, NULL, NULL);
    free(got.bytes);
    return got.status;
}

/* Each variant takes the tolerance that it says, and none below; what computes the user's text takes none. */
static void visit(fl_device *device, const struct call *call, void *user)
{
    fl_timing timing = {0};
    const bool none = strcmp(call->operation, "map") == 0 || strcmp(call->operation, "kernel") == 0 ||
                      strcmp(call->operation, "multiply_add") == 0;
    if (status_of(device, call, 0, &timing) != FL_OK) /* a library's variant that cannot run, or not on this input */
        return;
    cr_expect(timing.bound == 0, "%s: a bound of %g without a tolerance", call->text, timing.bound);
    const fl_status status = status_of(device, call, 1, &timing);
    if (none) {
        cr_expect(status == FL_E_ARGUMENT && strstr(fl_last_error(), "takes no tolerance"), "%s: %s, '%s'", call->text,
                  fl_status_name(status), fl_last_error());
        return;
    }
    if (status == FL_E_ARGUMENT && strcmp(call->variant, "randomized") == 0) {
        cr_expect(strstr(fl_last_error(), "nothing bounds its error"), "%s", fl_last_error());
        return;
    }
    cr_assert(status == FL_OK, "%s: %s, '%s'", call->text, fl_status_name(status), fl_last_error());
    const double bound = timing.bound;
    cr_expect(bound >= 0 && bound < 1, "%s: a bound of %g", call->text, bound);
    ++*(size_t *)user;
    if (bound == 0)
        return;
    cr_expect(bound >= DBL_EPSILON / 2, "%s: a bound of %g, less than a rounding", call->text, bound);
    cr_expect(status_of(device, call, bound, NULL) == FL_OK, "%s: %s", call->text, fl_last_error());
    cr_expect(status_of(device, call, DBL_EPSILON / 8, NULL) == FL_E_ARGUMENT &&
                  strstr(fl_last_error(), "; expected at least "),
              "%s: '%s'", call->text, fl_last_error());
}

ON_EVERY_BACKEND(tolerance, is_taken_from_the_stated_one_on)
{
    fl_device *device = open_device(on->resource);
    size_t calls = 0;
    for_every_call(device, visit, &calls);
    cr_expect(calls > 50, "%s: only %zu calls", on->resource, calls);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- convolve ---- */

enum content { BELOW_ONE, SIGNED, ONE_LARGE, TWO_SCALES, UNSEEN, CANCELLING, TINY, CONTENTS };
static const char *const content_names[] = {[BELOW_ONE] = "0..1",
                                            [SIGNED] = "-1..1",
                                            [ONE_LARGE] = "one of 10^6 among 0..1",
                                            [TWO_SCALES] = "two scales",
                                            [UNSEEN] = "one that no sum contains",
                                            [CANCELLING] = "sums that cancel",
                                            [TINY] = "products that underflow"};

static void scale(struct matrix *x, double factor, double offset)
{
    for (int64_t i = 0; i < x->shape[0] * x->shape[1]; i++)
        matrix_set(x, 0, i, matrix_get(x, 0, i) * factor + offset);
}

/* Random numbers are from -1 to 1. */
static void fill(struct matrix *image, struct matrix *kernel, enum content content)
{
    const int64_t rows = image->shape[0], columns = image->shape[1], taps = kernel->shape[0] * kernel->shape[1];
    double sum = 0;
    if (content == BELOW_ONE || content == ONE_LARGE || content == UNSEEN || content == CANCELLING) {
        scale(image, 0.5, 0.5);
        scale(kernel, 0.5, 0.5);
    }
    if (content == ONE_LARGE)
        matrix_set(image, rows / 3, columns / 3, 1e6);
    for (int64_t i = 0; content == TWO_SCALES && i < rows * columns; i++)
        matrix_set(image, 0, i, matrix_get(image, 0, i) * (i % columns < columns / 2 ? 1e6 : 1));
    if (content == UNSEEN) { /* in mode valid the first element meets the last tap alone */
        matrix_set(image, 0, 0, 1e9);
        matrix_set(kernel, 0, taps - 1, 0);
    }
    if (content == CANCELLING) { /* nearly constant, and weights whose sum is nearly 0 */
        scale(image, 1e-4, 1);
        for (int64_t i = 0; i < taps; i++)
            sum += matrix_get(kernel, 0, i);
        scale(kernel, 1, -sum / (double)taps);
    }
    if (content == TINY) {
        scale(image, image->dtype == FL_F32 ? 1e-22 : 1e-155, 0);
        scale(kernel, image->dtype == FL_F32 ? 1e-22 : 1e-155, 0);
    }
}

/* Fails unless each element is within the tolerance of the largest magnitude, or, where terms cancel, within the bound
 * of direct sums. */
static void expect_within(const struct expected *e, const struct matrix *got, double tolerance, int more, bool cancels,
                          const char *what)
{
    const double unit = (got->dtype == FL_F32 ? FLT_EPSILON : DBL_EPSILON) / 2;
    const double least = got->dtype == FL_F32 ? 0x1p-149 : 0x1p-1074;
    double largest = 0, worst = 0;
    int64_t at = -1;
    for (int64_t i = 0; i < e->shape[0] * e->shape[1]; i++)
        largest = fmax(largest, fabs(e->value[i]));
    for (int64_t i = 0; i < e->shape[0] * e->shape[1]; i++) {
        const double own = (double)(e->terms + more) * unit * e->magnitude[i] + 2 * (double)e->terms * least;
        const double excess = fabs(matrix_get(got, 0, i) - e->value[i]) / fmax(cancels ? own : 0, tolerance * largest);
        if (!(excess <= worst)) {
            worst = excess;
            at = i;
        }
    }
    cr_expect(worst <= 1, "%s: element %lld is %g, expected %g: %.3g times what is accepted; the largest is %g", what,
              (long long)at, matrix_get(got, 0, at), e->value[at], worst, largest);
}

/* A call in two dimensions, or in one of images of one row. */
static fl_status convolve(fl_device *device, const fl_array *const *in, fl_mode mode, fl_array *out, const fl_run *run)
{
    const bool line = fl_array_ndim(in[0]) == 1;
    const fl_status status = (line ? fl_convolve1d : fl_convolve)(device, in[0], in[1], mode, out, run);
    return status ? status : fl_device_wait(device);
}

static fl_array *array_of(fl_device *device, const struct matrix *m, bool line)
{
    fl_array *array;
    must(fl_array_from_host(device, m->dtype, line ? 1 : 2, m->shape + line, m->data, &array));
    return array;
}

/* A variant with the least tolerance that it takes, and with larger ones. */
static void check_variant(fl_device *device, const char *variant, const struct matrix *image,
                          const struct matrix *kernel, fl_mode mode, const struct expected *expected,
                          enum content content)
{
    const bool line = image->shape[0] == 1;
    const fl_array *in[] = {array_of(device, image, line), array_of(device, kernel, line)};
    fl_array *out;
    fl_timing timing = {0};
    char what[200];
    must(fl_array_create(device, image->dtype, line ? 1 : 2, expected->shape + line, &out));
    fl_status status = convolve(device, in, mode, out, &(fl_run){variant, .tolerance = 1, .timing = &timing});
    for (int i = 0; i < 3 && status == FL_OK; i++) {
        const double tolerance = i == 0 ? timing.bound : i == 1 ? fmin(1, 8 * timing.bound) : fmax(timing.bound, 1e-3);
        struct matrix got = matrix_create(image->dtype, expected->shape[0], expected->shape[1]);
        status = convolve(device, in, mode, out, &(fl_run){variant, .tolerance = tolerance});
        snprintf(what, sizeof what, "%s %s %s %s %s, tolerance %g", fl_device_describe(device)->resource,
                 line ? "convolve1d" : "convolve", variant, fl_dtype_name(image->dtype), content_names[content],
                 tolerance);
        if (status == FL_OK) {
            must(fl_array_to_host(out, got.data));
            expect_within(expected, &got, tolerance, line ? 16 : 32,
                          content != BELOW_ONE && content != ONE_LARGE && content != UNSEEN, what);
        }
        matrix_free(&got);
    }
    cr_expect(status == FL_OK || strcmp(variant, "separable") == 0, "%s: %s", variant, fl_last_error());
    free_arrays((fl_array *)in[0], (fl_array *)in[1], out);
}

static void check_content(fl_device *device, fl_dtype dtype, enum content content, bool line)
{
    const int64_t edge = is_slow(device) ? 90 : 130;
    struct matrix image =
        line ? matrix_random(dtype, 1, is_slow(device) ? 9000 : 20000, 1) : matrix_random(dtype, edge, edge - 9, 1);
    struct matrix kernel = line ? matrix_random(dtype, 1, 70, 2) : matrix_random(dtype, 9, 11, 2);
    const fl_mode mode = content == UNSEEN ? FL_VALID : content % 2 ? FL_SAME : FL_FULL;
    const char *variant;
    fill(&image, &kernel, content);
    struct expected expected = expected_convolve(&image, &kernel, mode);
    check_variant(device, "auto", &image, &kernel, mode, &expected, content);
    for (size_t i = 0; (variant = variant_of(device, line ? "convolve1d" : "convolve", dtype, i)) != NULL; i++)
        check_variant(device, variant, &image, &kernel, mode, &expected, content);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
}

ON_EVERY_BACKEND(tolerance, is_kept_by_convolutions)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int content = 0; content < CONTENTS; content++)
            for (int line = 0; line < 2; line++)
                if (!is_left_out(3))
                    check_content(device, floats[d], (enum content)content, line);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- the choice ---- */

/* Convolves in mode same by `variant`; returns the variant that ran, "" where the call is refused. */
static const char *choice_of(fl_device *device, const struct matrix *image, const struct matrix *kernel,
                             const char *variant, double tolerance)
{
    const bool line = image->shape[0] == 1;
    const fl_array *in[] = {array_of(device, image, line), array_of(device, kernel, line)};
    fl_array *out = array_of(device, image, line);
    fl_timing timing = {0};
    const fl_status status =
        convolve(device, in, FL_SAME, out, &(fl_run){.variant = variant, .tolerance = tolerance, .timing = &timing});
    free_arrays((fl_array *)in[0], (fl_array *)in[1], out);
    return status == FL_OK ? timing.variant : "";
}

static void expect_choice(fl_device *device, const struct matrix *image, const struct matrix *kernel, double tolerance,
                          const char *wanted)
{
    const char *got = choice_of(device, image, kernel, "auto", tolerance);
    cr_expect(strcmp(got, wanted) == 0, "%s %s %lldx%lld, tolerance %g: auto took '%s', not '%s'; %s",
              fl_device_describe(device)->resource, fl_dtype_name(image->dtype), (long long)kernel->shape[0],
              (long long)kernel->shape[1], tolerance, got, wanted, fl_last_error());
}

/* Large kernels by an FFT in the inputs' own dtype, as soon as the tolerance allows it; in f32 fft-wide below that. */
ON_EVERY_BACKEND(tolerance, lets_auto_take_fft)
{
    fl_device *device = open_device(on->resource);
    for (int line = 0; line < 2; line++)
        for (size_t d = 0; d < COUNT(floats); d++) {
            const int64_t edge = is_gpu(device) ? 400 : 150, taps = is_gpu(device) ? 80 : 41;
            struct matrix image = line ? matrix_random(floats[d], 1, is_gpu(device) ? 200000 : 20000, 1)
                                       : matrix_random(floats[d], edge, edge, 1);
            struct matrix kernel = line ? matrix_random(floats[d], 1, is_gpu(device) ? 5500 : 1200, 2)
                                        : matrix_random(floats[d], taps, taps, 2);
            const bool fft = *choice_of(device, &image, &kernel, "fft", 0),
                       wide = *choice_of(device, &image, &kernel, "fft-wide", 0);
            expect_choice(device, &image, &kernel, floats[d] == FL_F32 ? 0.05 : 1e-6, fft ? "fft" : "tiled");
            expect_choice(device, &image, &kernel, floats[d] == FL_F32 ? 1e-6 : 1e-14,
                          floats[d] == FL_F32 && wide ? "fft-wide" : "");
            if (!line) {
                struct matrix product = matrix_random_rank_one(floats[d], taps, taps, 2);
                expect_choice(device, &image, &product, floats[d] == FL_F32 ? 0.05 : 1e-6, "separable");
                matrix_free(&product);
            }
            matrix_free(&image);
            matrix_free(&kernel);
        }
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------------- svd ---- */

/* Nothing bounds the error of random vectors, but where they span the whole matrix. */
ON_EVERY_BACKEND(tolerance, is_not_taken_by_random_vectors)
{
    fl_device *device = open_device(on->resource);
    const int64_t kept[] = {3, 20};
    struct matrix a = matrix_random(FL_F64, 40, 30, 1);
    fl_array *in = array_from(device, &a), *u, *s, *vt;
    for (size_t i = 0; i < COUNT(kept); i++) {
        fl_timing timing = {0};
        must(fl_array_create(device, FL_F64, 2, (int64_t[]){40, kept[i]}, &u));
        must(fl_array_create(device, FL_F64, 1, &kept[i], &s));
        must(fl_array_create(device, FL_F64, 2, (int64_t[]){kept[i], 30}, &vt));
        const fl_status status = fl_svd(device, in, 1, u, s, vt, &(fl_run){.variant = "randomized", .tolerance = 0.5});
        cr_expect(status == (kept[i] + 10 < 30 ? FL_E_ARGUMENT : FL_OK), "%s, %lld values: %s", on->resource,
                  (long long)kept[i], fl_status_name(status));
        must(fl_svd(device, in, 1, u, s, vt, &(fl_run){.tolerance = 1e-13, .timing = &timing}));
        cr_expect(strcmp(timing.variant, "randomized") != 0 &&
                      fabs(timing.bound / ((32 + 8 * sqrt(40)) * 0x1p-53) - 1) < 1e-9,
                  "%s: %s, %g", on->resource, timing.variant, timing.bound);
        free_arrays(u, s, vt);
    }
    free_arrays(in);
    matrix_free(&a);
    fl_device_close(device);
}

/* Decomposes a random matrix whole; returns the variant that ran, "" where the call is refused. */
static const char *svd_choice_of(fl_device *device, fl_dtype dtype, int64_t rows, int64_t columns, double tolerance)
{
    const int64_t k = rows < columns ? rows : columns;
    struct matrix a = matrix_random(dtype, rows, columns, 1);
    fl_array *in = array_from(device, &a), *u, *s, *vt;
    fl_timing timing = {0};
    must(fl_array_create(device, dtype, 2, (int64_t[]){rows, k}, &u));
    must(fl_array_create(device, dtype, 1, &k, &s));
    must(fl_array_create(device, dtype, 2, (int64_t[]){k, columns}, &vt));
    const fl_status status = fl_svd(device, in, 1, u, s, vt, &(fl_run){.tolerance = tolerance, .timing = &timing});
    free_arrays(in, u, s, vt);
    matrix_free(&a);
    return status == FL_OK ? timing.variant : "";
}

static bool has_library(const fl_device *device)
{
    const char *variant;
    bool found = false;
    for (size_t v = 0; (variant = variant_of(device, "svd", FL_F64, v)) != NULL; v++)
        found = found || strcmp(variant, "library") == 0;
    return found;
}

/* f64 in f32, where the tolerance allows it and it is faster: not without a library, and by LAPACK not of small
 * matrices and of long ones with few columns. */
ON_EVERY_BACKEND(tolerance, lets_auto_decompose_in_f32)
{
    static const struct {
        int64_t rows, columns;
        bool pays;
    } shapes[] = {{8, 8, false},  {9, 9, true},  {40, 30, true},  {30, 64, true},
                  {64, 64, true}, {7, 7, false}, {300, 12, false}};
    fl_device *device = open_device(on->resource), *processor = open_device("serial");
    /* A GPU without a solver has the processor's LAPACK. */
    const bool solver = is_gpu(device) && has_library(device), lapack = !solver && has_library(processor);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const int64_t m = shapes[i].rows, n = shapes[i].columns;
        const double bound = (33 + 8 * sqrt((double)(m > n ? m : n))) * 0x1p-24;
        const bool wanted = solver || (lapack && shapes[i].pays);
        const double tolerances[] = {0, bound * (1 - 1e-9), bound, 1};
        for (size_t t = 0; t < COUNT(tolerances); t++) {
            const char *got = svd_choice_of(device, FL_F64, m, n, tolerances[t]);
            cr_expect(*got && (strcmp(got, "single") == 0) == (wanted && tolerances[t] >= bound),
                      "%s, %lldx%lld, tolerance %g: auto took '%s'; %s", on->resource, (long long)m, (long long)n,
                      tolerances[t], got, fl_last_error());
        }
        const char *got = svd_choice_of(device, FL_F32, m, n, 1);
        cr_expect(*got && strcmp(got, "single") != 0, "%s, f32: auto took '%s'", on->resource, got);
    }
    fl_device_close(processor);
    fl_device_close(device);
}
