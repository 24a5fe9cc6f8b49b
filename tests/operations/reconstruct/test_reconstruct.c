/* SPDX-License-Identifier: MIT */
#include "../../core/src/device/dlpack.h"
#include "harness.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const fl_dtype floats[] = {FL_F32, FL_F64};

/* Factors on the host. batch 0: a single matrix, without a dimension for it. */
struct problem {
    int64_t batch, m, n, k, rank;
    struct matrix u, s, vt; /* (batch x m) x k, batch x k, (batch x k) x n */
    double *value, *magnitude;
};

static int64_t many(const struct problem *p)
{
    return p->batch ? p->batch : 1;
}

static fl_dtype dtype_of(const struct problem *p)
{
    return p->u.dtype == FL_F32 && p->s.dtype == FL_F32 && p->vt.dtype == FL_F32 ? FL_F32 : FL_F64;
}

/* The definition, in long double. */
static void expect(struct problem *p)
{
    int64_t size = many(p) * p->m * p->n;
    size_t bytes = 2 * (size_t)size * sizeof(double); /* the magnitudes lie behind the values */
    p->value = realloc(p->value, bytes + 1);
    p->magnitude = p->value + size;
    const int64_t sizes[] = {p->batch, p->m, p->n, p->k, p->rank};
    uint64_t key = hash_bytes(0, sizes, sizeof sizes);
    key = hash_matrix(hash_matrix(hash_matrix(key, &p->u), &p->s), &p->vt);
    if (recall(key, p->value, bytes))
        return;
    for (int64_t at = 0; at < size; at++) {
        int64_t j = at % p->n, row = at / p->n, b = row / p->m;
        long double sum = 0, magnitude = 0;
        for (int64_t q = 0; q < p->rank; q++) {
            long double term =
                (long double)matrix_get(&p->u, row, q) * matrix_get(&p->s, b, q) * matrix_get(&p->vt, b * p->k + q, j);
            sum += term;
            magnitude += fabsl(term);
        }
        p->value[at] = (double)sum;
        p->magnitude[at] = (double)magnitude;
    }
    remember(key, p->value, bytes);
}

static struct problem problem_of(int64_t batch, int64_t m, int64_t n, int64_t k, struct matrix u, struct matrix s,
                                 struct matrix vt, int64_t rank)
{
    struct problem p = {.batch = batch, .m = m, .n = n, .k = k, .rank = rank, .u = u, .s = s, .vt = vt};
    expect(&p);
    return p;
}

static struct problem problem_random(fl_dtype dtype, int64_t batch, int64_t m, int64_t n, int64_t k, int64_t rank,
                                     uint64_t seed)
{
    int64_t b = batch ? batch : 1;
    return problem_of(batch, m, n, k, matrix_random(dtype, b * m, k, seed), matrix_random(dtype, b, k, seed + 1),
                      matrix_random(dtype, b * k, n, seed + 2), rank);
}

static void problem_free(struct problem *p)
{
    matrix_free(&p->u);
    matrix_free(&p->s);
    matrix_free(&p->vt);
    free(p->value);
}

/* On the device, `ndim` dimensions of `shape`; as a view, a part of a larger array, whose other elements are NaN. */
static fl_array *upload(fl_device *device, const struct matrix *matrix, int ndim, const int64_t *shape, bool view)
{
    int64_t whole[3], start[3], at[3] = {0};
    fl_array *array, *part;
    if (!view) {
        must(fl_array_from_host(device, matrix->dtype, ndim, shape, matrix->data, &array));
        return array;
    }
    int64_t size = 1;
    for (int d = 0; d < ndim; d++) {
        start[d] = d + 1;
        whole[d] = shape[d] + 2 * d + 3;
        size *= whole[d];
    }
    struct matrix larger = matrix_create(matrix->dtype, 1, size);
    for (int64_t i = 0; i < size; i++)
        matrix_set(&larger, 0, i, matrix->dtype == FL_F32 || matrix->dtype == FL_F64 ? (double)NAN : 111);
    for (int64_t i = 0; i < matrix->shape[0] * matrix->shape[1]; i++) {
        int64_t rest = i, place = 0;
        for (int d = ndim - 1; d >= 0; d--) {
            at[d] = rest % shape[d] + start[d];
            rest /= shape[d];
        }
        for (int d = 0; d < ndim; d++)
            place = place * whole[d] + at[d];
        matrix_set(&larger, 0, place, matrix_get(matrix, 0, i));
    }
    must(fl_array_from_host(device, matrix->dtype, ndim, whole, larger.data, &array));
    must(fl_array_view(array, start, shape, &part));
    fl_array_free(array);
    matrix_free(&larger);
    return part;
}

/* The three factors on the device. */
struct uploaded {
    fl_array *u, *s, *vt;
    int ndim;
    int64_t shape[3]; /* of the result */
};

static struct uploaded upload_all(fl_device *device, const struct problem *p, bool views)
{
    const int skip = p->batch ? 0 : 1;
    const int64_t u[] = {p->batch, p->m, p->k}, s[] = {p->batch, p->k}, vt[] = {p->batch, p->k, p->n},
                  y[] = {p->batch, p->m, p->n};
    struct uploaded up = {upload(device, &p->u, 3 - skip, u + skip, views),
                          upload(device, &p->s, 2 - skip, s + skip, views),
                          upload(device, &p->vt, 3 - skip, vt + skip, views),
                          3 - skip,
                          {0}};
    memcpy(up.shape, y + skip, (size_t)up.ndim * sizeof *y);
    return up;
}

static void uploaded_free(struct uploaded *up)
{
    free_arrays(up->u, up->s, up->vt);
}

/* The bound that flynn.h gives: s times u is rounded once, each product of the sum and each partial sum once more, the
 * expected value once; whatever the order of the sum, an element is off by at most rank + 4 units of rounding of the
 * same sum over absolute values (Higham, "Accuracy and stability of numerical algorithms", 2002, section 3.1). */
static bool is_right(const struct problem *p, int64_t at, double got)
{
    double unit = (dtype_of(p) == FL_F32 ? (double)FLT_EPSILON : DBL_EPSILON) / 2, wanted = p->value[at];
    if (!isfinite(wanted))
        return isnan(wanted) ? isnan(got) : got == wanted;
    return fabs(got - wanted) <= (double)(p->rank + 4) * unit * p->magnitude[at];
}

/* Runs it in a guarded output and compares each element. */
static void check_call(fl_device *device, const struct problem *p, const fl_run *run, bool views)
{
    struct uploaded up = upload_all(device, p, views);
    struct guarded guarded = guarded_create(device, dtype_of(p), up.ndim, up.shape, views ? 5 : 0);
    int64_t size = many(p) * p->m * p->n;
    struct matrix got = matrix_create(dtype_of(p), 1, size);
    const char *variant = run && run->variant ? run->variant : "auto";
    fl_status status = fl_reconstruct(device, up.u, up.s, up.vt, p->rank, guarded.out, run);
    status = status ? status : fl_device_wait(device);
    cr_assert(status == FL_OK, "%s: %s", variant, fl_last_error());
    guarded_copy(&guarded, got.data, variant);
    for (int64_t at = 0, wrong = 0; at < size && wrong < 3; at++)
        if (!is_right(p, at, matrix_get(&got, 0, at))) {
            wrong++;
            cr_expect(false, "%s %s: %lldx%lldx%lld of %lld, rank %lld, block %dx%d: element %lld is %.9g, not %.9g",
                      fl_device_describe(device)->resource, variant, (long long)many(p), (long long)p->m,
                      (long long)p->n, (long long)p->k, (long long)p->rank, run ? run->block[0] : 0,
                      run ? run->block[1] : 0, (long long)at, matrix_get(&got, 0, at), p->value[at]);
        }
    matrix_free(&got);
    guarded_free(&guarded);
    uploaded_free(&up);
}

static void check_variants(fl_device *device, const struct problem *p, bool views)
{
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "reconstruct", dtype_of(p), i)) != NULL; i++)
        if (!is_left_out(5))
            check_call(device, p, &(fl_run){.variant = variant}, views);
}

/* ------------------------------------------------------------------------------------ what is known from NumPy ---- */

static struct matrix golden(const char *name, const char *what, int64_t rank)
{
    char path[128];
    snprintf(path, sizeof path, rank ? "%s.%s%lld" : "%s.%s", name, what, (long long)rank);
    return matrix_golden("reconstruct", path);
}

/* NumPy's product takes the place of the definition's, after it was compared. */
static void check_golden(fl_device *device, const char *name, int64_t rank)
{
    struct matrix u = golden(name, "u", 0), s = golden(name, "s", 0), vt = golden(name, "vt", 0);
    struct matrix y = golden(name, "y", rank);
    struct problem p = problem_of(0, u.shape[0], vt.shape[1], s.shape[1], u, s, vt, rank);
    cr_assert(y.shape[0] == p.m && y.shape[1] == p.n && y.dtype == FL_F64);
    for (int64_t at = 0; at < p.m * p.n; at++) {
        double error = fabs(matrix_get(&y, 0, at) - p.value[at]);
        cr_expect(error <= (double)(rank + 4) * DBL_EPSILON * p.magnitude[at], "%s: NumPy against the definition",
                  name);
        p.value[at] = matrix_get(&y, 0, at);
    }
    check_variants(device, &p, rank % 2 == 0);
    matrix_free(&y);
    problem_free(&p);
}

ON_EVERY_BACKEND(reconstruct, golden_files)
{
    static const struct {
        const char *name;
        int64_t rank;
    } cases[] = {{"brain", 1}, {"brain", 10}, {"brain", 40}, {"wide_f32", 3}, {"wide_f32", 7}, {"tall_f64", 5}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(cases); i++)
        check_golden(device, cases[i].name, cases[i].rank);
    fl_device_close(device);
}

/* With all of its singular values a picture is itself, to the rounding of the decomposition: 40 units for values of up
 * to 40 (the largest singular value is about 20). */
ON_EVERY_BACKEND(reconstruct, all_singular_values_give_the_picture)
{
    fl_device *device = open_device(on->resource);
    struct matrix u = golden("brain", "u", 0), s = golden("brain", "s", 0), vt = golden("brain", "vt", 0);
    struct matrix image = golden("brain", "image", 0), got = matrix_create(FL_F64, image.shape[0], image.shape[1]);
    fl_array *du = array_from(device, &u), *dvt = array_from(device, &vt), *ds, *y;
    must(fl_array_from_host(device, FL_F64, 1, &s.shape[1], s.data, &ds));
    must(fl_array_create(device, FL_F64, 2, image.shape, &y));
    must(fl_reconstruct(device, du, ds, dvt, s.shape[1], y, NULL));
    must(fl_array_to_host(y, got.data));
    for (int64_t at = 0; at < image.shape[0] * image.shape[1]; at++)
        cr_expect(fabs(matrix_get(&got, 0, at) - matrix_get(&image, 0, at)) <= 40 * 40 * DBL_EPSILON,
                  "%s: pixel %lld is %.17g, not %.17g", on->resource, (long long)at, matrix_get(&got, 0, at),
                  matrix_get(&image, 0, at));
    free_arrays(du, ds, dvt, y);
    struct matrix *matrices[] = {&u, &s, &vt, &image, &got};
    for (size_t i = 0; i < COUNT(matrices); i++)
        matrix_free(matrices[i]);
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------- random and edges ---- */

ON_EVERY_BACKEND(reconstruct, random_shapes)
{
    fl_device *device = open_device(on->resource);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t state = seed;
        int64_t m = random_between(&state, 1, 150), n = random_between(&state, 1, 150);
        int64_t k = random_between(&state, 1, 60), rank = random_between(&state, 1, k);
        struct problem p = problem_random(floats[seed % 2], random_between(&state, 0, 3), m, n, k, rank, seed);
        check_variants(device, &p, seed % 3 == 0);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* One below, at and one above what tiles, panels and vectors are made of. */
ON_EVERY_BACKEND(reconstruct, tile_edges)
{
    static const int64_t edges[] = {1, 5, 6, 7, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 257};
    static const int64_t ranks[] = {1, 3, 4, 7, 8, 9, 16, 17, 33};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(edges); i++) {
        int64_t rank = ranks[i % COUNT(ranks)];
        struct problem p =
            problem_random(floats[i % 2], 0, edges[i], edges[(i * 5 + 11) % COUNT(edges)], rank, rank, i);
        check_variants(device, &p, i % 4 == 1);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* Whole tiles, aligned and not, deep enough for several rounds of them, and terms beyond a panel's depth. The last one
 * has enough outputs for the largest tiles on an emulated GPU of AMD. */
ON_EVERY_BACKEND(reconstruct, deep_sums)
{
    static const struct {
        int64_t batch, m, n, k, rank;
    } cases[] = {{0, 256, 256, 48, 48},
                 {2, 130, 264, 44, 41},
                 {0, 20, 40, 400, 385},
                 {0, 128, 64, 193, 192},
                 {0, 505, 256, 24, 20}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(cases) * 2; i++) {
        size_t c = i / 2;
        struct problem p =
            problem_random(floats[i % 2], cases[c].batch, cases[c].m, cases[c].n, cases[c].k, cases[c].rank, 100 + i);
        check_variants(device, &p, false);
        check_variants(device, &p, true);
        problem_free(&p);
    }
    fl_device_close(device);
}

static void multiply_all(struct matrix *m, int exponent)
{
    for (int64_t i = 0; i < m->shape[0]; i++)
        for (int64_t j = 0; j < m->shape[1]; j++)
            matrix_set(m, i, j, ldexp(matrix_get(m, i, j), exponent));
}

/* Sums that are deep enough for tensor cores, which take each number as the sum of two: around their tiles, aligned and
 * not, and with numbers whose parts are the smallest and the largest ones. */
ON_EVERY_BACKEND(reconstruct, parts_of_numbers)
{
    enum { PLAIN, SMALL_U, SMALL_VT, LARGEST, NOT_FINITE, KINDS };
    static const struct {
        int64_t batch, m, n, k, rank;
    } cases[] = {{0, 128, 128, 96, 96},  {0, 129, 131, 100, 97}, {3, 64, 260, 128, 128},
                 {2, 127, 36, 130, 129}, {0, 1, 513, 160, 159},  {0, 300, 1, 96, 96}};
    fl_device *device = open_device(on->resource);
    for (size_t c = 0; c < COUNT(cases); c++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (is_slow(device) && (c + (size_t)kind) % COUNT(cases) != 0)
                continue;
            struct problem p =
                problem_random(FL_F32, cases[c].batch, cases[c].m, cases[c].n, cases[c].k, cases[c].rank, 300 + c);
            if (kind == SMALL_U)
                multiply_all(&p.u, -115), multiply_all(&p.vt, 115);
            if (kind == SMALL_VT)
                multiply_all(&p.u, 115), multiply_all(&p.vt, -120);
            if (kind == LARGEST) {
                multiply_all(&p.vt, -20);
                matrix_set(&p.u, 0, 2, FLT_MAX);
                matrix_set(&p.s, 0, 2, 1);
            }
            if (kind == NOT_FINITE)
                matrix_set(&p.u, p.m - 1, 3, INFINITY), matrix_set(&p.vt, 5, p.n - 1, NAN);
            expect(&p);
            check_variants(device, &p, (c + (size_t)kind) % 2 == 0);
            problem_free(&p);
        }
    fl_device_close(device);
}

/* More rows, columns and matrices than a grid is long. */
ON_EVERY_BACKEND(reconstruct, beyond_the_grid)
{
    const int64_t thin = is_small_test() ? 1 : 2;
    const struct {
        int64_t batch, m, n;
    } cases[] = {{0, 70000, thin}, {0, thin, 70000}, {66000, 1, thin}};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t c = 0; c < COUNT(cases); c++) {
        struct problem p = problem_random(FL_F32, cases[c].batch, cases[c].m, cases[c].n, 2, 2, c);
        for (size_t i = 0; (variant = variant_of(device, "reconstruct", FL_F32, i)) != NULL; i++)
            if (!is_small_test() || (c + i) % 3 == 0) /* a small test has one case for each variant */
                check_call(device, &p, &(fl_run){.variant = variant, .block = {is_gpu(device) ? 1 : 64, 1}}, false);
        problem_free(&p);
    }
    fl_device_close(device);
}

/* Those that cannot be are refused with the device's limit; the others compute the same. */
ON_EVERY_BACKEND(reconstruct, odd_blocks)
{
    static const int blocks[][3] = {{1, 1},    {3, 5},  {16, 16},  {16, 8},   {8, 16},    {32, 32}, {33, 7}, {1024, 1},
                                    {1, 1024}, {64, 2}, {4, 4, 8}, {2048, 1}, {100, 100}, {7},      {256}};
    fl_device *device = open_device(on->resource);
    const int most = fl_device_describe(device)->max_threads_per_block;
    const char *variant;
    for (size_t d = 0; d < 2; d++) {
        struct problem p = problem_random(floats[d], 2, 70, 45, 21, 19, d);
        for (size_t b = 0; b < COUNT(blocks); b++)
            for (size_t i = 0; (variant = variant_of(device, "reconstruct", floats[d], i)) != NULL; i++) {
                fl_run run = {.variant = variant};
                int threads = 1;
                for (int e = 0; e < 3; e++) {
                    run.block[e] = blocks[b][e];
                    threads *= blocks[b][e] ? blocks[b][e] : 1;
                }
                if (is_gpu(device) && threads > most && strcmp(variant, "library") != 0) {
                    struct uploaded up = upload_all(device, &p, false);
                    struct guarded guarded = guarded_create(device, floats[d], up.ndim, up.shape, 0);
                    expect_status(FL_E_LIMIT, fl_reconstruct(device, up.u, up.s, up.vt, p.rank, guarded.out, &run));
                    expect_untouched(&guarded, variant);
                    guarded_free(&guarded);
                    uploaded_free(&up);
                } else {
                    check_call(device, &p, &run, false);
                }
            }
        problem_free(&p);
    }
    fl_device_close(device);
}

/* Infinities and NaN reach the elements that the formula has them in, and no others: 0 * infinity is NaN. */
ON_EVERY_BACKEND(reconstruct, infinities_and_nan)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < 2; d++)
        for (int which = 0; which < 5; which++) {
            struct problem p = problem_random(floats[d], 0, 40, 37, 9, 7, 10);
            if (which == 0)
                matrix_set(&p.u, 3, 2, INFINITY);
            if (which == 1)
                matrix_set(&p.vt, 6, 30, -INFINITY), matrix_set(&p.vt, 0, 0, NAN);
            if (which == 2) {
                matrix_set(&p.s, 0, 4, INFINITY);
                matrix_set(&p.u, 39, 4, 0);
            }
            if (which == 3)
                matrix_set(&p.u, 0, 0, NAN), matrix_set(&p.vt, 1, 36, INFINITY), matrix_set(&p.u, 5, 1, 0);
            if (which == 4) /* beyond the rank: not part of any sum */
                matrix_set(&p.s, 0, 7, NAN), matrix_set(&p.u, 1, 8, INFINITY), matrix_set(&p.vt, 8, 1, NAN);
            expect(&p);
            check_variants(device, &p, which % 2);
            problem_free(&p);
        }
    fl_device_close(device);
}

/* Whatever is not all f32 is computed in f64. */
ON_EVERY_BACKEND(reconstruct, other_dtypes)
{
    static const fl_dtype dtypes[][3] = {{FL_F32, FL_F32, FL_F64},
                                         {FL_I32, FL_F32, FL_F32},
                                         {FL_F32, FL_U8, FL_I64},
                                         {FL_U8, FL_I32, FL_I64},
                                         {FL_F64, FL_F32, FL_F64}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        struct problem p =
            problem_of(2, 20, 30, 6, matrix_random(dtypes[i][0], 40, 6, i), matrix_random(dtypes[i][1], 2, 6, i + 1),
                       matrix_random(dtypes[i][2], 12, 30, i), 5);
        check_variants(device, &p, i % 2);
        problem_free(&p);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(reconstruct, nothing_to_compute)
{
    static const int64_t sizes[][3] = {{0, 4, 5}, {1, 0, 5}, {1, 4, 0}, {2, 0, 0}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const int64_t *c = sizes[i];
        fl_array *u, *s, *vt, *y;
        fl_timing timing = {.flops = -1};
        must(fl_array_create(device, FL_F32, 3, (int64_t[]){c[0], c[1], 3}, &u));
        must(fl_array_create(device, FL_F32, 2, (int64_t[]){c[0], 3}, &s));
        must(fl_array_create(device, FL_F32, 3, (int64_t[]){c[0], 3, c[2]}, &vt));
        must(fl_array_create(device, FL_F32, 3, (int64_t[]){c[0], c[1], c[2]}, &y));
        must(fl_reconstruct(device, u, s, vt, 3, y, &(fl_run){.timing = &timing}));
        cr_expect(timing.variant && timing.flops == 0 && timing.kernel_s == 0);
        expect_status(FL_E_ARGUMENT, fl_reconstruct(device, u, s, vt, 4, y, NULL));
        free_arrays(u, s, vt, y);
    }
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- wrong arguments ---- */

/* One call of which one array, the rank or the variant is wrong. */
struct wrong {
    const char *says;
    int64_t u[3], s[2], vt[3], y[3]; /* 0 ends a shape */
    fl_dtype dtype;                  /* of y */
    int64_t rank;
};

static int ndim_of(const int64_t *shape, int most)
{
    int ndim = 0;
    while (ndim < most && shape[ndim] > 0)
        ndim++;
    return ndim;
}

ON_EVERY_BACKEND(reconstruct, wrong_shapes)
{
    static const struct wrong cases[] = {
        {"rank is 0", {4, 3}, {3}, {3, 5}, {4, 5}, FL_F32, 0},
        {"rank is -1", {4, 3}, {3}, {3, 5}, {4, 5}, FL_F32, -1},
        {"rank is 4; expected 1 to 3", {4, 3}, {3}, {3, 5}, {4, 5}, FL_F32, 4},
        {"s is 4; expected 3", {4, 3}, {4}, {3, 5}, {4, 5}, FL_F32, 2},
        {"s is 1x3; expected 3", {4, 3}, {1, 3}, {3, 5}, {4, 5}, FL_F32, 2},
        {"vt is 2x5; expected 3x5", {4, 3}, {3}, {2, 5}, {4, 5}, FL_F32, 2},
        {"vt has 1 dimension", {4, 3}, {3}, {3}, {4, 5}, FL_F32, 2},
        {"vt has 3 dimensions", {4, 3}, {3}, {1, 3, 5}, {4, 5}, FL_F32, 2},
        {"u has 1 dimension", {3}, {3}, {3, 5}, {4, 5}, FL_F32, 2},
        {"y is 5x4; expected 4x5", {4, 3}, {3}, {3, 5}, {5, 4}, FL_F32, 2},
        {"y has dtype f64; expected f32", {4, 3}, {3}, {3, 5}, {4, 5}, FL_F64, 2},
        {"y is 1x4x5; expected 4x5", {4, 3}, {3}, {3, 5}, {1, 4, 5}, FL_F32, 2},
        {"s is 2x3; expected 6x3", {6, 4, 3}, {2, 3}, {6, 3, 5}, {6, 4, 5}, FL_F32, 2},
        {"vt is 5x3x5; expected 6x3x5", {6, 4, 3}, {6, 3}, {5, 3, 5}, {6, 4, 5}, FL_F32, 2},
    };
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct wrong *c = &cases[i];
        fl_array *u, *s, *vt, *y;
        must(fl_array_create(device, FL_F32, ndim_of(c->u, 3), c->u, &u));
        must(fl_array_create(device, FL_F32, ndim_of(c->s, 2), c->s, &s));
        must(fl_array_create(device, FL_F32, ndim_of(c->vt, 3), c->vt, &vt));
        must(fl_array_create(device, c->dtype, ndim_of(c->y, 3), c->y, &y));
        expect_argument_error(fl_reconstruct(device, u, s, vt, c->rank, y, NULL), c->says);
        free_arrays(u, s, vt, y);
    }
    fl_device_close(device);
}

/* The product of an m x 0 and a 0 x n matrix is 0, as in NumPy. */
ON_EVERY_BACKEND(reconstruct, no_singular_values)
{
    fl_device *device = open_device(on->resource);
    const int64_t u_shape[] = {2, 3, 0}, s_shape[] = {2, 0}, vt_shape[] = {2, 0, 4}, y_shape[] = {2, 3, 4};
    double y_values[24];
    const char *variant;
    fl_array *u, *s, *vt, *y;
    must(fl_array_create(device, FL_F64, 3, u_shape, &u));
    must(fl_array_create(device, FL_F64, 2, s_shape, &s));
    must(fl_array_create(device, FL_F64, 3, vt_shape, &vt));
    for (size_t v = 0; (variant = variant_of(device, "reconstruct", FL_F64, v)) != NULL; v++) {
        for (size_t i = 0; i < COUNT(y_values); i++)
            y_values[i] = 7;
        must(fl_array_from_host(device, FL_F64, 3, y_shape, y_values, &y));
        must(fl_reconstruct(device, u, s, vt, 0, y, &(fl_run){.variant = variant}));
        must(fl_array_to_host(y, y_values));
        for (size_t i = 0; i < COUNT(y_values); i++)
            cr_expect(y_values[i] == 0, "%s %s: element %zu is %g", on->resource, variant, i, y_values[i]);
        expect_argument_error(fl_reconstruct(device, u, s, vt, 1, y, NULL), "rank is 1; expected 0 to 0");
        expect_status(FL_E_UNKNOWN, fl_reconstruct(device, u, s, vt, 0, y, &(fl_run){.variant = "no"}));
        fl_array_free(y);
    }
    free_arrays(u, s, vt);
    fl_device_close(device);
}

ON_EVERY_BACKEND(reconstruct, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    struct problem p = problem_random(FL_F32, 0, 4, 5, 3, 3, 1);
    struct uploaded up = upload_all(device, &p, false);
    struct guarded guarded = guarded_create(device, FL_F32, 2, up.shape, 2);
    fl_array *y = guarded.out, *elsewhere, *over;
    expect_argument_error(fl_reconstruct(NULL, up.u, up.s, up.vt, 3, y, NULL), "device");
    expect_argument_error(fl_reconstruct(device, NULL, up.s, up.vt, 3, y, NULL), "u is NULL");
    expect_argument_error(fl_reconstruct(device, up.u, NULL, up.vt, 3, y, NULL), "s is NULL");
    expect_argument_error(fl_reconstruct(device, up.u, up.s, NULL, 3, y, NULL), "vt is NULL");
    expect_argument_error(fl_reconstruct(device, up.u, up.s, up.vt, 3, NULL, NULL), "y is NULL");
    expect_status(FL_E_UNKNOWN, fl_reconstruct(device, up.u, up.s, up.vt, 3, y, &(fl_run){.variant = "registers"}));
    expect_error_says("register");
    must(fl_array_to_device(up.s, other, &elsewhere));
    expect_status(FL_E_WRONG_DEVICE, fl_reconstruct(device, up.u, elsewhere, up.vt, 3, y, NULL));
    expect_error_says("fl_array_to_device");
    must(fl_array_view(up.u, (int64_t[]){0, 0}, (int64_t[]){3, 3}, &over));
    expect_argument_error(fl_reconstruct(device, over, up.s, over, 3, over, NULL), "y shares memory with u");
    expect_untouched(&guarded, on->resource);
    free_arrays(over, elsewhere);
    guarded_free(&guarded);
    uploaded_free(&up);
    problem_free(&p);
    fl_device_close(other);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------ timing, threads, streams ---- */

ON_EVERY_BACKEND(reconstruct, timing_is_filled)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < 2; d++) {
        struct problem p = problem_random(floats[d], 2, 96, 64, 40, 32, 1);
        const double size = d ? 8 : 4, outputs = 2 * 96 * 64,
                     compulsory = 2 * (96 * 32 + 32 + 32 * 64 + 96 * 64) * size;
        const char *variant;
        for (size_t i = 0; (variant = variant_of(device, "reconstruct", floats[d], i)) != NULL; i++) {
            fl_timing t = {.kernel_s = -1};
            check_call(device, &p, &(fl_run){.variant = variant, .timing = &t}, true);
            const bool automatic = strcmp(variant, "auto") == 0,
                       as_written = strcmp(t.variant, "reference") == 0 ||
                                    (is_gpu(device) &&
                                     (strcmp(t.variant, "naive") == 0 || strcmp(t.variant, "uncoalesced") == 0));
            cr_expect(strcmp(t.variant, automatic ? (t.block[0] ? "register" : "library") : variant) == 0,
                      "%s %s: ran '%s'", on->resource, variant, t.variant);
            cr_expect(t.kernel_s > 0 && t.kernel_s < 10, "%s %s: %g s", on->resource, variant, t.kernel_s);
            cr_expect(t.bytes == compulsory, "%s %s: %g compulsory bytes", on->resource, variant, t.bytes);
            cr_expect(t.bytes_requested >= compulsory, "%s %s: %g bytes", on->resource, variant, t.bytes_requested);
            cr_expect(as_written ? t.flops == 3 * outputs * 32 && t.bytes_requested == outputs * (3 * 32 + 1) * size
                                 : t.flops >= 2 * outputs * 32 && t.flops < 3 * outputs * 32,
                      "%s %s: %g operations, %g bytes", on->resource, variant, t.flops, t.bytes_requested);
        }
        problem_free(&p);
    }
    fl_device_close(device);
}

/* A block of 16 x 16 threads has a kernel of its own in f32, in which each thread has eight rows; one of 16 x 15 has
 * the general kernel's four. */
ON_EVERY_BACKEND(reconstruct, rows_of_a_block)
{
    fl_device *device = open_device(on->resource);
    struct problem p = problem_random(FL_F32, 0, 128, 64, 5, 5, 1);
    for (int height = 15; is_gpu(device) && height <= 16; height++) {
        fl_timing t = {0};
        const int64_t rows = height * (height == 16 ? 8 : 4);
        check_call(device, &p, &(fl_run){.variant = "register", .block = {16, height, 1}, .timing = &t}, false);
        cr_expect(t.grid[1] == (128 + rows - 1) / rows, "%s: %lld blocks of 16x%d for 128 rows", on->resource,
                  (long long)t.grid[1], height);
    }
    problem_free(&p);
    fl_device_close(device);
}

static char *map_near(void *place, size_t bytes)
{
    void *memory = mmap((void *)((uintptr_t)place / 4096 * 4096), bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    return memory;
}

/* Rows further apart than a library counts in 32 bits: two pages with nothing between them. The library refuses them,
 * and auto takes another variant. */
ON_EVERY_BACKEND(reconstruct, rows_far_apart)
{
    enum { M = 2, N = 512, K = 512 };
    fl_device *device = open_device(on->resource);
    if (fl_device_describe(device)->dlpack_type != DLPACK_CPU) {
        fl_device_close(device);
        return;
    }
    struct matrix ones[3] = {matrix_create(FL_F64, M, K), matrix_create(FL_F64, 1, K), matrix_create(FL_F64, K, N)};
    fl_array *in[3], *y;
    const char *variant;
    for (int i = 0; i < 3; i++) {
        for (int64_t at = 0; at < ones[i].shape[0] * ones[i].shape[1]; at++)
            matrix_set(&ones[i], 0, at, 1);
        must(fl_array_from_host(device, FL_F64, i == 1 ? 1 : 2, i == 1 ? &ones[i].shape[1] : ones[i].shape,
                                ones[i].data, &in[i]));
        matrix_free(&ones[i]);
    }
    const size_t bytes = N * sizeof(double);
    char *const below = (char *)fl_array_data(in[2]) - (INT64_C(1) << 34); /* no input may lie between the rows */
    char *upper = map_near(below, bytes), *lower = map_near(below - (INT64_C(1) << 35), bytes);
    cr_assert(upper - lower > INT32_MAX * (int64_t)sizeof(double));
    struct DLManagedTensor tensor = {
        .dl_tensor = {.data = lower,
                      .device = {DLPACK_CPU, 0},
                      .ndim = 2,
                      .dtype = {DLPACK_FLOAT, 64, 1},
                      .shape = (int64_t[]){M, N},
                      .strides = (int64_t[]){(upper - lower) / (int64_t)sizeof(double), 1}}};
    must(fl_array_from_dlpack(device, &tensor, &y));
    for (size_t v = 0; (variant = variant_of(device, "reconstruct", FL_F64, v)) != NULL; v++) {
        memset(lower, 0, bytes);
        memset(upper, 0, bytes);
        const fl_status status = fl_reconstruct(device, in[0], in[1], in[2], K, y, &(fl_run){.variant = variant});
        const bool refused = status == FL_E_LIMIT || status == FL_E_UNAVAILABLE; /* or there is none */
        cr_expect(strcmp(variant, "library") == 0 ? refused : status == FL_OK, "%s %s: %s: %s", on->resource, variant,
                  fl_status_name(status), fl_last_error());
        for (int64_t i = 0; status == FL_OK && i < M * N; i++)
            cr_assert(((double *)(i < N ? lower : upper))[i % N] == K, "%s %s: element %lld is wrong", on->resource,
                      variant, (long long)i);
    }
    fl_array_free(y);
    for (int i = 0; i < 3; i++)
        fl_array_free(in[i]);
    munmap(lower, bytes);
    munmap(upper, bytes);
    fl_device_close(device);
}

struct reconstructor {
    fl_device *device;
    const char *variant;
    uint64_t seed;
    bool ok;
};

/* Reconstructs its own matrix ten times on its own stream, without Criterion, whose tests fail in one thread only. */
static void *reconstruct_on_own_stream(void *argument)
{
    struct reconstructor *worker = argument;
    fl_device *device = worker->device;
    int64_t m = 60 + (int64_t)worker->seed, n = 50, k = 20;
    struct problem p = problem_random(FL_F64, 0, m, n, k, k, worker->seed);
    struct matrix got = matrix_create(FL_F64, m, n);
    fl_stream *stream = NULL;
    fl_array *u = NULL, *s = NULL, *vt = NULL, *y = NULL;
    bool ok = fl_stream_create(device, &stream) == FL_OK &&
              fl_array_from_host(device, FL_F64, 2, (int64_t[]){m, k}, p.u.data, &u) == FL_OK &&
              fl_array_from_host(device, FL_F64, 1, &k, p.s.data, &s) == FL_OK &&
              fl_array_from_host(device, FL_F64, 2, (int64_t[]){k, n}, p.vt.data, &vt) == FL_OK &&
              fl_array_create(device, FL_F64, 2, (int64_t[]){m, n}, &y) == FL_OK;
    for (int i = 0; ok && i < 10; i++) {
        memset(got.data, 0, (size_t)(m * n) * sizeof(double));
        ok = fl_reconstruct(device, u, s, vt, k, y, &(fl_run){.stream = stream, .variant = worker->variant}) == FL_OK &&
             fl_array_read(y, got.data, stream) == FL_OK && fl_stream_wait(stream) == FL_OK;
        for (int64_t at = 0; ok && at < m * n; at++)
            ok = is_right(&p, at, matrix_get(&got, 0, at));
    }
    free_arrays(u, s, vt, y);
    fl_stream_free(stream);
    problem_free(&p);
    matrix_free(&got);
    worker->ok = ok;
    return NULL;
}

/* The library's handle and its number of threads are shared: with another device's threads, too. */
ON_EVERY_BACKEND(reconstruct, threads_share_devices)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const char *variant;
    for (size_t v = 0; (variant = variant_of(device, "reconstruct", FL_F64, v)) != NULL; v++) {
        struct reconstructor workers[6];
        pthread_t threads[COUNT(workers)];
        for (size_t i = 0; i < COUNT(workers); i++) {
            workers[i] = (struct reconstructor){i < 4 ? device : other, i < 4 ? variant : "auto", i + 1, false};
            cr_assert(pthread_create(&threads[i], NULL, reconstruct_on_own_stream, &workers[i]) == 0);
        }
        for (size_t i = 0; i < COUNT(workers); i++) {
            pthread_join(threads[i], NULL);
            cr_expect(workers[i].ok, "%s %s: thread %zu failed or got another's result", on->resource, variant, i);
        }
    }
    fl_device_close(other);
    fl_device_close(device);
}
