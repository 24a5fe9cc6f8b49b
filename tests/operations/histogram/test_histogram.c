/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_dtype dtypes[] = {FL_U8, FL_I32, FL_I64, FL_F32, FL_F64};

/* Bins of one width from lo to hi. */
struct bins {
    int64_t count;
    double lo, hi;
    bool clip;
};

/* -------------------------------------------------------------------------------------------- what is right ---- */

/* The edges as flynn.h says, rounded after each operation. */
static double *edges_of(const struct bins *b)
{
    double *edges = malloc((size_t)(b->count + 1) * sizeof *edges);
    const volatile double length = b->hi - b->lo, width = length / (double)b->count;
    for (int64_t i = 0; i <= b->count; i++) {
        const volatile double distance = (double)i * width;
        edges[i] = i == b->count ? b->hi : b->lo + distance;
    }
    return edges;
}

/* The counts by the definition: the bin is the last one whose lower edge is not above x. */
static int64_t *expected_counts(const struct matrix *in, const struct bins *b)
{
    const double range[] = {b->lo, b->hi, (double)b->count, b->clip};
    const uint64_t key = hash_matrix(hash_bytes(0, range, sizeof range), in);
    const size_t size = (size_t)b->count * sizeof(int64_t);
    int64_t *counts = calloc(1, size);
    if (recall(key, counts, size)) /* of another backend or variant */
        return counts;
    double *edges = edges_of(b);
    for (int64_t i = 0; i < in->shape[1]; i++) {
        const double x = matrix_get(in, 0, i);
        int64_t low = 0, high = b->count;
        if (isnan(x) || (!b->clip && (x < b->lo || x > b->hi)))
            continue;
        while (high - low > 1) {
            const int64_t middle = (low + high) / 2;
            if (edges[middle] <= x)
                low = middle;
            else
                high = middle;
        }
        counts[x < b->lo ? 0 : x > b->hi ? b->count - 1 : low]++;
    }
    remember(key, counts, size);
    free(edges);
    return counts;
}

/* ----------------------------------------------------------------------------------------------- the device ---- */

/* The row on a device, as a view that begins `before` elements into something larger: at an address that is no
 * multiple of 16 for most of them. */
static fl_array *vector_inside(fl_device *device, const struct matrix *row, int64_t before)
{
    fl_array *whole = NULL, *view = NULL;
    const size_t size = fl_dtype_size(row->dtype), length = (size_t)row->shape[1];
    char *bytes = calloc(length + 2 * (size_t)before + 1, size);
    memcpy(bytes + (size_t)before * size, row->data, length * size);
    must(fl_array_from_host(device, row->dtype, 1, (int64_t[]){row->shape[1] + 2 * before + 1}, bytes, &whole));
    must(fl_array_view(whole, &before, &row->shape[1], &view));
    fl_array_free(whole);
    free(bytes);
    return view;
}

/* Whether CUB's bins are ours; flynn.h leaves to the variant what it takes. */
static bool library_takes(fl_dtype dtype, const struct bins *b)
{
    const bool ones = b->hi - b->lo == (double)b->count, never_hi = dtype == FL_U8 && b->hi > 255;
    const double width = (b->hi - b->lo) / (double)b->count;
    return !b->clip && b->lo == floor(b->lo) && width == floor(width) && (ones || never_hi) && b->lo >= -0x1p31 &&
           b->hi < 0x1p31 - 1;
}

static void check_counts(fl_device *device, const struct matrix *in, const struct bins *b, const int64_t *expected,
                         int64_t before, const fl_run *run)
{
    char what[200];
    snprintf(what, sizeof what, "%s %s %s, %lld elements from %lld on, %lld bins of %.17g to %.17g%s, block %d",
             fl_device_describe(device)->resource, run->variant, fl_dtype_name(in->dtype), (long long)in->shape[1],
             (long long)before, (long long)b->count, b->lo, b->hi, b->clip ? ", clipped" : "", run->block[0]);
    fl_array *a = vector_inside(device, in, before);
    struct guarded out = guarded_create(device, FL_I64, 1, &b->count, 3);
    fl_status status = fl_histogram(device, a, b->lo, b->hi, b->clip, out.out, run);
    if (strcmp(run->variant, "library") == 0 && in->shape[1] > 0 && !library_takes(in->dtype, b)) {
        expect_status(FL_E_UNSUPPORTED, status);
        expect_error_says("use replicated");
    } else {
        int64_t *got = malloc((size_t)b->count * sizeof *got), wrong = 0;
        must(status);
        guarded_copy(&out, got, what);
        while (wrong < b->count && got[wrong] == expected[wrong])
            wrong++;
        cr_assert(wrong == b->count, "%s: %lld in bin %lld, expected %lld", what, (long long)got[wrong],
                  (long long)wrong, (long long)expected[wrong]);
        free(got);
    }
    guarded_free(&out);
    fl_array_free(a);
}

/* By every variant. */
static void check_variants(fl_device *device, const struct matrix *in, const struct bins *b, int64_t before)
{
    int64_t *expected = expected_counts(in, b);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "histogram", in->dtype, i)) != NULL; i++)
        check_counts(device, in, b, expected, before, &(fl_run){.variant = variant});
    free(expected);
}

static double in_range(double x, fl_dtype dtype)
{
    static const double least[] = {0, INT32_MIN, -0x1p62, -FLT_MAX, -DBL_MAX};
    static const double most[] = {UINT8_MAX, INT32_MAX, 0x1p62, FLT_MAX, DBL_MAX};
    return fmin(fmax(x, least[dtype]), most[dtype]);
}

/* Over the range and some of what is outside, evenly. */
static struct matrix spread(fl_dtype dtype, int64_t length, const struct bins *b, uint64_t seed)
{
    struct matrix m = matrix_create(dtype, 1, length);
    for (int64_t i = 0; i < length; i++) {
        const double part = (double)(random_bits(&seed) >> 11) * 0x1p-53 * 1.25 - 0.125;
        matrix_set(&m, 0, i, in_range(b->lo + part * (b->hi - b->lo), dtype));
    }
    return m;
}

/* ---------------------------------------------------------------------------------------------------- tests ---- */

ON_EVERY_BACKEND(histogram, golden_files)
{
    static const struct bins all[] = {[FL_U8] = {100, 10, 250, false},
                                      [FL_I32] = {300, -150, 150, false},
                                      [FL_I64] = {77, -1e3, 1e6, false},
                                      [FL_F32] = {1000, -1, 1, false},
                                      [FL_F64] = {10, 0, 1, false}};
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int clip = 0; clip < 2; clip++) {
            char name[64];
            const char *variant;
            struct bins b = all[dtypes[d]];
            b.clip = clip == 1;
            snprintf(name, sizeof name, "%s.in", fl_dtype_name(dtypes[d]));
            struct matrix in = matrix_golden("histogram", name);
            snprintf(name, sizeof name, "%s.%s", fl_dtype_name(dtypes[d]), clip ? "clip" : "drop");
            struct matrix out = matrix_golden("histogram", name);
            cr_assert(in.dtype == dtypes[d] && out.dtype == FL_I64 && out.shape[1] == b.count);
            for (size_t i = 0; (variant = variant_of(device, "histogram", dtypes[d], i)) != NULL; i++)
                check_counts(device, &in, &b, out.data, 3, &(fl_run){.variant = variant});
            matrix_free(&in);
            matrix_free(&out);
        }
    fl_device_close(device);
}

/* Around what packs, warps, blocks, tiles and pieces are made of; each begins at another place of a pack of 16 bytes.
 */
ON_EVERY_BACKEND(histogram, sizes)
{
    static const int64_t sizes[] = {0,   1,   2,    3,    7,    15,   16,   17,   31,    33,    63,   65,
                                    127, 129, 1023, 1025, 2047, 2049, 8191, 8193, 32767, 32769, 70001};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t d = 0; d < COUNT(dtypes); d++) {
            if (sizes[s] > 2049 && (s + d) % 3 != 0)
                continue;
            const struct bins b = {(int64_t[]){1, 10, 64, 255}[(s + d) % 4], 0, 200, s % 2 == 1};
            struct matrix in = spread(dtypes[d], sizes[s], &b, s * 8 + d);
            check_variants(device, &in, &b, (int64_t)(s + d) % 17);
            matrix_free(&in);
        }
    fl_device_close(device);
}

/* Each edge, the numbers next to it, what is outside, and what is no number. */
static struct matrix near_edges(fl_dtype dtype, const struct bins *b)
{
    static const double special[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 0.0,       -0.0,
                                     0x1p-149,    -0x1p-149,        0x1p-1074,         -0x1p-1074};
    const bool floats = fl_dtype_is_float(dtype);
    double *edges = edges_of(b);
    const int64_t length = 5 * (b->count + 1) + (floats ? (int64_t)COUNT(special) : 0);
    struct matrix m = matrix_create(dtype, 1, length);
    int64_t i = 0;
    for (int64_t e = 0; e <= b->count; e++)
        for (int step = -2; step <= 2; step++) {
            double x = edges[e];
            for (int n = abs(step); n > 0; n--) {
                const double to = step < 0 ? -(double)INFINITY : (double)INFINITY;
                x = !floats           ? x + (step < 0 ? -1 : 1)
                    : dtype == FL_F32 ? (double)nextafterf((float)x, (float)to)
                                      : nextafter(x, to);
            }
            matrix_set(&m, 0, i++, in_range(x, dtype));
        }
    for (size_t s = 0; i < length; s++)
        matrix_set(&m, 0, i++, special[s]);
    free(edges);
    return m;
}

ON_EVERY_BACKEND(histogram, edges)
{
    static const struct {
        int64_t count;
        double lo, hi;
    } all[] = {{10, 0, 1},
               {7, 0.1, 0.7},
               {3, 0, 0.3},
               {256, -1, 1},
               {256, 0, 256},
               {100, 0, 1e-3},
               {1000, -1e6, 1e6 + 0.1},
               {17, -5.5, 3},
               {1000, 0.5, 10.5}, /* bins narrower than integers */
               {10, 250, 260},    /* u8 ends within */
               {5, 300, 400},     /* and before */
               {3, -9, -1},
               {1, 0, 1},
               {1, -0x1p31, 0x1p31},
               {1000, -0x1p31, 0x1p31 - 1}, /* all of i32 */
               {999, -0x1p62, 0x1p62},
               {65536, 0, 0x1p31},
               {64, 1e16, 1e16 + 128},    /* as wide as the spacing of f64 */
               {1000, 1e16, 1e16 + 4},    /* narrower: some bins have no numbers */
               {100, 16777216, 16777217}, /* narrower than the spacing of f32 */
               {300, 1, 1 + 0x1p-20},
               {7, 0, 1e-300},
               {3, 0, 0x1p-1072}, /* subnormal edges */
               {50, -3e38, 3e38},
               {100, -8e307, 8e307},
               {600000, 0, 1}}; /* f32 does not tell these bins apart */
    fl_device *device = open_device(on->resource);
    for (size_t c = 0; c < COUNT(all); c++)
        for (size_t d = 0; d < COUNT(dtypes); d++)
            for (int clip = 0; clip < 2; clip++) {
                struct bins b = {all[c].count, all[c].lo, all[c].hi, clip == 1};
                if (b.count > 10000 && (is_slow(device) || clip))
                    continue;
                struct matrix in = near_edges(dtypes[d], &b);
                check_variants(device, &in, &b, 1);
                matrix_free(&in);
            }
    fl_device_close(device);
}

/* Random ranges and numbers of bins. */
ON_EVERY_BACKEND(histogram, random_ranges)
{
    uint64_t seed = 7;
    fl_device *device = open_device(on->resource);
    for (int n = 0; n < (is_slow(device) ? 40 : 300); n++) {
        const double at = (double)random_between(&seed, -1000, 1000) / 7;
        const double length = ldexp((double)random_between(&seed, 1, 1000) / 3, (int)random_between(&seed, -30, 20));
        const struct bins b = {random_between(&seed, 1, n % 4 == 0 ? 3000 : 40), at, at + length, n % 3 == 0};
        const fl_dtype dtype = dtypes[n % (int)COUNT(dtypes)];
        struct matrix in = n % 2 ? near_edges(dtype, &b) : spread(dtype, 1500, &b, (uint64_t)n);
        check_variants(device, &in, &b, n % 5);
        matrix_free(&in);
    }
    fl_device_close(device);
}

/* More bins than one block has counters, and than elements. */
ON_EVERY_BACKEND(histogram, many_bins)
{
    static const int64_t counts[] = {4096, 4097, 8192, 8193, 16384, 16385, 40000, 200001};
    fl_device *device = open_device(on->resource);
    for (size_t c = 0; c < COUNT(counts); c++)
        for (size_t d = 0; d < COUNT(dtypes); d++) {
            if (is_small_test() && counts[c] > 20000)
                continue;
            const struct bins b = {counts[c], -3, (double)counts[c] - 3, c % 2 == 0};
            struct matrix in = spread(dtypes[d], is_slow(device) ? 5003 : 100003, &b, c);
            check_variants(device, &in, &b, 2);
            matrix_free(&in);
        }
    fl_device_close(device);
}

/* Enough elements for several threads, and for several tiles in a block: spread evenly, and all in one bin. */
ON_EVERY_BACKEND(histogram, large)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(dtypes); d++)
        for (int one_bin = 0; one_bin < 2; one_bin++) {
            const struct bins b = {256, 0, 256, false};
            struct matrix in = spread(dtypes[d], is_small_test() ? 30007 : is_slow(device) ? 200003 : 1000003, &b, d);
            for (int64_t i = 0; i < in.shape[1] && one_bin; i++)
                matrix_set(&in, 0, i, 77);
            check_variants(device, &in, &b, 1);
            matrix_free(&in);
        }
    fl_device_close(device);
}

/* Integers beyond 2^53 are compared as f64; limits of their types. */
ON_EVERY_BACKEND(histogram, large_integers)
{
    static const int64_t longs[] = {
        INT64_MIN,       INT64_MIN + 1, -1,       0, 1, (1LL << 53) - 1, 1LL << 53, (1LL << 53) + 1,
        (1LL << 53) + 3, INT64_MAX - 1, INT64_MAX};
    static const int32_t ints[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
    static const struct bins all[] = {{4, -0x1p63, 0x1p63, false},       {9, 0x1p53 - 4, 0x1p53 + 5, false},
                                      {8, 0x1p53 - 4, 0x1p53 + 4, true}, {100, -0x1p31, 0x1p31 - 1, false},
                                      {7, -0x1p31 + 0.5, 0x1p31, true},  {2, -1, 1, true}};
    fl_device *device = open_device(on->resource);
    for (size_t c = 0; c < COUNT(all); c++) {
        struct matrix in = {FL_I64, {1, (int64_t)COUNT(longs)}, (void *)longs};
        check_variants(device, &in, &all[c], 1);
        in = (struct matrix){FL_I32, {1, (int64_t)COUNT(ints)}, (void *)ints};
        check_variants(device, &in, &all[c], 1);
    }
    fl_device_close(device);
}

/* Blocks that are not whole warps, of one thread, of all that can be, and in three dimensions. */
ON_EVERY_BACKEND(histogram, blocks)
{
    static const int blocks[][3] = {{1, 0, 0},   {2, 0, 0},   {31, 0, 0},  {33, 0, 0}, {96, 0, 0},
                                    {100, 0, 0}, {512, 0, 0}, {16, 16, 0}, {3, 5, 7},  {1, 1, 64}};
    static const char *const variants[] = {"auto", "replicated", "shared", "naive"};
    fl_device *device = open_device(on->resource);
    const struct bins b = {100, -1, 1, false};
    for (size_t n = 0; n < COUNT(blocks) * COUNT(variants) && is_gpu(device); n++) { /* blocks are a GPU's */
        const int *block = blocks[n / COUNT(variants)];
        fl_timing timing;
        fl_run run = {
            .variant = variants[n % COUNT(variants)], .block = {block[0], block[1], block[2]}, .timing = &timing};
        struct matrix in = spread(dtypes[n % COUNT(dtypes)], 20011, &b, n);
        int64_t *expected = expected_counts(&in, &b);
        check_counts(device, &in, &b, expected, 1, &run);
        for (int axis = 0; axis < 3; axis++)
            cr_expect(timing.block[axis] == (block[axis] > 1 ? block[axis] : 1), "%s: block %zu ran as %d",
                      on->resource, n, timing.block[axis]);
        free(expected);
        matrix_free(&in);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(histogram, timing)
{
    fl_device *device = open_device(on->resource);
    const struct bins b = {256, 0, 256, false};
    struct matrix in = spread(FL_I32, 10000, &b, 5);
    int64_t *expected = expected_counts(&in, &b);
    const char *variant;
    for (size_t i = 1; (variant = variant_of(device, "histogram", FL_I32, i)) != NULL; i++) {
        fl_timing timing;
        check_counts(device, &in, &b, expected, 0, &(fl_run){.variant = variant, .timing = &timing});
        cr_expect(strcmp(timing.variant, variant) == 0 && timing.kernel_s > 0 && timing.flops == 0);
        cr_expect(timing.bytes == 4 * 10000 + 8 * 256, "%s %s: %g bytes", on->resource, variant, timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes, "%s %s: %g bytes requested", on->resource, variant,
                  timing.bytes_requested);
        if (is_gpu(device) && strcmp(variant, "replicated") == 0)
            cr_expect(timing.shared_bytes == 256 * 32 * 4, "%s: %lld bytes", on->resource,
                      (long long)timing.shared_bytes);
        if (is_gpu(device) && strcmp(variant, "shared") == 0)
            cr_expect(timing.shared_bytes == 256 * 4, "%s: %lld bytes", on->resource, (long long)timing.shared_bytes);
    }
    free(expected);
    matrix_free(&in);
    fl_device_close(device);
}

ON_EVERY_BACKEND(histogram, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const int64_t length = 100, bins = 10, none = 0;
    fl_array *in, *square, *wide, *foreign, *empty, *part;
    struct guarded out = guarded_create(device, FL_I64, 1, &bins, 1);
    must(fl_array_create(device, FL_I64, 1, &length, &in));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){10, 10}, &square));
    must(fl_array_create(device, FL_I32, 1, &bins, &wide));
    must(fl_array_create(other, FL_F32, 1, &length, &foreign));
    must(fl_array_create(device, FL_I64, 1, &none, &empty));
    must(fl_array_view(in, (int64_t[]){5}, &bins, &part));
    expect_argument_error(fl_histogram(NULL, in, 0, 1, false, out.out, NULL), "device");
    expect_argument_error(fl_histogram(device, NULL, 0, 1, false, out.out, NULL), "in is NULL");
    expect_argument_error(fl_histogram(device, in, 0, 1, false, NULL, NULL), "out is NULL");
    expect_argument_error(fl_histogram(device, square, 0, 1, false, out.out, NULL), "2 dimensions");
    expect_argument_error(fl_histogram(device, in, 0, 1, false, square, NULL), "out has");
    expect_argument_error(fl_histogram(device, in, 0, 1, false, wide, NULL), "i64");
    expect_argument_error(fl_histogram(device, in, 0, 1, false, empty, NULL), "no elements");
    expect_argument_error(fl_histogram(device, in, 0, 1, false, part, NULL), "shares memory");
    expect_argument_error(fl_histogram(device, in, 1, 1, false, out.out, NULL), "lo < hi");
    expect_argument_error(fl_histogram(device, in, 2, 1, true, out.out, NULL), "lo < hi");
    expect_argument_error(fl_histogram(device, in, (double)NAN, 1, false, out.out, NULL), "finite");
    expect_argument_error(fl_histogram(device, in, 0, (double)INFINITY, false, out.out, NULL), "finite");
    expect_argument_error(fl_histogram(device, in, -DBL_MAX, DBL_MAX, false, out.out, NULL), "finite");
    expect_status(FL_E_WRONG_DEVICE, fl_histogram(device, foreign, 0, 1, false, out.out, NULL));
    expect_status(FL_E_UNKNOWN, fl_histogram(device, in, 0, 1, false, out.out, &(fl_run){.variant = "replicate"}));
    expect_error_says("replicated");
    if (is_gpu(device)) {
        const int huge = 1 << 30;
        static const char *const variants[] = {"auto", "replicated", "shared", "naive"};
        for (size_t v = 0; v < COUNT(variants); v++)
            expect_status(FL_E_LIMIT, fl_histogram(device, in, 0, 1, false, out.out,
                                                   &(fl_run){.variant = variants[v], .block = {huge, huge, huge}}));
    }
    expect_untouched(&out, on->resource);
    free_arrays(in, square, wide, foreign, empty, part);
    guarded_free(&out);
    fl_device_close(device);
    fl_device_close(other);
}
