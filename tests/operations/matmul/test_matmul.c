/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype dtypes[] = {FL_F32, FL_F64, FL_I32, FL_I64};

/* How large, and how it is stored. A batch of 0: a single matrix, without a dimension for it. */
struct form {
    int64_t batch_a, batch_b, m, n, k;
    bool transpose_a, transpose_b;
};

/* Matrices on the host, one below the other, and their product: integers modulo 2^64, else values with the sums over
 * absolute values. */
struct problem {
    struct form form;
    fl_dtype dtype; /* of the product */
    struct matrix a, b;
    uint64_t *integers;
    double *value, *magnitude;
};

static int64_t larger(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

static int64_t batch_of(const struct form *f)
{
    return larger(1, larger(f->batch_a, f->batch_b));
}

static int64_t size_of(const struct form *f)
{
    return batch_of(f) * f->m * f->n;
}

static uint64_t integer_of(const struct matrix *matrix, int64_t at)
{
    return matrix->dtype == FL_U8    ? ((uint8_t *)matrix->data)[at]
           : matrix->dtype == FL_I32 ? (uint64_t)((int32_t *)matrix->data)[at]
                                     : (uint64_t)((int64_t *)matrix->data)[at];
}

/* Where a[b, i, p] and b[b, p, j] are stored. */
static int64_t place_a(const struct form *f, int64_t b, int64_t i, int64_t p)
{
    return (f->batch_a > 1 ? b : 0) * f->m * f->k + (f->transpose_a ? p * f->m + i : i * f->k + p);
}
static int64_t place_b(const struct form *f, int64_t b, int64_t p, int64_t j)
{
    return (f->batch_b > 1 ? b : 0) * f->k * f->n + (f->transpose_b ? j * f->k + p : p * f->n + j);
}

/* The definition, in long double, or in integers modulo 2^64. */
static void expect_element(struct problem *p, int64_t at)
{
    const struct form *f = &p->form;
    const int64_t b = at / (f->m * f->n), i = at / f->n % f->m, j = at % f->n;
    long double sum = 0, magnitude = 0;
    uint64_t integer = 0;
    for (int64_t q = 0; q < f->k; q++) {
        const int64_t in_a = place_a(f, b, i, q), in_b = place_b(f, b, q, j);
        if (!fl_dtype_is_float(p->dtype)) {
            integer += integer_of(&p->a, in_a) * integer_of(&p->b, in_b);
            continue;
        }
        const long double term = (long double)matrix_get(&p->a, 0, in_a) * matrix_get(&p->b, 0, in_b);
        sum += term;
        magnitude += fabsl(term);
    }
    p->value[at] = (double)sum;
    p->magnitude[at] = (double)magnitude;
    p->integers[at] = integer;
}

static void expect(struct problem *p)
{
    const size_t size = (size_t)size_of(&p->form), bytes = 3 * size * sizeof(double);
    p->value = realloc(p->value, bytes + 1);
    p->magnitude = p->value + size;
    p->integers = (uint64_t *)(void *)(p->magnitude + size);
    uint64_t key = hash_matrix(hash_matrix(hash_bytes(0, &p->form.m, 3 * sizeof(int64_t)), &p->a), &p->b);
    const int64_t rest[] = {p->form.batch_a, p->form.batch_b, p->form.transpose_a, p->form.transpose_b};
    key = hash_bytes(key, rest, sizeof rest);
    if (recall(key, p->value, bytes))
        return;
    for (int64_t at = 0; at < (int64_t)size; at++)
        expect_element(p, at);
    remember(key, p->value, bytes);
}

/* Integers are of all their bits. */
static struct matrix random_of(fl_dtype dtype, int64_t size, uint64_t seed)
{
    struct matrix matrix = matrix_random(dtype, 1, size, seed);
    for (int64_t i = 0; i < size && !fl_dtype_is_float(dtype); i++) {
        const uint64_t bits = random_bits(&seed);
        memcpy((char *)matrix.data + i * (int64_t)fl_dtype_size(dtype), &bits, fl_dtype_size(dtype));
    }
    return matrix;
}

static struct problem problem_of(fl_dtype dtype_a, fl_dtype dtype_b, struct form f, uint64_t seed)
{
    struct problem p = {.form = f, .dtype = fl_dtype_result((fl_dtype[]){dtype_a, dtype_b}, 2)};
    const bool same = dtype_a == dtype_b;
    const int64_t a = larger(1, f.batch_a) * f.m * f.k, b = larger(1, f.batch_b) * f.k * f.n;
    p.a = same ? random_of(dtype_a, a, seed) : matrix_random(dtype_a, 1, a, seed);
    p.b = same ? random_of(dtype_b, b, seed + 1) : matrix_random(dtype_b, 1, b, seed + 1);
    expect(&p);
    return p;
}

static void problem_free(struct problem *p)
{
    matrix_free(&p->a);
    matrix_free(&p->b);
    free(p->value);
}

/* ------------------------------------------------------------------------------------------------ one call ---- */

/* A matrix, or a batch of them, on the device: side by side, or with a gap after every row. */
static struct guarded upload(fl_device *device, const struct matrix *matrix, int64_t batch, int64_t rows,
                             int64_t columns, bool gaps)
{
    const int64_t shape[] = {batch, rows, columns};
    const int skip = batch == 0 ? 1 : 0;
    struct guarded on = guarded_create(device, matrix->dtype, 3 - skip, shape + skip, gaps ? 3 : 0);
    must(fl_array_write(on.out, matrix->data, NULL));
    return on;
}

/* The arrays of a call. */
struct uploaded {
    struct guarded a, b, c;
};

static struct uploaded upload_all(fl_device *device, const struct problem *p, bool gaps)
{
    const struct form *f = &p->form;
    const int64_t c[] = {batch_of(f), f->m, f->n};
    const int skip = f->batch_a == 0 && f->batch_b == 0 ? 1 : 0;
    return (struct uploaded){
        upload(device, &p->a, f->batch_a, f->transpose_a ? f->k : f->m, f->transpose_a ? f->m : f->k, gaps),
        upload(device, &p->b, f->batch_b, f->transpose_b ? f->n : f->k, f->transpose_b ? f->k : f->n, gaps),
        guarded_create(device, p->dtype, 3 - skip, c + skip, gaps ? 5 : 0)};
}

static void uploaded_free(struct uploaded *up)
{
    guarded_free(&up->a);
    guarded_free(&up->b);
    guarded_free(&up->c);
}

static fl_status multiply(fl_device *device, const struct problem *p, struct uploaded *up, const fl_run *run)
{
    return fl_matmul(device, up->a.out, p->form.transpose_a, up->b.out, p->form.transpose_b, up->c.out, run);
}

/* flynn.h's bound. */
static bool is_right(const struct problem *p, const struct matrix *got, int64_t at)
{
    const double unit = (p->dtype == FL_F32 ? (double)FLT_EPSILON : DBL_EPSILON) / 2, wanted = p->value[at];
    if (p->dtype == FL_I32)
        return (uint32_t)integer_of(got, at) == (uint32_t)p->integers[at];
    if (p->dtype == FL_I64)
        return integer_of(got, at) == p->integers[at];
    if (!isfinite(wanted))
        return isnan(wanted) ? isnan(matrix_get(got, 0, at)) : matrix_get(got, 0, at) == wanted;
    return fabs(matrix_get(got, 0, at) - wanted) <= (double)(p->form.k + 1) * unit * p->magnitude[at];
}

/* Runs it in a guarded output and compares each element. */
static void check_call(fl_device *device, const struct problem *p, const fl_run *run, bool gaps)
{
    const struct form *f = &p->form;
    struct uploaded up = upload_all(device, p, gaps);
    struct matrix got = matrix_create(p->dtype, 1, size_of(f));
    const char *variant = run && run->variant ? run->variant : "auto";
    fl_status status = multiply(device, p, &up, run);
    status = status ? status : fl_device_wait(device);
    cr_assert(status == FL_OK, "%s: %s", variant, fl_last_error());
    guarded_copy(&up.c, got.data, variant);
    for (int64_t at = 0, wrong = 0; at < size_of(f) && wrong < 3; at++)
        if (!is_right(p, &got, at)) {
            wrong++;
            cr_expect(false, "%s %s %s: %lldx%lldx%lld, batches %lld %lld, %s%s block %dx%d: element %lld is %.9g",
                      fl_device_describe(device)->resource, variant, fl_dtype_name(p->dtype), (long long)f->m,
                      (long long)f->n, (long long)f->k, (long long)f->batch_a, (long long)f->batch_b,
                      f->transpose_a ? "a' " : "", f->transpose_b ? "b'" : "", run ? run->block[0] : 0,
                      run ? run->block[1] : 0, (long long)at, matrix_get(&got, 0, at));
        }
    matrix_free(&got);
    uploaded_free(&up);
}

static void check_variants(fl_device *device, const struct problem *p, bool gaps)
{
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "matmul", p->dtype, i)) != NULL; i++)
        check_call(device, p, &(fl_run){.variant = variant}, gaps);
}

/* In each way in which a and b may be stored. */
static void check_stored(fl_device *device, fl_dtype dtype, struct form f, uint64_t seed, bool gaps)
{
    for (int way = 0; way < 4; way++) {
        if (is_left_out(6))
            continue;
        f.transpose_a = way % 2 == 1;
        f.transpose_b = way / 2 == 1;
        struct problem p = problem_of(dtype, dtype, f, seed);
        check_variants(device, &p, gaps);
        problem_free(&p);
    }
}

/* ------------------------------------------------------------------------------------ what is known from NumPy ---- */

/* NumPy's product takes the place of the definition's, after it was compared. */
ON_EVERY_BACKEND(matmul, golden_files)
{
    static const struct {
        const char *name;
        bool transpose_a, transpose_b;
    } cases[] = {{"plain_f32", false, false},
                 {"at_f64", true, false},
                 {"bt_f32", false, true},
                 {"both_i32", true, true},
                 {"wraps_i64", false, false}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct matrix matrices[3];
        for (int m = 0; m < 3; m++) {
            char name[40];
            snprintf(name, sizeof name, "%s.%c", cases[i].name, "abc"[m]);
            matrices[m] = matrix_golden("matmul", name);
        }
        const bool ta = cases[i].transpose_a;
        struct problem p = {.form = {0, 0, matrices[2].shape[0], matrices[2].shape[1], matrices[0].shape[ta ? 0 : 1],
                                     ta, cases[i].transpose_b},
                            .dtype = matrices[0].dtype,
                            .a = matrices[0],
                            .b = matrices[1]};
        expect(&p);
        for (int64_t at = 0; at < size_of(&p.form); at++) {
            if (fl_dtype_is_float(p.dtype)) {
                const double wanted = matrix_get(&matrices[2], 0, at);
                cr_expect(fabs(wanted - p.value[at]) <= (double)(p.form.k + 1) * DBL_EPSILON * p.magnitude[at],
                          "%s: NumPy against the definition", cases[i].name);
                p.value[at] = wanted;
            } else {
                cr_expect(is_right(&p, &matrices[2], at), "%s: NumPy against the definition", cases[i].name);
            }
        }
        check_variants(device, &p, i % 2);
        matrix_free(&matrices[2]);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------- random and edges ---- */

ON_EVERY_BACKEND(matmul, random_shapes)
{
    fl_device *device = open_device(on->resource);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed;
        if (is_left_out(6))
            continue;
        const int64_t most = is_slow(device) ? 70 : 150, batch = random_between(&state, 0, 3);
        struct form f = {.batch_a = batch, .batch_b = batch};
        f.m = random_between(&state, 1, most);
        f.n = random_between(&state, 1, most);
        f.k = random_between(&state, 1, 60);
        f.transpose_a = seed / 4 % 2 == 1;
        f.transpose_b = seed / 8 % 2 == 1;
        if (batch > 0 && seed % 3 == 0)
            f.batch_a = random_between(&state, 0, 1);
        if (batch > 0 && seed % 3 == 1)
            f.batch_b = random_between(&state, 0, 1);
        struct problem p = problem_of(dtypes[seed % 4], dtypes[seed % 4], f, seed);
        check_variants(device, &p, seed % 5 == 0);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* One below, at and one above what tiles, panels and vectors are made of. */
ON_EVERY_BACKEND(matmul, tile_edges)
{
    static const int64_t edges[] = {1, 5, 6, 7, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129};
    static const int64_t terms[] = {1, 3, 4, 7, 8, 9, 16, 17, 33};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(edges); i++) {
        const struct form f = {.m = edges[i], .n = edges[(i * 5 + 11) % COUNT(edges)], .k = terms[i % COUNT(terms)]};
        check_stored(device, dtypes[i % 4], f, i, i % 8 < 4);
    }
    fl_device_close(device);
}

/* Whole tiles, aligned and not, deep enough for several rounds of them, and terms beyond a panel's depth. The fifth
 * form has enough outputs for the largest tiles on an emulated GPU of AMD. The last two forms have few outputs and many
 * terms: a GPU cuts their sums into parts. */
ON_EVERY_BACKEND(matmul, deep_sums)
{
    static const struct form forms[] = {{.m = 256, .n = 256, .k = 48},
                                        {.batch_a = 2, .batch_b = 2, .m = 130, .n = 264, .k = 44},
                                        {.m = 20, .n = 40, .k = 400},
                                        {.m = 128, .n = 64, .k = 193},
                                        {.m = 505, .n = 256, .k = 24},
                                        {.m = 129, .n = 132, .k = 100},
                                        {.batch_a = 2, .batch_b = 2, .m = 64, .n = 257, .k = 128},
                                        {.batch_b = 3, .m = 260, .n = 128, .k = 97},
                                        {.m = 33, .n = 30, .k = 1031},
                                        {.m = 1, .n = 1, .k = 5003}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(forms) * 2; i++)
        for (int gaps = 0; gaps < 2; gaps++) {
            if (is_left_out(2) || (is_slow(device) && (i + (size_t)gaps) % 2)) /* two dtypes for each form */
                continue;
            check_stored(device, dtypes[(i + (size_t)gaps * 2) % 4], forms[i / 2], 100 + i, gaps == 1);
        }
    fl_device_close(device);
}

/* One matrix for a whole batch, which may be one product of a taller matrix, and must not where rows have gaps. */
ON_EVERY_BACKEND(matmul, repeated_matrices)
{
    static const int64_t batches[][2] = {{5, 0}, {0, 5}, {5, 1}, {1, 5}, {1, 1}, {1, 0}, {0, 1}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(batches); i++)
        for (int gaps = 0; gaps < 2; gaps++)
            check_stored(device, dtypes[i % 4],
                         (struct form){.batch_a = batches[i][0], .batch_b = batches[i][1], .m = 19, .n = 23, .k = 13},
                         i, gaps == 1);
    fl_device_close(device);
}

/* More rows, columns and matrices than a grid is long. */
ON_EVERY_BACKEND(matmul, beyond_the_grid)
{
    const int64_t thin = is_small_test() ? 1 : 2;
    const struct form forms[] = {{.m = 70000, .n = thin, .k = 2},
                                 {.m = thin, .n = 70000, .k = 2},
                                 {.m = thin, .n = 70000, .k = 2, .transpose_b = true},
                                 {.batch_a = 66000, .batch_b = 66000, .m = 1, .n = thin, .k = 2}};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t c = 0; c < COUNT(forms); c++) {
        if (is_left_out(4))
            continue;
        struct problem p = problem_of(FL_F32, FL_F32, forms[c], c);
        for (size_t i = 0; (variant = variant_of(device, "matmul", FL_F32, i)) != NULL; i++)
            if (!is_small_test() || (c + i) % 4 == 0) /* a small test has one form for each variant */
                check_call(device, &p, &(fl_run){.variant = variant, .block = {is_gpu(device) ? 1 : 64, 1}}, false);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* Those that cannot be are refused with the device's limit; the others compute the same. */
ON_EVERY_BACKEND(matmul, odd_blocks)
{
    static const int blocks[][3] = {{1, 1},    {3, 5},  {16, 16},  {16, 8},   {8, 16},    {32, 32}, {33, 7}, {1024, 1},
                                    {1, 1024}, {64, 2}, {4, 4, 8}, {2048, 1}, {100, 100}, {7},      {256}};
    fl_device *device = open_device(on->resource);
    const int most = fl_device_describe(device)->max_threads_per_block;
    const char *variant;
    const bool small = is_slow(device); /* then a little more than a block of 32x32 */
    for (size_t d = 0; d < 4; d++) {
        const struct form f = {.batch_a = 2,
                               .m = small ? 37 : 70,
                               .n = small ? 35 : 45,
                               .k = 21,
                               .transpose_a = d % 2,
                               .transpose_b = d / 2};
        struct problem p = problem_of(dtypes[d], dtypes[d], f, d);
        for (size_t b = 0; b < COUNT(blocks); b++)
            for (size_t i = 0; (variant = variant_of(device, "matmul", dtypes[d], i)) != NULL; i++) {
                const int *block = blocks[b];
                if (is_left_out(6) || (small && (b + d + i) % 2)) /* a small test has two dtypes for each block */
                    continue;
                const fl_run run = {.variant = variant, .block = {block[0], block[1], block[2]}};
                const int threads = block[0] * (block[1] ? block[1] : 1) * (block[2] ? block[2] : 1);
                if (!is_gpu(device) || threads <= most || strcmp(variant, "library") == 0) {
                    check_call(device, &p, &run, false);
                    continue;
                }
                struct uploaded up = upload_all(device, &p, false);
                expect_status(FL_E_LIMIT, multiply(device, &p, &up, &run));
                expect_untouched(&up.c, variant);
                uploaded_free(&up);
            }
        problem_free(&p);
    }
    fl_device_close(device);
}

/* Infinities and NaN reach the elements that the definition has them in, and no others: 0 * infinity is NaN. */
ON_EVERY_BACKEND(matmul, infinities_and_nan)
{
    fl_device *device = open_device(on->resource);
    for (int which = 0; which < 12; which++) {
        const struct form f = {.m = 40, .n = 37, .k = 9, .transpose_a = which / 3 % 2, .transpose_b = which / 6};
        struct problem p = problem_of(dtypes[which % 2], dtypes[which % 2], f, 10);
        if (which % 3 == 0)
            matrix_set(&p.a, 0, place_a(&f, 0, 3, 2), INFINITY);
        if (which % 3 == 1) {
            matrix_set(&p.b, 0, place_b(&f, 0, 6, 30), -INFINITY);
            matrix_set(&p.b, 0, place_b(&f, 0, 0, 0), NAN);
        }
        if (which % 3 == 2) {
            matrix_set(&p.a, 0, place_a(&f, 0, 0, 8), NAN);
            matrix_set(&p.b, 0, place_b(&f, 0, 1, 36), INFINITY);
            matrix_set(&p.a, 0, place_a(&f, 0, 39, 1), 0);
        }
        expect(&p);
        check_variants(device, &p, which % 2);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* The lowest integer times -1 is itself, and its square is 0: nothing saturates. */
ON_EVERY_BACKEND(matmul, integers_at_their_limits)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 2; d < 4; d++) {
        const int64_t lowest = dtypes[d] == FL_I32 ? INT32_MIN : INT64_MIN,
                      most = dtypes[d] == FL_I32 ? INT32_MAX : INT64_MAX;
        const int64_t values[] = {lowest, most, -1, 1, 0, lowest, most, -1, lowest + 1};
        struct problem p = problem_of(dtypes[d], dtypes[d], (struct form){.m = 9, .n = 9, .k = 9}, 1);
        for (int64_t i = 0; i < 81; i++)
            for (int m = 0; m < 2; m++)
                memcpy((char *)(m == 0 ? p.a : p.b).data + i * (int64_t)fl_dtype_size(dtypes[d]),
                       &values[(i * (m + 1) + i / 9) % 9],
                       fl_dtype_size(dtypes[d])); /* little-endian: the lower half of an i64 is the i32 */
        expect(&p);
        check_variants(device, &p, false);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* The result has NumPy's dtype, in which everything is computed. */
ON_EVERY_BACKEND(matmul, other_dtypes)
{
    static const fl_dtype pairs[][2] = {
        {FL_F32, FL_F64}, {FL_I32, FL_F32}, {FL_U8, FL_I32}, {FL_I64, FL_I32}, {FL_F32, FL_U8}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct problem p =
            problem_of(pairs[i][0], pairs[i][1], (struct form){.batch_b = 2, .m = 20, .n = 30, .k = 6}, i);
        if (!fl_dtype_is_float(p.dtype)) /* the definition wants integers of one kind */
            for (int64_t at = 0; at < size_of(&p.form); at++) {
                const int64_t b = at / 600, row = at / 30 % 20, j = at % 30;
                p.integers[at] = 0;
                for (int64_t q = 0; q < 6; q++)
                    p.integers[at] += (uint64_t)(int64_t)(matrix_get(&p.a, 0, place_a(&p.form, b, row, q)) *
                                                          matrix_get(&p.b, 0, place_b(&p.form, b, q, j)));
            }
        check_variants(device, &p, i % 2);
        problem_free(&p);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(matmul, nothing_to_compute)
{
    static const int64_t sizes[][4] = {{0, 4, 5, 3}, {1, 0, 5, 3}, {1, 4, 0, 3}, {2, 0, 0, 3}, {2, 3, 4, 0}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const int64_t *s = sizes[i], size = s[0] * s[1] * s[2];
        fl_timing timing = {.flops = -1};
        double values[24];
        fl_array *a, *b, *c;
        for (int at = 0; at < 24; at++)
            values[at] = 7;
        must(fl_array_create(device, FL_F64, 3, (int64_t[]){s[0], s[1], s[3]}, &a));
        must(fl_array_create(device, FL_F64, 3, (int64_t[]){s[0], s[3], s[2]}, &b));
        must(fl_array_from_host(device, FL_F64, 3, (int64_t[]){s[0], s[1], s[2]}, values, &c));
        must(fl_matmul(device, a, false, b, false, c, &(fl_run){.timing = &timing}));
        cr_expect(timing.variant && timing.flops == 0);
        must(fl_array_to_host(c, values));
        for (int64_t at = 0; at < size; at++)
            cr_expect(values[at] == 0, "%s: a sum of no terms is %g", on->resource, values[at]);
        free_arrays(a, b, c);
    }
    fl_device_close(device);
}

/* 2 m n k operations, and the compulsory bytes. */
ON_EVERY_BACKEND(matmul, counts)
{
    fl_device *device = open_device(on->resource);
    struct problem p = problem_of(FL_F32, FL_F32, (struct form){.m = 64, .n = 32, .k = 48}, 1);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "matmul", FL_F32, i)) != NULL; i++) {
        struct uploaded up = upload_all(device, &p, false);
        fl_timing timing = {.flops = -1};
        must(multiply(device, &p, &up, &(fl_run){.variant = variant, .timing = &timing}));
        cr_expect(timing.flops == 2.0 * 64 * 32 * 48, "%s %s: %g operations", on->resource, variant, timing.flops);
        cr_expect(timing.bytes == 4.0 * (64 * 48 + 48 * 32 + 64 * 32), "%s %s: %g bytes", on->resource, variant,
                  timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes && timing.bytes_requested <= 4.0 * 64 * 32 * (3 * 48 + 4),
                  "%s %s: %g bytes requested", on->resource, variant, timing.bytes_requested);
        uploaded_free(&up);
    }
    problem_free(&p);
    fl_device_close(device);
}

/* On a processor naive has no block, whatever the caller asks for. */
ON_EVERY_BACKEND(matmul, no_block)
{
    fl_device *device = open_device(on->resource);
    struct problem p = problem_of(FL_F32, FL_F32, (struct form){.m = 5, .n = 6, .k = 7}, 1);
    struct uploaded up = upload_all(device, &p, false);
    fl_timing timing = {.flops = -1};

    must(multiply(device, &p, &up, &(fl_run){.variant = "naive", .block = {4, 4, 1}, .timing = &timing}));
    if (strcmp(fl_device_describe(device)->family, "cpu") == 0)
        for (int d = 0; d < 3; d++)
            cr_expect(timing.block[d] == 0, "%s: block[%d] is %d", on->resource, d, (int)timing.block[d]);
    uploaded_free(&up);
    problem_free(&p);
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- wrong arguments ---- */

static fl_array *zeros(fl_device *device, fl_dtype dtype, const int64_t *shape)
{
    fl_array *array;
    int ndim = 0;
    while (ndim < 4 && shape[ndim] > 0)
        ndim++;
    must(fl_array_create(device, dtype, ndim, shape, &array));
    return array;
}

ON_EVERY_BACKEND(matmul, wrong_shapes)
{
    static const struct {
        const char *says;
        int64_t a[4], b[4], c[4]; /* 0 ends a shape */
        bool transpose_a, transpose_b;
        fl_dtype dtype;
    } cases[] = {
        {"b 4x5; expected as many rows of b as columns of a, 3", {2, 3}, {4, 5}, {2, 5}, false, false, FL_F32},
        {"expected as many rows of b as columns of a, 2", {2, 3}, {3, 5}, {3, 5}, true, false, FL_F32},
        {"b 3x5 (transposed)", {2, 3}, {3, 5}, {2, 3}, false, true, FL_F32},
        {"a has 1 dimension", {3}, {3, 5}, {5}, false, false, FL_F32},
        {"b has 4 dimensions", {2, 3}, {1, 1, 3, 5}, {2, 5}, false, false, FL_F32},
        {"c is 5x2; expected 2x5", {2, 3}, {3, 5}, {5, 2}, false, false, FL_F32},
        {"c is 2x5; expected 4x2x5", {4, 2, 3}, {3, 5}, {2, 5}, false, false, FL_F32},
        {"expected batches of the same length, or of 1", {4, 2, 3}, {3, 3, 5}, {4, 2, 5}, false, false, FL_F32},
        {"c has dtype f64; expected f32", {2, 3}, {3, 5}, {2, 5}, false, false, FL_F64},
    };
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(cases); i++) {
        fl_array *a = zeros(device, FL_F32, cases[i].a), *b = zeros(device, FL_F32, cases[i].b);
        fl_array *c = zeros(device, cases[i].dtype, cases[i].c);
        expect_argument_error(fl_matmul(device, a, cases[i].transpose_a, b, cases[i].transpose_b, c, NULL),
                              cases[i].says);
        free_arrays(a, b, c);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(matmul, wrong_arguments)
{
    fl_device *device = open_device(on->resource);
    const int64_t square[] = {3, 3, 0};
    fl_array *a = zeros(device, FL_F32, square), *b = zeros(device, FL_F32, square),
             *bytes = zeros(device, FL_U8, square);
    expect_argument_error(fl_matmul(device, a, false, b, false, a, NULL), "shares memory");
    expect_argument_error(fl_matmul(device, a, false, b, false, b, NULL), "shares memory");
    expect_argument_error(fl_matmul(device, bytes, false, bytes, false, a, NULL), "dtype u8");
    expect_argument_error(fl_matmul(device, NULL, false, b, false, a, NULL), "a is NULL");
    expect_status(FL_E_UNKNOWN, fl_matmul(device, a, false, a, false, b, &(fl_run){.variant = "registre"}));
    free_arrays(a, b, bytes);
    fl_device_close(device);
}

/* Multiplies its own matrices on its own stream, without Criterion, whose tests fail in one thread only. */
static void *multiply_on_own_stream(void *argument)
{
    struct worker *worker = argument;
    const int64_t n = 60 + (int64_t)worker->seed;
    struct problem p =
        problem_of(FL_F64, FL_F64, (struct form){.m = n, .n = n, .k = n, .transpose_b = true}, worker->seed);
    struct matrix got = matrix_create(FL_F64, 1, n * n);
    const int64_t shape[] = {n, n};
    fl_stream *stream = NULL;
    fl_array *a = NULL, *b = NULL, *c = NULL;
    bool ok = fl_stream_create(worker->device, &stream) == FL_OK &&
              fl_array_from_host(worker->device, FL_F64, 2, shape, p.a.data, &a) == FL_OK &&
              fl_array_from_host(worker->device, FL_F64, 2, shape, p.b.data, &b) == FL_OK &&
              fl_array_create(worker->device, FL_F64, 2, shape, &c) == FL_OK;
    for (int i = 0; ok && i < 10; i++) {
        const fl_run run = {.stream = stream, .variant = i % 2 ? "tiled" : "register"};
        ok = fl_matmul(worker->device, a, false, b, true, c, &run) == FL_OK &&
             fl_array_read(c, got.data, stream) == FL_OK && fl_stream_wait(stream) == FL_OK;
        for (int64_t at = 0; ok && at < n * n; at++)
            ok = is_right(&p, &got, at);
    }
    free_arrays(a, b, c);
    fl_stream_free(stream);
    problem_free(&p);
    matrix_free(&got);
    worker->ok = ok;
    return NULL;
}

ON_EVERY_BACKEND(matmul, threads_share_a_device)
{
    threads_share_a_device(on->resource, multiply_on_own_stream);
}
