/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {"full", "same", "valid"};
static const fl_dtype floats[] = {FL_F32, FL_F64};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Runs every variant that may be given this kernel. In mode valid a kernel that contains the image changes places with
 * it: its factors are of no use then. */
static void check_variants(fl_device *device, const struct matrix *image, const struct matrix *kernel, fl_mode mode,
                           bool rank_one, const struct expected *expected)
{
    bool swapped = mode == FL_VALID && (kernel->shape[0] > image->shape[0] || kernel->shape[1] > image->shape[1]);
    fl_dtype dtype = image->dtype == FL_F32 && kernel->dtype == FL_F32 ? FL_F32 : FL_F64;
    const char *variant;
    for (size_t i = 0; (variant = convolve_variant(device, dtype, i)) != NULL; i++)
        if ((rank_one && !swapped) || strcmp(variant, "separable") != 0)
            check_convolve(device, image, kernel, mode, &(fl_run){.variant = variant}, expected);
}

static void check_variants_by_definition(fl_device *device, const struct matrix *image, const struct matrix *kernel,
                                         fl_mode mode, bool rank_one)
{
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
    fl_array_free(a);
    fl_array_free(b);
    fl_array_free(out);
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
    struct matrix image = matrix_golden(path);
    snprintf(path, sizeof path, "%s.kernel", name);
    struct matrix kernel = matrix_golden(path);
    snprintf(path, sizeof path, "%s.%s", name, mode);
    struct matrix golden = matrix_golden(path);
    struct expected expected = expected_convolve(&image, &kernel, mode_of(mode));
    expect_near(&expected, &golden, "%s %s: SciPy against the definition", name, mode);
    memcpy(expected.value, golden.data, (size_t)(golden.shape[0] * golden.shape[1]) * sizeof(double));
    check_variants(device, &image, &kernel, mode_of(mode), rank_one, &expected);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&golden);
}

ON_EVERY_BACKEND(convolve, golden_files, .timeout = 120)
{
    fl_device *device = open_device(on->resource);
    FILE *manifest = fopen(FLYNN_TEST_GOLDEN "/manifest.txt", "r");
    cr_assert(manifest != NULL);
    char line[128];
    int cases = 0;
    while (fgets(line, sizeof line, manifest)) {
        if (line[0] == '#')
            continue;
        char *rest, *name = strtok_r(line, " \n", &rest), *rank_one = strtok_r(NULL, " \n", &rest), *mode;
        while ((mode = strtok_r(NULL, " \n", &rest)) != NULL) {
            check_golden(device, name, rank_one[0] == '1', mode);
            cases++;
        }
    }
    fclose(manifest);
    cr_expect(cases > 100, "the manifest has %d cases only", cases);
    fl_device_close(device);
}

/* The totals and peaks that the course's exercise is known to have; an emulation runs a smaller image, whose total is
 * as many Gaussians as it has impulses. */
static void check_exercise(fl_device *device, fl_dtype dtype, double factor, double total, fl_mode mode, int peak)
{
    int64_t edge = fl_device_describe(device)->emulation ? 256 : 2048, shape[2];
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
    fl_array_free(a);
    fl_array_free(b);
    fl_array_free(out);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&result);
}

ON_EVERY_BACKEND(convolve, exercise_totals, .timeout = 120)
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

ON_EVERY_BACKEND(convolve, random_shapes, .timeout = 120)
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
ON_EVERY_BACKEND(convolve, block_edges, .timeout = 240)
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
ON_EVERY_BACKEND(convolve, large_kernels, .timeout = 120)
{
    static const int64_t kernels[][2] = {{65, 63}, {1, 1025}, {1500, 1}, {100, 101}};
    fl_device *device = open_device(on->resource);
    for (size_t k = 0; k < COUNT(kernels); k++) {
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

/* Integers and mixed dtypes compute in f64, f32 with f32 in f32. */
ON_EVERY_BACKEND(convolve, mixed_dtypes, .timeout = 60)
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
ON_EVERY_BACKEND(convolve, large_integers, .timeout = 60)
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
    for (size_t i = 0; (variant = convolve_variant(device, FL_F32, i)) != NULL; i++)
        if (strcmp(variant, "reference") == 0)
            return true;
    return false;
}

/* The oracle is better than what it judges: the sum in the next wider format, rounded once. Returns whether the device
 * has it. */
static bool check_reference(const char *resource)
{
    fl_device *device = open_device(resource);
    bool offered = offers_reference(device);
    struct matrix image = matrix_random(FL_F32, 30, 41, 3), kernel = matrix_random(FL_F32, 15, 14, 4);
    struct expected expected = expected_convolve(&image, &kernel, FL_FULL);
    struct matrix got = offered ? convolve_full(device, &image, &kernel, "reference") : matrix_create(FL_F32, 0, 0);
    for (int64_t i = 0; i < got.shape[0] * got.shape[1]; i++) {
        double wanted = expected.value[i], bound = FLT_EPSILON / 2 * fabs(wanted) + 1e-12 * expected.magnitude[i];
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

Test(convolve, reference_is_rounded_once, .timeout = 60)
{
    struct criterion_test_params all = every_backend();
    size_t offered = 0;
    for (size_t i = 0; i < all.length; i++)
        offered += check_reference(((struct on *)all.params)[i].resource);
    cr_expect(offered > 0, "no backend offers the oracle");
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

/* A kernel with a one at [p, q] moves the image by p and q, without rounding, whatever the variant. */
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

ON_EVERY_BACKEND(convolve, identities, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t i = 0; (variant = convolve_variant(device, FL_F64, i)) != NULL; i++) {
        if (strcmp(variant, "separable") != 0)
            check_identities(device, variant);
        check_shift(device, variant);
    }
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------------ blocks ---- */

/* Blocks of odd shape, some of them larger than the image. */
ON_EVERY_BACKEND(convolve, odd_blocks, .timeout = 120)
{
    static const int blocks[][3] = {{7, 3, 0}, {1, 1, 0}, {1024, 1, 0}, {1, 64, 0}, {16, 16, 1}, {33, 5, 0}};
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 45, 38, 8), kernel = matrix_random_rank_one(FL_F32, 5, 4, 9);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    const char *variant;
    for (size_t b = 0; b < COUNT(blocks); b++)
        for (size_t i = 0; (variant = convolve_variant(device, FL_F32, i)) != NULL; i++) {
            fl_timing timing = {0};
            fl_run run = {.variant = variant, .timing = &timing};
            memcpy(run.block, blocks[b], sizeof run.block);
            check_convolve(device, &image, &kernel, FL_SAME, &run, &expected);
            if (is_gpu(device) && timing.block[0] > 0)
                cr_expect(timing.block[0] == blocks[b][0] && timing.block[1] == blocks[b][1],
                          "%s %s: asked for a block of %dx%d, ran %dx%d", on->resource, variant, blocks[b][0],
                          blocks[b][1], timing.block[0], timing.block[1]);
        }
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    fl_device_close(device);
}

struct small_problem {
    struct matrix image, kernel;
    fl_array *a, *b;
    struct guarded guarded;
};

/* full, f32, the kernel of rank two. */
static struct small_problem small_problem_create(fl_device *device)
{
    struct small_problem problem = {.image = matrix_random(FL_F32, 12, 17, 1),
                                    .kernel = matrix_random(FL_F32, 3, 4, 2)};
    problem.a = array_from(device, &problem.image);
    problem.b = array_from(device, &problem.kernel);
    problem.guarded = guarded_create(device, FL_F32, (int64_t[]){14, 20}, 3);
    return problem;
}

static void small_problem_free(struct small_problem *problem)
{
    guarded_free(&problem->guarded);
    fl_array_free(problem->a);
    fl_array_free(problem->b);
    matrix_free(&problem->image);
    matrix_free(&problem->kernel);
}

/* The message must have the limit in it. */
static void expect_limit(fl_device *device, struct small_problem *problem, int x, int y, int z, int64_t limit)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)limit);
    fl_run run = {.variant = "naive", .block = {x, y, z}};
    expect_status(FL_E_LIMIT, fl_convolve(device, problem->a, problem->b, FL_FULL, problem->guarded.out, &run));
    expect_error_says(number);
}

ON_EVERY_BACKEND(convolve, block_beyond_the_limits, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    if (!is_gpu(device)) {
        fl_device_close(device);
        cr_skip_test("%s: a processor's block has no limits", on->resource);
    }
    const fl_device_info *info = fl_device_describe(device);
    struct small_problem problem = small_problem_create(device);
    expect_limit(device, &problem, info->max_threads_per_block / 2 + 1, 2, 1, info->max_threads_per_block);
    expect_limit(device, &problem, 1, 1, info->max_block[2] + 1, info->max_block[2]);
    expect_untouched(&problem.guarded, on->resource);
    must(fl_convolve(device, problem.a, problem.b, FL_FULL, problem.guarded.out, NULL));
    small_problem_free(&problem);
    fl_device_close(device);
}

ON_EVERY_BACKEND(convolve, negative_block, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct small_problem problem = small_problem_create(device);
    fl_run run = {.block = {-1, 4, 0}};
    expect_status(FL_E_ARGUMENT, fl_convolve(device, problem.a, problem.b, FL_FULL, problem.guarded.out, &run));
    expect_untouched(&problem.guarded, on->resource);
    small_problem_free(&problem);
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- wrong arguments ---- */

/* A kernel that is no product is refused by `separable`, by this call or the one that waits, and nothing is written. */
ON_EVERY_BACKEND(convolve, separable_needs_rank_one, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    for (int waits = 0; waits < 2; waits++) {
        struct small_problem problem = small_problem_create(device);
        fl_timing timing;
        fl_run run = {.variant = "separable", .timing = waits ? &timing : NULL};
        fl_status status = fl_convolve(device, problem.a, problem.b, FL_FULL, problem.guarded.out, &run);
        if (!waits && status == FL_OK)
            status = fl_device_wait(device);
        expect_status(FL_E_ARGUMENT, status);
        expect_error_says("rank");
        expect_untouched(&problem.guarded, on->resource);
        must(fl_device_wait(device));
        must(fl_convolve(device, problem.a, problem.b, FL_FULL, problem.guarded.out, NULL));
        must(fl_device_wait(device));
        small_problem_free(&problem);
    }
    fl_device_close(device);
}

/* A kernel that is a product to rounding is one; a part in a thousand away it is none. Zeros are products too. */
ON_EVERY_BACKEND(convolve, separable_to_rounding, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 20, 20, 1), kernel = matrix_random_rank_one(FL_F32, 5, 5, 2);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    check_convolve(device, &image, &kernel, FL_SAME, &(fl_run){.variant = "separable"}, &expected);
    expected_free(&expected);
    matrix_set(&kernel, 3, 2, matrix_get(&kernel, 3, 2) * 1.001);
    expected = expected_convolve(&image, &kernel, FL_SAME);
    fl_timing timing = {0};
    check_convolve(device, &image, &kernel, FL_SAME, &(fl_run){.timing = &timing}, &expected);
    cr_expect(timing.variant && strcmp(timing.variant, "separable") != 0, "%s: auto took %s for a kernel of rank two",
              on->resource, timing.variant);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    fl_device_close(device);
}

ON_EVERY_BACKEND(convolve, wrong_output, .timeout = 60)
{
    static const struct {
        fl_dtype dtype;
        int ndim;
        int64_t shape[3];
    } wrong[] = {
        {FL_F32, 2, {14, 19}}, {FL_F32, 2, {20, 14}}, {FL_F64, 2, {14, 20}},
        {FL_I32, 2, {14, 20}}, {FL_F32, 1, {280}},    {FL_F32, 3, {14, 20, 1}},
    };
    fl_device *device = open_device(on->resource);
    struct small_problem problem = small_problem_create(device);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        fl_array *out = NULL;
        must(fl_array_create(device, wrong[i].dtype, wrong[i].ndim, wrong[i].shape, &out));
        expect_status(FL_E_ARGUMENT, fl_convolve(device, problem.a, problem.b, FL_FULL, out, NULL));
        expect_error_says("out");
        fl_array_free(out);
    }
    small_problem_free(&problem);
    fl_device_close(device);
}

ON_EVERY_BACKEND(convolve, wrong_inputs, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct small_problem problem = small_problem_create(device);
    fl_array *a = problem.a, *b = problem.b, *out = problem.guarded.out, *empty = NULL, *line = NULL;
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){0, 4}, &empty));
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){12}, &line));
    expect_status(FL_E_ARGUMENT, fl_convolve(device, NULL, b, FL_FULL, out, NULL));
    expect_error_says("image");
    expect_status(FL_E_ARGUMENT, fl_convolve(device, a, NULL, FL_FULL, out, NULL));
    expect_error_says("kernel");
    expect_status(FL_E_ARGUMENT, fl_convolve(device, a, b, FL_FULL, NULL, NULL));
    expect_error_says("out");
    expect_status(FL_E_ARGUMENT, fl_convolve(NULL, a, b, FL_FULL, out, NULL));
    expect_error_says("device");
    expect_status(FL_E_ARGUMENT, fl_convolve(device, empty, b, FL_FULL, out, NULL));
    expect_error_says("image");
    expect_status(FL_E_ARGUMENT, fl_convolve(device, a, line, FL_FULL, out, NULL));
    expect_error_says("kernel");
    expect_status(FL_E_ARGUMENT, fl_convolve(device, a, b, (fl_mode)7, out, NULL));
    expect_error_says("mode");
    expect_status(FL_E_UNKNOWN, fl_convolve(device, a, b, FL_FULL, out, &(fl_run){.variant = "navie"}));
    expect_error_says("naive");
    expect_status(FL_E_UNKNOWN, fl_convolve(device, a, b, FL_FULL, out, &(fl_run){.variant = ""}));
    expect_untouched(&problem.guarded, on->resource);
    fl_array_free(empty);
    fl_array_free(line);
    small_problem_free(&problem);
    fl_device_close(device);
}

/* The output may lie beside an input in one array, and not on it. */
ON_EVERY_BACKEND(convolve, overlapping_output, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 20, 12, 1), kernel = matrix_random(FL_F32, 3, 3, 2);
    fl_array *whole = array_from(device, &image), *b = array_from(device, &kernel), *a, *over, *beside;
    const int64_t shape[2] = {10, 12};
    must(fl_array_view(whole, (int64_t[]){0, 0}, shape, &a));
    must(fl_array_view(whole, (int64_t[]){9, 0}, shape, &over));
    must(fl_array_view(whole, (int64_t[]){10, 0}, shape, &beside));
    expect_status(FL_E_ARGUMENT, fl_convolve(device, a, b, FL_SAME, over, NULL));
    expect_error_says("out");
    expect_status(FL_E_ARGUMENT, fl_convolve(device, a, b, FL_SAME, a, NULL));
    must(fl_convolve(device, a, b, FL_SAME, beside, NULL));
    struct matrix got = matrix_create(FL_F32, 10, 12), upper = matrix_create(FL_F32, 10, 12);
    must(fl_array_to_host(beside, got.data));
    memcpy(upper.data, image.data, 10 * 12 * sizeof(float));
    struct expected expected = expected_convolve(&upper, &kernel, FL_SAME);
    expect_near(&expected, &got, "%s: an output beside the image", on->resource);
    fl_array *arrays[] = {a, over, beside, whole, b};
    for (size_t i = 0; i < COUNT(arrays); i++)
        fl_array_free(arrays[i]);
    struct matrix *matrices[] = {&image, &kernel, &got, &upper};
    for (size_t i = 0; i < COUNT(matrices); i++)
        matrix_free(matrices[i]);
    expected_free(&expected);
    fl_device_close(device);
}

Test(convolve, shapes)
{
    static const struct {
        int64_t image[2], kernel[2];
        fl_mode mode;
        int64_t out[2]; /* 0: no such convolution */
    } cases[] = {
        {{5, 7}, {3, 2}, FL_FULL, {7, 8}},         {{5, 7}, {3, 2}, FL_SAME, {5, 7}},
        {{5, 7}, {3, 2}, FL_VALID, {3, 6}},        {{3, 2}, {5, 7}, FL_FULL, {7, 8}},
        {{3, 2}, {5, 7}, FL_SAME, {3, 2}},         {{3, 2}, {5, 7}, FL_VALID, {3, 6}},
        {{5, 2}, {3, 7}, FL_VALID, {0, 0}},        {{5, 7}, {5, 7}, FL_VALID, {1, 1}},
        {{0, 7}, {3, 2}, FL_FULL, {0, 0}},         {{5, 7}, {3, 0}, FL_SAME, {0, 0}},
        {{5, -7}, {3, 2}, FL_SAME, {0, 0}},        {{5, 7}, {3, 2}, (fl_mode)3, {0, 0}},
        {{INT64_MAX, 7}, {3, 2}, FL_FULL, {0, 0}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t out[2] = {-1, -1};
        fl_status status = fl_convolve_shape(cases[i].image, cases[i].kernel, cases[i].mode, out);
        if (cases[i].out[0] == 0)
            cr_expect(status == FL_E_ARGUMENT && out[0] == -1, "case %zu: %s", i, fl_status_name(status));
        else
            cr_expect(status == FL_OK && out[0] == cases[i].out[0] && out[1] == cases[i].out[1],
                      "case %zu: %s %lld %lld", i, fl_status_name(status), (long long)out[0], (long long)out[1]);
    }
}

/* ------------------------------------------------------------------------------------ timing, threads, streams ---- */

ON_EVERY_BACKEND(convolve, timing_is_filled, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 64, 48, 1), kernel = matrix_random_rank_one(FL_F32, 7, 5, 2);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    const char *variant;
    for (size_t i = 0; (variant = convolve_variant(device, FL_F32, i)) != NULL; i++) {
        fl_timing timing = {.kernel_s = -1};
        check_convolve(device, &image, &kernel, FL_SAME, &(fl_run){.variant = variant, .timing = &timing}, &expected);
        bool automatic = strcmp(variant, "auto") == 0;
        cr_expect(timing.variant && strcmp(timing.variant, automatic ? "separable" : variant) == 0, "%s %s: ran '%s'",
                  on->resource, variant, timing.variant);
        cr_expect(timing.kernel_s > 0 && timing.kernel_s < 10, "%s %s: %g s", on->resource, variant, timing.kernel_s);
        cr_expect(timing.bytes == 4.0 * (64 * 48 * 2 + 7 * 5), "%s %s: %g compulsory bytes", on->resource, variant,
                  timing.bytes);
        cr_expect(timing.bytes_requested >= 4.0 * 64 * 48 * 2, "%s %s: %g bytes requested", on->resource, variant,
                  timing.bytes_requested);
        cr_expect(timing.flops >= 2.0 * 64 * 48 * (7 + 5) * 0.5, "%s %s: %g operations", on->resource, variant,
                  timing.flops);
        if (is_gpu(device))
            cr_expect(timing.block[0] * timing.block[1] > 0 && timing.grid[0] > 0, "%s %s: no block", on->resource,
                      variant);
    }
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    fl_device_close(device);
}

struct worker {
    fl_device *device;
    uint64_t seed;
    bool ok;
};

/* Convolves its own image ten times on its own stream, without Criterion, whose tests fail in one thread only. */
static void *convolve_on_own_stream(void *argument)
{
    struct worker *worker = argument;
    fl_device *device = worker->device;
    int64_t rows = 60 + (int64_t)worker->seed;
    struct matrix image = matrix_random(FL_F64, rows, 50, worker->seed),
                  kernel = matrix_random(FL_F64, 6, 5, worker->seed);
    struct matrix got = matrix_create(FL_F64, rows, 50);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    fl_stream *stream = NULL;
    fl_array *a = NULL, *b = NULL, *out = NULL;
    bool ok = fl_stream_create(device, &stream) == FL_OK &&
              fl_array_from_host(device, FL_F64, 2, image.shape, image.data, &a) == FL_OK &&
              fl_array_from_host(device, FL_F64, 2, kernel.shape, kernel.data, &b) == FL_OK &&
              fl_array_create(device, FL_F64, 2, image.shape, &out) == FL_OK;
    for (int i = 0; ok && i < 10; i++) {
        memset(got.data, 0, (size_t)(rows * 50) * sizeof(double));
        ok = fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.stream = stream}) == FL_OK &&
             fl_array_read(out, got.data, stream) == FL_OK && fl_stream_wait(stream) == FL_OK &&
             is_near(&expected, &got);
    }
    fl_array_free(a);
    fl_array_free(b);
    fl_array_free(out);
    fl_stream_free(stream);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    worker->ok = ok;
    return NULL;
}

ON_EVERY_BACKEND(convolve, threads_share_a_device, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct worker workers[4];
    pthread_t threads[COUNT(workers)];
    for (size_t i = 0; i < COUNT(workers); i++) {
        workers[i] = (struct worker){.device = device, .seed = i + 1};
        cr_assert(pthread_create(&threads[i], NULL, convolve_on_own_stream, &workers[i]) == 0);
    }
    for (size_t i = 0; i < COUNT(workers); i++) {
        pthread_join(threads[i], NULL);
        cr_expect(workers[i].ok, "%s: thread %zu failed or got another's result", on->resource, i);
    }
    fl_device_close(device);
}

/* A second stream waits for an event of the first and goes on with its result. */
ON_EVERY_BACKEND(convolve, second_stream_waits_for_the_first, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F64, 150, 130, 1), kernel = matrix_random(FL_F64, 9, 8, 2);
    struct expected once = expected_convolve(&image, &kernel, FL_SAME);
    struct matrix between = {FL_F64, {150, 130}, once.value};
    struct expected twice = expected_convolve(&between, &kernel, FL_SAME);
    fl_array *a = array_from(device, &image), *b = array_from(device, &kernel), *c = NULL, *out = NULL;
    must(fl_array_create(device, FL_F64, 2, image.shape, &c));
    must(fl_array_create(device, FL_F64, 2, image.shape, &out));
    fl_stream *first, *second;
    fl_event *event;
    must(fl_stream_create(device, &first));
    must(fl_stream_create(device, &second));
    must(fl_event_create(device, &event));
    must(fl_convolve(device, a, b, FL_SAME, c, &(fl_run){.stream = first, .variant = "naive"}));
    must(fl_event_record(event, first));
    must(fl_stream_wait_event(second, event));
    must(fl_convolve(device, c, b, FL_SAME, out, &(fl_run){.stream = second, .variant = "naive"}));
    must(fl_stream_wait(second));
    struct matrix got = matrix_create(FL_F64, 150, 130);
    must(fl_array_to_host(out, got.data));
    /* What each of the 72 terms may be wrong by from the first step: the bound of a sum of 72 numbers of at most 1. */
    for (int64_t i = 0; i < 150 * 130; i++)
        twice.magnitude[i] += 72 * 72;
    expect_near(&twice, &got, "%s: twice", on->resource);
    fl_event_free(event);
    fl_stream_free(first);
    fl_stream_free(second);
    fl_array *arrays[] = {a, b, c, out};
    for (size_t i = 0; i < COUNT(arrays); i++)
        fl_array_free(arrays[i]);
    expected_free(&once);
    expected_free(&twice);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    fl_device_close(device);
}

/* Inputs freed right after the call, and their memory asked for again and overwritten, while the work may be queued. */
ON_EVERY_BACKEND(convolve, inputs_freed_while_queued, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 200, 180, 1), kernel = matrix_random(FL_F32, 11, 12, 2);
    struct matrix other = matrix_random(FL_F32, 200, 180, 3);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    struct guarded guarded = guarded_create(device, FL_F32, image.shape, 0);
    fl_stream *stream;
    must(fl_stream_create(device, &stream));
    for (int i = 0; i < 5; i++) {
        fl_array *a = array_from(device, &image), *b = array_from(device, &kernel);
        must(fl_convolve(device, a, b, FL_SAME, guarded.out, &(fl_run){.stream = stream}));
        fl_array_free(a);
        fl_array_free(b);
        fl_array *again = array_from(device, &other);
        struct matrix got = guarded_read(&guarded, on->resource);
        expect_near(&expected, &got, "%s: inputs freed while queued", on->resource);
        matrix_free(&got);
        fl_array_free(again);
    }
    fl_stream_free(stream);
    guarded_free(&guarded);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&other);
    fl_device_close(device);
}

/* ----------------------------------------------------------------------------------------------------- convert ---- */

ON_EVERY_BACKEND(convert, every_dtype, .timeout = 60)
{
    static const double values[] = {0, 1, 2, 7, 200};
    fl_device *device = open_device(on->resource);
    for (int from = 0; from < FL_DTYPE_COUNT; from++)
        for (size_t to = 0; to < COUNT(floats); to++) {
            struct matrix in = matrix_create((fl_dtype)from, 7, 9);
            for (int64_t i = 0; i < 7 * 9; i++)
                matrix_set(&in, 0, i, values[i % 5]);
            fl_array *a = array_inside(device, &in);
            struct guarded guarded = guarded_create(device, floats[to], in.shape, 4);
            must(fl_convert(device, a, guarded.out, NULL));
            struct matrix got = guarded_read(&guarded, on->resource);
            for (int64_t i = 0; i < 7 * 9; i++)
                cr_expect(matrix_get(&got, 0, i) == values[i % 5], "%s: %s to %s: element %lld", on->resource,
                          fl_dtype_name((fl_dtype)from), fl_dtype_name(floats[to]), (long long)i);
            guarded_free(&guarded);
            fl_array_free(a);
            matrix_free(&in);
            matrix_free(&got);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(convert, wrong_arguments, .timeout = 60)
{
    fl_device *device = open_device(on->resource);
    fl_array *in, *same, *other, *integers;
    must(fl_array_create(device, FL_I32, 2, (int64_t[]){3, 4}, &in));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){3, 4}, &same));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){4, 3}, &other));
    must(fl_array_create(device, FL_I64, 2, (int64_t[]){3, 4}, &integers));
    expect_status(FL_E_ARGUMENT, fl_convert(device, in, other, NULL));
    expect_status(FL_E_ARGUMENT, fl_convert(device, in, integers, NULL));
    expect_status(FL_E_ARGUMENT, fl_convert(device, NULL, same, NULL));
    expect_status(FL_E_ARGUMENT, fl_convert(device, same, same, NULL));
    fl_array *arrays[] = {in, same, other, integers};
    for (size_t i = 0; i < COUNT(arrays); i++)
        fl_array_free(arrays[i]);
    fl_device_close(device);
}
