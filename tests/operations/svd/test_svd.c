/* SPDX-License-Identifier: MIT
 *
 * test_svd.c - the singular value decomposition: what it computes, held against SciPy's values and against what a
 * decomposition is, and how it is called.
 */
#include "../../../backends/shared/svd_sketch.h"
#include "decomposition.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every variant, the whole decomposition and a leading part. */
static void check_variants(fl_device *device, const struct matrix *a, const struct matrix *values, const char *name)
{
    const int64_t least = shorter(a), ranks[] = {least, (least + 2) / 3, 1};
    const char *variant;
    char what[160];
    for (size_t i = 0; (variant = variant_of(device, "svd", computed_in(a), i)) != NULL; i++)
        for (size_t r = 0; r < COUNT(ranks) && (r == 0 || ranks[r] < ranks[r - 1]); r++) {
            snprintf(what, sizeof what, "%s %s %s rank %lld", fl_device_describe(device)->resource, variant, name,
                     (long long)ranks[r]);
            struct factors f = decompose(device, a, ranks[r], 3, &(fl_run){.variant = variant}, what);
            expect_decomposition(a, &f, values, variant, what);
            factors_free(&f);
        }
}

/* The numbers of a sketch must be normally distributed, because the theorem of the expected error assumes it. So they
 * are compared with Box and Muller's formula in f64. A radius is at most 5.9, and four roundings of it are allowed. */
Test(svd, numbers_of_a_sketch_are_normal)
{
    for (uint64_t i = 0; i < 1000000; i++) {
        const uint64_t word = random_word(7, i);
        const float uniform = (float)(word >> 40) + 0.5f;
        const double radius = sqrt(-2 * log((double)uniform / 0x1p24));
        const double formula = radius * cos(2 * 3.14159265358979323846 * (double)(uint32_t)word / 0x1p32);
        const double seen = (double)random_normal(7, i);
        cr_assert(fabs(seen - formula) <= 4 * 5.9 * (double)FLT_EPSILON, "number %llu: %.9g, not %.9g",
                  (unsigned long long)i, seen, formula);
    }
    for (int x = 1; x <= 1 << 24; x *= 2) { /* uniform numbers next to 0 and 1 */
        const double near = -log(x / 0x1p24), seen = (double)random_minus_log((float)x);
        cr_expect(fabs(seen - near) <= 4 * (double)FLT_EPSILON * fabs(near) + 0x1p-24, "-ln(%d 2^-24)", x);
    }
}

/* ---------------------------------------------------------------------------------------------- against SciPy ---- */

static const char *const golden[] = {
    "square_f64", "square_f32", "tall_f64",   "tall_f32",    "wide_f64", "wide_f32", "one",          "row",
    "column_f32", "zeros",      "rank_3_f64", "rank_3_f32",  "ones_f32", "repeated", "identity_f32", "zero_columns",
    "graded",     "tiny_f32",   "tiny_f64",   "tiniest_f64", "huge_f32", "huge_f64", "hugest_f64",   "integers",
};

ON_EVERY_BACKEND(svd, as_scipy_has_it)
{
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(golden); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.a", golden[i]);
        struct matrix a = matrix_golden("svd", name);
        snprintf(name, sizeof name, "%s.s", golden[i]);
        struct matrix values = matrix_golden("svd", name);
        check_variants(device, &a, &values, golden[i]);
        matrix_free(&a);
        matrix_free(&values);
    }
    fl_device_close(device);
}

/* A slice through a brain, whole, in bytes: by what auto takes, in f32, and by the sketch. */
ON_EVERY_BACKEND(svd, a_brain)
{
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_golden("svd", "brain.a"), values = matrix_golden("svd", "brain.s");
    cr_assert(a.dtype == FL_U8 && a.shape[0] == 217 && a.shape[1] == 181);
    static const char *const variants[] = {"auto", "single", "randomized"};
    for (size_t i = 0; i < COUNT(variants); i++) {
        struct factors f = decompose(device, &a, 20, 3, &(fl_run){.variant = variants[i]}, on->resource);
        expect_decomposition(&a, &f, &values, variants[i], on->resource);
        factors_free(&f);
    }
    matrix_free(&a);
    matrix_free(&values);
    fl_device_close(device);
}

/* A matrix made of known factors: random orthonormal ones are those of a random matrix, by the oracle `jacobi`. Here
 * the values are known because the matrix is diagonal, in any order and of any sign. */
ON_EVERY_BACKEND(svd, random_shapes_of_diagonals)
{
    fl_device *device = open_device(on->resource);
    uint64_t state = 11;
    for (int round = 0; round < 8; round++) {
        const int64_t m = random_between(&state, 1, 40), n = random_between(&state, 1, 40);
        struct matrix a = matrix_create(round % 2 ? FL_F32 : FL_F64, m, n),
                      values = matrix_create(FL_F64, 1, shorter(&a));
        for (int64_t i = 0; i < shorter(&a); i++) {
            int64_t at = (i * 7 + round) % shorter(&a); /* a permutation unless 7 divides the edge */
            at = shorter(&a) % 7 ? at : i;
            matrix_set(&a, m - 1 - i, n - 1 - i, (double)(at + 1) * (at % 2 ? -1 : 1));
            matrix_set(&values, 0, shorter(&a) - 1 - at, (double)(at + 1));
        }
        check_variants(device, &a, &values, "a diagonal");
        matrix_free(&a);
        matrix_free(&values);
    }
    fl_device_close(device);
}

/* Every dtype of integers is computed in f64. */
ON_EVERY_BACKEND(svd, integers)
{
    static const fl_dtype dtypes[] = {FL_U8, FL_I32, FL_I64};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        struct matrix a = matrix_random(dtypes[i], 12, 9, 5);
        struct factors f = decompose(device, &a, 9, 0, NULL, on->resource);
        double first = matrix_get(&f.s, 0, 0);
        cr_expect(off_product(&a, &f, first) <= rounding(&a) * 3, "%s: %s: off by %g", on->resource,
                  fl_dtype_name(dtypes[i]), off_product(&a, &f, first));
        factors_free(&f);
        matrix_free(&a);
    }
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- randomized ---- */

/* Values that fall slowly, so that the sketch has something to miss: within the bound; the same for the same seed,
 * another for another, and better than a sketch without powers would be on average, by far. */
ON_EVERY_BACKEND(svd, a_sketch_is_near_and_reproducible)
{
    const int64_t k = 12;
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_random(FL_F32, 90, 70, 8);
    struct factors whole = decompose(device, &a, 70, 0, NULL, on->resource);
    struct factors f[3];
    for (int i = 0; i < 3; i++)
        f[i] = decompose(device, &a, k, i == 2 ? 78 : 77, &(fl_run){.variant = "randomized"}, on->resource);
    const size_t bytes = (size_t)(90 * k) * sizeof(float);
    cr_expect(memcmp(f[0].u.data, f[1].u.data, bytes) == 0, "%s: one seed gave two results", on->resource);
    cr_expect(memcmp(f[0].u.data, f[2].u.data, bytes) != 0, "%s: two seeds gave one result", on->resource);
    for (int i = 0; i < 3; i++) {
        double first = matrix_get(&whole.s, 0, 0), off = off_product(&a, &f[i], first), least = tail(&whole.s, k);
        cr_expect(off <= randomized_bound(&a, &whole.s, k) && off >= least * (1 - 1e-4),
                  "%s: off by %g, at least %g, at most %g", on->resource, off, least,
                  randomized_bound(&a, &whole.s, k));
        cr_expect(off <= 1.05 * least, "%s: off by %g, at least %g: the powers do not count", on->resource, off, least);
        factors_free(&f[i]);
    }
    factors_free(&whole);
    matrix_free(&a);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- how called ---- */

struct small_problem {
    struct matrix a;
    fl_array *in;
    struct guarded u, s, vt;
};

/* f32, 6 x 8, rank 4. */
static struct small_problem small_problem_create(fl_device *device)
{
    struct small_problem p = {.a = matrix_random(FL_F32, 6, 8, 2)};
    p.in = array_from(device, &p.a);
    p.u = guarded_create(device, FL_F32, 2, (int64_t[]){6, 4}, 3);
    p.s = guarded_create(device, FL_F32, 1, (int64_t[]){4}, 1);
    p.vt = guarded_create(device, FL_F32, 2, (int64_t[]){4, 8}, 2);
    return p;
}

static void expect_all_untouched(const struct small_problem *p, const char *what)
{
    expect_untouched(&p->u, what);
    expect_untouched(&p->s, what);
    expect_untouched(&p->vt, what);
}

static void small_problem_free(struct small_problem *p)
{
    guarded_free(&p->u);
    guarded_free(&p->s);
    guarded_free(&p->vt);
    fl_array_free(p->in);
    matrix_free(&p->a);
}

/* What has no decomposition is refused, by every variant, and nothing is written; the input stays as it is. */
ON_EVERY_BACKEND(svd, not_finite)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "svd", FL_F32, i)) != NULL; i++)
        for (size_t v = 0; v < COUNT(values); v++) {
            struct small_problem p = small_problem_create(device);
            struct matrix wrong = matrix_random(FL_F32, 6, 8, 2);
            matrix_set(&wrong, 5, 7, values[v]);
            fl_array *in = array_inside(device, &wrong);
            fl_run run = {.variant = variant};
            fl_status status = fl_svd(device, in, 1, p.u.out, p.s.out, p.vt.out, &run);
            status = status ? status : fl_device_wait(device);
            expect_argument_error(status, "finite");
            expect_all_untouched(&p, variant);
            must(fl_svd(device, p.in, 1, p.u.out, p.s.out, p.vt.out, &run));
            must(fl_device_wait(device));
            struct matrix after = matrix_create(FL_F32, 6, 8);
            must(fl_array_to_host(p.in, after.data));
            cr_expect(memcmp(after.data, p.a.data, 48 * sizeof(float)) == 0, "%s %s: changed a", on->resource, variant);
            matrix_free(&after);
            matrix_free(&wrong);
            fl_array_free(in);
            small_problem_free(&p);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(svd, wrong_outputs)
{
    static const struct {
        int place; /* of u, s, vt */
        fl_dtype dtype;
        int ndim;
        int64_t shape[3];
        const char *says;
    } wrong[] = {
        {0, FL_F32, 2, {6, 5}, "u"},    {0, FL_F64, 2, {6, 4}, "u"},     {0, FL_F32, 1, {24}, "u"},
        {1, FL_F32, 1, {7}, "s has 7"}, {1, FL_F32, 1, {0}, "s has 0"},  {1, FL_F32, 2, {1, 4}, "s"},
        {1, FL_F64, 1, {4}, "s"},       {1, FL_F32, 1, {3}, "u"},        {2, FL_F32, 2, {8, 4}, "vt"},
        {2, FL_I32, 2, {4, 8}, "vt"},   {2, FL_F32, 3, {1, 4, 8}, "vt"},
    };
    fl_device *device = open_device(on->resource);
    struct small_problem p = small_problem_create(device);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        fl_array *outputs[] = {p.u.out, p.s.out, p.vt.out}, *other = NULL;
        must(fl_array_create(device, wrong[i].dtype, wrong[i].ndim, wrong[i].shape, &other));
        outputs[wrong[i].place] = other;
        expect_argument_error(fl_svd(device, p.in, 1, outputs[0], outputs[1], outputs[2], NULL), wrong[i].says);
        fl_array_free(other);
    }
    expect_all_untouched(&p, on->resource);
    small_problem_free(&p);
    fl_device_close(device);
}

/* As numpy.linalg.svd: no singular values. */
ON_EVERY_BACKEND(svd, matrices_without_elements)
{
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}, {0, 0}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const int64_t m = shapes[i][0], n = shapes[i][1], none = 0, one = 1;
        fl_array *a, *u, *s, *vt, *more;
        const char *variant;
        must(fl_array_create(device, FL_F64, 2, shapes[i], &a));
        must(fl_array_create(device, FL_F64, 2, (int64_t[]){m, 0}, &u));
        must(fl_array_create(device, FL_F64, 1, &none, &s));
        must(fl_array_create(device, FL_F64, 2, (int64_t[]){0, n}, &vt));
        must(fl_array_create(device, FL_F64, 1, &one, &more));
        for (size_t v = 0; (variant = variant_of(device, "svd", FL_F64, v)) != NULL; v++)
            must(fl_svd(device, a, 1, u, s, vt, &(fl_run){.variant = variant}));
        expect_status(FL_E_UNKNOWN, fl_svd(device, a, 1, u, s, vt, &(fl_run){.variant = "no"}));
        expect_argument_error(fl_svd(device, a, 1, u, more, vt, NULL), "s has 1 elements; expected 0 to 0");
        free_arrays(a, u, s, vt, more);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(svd, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *elsewhere = open_device(on->resource);
    struct small_problem p = small_problem_create(device), q = small_problem_create(elsewhere);
    fl_array *a = p.in, *u = p.u.out, *s = p.s.out, *vt = p.vt.out, *empty = NULL, *line = NULL;
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){0, 4}, &empty));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){12}, &line));
    expect_argument_error(fl_svd(NULL, a, 1, u, s, vt, NULL), "device");
    expect_argument_error(fl_svd(device, NULL, 1, u, s, vt, NULL), "a");
    expect_argument_error(fl_svd(device, a, 1, NULL, s, vt, NULL), "u");
    expect_argument_error(fl_svd(device, a, 1, u, NULL, vt, NULL), "s");
    expect_argument_error(fl_svd(device, a, 1, u, s, NULL, NULL), "vt");
    expect_status(FL_E_ARGUMENT, fl_svd(device, empty, 1, u, s, vt, NULL));
    expect_status(FL_E_ARGUMENT, fl_svd(device, line, 1, u, s, vt, NULL));
    expect_status(FL_E_WRONG_DEVICE, fl_svd(device, q.in, 1, u, s, vt, NULL));
    expect_status(FL_E_WRONG_DEVICE, fl_svd(device, a, 1, u, s, q.vt.out, NULL));
    expect_error_says("vt");
    expect_status(FL_E_UNKNOWN, fl_svd(device, a, 1, u, s, vt, &(fl_run){.variant = "randomised"}));
    expect_error_says("randomized");
    expect_status(FL_E_ARGUMENT, fl_svd(device, a, 1, u, s, vt, &(fl_run){.block = {-1, 1, 1}}));
    expect_all_untouched(&p, on->resource);
    free_arrays(empty, line);
    small_problem_free(&p);
    small_problem_free(&q);
    fl_device_close(device);
    fl_device_close(elsewhere);
}

/* No output lies on the input or on another output. */
ON_EVERY_BACKEND(svd, overlapping)
{
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_random(FL_F32, 20, 4, 1);
    fl_array *whole = array_from(device, &a), *upper, *over, *lower, *s, *vt;
    must(fl_array_view(whole, (int64_t[]){0, 0}, (int64_t[]){10, 4}, &upper));
    must(fl_array_view(whole, (int64_t[]){9, 0}, (int64_t[]){10, 4}, &over));
    must(fl_array_view(whole, (int64_t[]){10, 0}, (int64_t[]){10, 4}, &lower));
    must(fl_array_view(whole, (int64_t[]){10, 0}, (int64_t[]){4, 4}, &vt));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){4}, &s));
    expect_argument_error(fl_svd(device, upper, 1, over, s, vt, NULL), "u");
    expect_argument_error(fl_svd(device, upper, 1, lower, s, vt, NULL), "vt");
    free_arrays(upper, over, lower, vt, s, whole);
    matrix_free(&a);
    fl_device_close(device);
}

/* auto is one of the exact ones, and what ran is reported with its work. */
ON_EVERY_BACKEND(svd, timing_is_filled)
{
    fl_device *device = open_device(on->resource);
    struct matrix a = matrix_random(FL_F32, 64, 48, 1);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "svd", FL_F32, i)) != NULL; i++) {
        fl_timing timing = {.kernel_s = -1};
        struct factors f = decompose(device, &a, 10, 1, &(fl_run){.variant = variant, .timing = &timing}, variant);
        cr_expect(timing.variant && strcmp(timing.variant, "auto") != 0, "%s %s: ran '%s'", on->resource, variant,
                  timing.variant);
        cr_expect(strcmp(variant, "auto") != 0 || strcmp(timing.variant, "randomized") != 0, "%s: auto took a sketch",
                  on->resource);
        cr_expect(timing.kernel_s > 0 && timing.kernel_s < 30, "%s %s: %g s", on->resource, variant, timing.kernel_s);
        cr_expect(timing.bytes == 4.0 * (64 * 48 + 64 * 10 + 10 + 10 * 48), "%s %s: %g bytes", on->resource, variant,
                  timing.bytes);
        cr_expect(timing.flops >= 2.0 * 64 * 48 * 10, "%s %s: %g operations", on->resource, variant, timing.flops);
        cr_expect(timing.bytes_requested >= timing.bytes, "%s %s: %g bytes requested", on->resource, variant,
                  timing.bytes_requested);
        factors_free(&f);
    }
    matrix_free(&a);
    fl_device_close(device);
}

static double operations_of(fl_device *device, const char *variant, fl_dtype dtype, int64_t rows, int64_t columns,
                            int64_t k)
{
    struct matrix a = matrix_random(dtype, rows, columns, 1);
    fl_timing timing = {0};
    struct factors f = decompose(device, &a, k, 1, &(fl_run){.variant = variant, .timing = &timing}, variant);
    factors_free(&f);
    matrix_free(&a);
    return timing.flops;
}

/* An exact decomposition's operations grow with the longer dimension, no faster, whichever it is; Jacobi's may have
 * twice as many sweeps. Those of a sketch of l = k + 10 vectors are mostly its six products with the matrix, of 2 m n l
 * each. */
ON_EVERY_BACKEND(svd, operations_of_shapes)
{
    static const fl_dtype dtypes[] = {FL_F32, FL_F64};
    fl_device *device = open_device(on->resource);
    const double products = 6.0 * 2 * 400 * 300 * 12;
    const char *variant;
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; (variant = variant_of(device, "svd", dtypes[d], i)) != NULL; i++) {
            if (strcmp(variant, "randomized") == 0) {
                const double sketch = operations_of(device, variant, dtypes[d], 400, 300, 2);
                cr_expect(sketch > products && sketch < 1.3 * products, "%s: %g operations", on->resource, sketch);
                continue;
            }
            const double shorter = operations_of(device, variant, dtypes[d], 128, 4, 4),
                         tall = operations_of(device, variant, dtypes[d], 512, 4, 4),
                         wide = operations_of(device, variant, dtypes[d], 4, 512, 4);
            cr_expect(tall > shorter && tall <= 2 * 4 * shorter && wide > shorter && wide <= 2 * 4 * shorter,
                      "%s %s: %g operations for 128x4, %g for 512x4, %g for 4x512", on->resource, variant, shorter,
                      tall, wide);
        }
    fl_device_close(device);
}

/* Five decompositions of its own matrix on its own stream, all the same. */
static void *decompose_on_own_stream(void *argument)
{
    struct worker *w = argument;
    struct matrix a = matrix_random(FL_F64, 30, 20, w->seed), s = matrix_create(FL_F64, 2, 20);
    fl_array *in = NULL, *u = NULL, *values = NULL, *vt = NULL;
    fl_stream *stream = NULL;
    bool ok = fl_stream_create(w->device, &stream) == FL_OK &&
              fl_array_from_host(w->device, FL_F64, 2, a.shape, a.data, &in) == FL_OK &&
              fl_array_create(w->device, FL_F64, 2, (int64_t[]){30, 20}, &u) == FL_OK &&
              fl_array_create(w->device, FL_F64, 1, (int64_t[]){20}, &values) == FL_OK &&
              fl_array_create(w->device, FL_F64, 2, (int64_t[]){20, 20}, &vt) == FL_OK;
    for (int i = 0; ok && i < 5; i++) {
        double *got = (double *)s.data + (i > 0 ? 20 : 0);
        ok = fl_svd(w->device, in, 1, u, values, vt, &(fl_run){.stream = stream}) == FL_OK &&
             fl_array_read(values, got, stream) == FL_OK && fl_stream_wait(stream) == FL_OK;
        for (int j = 0; j < 20 && ok; j++)
            ok = fabs(got[j] - ((double *)s.data)[j]) <= rounding(&a) * ((double *)s.data)[0];
    }
    free_arrays(in, u, values, vt);
    fl_stream_free(stream);
    matrix_free(&a);
    matrix_free(&s);
    w->ok = ok;
    return NULL;
}

ON_EVERY_BACKEND(svd, threads_share_a_device)
{
    threads_share_a_device(on->resource, decompose_on_own_stream);
}

/* One of several threads that decompose at once: a matrix of its own, on a stream of its own, which it then puts
 * together again. */
struct rebuilder {
    fl_device *device;
    const char *svd, *reconstruct; /* variants */
    uint64_t seed;
    double off; /* out: |u diag(s) vt - a|, the largest of all rounds, or NaN: a call failed */
    double allowed;
};

enum { REBUILDS = 4 };

/* Without Criterion, whose tests fail in one thread only. */
static void *rebuild(void *argument)
{
    struct rebuilder *r = argument;
    const int64_t m = 70 + (int64_t)r->seed % 5, n = 60, shapes[4][2] = {{m, n}, {m, n}, {n}, {n, n}};
    struct matrix a = matrix_random(FL_F32, m, n, r->seed), got = matrix_create(FL_F32, m, n);
    fl_array *in = NULL, *outs[4] = {NULL}; /* what is put together, u, s, vt */
    fl_stream *stream = NULL;
    bool ok = fl_stream_create(r->device, &stream) == FL_OK &&
              fl_array_from_host(r->device, FL_F32, 2, a.shape, a.data, &in) == FL_OK;
    for (int i = 0; i < 4; i++)
        ok = ok && fl_array_create(r->device, FL_F32, i == 2 ? 1 : 2, shapes[i], &outs[i]) == FL_OK;
    for (int round = 0; ok && round < REBUILDS; round++) {
        ok = fl_svd(r->device, in, 1, outs[1], outs[2], outs[3], &(fl_run){.stream = stream, .variant = r->svd}) ==
                 FL_OK &&
             fl_reconstruct(r->device, outs[1], outs[2], outs[3], n, outs[0],
                            &(fl_run){.stream = stream, .variant = r->reconstruct}) == FL_OK &&
             fl_array_read(outs[0], got.data, stream) == FL_OK && fl_stream_wait(stream) == FL_OK;
        for (int64_t at = 0; ok && at < m * n; at++) {
            const double off = fabs((double)((float *)got.data)[at] - (double)((float *)a.data)[at]);
            r->off = off <= r->off ? r->off : off; /* NaN stays */
        }
        memset(got.data, 0, (size_t)(m * n) * sizeof(float));
    }
    r->off = ok ? r->off : NAN;
    /* Each element is a part of a matrix that is off by the rounding of its norm, below the root of m n. */
    r->allowed = rounding(&a) * sqrt((double)(m * n));
    for (int i = 0; i < 4; i++)
        fl_array_free(outs[i]);
    fl_array_free(in);
    fl_stream_free(stream);
    matrix_free(&a);
    matrix_free(&got);
    return NULL;
}

/* Each variant by several threads of one device, while others use the same libraries on another device:
 * with another number of threads, or the same. */
ON_EVERY_BACKEND(svd, threads_rebuild_on_several_devices)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "svd", FL_F32, v)) != NULL; v++) {
        const bool library = strcmp(variant, "library") == 0;
        struct rebuilder rebuilders[6];
        pthread_t threads[COUNT(rebuilders)];
        for (size_t i = 0; i < COUNT(rebuilders); i++) {
            rebuilders[i] = i < 4 ? (struct rebuilder){device, variant, library ? "library" : "auto", i, 0, 0}
                                  : (struct rebuilder){other, "auto", "auto", i, 0, 0};
            cr_assert(pthread_create(&threads[i], NULL, rebuild, &rebuilders[i]) == 0);
        }
        for (size_t i = 0; i < COUNT(rebuilders); i++) {
            pthread_join(threads[i], NULL);
            cr_expect(rebuilders[i].off <= rebuilders[i].allowed, "%s %s: thread %zu: off by %g, allowed %g",
                      on->resource, variant, i, rebuilders[i].off, rebuilders[i].allowed);
        }
    }
    fl_device_close(other);
    fl_device_close(device);
}
