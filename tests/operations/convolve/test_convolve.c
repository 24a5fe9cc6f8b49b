/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {"full", "same", "valid"};
static const fl_dtype floats[] = {FL_F32, FL_F64};

/* Runs every variant that may be given this kernel. In mode valid a kernel that contains the image changes places with
 * it: its factors are of no use then. */
static void check_variants(fl_device *device, const struct matrix *image, const struct matrix *kernel, fl_mode mode,
                           bool rank_one, const struct expected *expected)
{
    bool swapped = mode == FL_VALID && (kernel->shape[0] > image->shape[0] || kernel->shape[1] > image->shape[1]);
    fl_dtype dtype = image->dtype == FL_F32 && kernel->dtype == FL_F32 ? FL_F32 : FL_F64;
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "convolve", dtype, i)) != NULL; i++)
        if ((rank_one && !swapped) || strcmp(variant, "separable") != 0)
            check_convolve(device, image, kernel, mode, &(fl_run){.variant = variant}, expected);
}

static void check_variants_by_definition(fl_device *device, const struct matrix *image, const struct matrix *kernel,
                                         fl_mode mode, bool rank_one)
{
    if (is_left_out(4))
        return;
    struct expected expected = expected_convolve(image, kernel, mode);
    check_variants(device, image, kernel, mode, rank_one, &expected);
    expected_free(&expected);
}

static struct matrix convolve_full(fl_device *device, const struct matrix *image, const struct matrix *kernel,
                                   const char *variant)
{
    int64_t shape[2];
    must(fl_convolve_shape(image->shape, kernel->shape, FL_FULL, shape));
    fl_dtype dtype = image->dtype == FL_F32 && kernel->dtype == FL_F32 ? FL_F32 : FL_F64;
    struct matrix result = matrix_create(dtype, shape[0], shape[1]);
    fl_array *a = array_from(device, image), *b = array_from(device, kernel), *out = NULL;
    must(fl_array_create(device, dtype, 2, shape, &out));
    must(fl_convolve(device, a, b, FL_FULL, out, &(fl_run){.variant = variant}));
    must(fl_array_to_host(out, result.data));
    free_arrays(a, b, out);
    return result;
}

/* ------------------------------------------------------------------------------------ what is known from SciPy ---- */

static fl_mode mode_of(const char *name)
{
    fl_mode mode = FL_FULL;
    while (strcmp(mode_names[mode], name) != 0)
        cr_assert(++mode <= FL_VALID, "the manifest has no mode '%s'", name);
    return mode;
}

/* The value from SciPy's file takes the place of the harness's own, after they were compared. */
static void check_golden(fl_device *device, const char *name, bool rank_one, const char *mode)
{
    char path[128];
    snprintf(path, sizeof path, "%s.image", name);
    struct matrix image = matrix_golden("convolve", path);
    snprintf(path, sizeof path, "%s.kernel", name);
    struct matrix kernel = matrix_golden("convolve", path);
    snprintf(path, sizeof path, "%s.%s", name, mode);
    struct matrix golden = matrix_golden("convolve", path);
    struct expected expected = expected_convolve(&image, &kernel, mode_of(mode));
    expect_near(&expected, &golden, "%s %s: SciPy against the definition", name, mode);
    memcpy(expected.value, golden.data, (size_t)(golden.shape[0] * golden.shape[1]) * sizeof(double));
    check_variants(device, &image, &kernel, mode_of(mode), rank_one, &expected);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&golden);
}

ON_EVERY_BACKEND(convolve, golden_files)
{
    fl_device *device = open_device(on->resource);
    for_each_golden(device, "convolve", 100, check_golden);
    fl_device_close(device);
}

/* The totals and peaks that the course's exercise is known to have; an emulation runs a smaller image, whose total is
 * as many Gaussians as it has impulses. */
static void check_exercise(fl_device *device, fl_dtype dtype, double factor, double total, fl_mode mode, int peak)
{
    int64_t edge = is_slow(device) ? 256 : 2048, shape[2];
    const char *resource = fl_device_describe(device)->resource;
    struct matrix image = matrix_impulses(dtype, edge), kernel = matrix_gaussian(dtype, factor);
    must(fl_convolve_shape(image.shape, kernel.shape, mode, shape));
    struct matrix result = matrix_create(dtype, shape[0], shape[1]);
    fl_array *a = array_from(device, &image), *b = array_from(device, &kernel), *out = NULL;
    must(fl_array_create(device, dtype, 2, shape, &out));
    must(fl_convolve(device, a, b, mode, out, NULL));
    must(fl_array_to_host(out, result.data));
    double sum = 0;
    for (int64_t i = 0; i < shape[0] * shape[1]; i++)
        sum += matrix_get(&result, 0, i);
    double wanted = total * (double)(edge * edge) / (2048.0 * 2048.0), relative = dtype == FL_F32 ? 1e-6 : 1e-9;
    if (mode == FL_FULL) {
        cr_expect(shape[0] == edge + 14 && shape[1] == edge + 14);
        cr_expect(fabs(sum - wanted) <= relative * wanted, "%s %s: total %.4f, expected %.4f", resource,
                  fl_dtype_name(dtype), sum, wanted);
    }
    cr_expect(fabs(matrix_get(&result, peak, peak) - 1) <= relative, "%s %s %s: peak %.9g", resource,
              fl_dtype_name(dtype), mode_names[mode], matrix_get(&result, peak, peak));
    free_arrays(a, b, out);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&result);
}

ON_EVERY_BACKEND(convolve, exercise_totals)
{
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(floats); i++) {
        check_exercise(device, floats[i], 1.0, 627658.2459, FL_FULL, 15);
        check_exercise(device, floats[i], 0.5, 1182763.8256, FL_FULL, 15);
        check_exercise(device, floats[i], 0.5, 0, FL_SAME, 8);
    }
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------- random and edges ---- */

ON_EVERY_BACKEND(convolve, random_shapes)
{
    fl_device *device = open_device(on->resource);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t state = seed;
        fl_dtype dtype = floats[seed % 2];
        fl_mode mode = (fl_mode)(seed % 3);
        int64_t rows = random_between(&state, 18, 70), columns = random_between(&state, 18, 70);
        int64_t down = random_between(&state, 1, 17), across = random_between(&state, 1, 17);
        bool rank_one = seed % 4 == 0;
        struct matrix image = matrix_random(dtype, rows, columns, seed);
        struct matrix kernel =
            rank_one ? matrix_random_rank_one(dtype, down, across, seed) : matrix_random(dtype, down, across, seed);
        check_variants_by_definition(device, &image, &kernel, mode, rank_one);
        matrix_free(&image);
        matrix_free(&kernel);
    }
    fl_device_close(device);
}

/* One below, at and one above what blocks, warps and vectors are made of, the two edges of an image never the same. */
ON_EVERY_BACKEND(convolve, block_edges)
{
    static const int64_t edges[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257};
    static const int64_t kernels[][2] = {{3, 5}, {16, 16}, {1, 33}, {17, 2}};
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(edges); i++)
        for (size_t k = 0; k < COUNT(kernels); k++) {
            fl_dtype dtype = floats[(i + k) % 2];
            struct matrix image = matrix_random(dtype, edges[i], edges[(i * 5 + 11) % COUNT(edges)], i);
            struct matrix kernel = k % 2 ? matrix_random_rank_one(dtype, kernels[k][0], kernels[k][1], k)
                                         : matrix_random(dtype, kernels[k][0], kernels[k][1], k);
            check_variants_by_definition(device, &image, &kernel, i % 2 ? FL_FULL : FL_SAME, k % 2);
            matrix_free(&image);
            matrix_free(&kernel);
        }
    fl_device_close(device);
}

/* A kernel beyond what shared memory or constant memory holds. */
ON_EVERY_BACKEND(convolve, large_kernels)
{
    static const int64_t kernels[][2] = {{65, 63}, {1, 1025}, {1500, 1}, {100, 101}};
    fl_device *device = open_device(on->resource);
    for (size_t k = 0; k < COUNT(kernels) - is_small_test(); k++) {
        fl_dtype dtype = floats[k % 2];
        struct matrix image = matrix_random(dtype, 40, 33, k);
        struct matrix kernel = matrix_random_rank_one(dtype, kernels[k][0], kernels[k][1], k);
        check_variants_by_definition(device, &image, &kernel, FL_FULL, true);
        check_variants_by_definition(device, &image, &kernel, FL_SAME, true);
        matrix_free(&image);
        matrix_free(&kernel);
    }
    fl_device_close(device);
}

/* Keeps a point of 331 in the left half, and a disc in the right one: zeros otherwise. Next to each point is a tiny
 * one, on one of four sides: it is alone under the kernel where that begins or ends with it. */
static void keep_points_and_disc(struct matrix *image, int side)
{
    const int64_t rows = image->shape[0], columns = image->shape[1];
    const double radius = (double)columns / 6;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double y = (double)(i - rows / 2), x = (double)(j - 3 * columns / 4);
            if (j < columns / 2 ? (i * columns + j) % 331 != 0 : hypot(y, x) > radius)
                matrix_set(image, i, j, 0);
        }
    for (int64_t point = 0; point < rows * columns; point += 331) {
        const int64_t i = point / columns + (side == 0) - (side == 1), j = point % columns + (side == 2) - (side == 3);
        if (point % columns < columns / 2 && i >= 0 && i < rows && j >= 0)
            matrix_set(image, i, j, 1e-12);
    }
}

/* Multiplies the image by a spot that falls from 1 to 10^-30 at its border. */
static void fall_off(struct matrix *image)
{
    const int64_t rows = image->shape[0], columns = image->shape[1];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double y = 2 * (double)i / (double)rows - 1, x = 2 * (double)j / (double)columns - 1;
            matrix_set(image, i, j, matrix_get(image, i, j) * pow(10, -15 * (x * x + y * y)));
        }
}

/* An image of several tiles of `fft`, which are at most 512 on an edge, in both dimensions. Content 0
 * has random numbers. Content 1 has zeros, and one number of 10^6 among numbers below 1, next to which fft-wide and
 * fft-checked are as accurate as the others. Content 2 has infinities, NaN, and numbers whose squares overflow, each in
 * a tile of its own. Content 3 has numbers of very different sizes, so that many sums are small compared with the
 * largest ones of their tile. Contents 4 to 7 have many sums of zeros alone, next to others. */
static struct matrix image_of_tiles(fl_dtype dtype, int64_t rows, int64_t columns, int content)
{
    struct matrix image = matrix_random(dtype, rows, columns, 7);
    const double much = dtype == FL_F32 ? 1e30 : 1e200;
    if (content == 3)
        fall_off(&image);
    if (content >= 4)
        keep_points_and_disc(&image, content - 4);
    for (int64_t i = 0; i < rows && content == 1; i++)
        for (int64_t j = 0; j < columns; j++)
            matrix_set(&image, i, j, j > columns / 2 ? 0 : fabs(sin((double)(i * columns + j))));
    if (content == 1)
        matrix_set(&image, rows / 3, columns / 3, 1e6);
    if (content == 2) {
        matrix_set(&image, 5, 6, (double)NAN);
        matrix_set(&image, rows - 20, columns - 3, (double)INFINITY);
        matrix_set(&image, rows - 20, columns - 2, -(double)INFINITY);
        matrix_set(&image, rows / 2, columns - 9, much);
        matrix_set(&image, rows / 2 + 1, columns - 9, -much);
    }
    return image;
}

ON_EVERY_BACKEND(convolve, more_than_a_tile)
{
    fl_device *device = open_device(on->resource);
    const int64_t rows = is_slow(device) ? 60 : 521, columns = is_slow(device) ? 50 : 530;
    for (size_t d = 0; d < COUNT(floats); d++)
        for (int content = 0; content < 8; content++) {
            struct matrix image = image_of_tiles(floats[d], rows, columns, content);
            struct matrix kernel = matrix_random(floats[d], 4, 7, 8);
            check_variants_by_definition(device, &image, &kernel, (fl_mode)((d + (size_t)content) % 3), false);
            matrix_free(&image);
            matrix_free(&kernel);
        }
    fl_device_close(device);
}

/* A kernel that is not finite makes NaN of the border and of zeros in the image, whatever the variant; one with a
 * number too large to be transformed does not. */
ON_EVERY_BACKEND(convolve, kernels_that_are_not_transformed)
{
    enum { NUMBERS = 3 };
    fl_device *device = open_device(on->resource);
    for (int n = 0; n < NUMBERS * (int)COUNT(floats); n++) {
        const fl_dtype dtype = floats[n / NUMBERS];
        const bool large = n % NUMBERS == 2;
        const double much = dtype == FL_F32 ? 3e38 : 1e308;
        struct matrix image = matrix_random(dtype, 33, 30, 7), kernel = matrix_random(dtype, 4, 7, 8);
        matrix_set(&kernel, 1, 2, large ? much : n % NUMBERS == 1 ? (double)NAN : (double)INFINITY);
        for (int64_t i = 0; i < 33 * 30; i++)
            if (large || i > 33 * 15)
                matrix_set(&image, 0, i, large ? 0.25 : 0);
        check_variants_by_definition(device, &image, &kernel, FL_FULL, false);
        matrix_free(&image);
        matrix_free(&kernel);
    }
    fl_device_close(device);
}

/* Integers and mixed dtypes compute in f64, f32 with f32 in f32. */
ON_EVERY_BACKEND(convolve, mixed_dtypes)
{
    fl_device *device = open_device(on->resource);
    for (int a = 0; a < FL_DTYPE_COUNT; a++)
        for (int b = 0; b < FL_DTYPE_COUNT; b++) {
            struct matrix image = matrix_random((fl_dtype)a, 19, 22, 1), kernel = matrix_random((fl_dtype)b, 4, 3, 2);
            check_variants_by_definition(device, &image, &kernel, FL_FULL, false);
            matrix_free(&image);
            matrix_free(&kernel);
        }
    fl_device_close(device);
}

/* Values that f32 cannot hold: an i64 beyond 2^24 must not pass through it. */
ON_EVERY_BACKEND(convolve, large_integers)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_create(FL_I64, 2, 3), kernel = matrix_create(FL_F32, 1, 1);
    for (int64_t j = 0; j < 3; j++)
        matrix_set(&image, 1, j, 16777217.0 + 1e12 * (double)j);
    matrix_set(&kernel, 0, 0, 1);
    check_variants_by_definition(device, &image, &kernel, FL_SAME, true);
    matrix_free(&image);
    matrix_free(&kernel);
    fl_device_close(device);
}

static bool offers_reference(const fl_device *device)
{
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "convolve", FL_F32, i)) != NULL; i++)
        if (strcmp(variant, "reference") == 0)
            return true;
    return false;
}

/* The oracle is better than what it judges: the sum in the next wider format, rounded once; in f64 what is expected is
 * rounded, too. Returns whether the device has it. */
static bool check_reference(const char *resource, fl_dtype dtype)
{
    const double unit = dtype == FL_F32 ? FLT_EPSILON / 2 : DBL_EPSILON, wider = dtype == FL_F32 ? 1e-12 : 2e-17;
    fl_device *device = open_device(resource);
    bool offered = offers_reference(device);
    struct matrix image = matrix_random(dtype, 30, 41, 3), kernel = matrix_random(dtype, 15, 14, 4);
    struct expected expected = expected_convolve(&image, &kernel, FL_FULL);
    struct matrix got = offered ? convolve_full(device, &image, &kernel, "reference") : matrix_create(dtype, 0, 0);
    for (int64_t i = 0; i < got.shape[0] * got.shape[1]; i++) {
        double wanted = expected.value[i], bound = unit * fabs(wanted) + wider * expected.magnitude[i];
        cr_assert(fabs(matrix_get(&got, 0, i) - wanted) <= bound,
                  "%s reference: element %lld: expected %.17g, got %.17g", resource, (long long)i, wanted,
                  matrix_get(&got, 0, i));
    }
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    fl_device_close(device);
    return offered;
}

Test(convolve, reference_is_rounded_once, .timeout = 240)
{
    const struct on *all;
    const size_t count = every_backend(&all);
    size_t offered = 0;
    for (size_t i = 0; i < count; i++)
        offered += check_reference(all[i].resource, FL_F32) && check_reference(all[i].resource, FL_F64);
    cr_expect(offered > 0 || getenv("FLYNN_TEST_RESOURCES"), "no backend offers the oracle");
}

/* Small pixels under a kernel of rank one that is large in one direction and falls by twelve orders in the other: their
 * product is an ordinary number, although pixel and small factor alone multiply to one that has lost its digits. */
ON_EVERY_BACKEND(convolve, factors_do_not_underflow)
{
    fl_device *device = open_device(on->resource);
    for (int turned = 0; turned < 2; turned++) {
        struct matrix image = matrix_create(FL_F32, 40, 40), kernel = matrix_create(FL_F32, 3, 3);
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 40; j++)
                matrix_set(&image, i, j, (turned ? j : i) % 10 == 5 ? 1e-30 * (1 + 0.01 * (i + j)) : 0);
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
                matrix_set(&kernel, p, q, ((turned ? q : p) == 1 ? 1 : 0x1p-40) * 1e30 * (1 + (turned ? p : q)));
        check_variants_by_definition(device, &image, &kernel, FL_SAME, true);
        matrix_free(&image);
        matrix_free(&kernel);
    }
    fl_device_close(device);
}

/* -------------------------------------------------------------------------------------------------- identities ---- */

/* a * b = b * a, a * (b + c) = a * b + a * c, sum(a * b) = sum(a) sum(b); on small integers, where all of them are
 * exact in any order. */
static void check_identities(fl_device *device, const char *variant)
{
    const char *resource = fl_device_describe(device)->resource;
    struct matrix a = matrix_random(FL_I32, 25, 34, 1), b = matrix_random(FL_I32, 6, 9, 2);
    struct matrix c = matrix_random(FL_I32, 6, 9, 3), b_plus_c = matrix_create(FL_I32, 6, 9);
    double sum_a = 0, sum_b = 0, sum_ab = 0;
    for (int64_t i = 0; i < 6 * 9; i++)
        matrix_set(&b_plus_c, 0, i, matrix_get(&b, 0, i) + matrix_get(&c, 0, i));
    struct matrix ab = convolve_full(device, &a, &b, variant), ba = convolve_full(device, &b, &a, variant);
    struct matrix ac = convolve_full(device, &a, &c, variant), abc = convolve_full(device, &a, &b_plus_c, variant);
    for (int64_t i = 0; i < ab.shape[0] * ab.shape[1]; i++) {
        cr_assert(matrix_get(&ab, 0, i) == matrix_get(&ba, 0, i), "%s %s: not commutative", resource, variant);
        cr_assert(matrix_get(&abc, 0, i) == matrix_get(&ab, 0, i) + matrix_get(&ac, 0, i), "%s %s: not linear",
                  resource, variant);
        sum_ab += matrix_get(&ab, 0, i);
    }
    for (int64_t i = 0; i < 25 * 34; i++)
        sum_a += matrix_get(&a, 0, i);
    for (int64_t i = 0; i < 6 * 9; i++)
        sum_b += matrix_get(&b, 0, i);
    cr_expect(sum_ab == sum_a * sum_b, "%s %s: the sum is %g, expected %g", resource, variant, sum_ab, sum_a * sum_b);
    struct matrix *all[] = {&a, &b, &c, &b_plus_c, &ab, &ba, &ac, &abc};
    for (size_t i = 0; i < COUNT(all); i++)
        matrix_free(all[i]);
}

/* A kernel with a one at [p, q] moves the image by p and q, without rounding, whatever the variant but fft. */
static void check_shift(fl_device *device, const char *variant)
{
    const int64_t p = 2, q = 5;
    struct matrix image = matrix_random(FL_F32, 21, 18, 5), kernel = matrix_create(FL_F32, 4, 7);
    matrix_set(&kernel, p, q, 1);
    struct matrix moved = convolve_full(device, &image, &kernel, variant);
    for (int64_t i = 0; i < moved.shape[0]; i++)
        for (int64_t j = 0; j < moved.shape[1]; j++) {
            bool inside = i >= p && i < p + 21 && j >= q && j < q + 18;
            double wanted = inside ? matrix_get(&image, i - p, j - q) : 0;
            cr_assert(matrix_get(&moved, i, j) == wanted, "%s %s: [%lld, %lld]: expected %g, got %g",
                      fl_device_describe(device)->resource, variant, (long long)i, (long long)j, wanted,
                      matrix_get(&moved, i, j));
        }
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&moved);
}

ON_EVERY_BACKEND(convolve, identities)
{
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "convolve", FL_F64, i)) != NULL; i++) {
        if (strncmp(variant, "fft", 3) == 0) /* which is not exact; its bound is checked elsewhere */
            continue;
        if (strcmp(variant, "separable") != 0)
            check_identities(device, variant);
        check_shift(device, variant);
    }
    fl_device_close(device);
}
