/* SPDX-License-Identifier: MIT
 *
 * test_convolve_calls.c - how convolve is called: blocks, wrong arguments, timing, threads and streams. What it
 * computes is in test_convolve.c.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ blocks ---- */

/* Blocks of odd shape, some of them larger than the image. */
ON_EVERY_BACKEND(convolve, odd_blocks)
{
    static const int blocks[][3] = {{7, 3, 0}, {1, 1, 0}, {1024, 1, 0}, {1, 64, 0}, {16, 16, 1}, {33, 5, 0}};
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 45, 38, 8), kernel = matrix_random_rank_one(FL_F32, 5, 4, 9);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    const char *variant;
    for (size_t b = 0; b < COUNT(blocks); b++)
        for (size_t i = 0; (variant = variant_of(device, "convolve", FL_F32, i)) != NULL; i++) {
            fl_timing timing = {0};
            fl_run run = {.variant = variant, .timing = &timing};
            memcpy(run.block, blocks[b], sizeof run.block);
            check_convolve(device, &image, &kernel, FL_SAME, &run, &expected);
            if (is_gpu(device) && strncmp(variant, "fft", 3) != 0) /* whose blocks are no choice of the caller's */
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
    problem.guarded = guarded_create(device, FL_F32, 2, (int64_t[]){14, 20}, 3);
    return problem;
}

static void small_problem_free(struct small_problem *problem)
{
    guarded_free(&problem->guarded);
    free_arrays(problem->a, problem->b);
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

ON_EVERY_BACKEND(convolve, block_beyond_the_limits)
{
    fl_device *device = open_device(on->resource);
    if (!is_gpu(device)) { /* a processor's block has no limits */
        fl_device_close(device);
        return;
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

ON_EVERY_BACKEND(convolve, negative_block)
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

/* `separable` refuses a kernel that is not a product, in its call or in the wait after it, and writes nothing. */
ON_EVERY_BACKEND(convolve, separable_needs_rank_one)
{
    fl_device *device = open_device(on->resource);
    for (int waits = 0; waits < 2; waits++) {
        struct small_problem problem = small_problem_create(device);
        fl_timing timing;
        fl_run run = {.variant = "separable", .timing = waits ? &timing : NULL};
        fl_status status = fl_convolve(device, problem.a, problem.b, FL_FULL, problem.guarded.out, &run);
        if (!waits && status == FL_OK)
            status = fl_device_wait(device);
        expect_argument_error(status, "rank");
        if (!is_gpu(device)) /* a GPU finds it out later, when the call is over */
            expect_error_says("(3x4)");
        expect_untouched(&problem.guarded, on->resource);
        must(fl_device_wait(device));
        must(fl_convolve(device, problem.a, problem.b, FL_FULL, problem.guarded.out, NULL));
        must(fl_device_wait(device));
        small_problem_free(&problem);
    }
    fl_device_close(device);
}

/* A kernel that is a product to rounding is one; a part in a thousand away it is none. Zeros are products too. */
ON_EVERY_BACKEND(convolve, separable_to_rounding)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 20, 20, 1), kernel = matrix_random_rank_one(FL_F32, 17, 17, 2);
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

ON_EVERY_BACKEND(convolve, wrong_output)
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
        expect_argument_error(fl_convolve(device, problem.a, problem.b, FL_FULL, out, NULL), "out");
        fl_array_free(out);
    }
    small_problem_free(&problem);
    fl_device_close(device);
}

ON_EVERY_BACKEND(convolve, wrong_inputs)
{
    fl_device *device = open_device(on->resource);
    struct small_problem problem = small_problem_create(device);
    fl_array *a = problem.a, *b = problem.b, *out = problem.guarded.out, *line = NULL;
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){12}, &line));
    expect_argument_error(fl_convolve(device, NULL, b, FL_FULL, out, NULL), "image");
    expect_argument_error(fl_convolve(device, a, NULL, FL_FULL, out, NULL), "kernel");
    expect_argument_error(fl_convolve(device, a, b, FL_FULL, NULL, NULL), "out");
    expect_argument_error(fl_convolve(NULL, a, b, FL_FULL, out, NULL), "device");
    expect_argument_error(fl_convolve(device, a, line, FL_FULL, out, NULL), "kernel");
    expect_argument_error(fl_convolve(device, a, b, (fl_mode)7, out, NULL), "mode");
    expect_status(FL_E_UNKNOWN, fl_convolve(device, a, b, FL_FULL, out, &(fl_run){.variant = "navie"}));
    expect_error_says("naive");
    expect_status(FL_E_UNKNOWN, fl_convolve(device, a, b, FL_FULL, out, &(fl_run){.variant = ""}));
    expect_untouched(&problem.guarded, on->resource);
    fl_array_free(line);
    small_problem_free(&problem);
    fl_device_close(device);
}

/* The output may lie beside an input in one array, and not on it. */
ON_EVERY_BACKEND(convolve, overlapping_output)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 20, 12, 1), kernel = matrix_random(FL_F32, 3, 3, 2);
    fl_array *whole = array_from(device, &image), *b = array_from(device, &kernel), *a, *over, *beside;
    const int64_t shape[2] = {10, 12};
    must(fl_array_view(whole, (int64_t[]){0, 0}, shape, &a));
    must(fl_array_view(whole, (int64_t[]){9, 0}, shape, &over));
    must(fl_array_view(whole, (int64_t[]){10, 0}, shape, &beside));
    expect_argument_error(fl_convolve(device, a, b, FL_SAME, over, NULL), "out");
    expect_status(FL_E_ARGUMENT, fl_convolve(device, a, b, FL_SAME, a, NULL));
    must(fl_convolve(device, a, b, FL_SAME, beside, NULL));
    struct matrix got = matrix_create(FL_F32, 10, 12), upper = matrix_create(FL_F32, 10, 12);
    must(fl_array_to_host(beside, got.data));
    memcpy(upper.data, image.data, 10 * 12 * sizeof(float));
    struct expected expected = expected_convolve(&upper, &kernel, FL_SAME);
    expect_near(&expected, &got, "%s: an output beside the image", on->resource);
    free_arrays(a, over, beside, whole, b);
    struct matrix *matrices[] = {&image, &kernel, &got, &upper};
    for (size_t i = 0; i < COUNT(matrices); i++)
        matrix_free(matrices[i]);
    expected_free(&expected);
    fl_device_close(device);
}

/* As scipy.signal.convolve2d: the elements of the result are sums of nothing. */
ON_EVERY_BACKEND(convolve, arrays_without_elements)
{
    static const struct {
        int64_t image[2], kernel[2], out[2];
        fl_mode mode;
    } cases[] = {
        {{0, 5}, {3, 3}, {2, 7}, FL_FULL},  {{5, 0}, {3, 3}, {7, 2}, FL_FULL},  {{5, 5}, {0, 3}, {4, 7}, FL_FULL},
        {{5, 5}, {0, 0}, {4, 4}, FL_FULL},  {{0, 5}, {3, 3}, {0, 5}, FL_SAME},  {{5, 5}, {3, 0}, {5, 5}, FL_SAME},
        {{0, 0}, {0, 0}, {0, 0}, FL_SAME},  {{5, 5}, {0, 3}, {6, 3}, FL_VALID}, {{0, 3}, {5, 5}, {6, 3}, FL_VALID},
        {{0, 0}, {0, 0}, {1, 1}, FL_VALID},
    };
    fl_device *device = open_device(on->resource);
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int wide = 0; wide < 2; wide++) { /* of the whole array, and of a view that is a part of its rows */
            const int64_t *shape = cases[i].out, rows[] = {shape[0], shape[1] + 2 * wide};
            float values[64], kept[64];
            const char *variant;
            fl_array *image, *kernel, *whole, *out;
            fl_timing timing = {0};
            for (size_t n = 0; n < COUNT(values); n++)
                kept[n] = 7;
            must(fl_array_create(device, FL_F32, 2, cases[i].image, &image));
            must(fl_array_create(device, FL_F32, 2, cases[i].kernel, &kernel));
            must(fl_array_from_host(device, FL_F32, 2, rows, kept, &whole));
            must(fl_array_view(whole, (int64_t[]){0, wide}, shape, &out));
            for (size_t v = 0; (variant = variant_of(device, "convolve", FL_F32, v)) != NULL; v++) {
                must(fl_array_write(whole, kept, NULL));
                must(fl_convolve(device, image, kernel, cases[i].mode, out,
                                 &(fl_run){.variant = variant, .timing = &timing}));
                must(fl_array_to_host(whole, values));
                for (int64_t n = 0; n < rows[0] * rows[1]; n++) {
                    const int64_t column = n % rows[1];
                    const bool inside = column >= wide && column < wide + shape[1];
                    cr_expect(values[n] == (inside ? 0 : 7), "%s %s, case %zu: element %lld is %g", on->resource,
                              variant, i, (long long)n, (double)values[n]);
                }
            }
            expect_status(FL_E_UNKNOWN,
                          fl_convolve(device, image, kernel, cases[i].mode, out, &(fl_run){.variant = "no"}));
            free_arrays(image, kernel, whole, out);
        }
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
        {{5, -7}, {3, 2}, FL_SAME, {0, 0}},        {{5, 7}, {3, 2}, (fl_mode)3, {0, 0}},
        {{INT64_MAX, 7}, {3, 2}, FL_FULL, {0, 0}}, {{0, 7}, {3, 2}, FL_FULL, {2, 8}},
        {{5, 7}, {3, 0}, FL_SAME, {5, 7}},         {{5, 7}, {3, 0}, FL_VALID, {3, 8}},
        {{0, 7}, {3, 2}, FL_VALID, {0, 0}},        {{0, 7}, {0, 2}, FL_FULL, {0, 0}},
        {{0, 7}, {0, 2}, FL_VALID, {1, 6}},
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

Test(convolve, shapes_that_are_refused)
{
    const int64_t good[] = {1, 7}, bad[] = {-1, 7};
    int64_t out[2];
    expect_argument_error(fl_convolve_shape(NULL, good, FL_FULL, out), "image is NULL");
    expect_argument_error(fl_convolve_shape(good, NULL, FL_FULL, out), "kernel is NULL");
    expect_argument_error(fl_convolve_shape(good, good, FL_FULL, NULL), "out is NULL");
    expect_argument_error(fl_convolve_shape(good, bad, FL_FULL, out), "kernel[0]");
    expect_argument_error(fl_convolve_shape(bad, good, FL_FULL, out), "image[0]");
}

/* ------------------------------------------------------------------------------------ timing, threads, streams ---- */

ON_EVERY_BACKEND(convolve, timing_is_filled)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 64, 48, 1), kernel = matrix_random_rank_one(FL_F32, 17, 17, 2);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "convolve", FL_F32, i)) != NULL; i++) {
        fl_timing timing = {.kernel_s = -1};
        check_convolve(device, &image, &kernel, FL_SAME, &(fl_run){.variant = variant, .timing = &timing}, &expected);
        bool automatic = strcmp(variant, "auto") == 0;
        cr_expect(timing.variant && strcmp(timing.variant, automatic ? "separable" : variant) == 0, "%s %s: ran '%s'",
                  on->resource, variant, timing.variant);
        cr_expect(timing.kernel_s > 0 && timing.kernel_s < 10, "%s %s: %g s", on->resource, variant, timing.kernel_s);
        cr_expect(timing.bytes == 4.0 * (64 * 48 * 2 + 17 * 17), "%s %s: %g compulsory bytes", on->resource, variant,
                  timing.bytes);
        cr_expect(timing.bytes_requested >= 4.0 * 64 * 48 * 2, "%s %s: %g bytes requested", on->resource, variant,
                  timing.bytes_requested);
        cr_expect(timing.flops >= 2.0 * 64 * 48 * (17 + 17) * 0.5, "%s %s: %g operations", on->resource, variant,
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

/* Returns whether the device has the variant, and its library is here. */
static bool is_ready(const fl_device *device, const char *operation, const char *variant)
{
    fl_variant_info info;
    for (size_t i = 0; fl_variant_get(device, i, &info) == FL_OK; i++)
        if (strcmp(info.operation, operation) == 0 && strcmp(info.variant, variant) == 0)
            return fl_variant_ready(device, i) == FL_OK;
    return false;
}

/* Fails unless auto takes that variant, and is as accurate as all. */
static void check_choice(fl_device *device, const struct matrix *image, const struct matrix *kernel, const char *wanted)
{
    struct expected expected = expected_convolve(image, kernel, FL_SAME);
    fl_timing timing = {0};
    check_convolve(device, image, kernel, FL_SAME, &(fl_run){.timing = &timing}, &expected);
    cr_expect(timing.variant && strcmp(timing.variant, wanted) == 0, "%s %s %lldx%lld: auto took %s, not %s",
              fl_device_describe(device)->resource, fl_dtype_name(image->dtype), (long long)kernel->shape[0],
              (long long)kernel->shape[1], timing.variant, wanted);
    expected_free(&expected);
}

/* On processors, for kernels that are large and no product; the image has zeros and one large number. */
ON_EVERY_BACKEND(convolve, auto_takes_fft)
{
    fl_device *device = open_device(on->resource);
    const bool ready = is_ready(device, "convolve", "fft-wide");
    for (int d = 0; d < 2 && !is_gpu(device); d++) {
        const fl_dtype dtype = d ? FL_F64 : FL_F32;
        struct matrix image = matrix_random(dtype, 130, 150, 1), kernel = matrix_random(dtype, 41, 40, 2);
        struct matrix small = matrix_random(dtype, 3, 4, 2), product = matrix_random_rank_one(dtype, 41, 40, 2);
        for (int64_t i = 0; i < 130 * 60; i++)
            matrix_set(&image, 0, i, 0);
        matrix_set(&image, 100, 100, 1e7);
        check_choice(device, &image, &kernel, !ready ? "tiled" : dtype == FL_F32 ? "fft-wide" : "fft-checked");
        check_choice(device, &image, &small, "tiled");
        check_choice(device, &image, &product, "separable");
        matrix_free(&image);
        matrix_free(&kernel);
        matrix_free(&small);
        matrix_free(&product);
    }
    fl_device_close(device);
}

/* For little work `auto` of a GPU takes `tiled` and does not test the rank, because the test is a launch more. */
ON_EVERY_BACKEND(convolve, auto_of_little_work)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 64, 48, 1), little = matrix_random_rank_one(FL_F32, 7, 5, 2);
    struct matrix more = matrix_random_rank_one(FL_F32, 17, 17, 2);
    check_choice(device, &image, &little, is_gpu(device) ? "tiled" : "separable");
    check_choice(device, &image, &more, "separable");
    matrix_free(&image);
    matrix_free(&little);
    matrix_free(&more);
    fl_device_close(device);
}

/* The more threads a block has, the fewer outputs, one below the other, has each: a thread's registers are fewer. Few
 * outputs are spread over more blocks, until each multiprocessor has one. */
ON_EVERY_BACKEND(convolve, outputs_of_a_thread)
{
    static const int blocks[][3] = {{64, 2, 16}, {16, 8, 16}, {129, 1, 8}, {32, 8, 8}, {257, 1, 4}, {64, 16, 4}};
    static const int64_t rows[] = {24, 512};
    fl_device *device = open_device(on->resource);
    const int64_t multiprocessors = fl_device_describe(device)->multiprocessors;
    struct matrix kernel = matrix_random_rank_one(FL_F32, 3, 3, 2);
    for (size_t r = 0; is_gpu(device) && r < COUNT(rows); r++) {
        struct matrix image = matrix_random(FL_F32, rows[r], 20, 1);
        struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
        for (size_t b = 0; b < COUNT(blocks); b++)
            for (int v = 0; v < 2; v++) {
                const int64_t width = blocks[b][0], height = blocks[b][1], across = (20 + width - 1) / width;
                int64_t outputs = blocks[b][2], down = (rows[r] + height * outputs - 1) / (height * outputs);
                for (; outputs > 4 && across * down < multiprocessors; outputs /= 2)
                    down = (rows[r] + height * outputs / 2 - 1) / (height * outputs / 2);
                fl_timing timing = {0};
                const fl_run run = {
                    .variant = v ? "separable" : "tiled", .block = {(int)width, (int)height, 1}, .timing = &timing};
                check_convolve(device, &image, &kernel, FL_SAME, &run, &expected);
                cr_expect(timing.grid[0] == across && timing.grid[1] == down,
                          "%s: blocks of %lldx%lld: %lld for %lld rows", on->resource, (long long)width,
                          (long long)height, (long long)timing.grid[1], (long long)rows[r]);
            }
        expected_free(&expected);
        matrix_free(&image);
    }
    matrix_free(&kernel);
    fl_device_close(device);
}

/* The number of operations is as exact as f64: that of 2^24 + 1 taps is not a number of f32. */
ON_EVERY_BACKEND(convolve, operations_of_many_taps)
{
    const int64_t taps = (1 << 24) + 1;
    fl_device *device = open_device(on->resource);
    if (is_gpu(device) && !is_small_test()) {
        struct matrix zeros = matrix_create(FL_F32, taps, 1);
        memset(zeros.data, 0, (size_t)taps * sizeof(float));
        fl_array *image = array_from(device, &zeros), *out;
        fl_timing timing = {0};
        must(fl_array_create(device, FL_F32, 2, (int64_t[]){1, 1}, &out));
        must(fl_convolve(device, image, image, FL_VALID, out, &(fl_run){.variant = "naive", .timing = &timing}));
        cr_expect(timing.flops == 2.0 * (double)taps, "%s: %.0f operations", on->resource, timing.flops);
        free_arrays(image, out);
        matrix_free(&zeros);
    }
    fl_device_close(device);
}

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
    free_arrays(a, b, out);
    fl_stream_free(stream);
    expected_free(&expected);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    worker->ok = ok;
    return NULL;
}

ON_EVERY_BACKEND(convolve, threads_share_a_device)
{
    threads_share_a_device(on->resource, convolve_on_own_stream);
}

/* Makes plans for tiles of several sizes on a device of its own, while other threads do so on theirs: FFTW's planner is
 * one for all of them. */
static void *plan_on_own_device(void *argument)
{
    struct worker *worker = argument;
    const char *resource = fl_device_describe(worker->device)->resource;
    worker->ok = true;
    for (int64_t rows = 5; worker->ok && rows < 150; rows *= 2) {
        const int64_t columns = 20 + 7 * (int64_t)worker->seed;
        struct matrix image = matrix_random(FL_F32, rows, columns, worker->seed);
        struct matrix kernel = matrix_random(FL_F32, 3, 4, worker->seed), got = matrix_create(FL_F32, rows, columns);
        struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
        fl_device *device = NULL;
        fl_array *a = NULL, *b = NULL, *out = NULL;
        worker->ok = fl_device_open(resource, &device) == FL_OK &&
                     fl_array_from_host(device, FL_F32, 2, image.shape, image.data, &a) == FL_OK &&
                     fl_array_from_host(device, FL_F32, 2, kernel.shape, kernel.data, &b) == FL_OK &&
                     fl_array_create(device, FL_F32, 2, image.shape, &out) == FL_OK &&
                     fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.variant = "fft-wide"}) == FL_OK &&
                     fl_array_to_host(out, got.data) == FL_OK && is_near(&expected, &got);
        free_arrays(a, b, out);
        fl_device_close(device);
        expected_free(&expected);
        matrix_free(&image);
        matrix_free(&kernel);
        matrix_free(&got);
    }
    return NULL;
}

ON_EVERY_BACKEND(convolve, threads_make_plans)
{
    fl_device *device = open_device(on->resource);
    const bool ready = is_ready(device, "convolve", "fft-wide");
    fl_device_close(device);
    if (ready)
        threads_share_a_device(on->resource, plan_on_own_device);
}

/* On GPUs, where the host learns from the device whether the kernel is a product; for as many sums as pay. In f64 the
 * error of random numbers with 35x35 of them would exceed that of direct sums. */
ON_EVERY_BACKEND(convolve, auto_of_gpus_takes_an_exact_fft)
{
    fl_device *device = open_device(on->resource);
    for (int d = 0; d < 2; d++)
        if (is_gpu(device) && !is_left_out(4)) {
            const fl_dtype dtype = d ? FL_F64 : FL_F32;
            const char *const variant = d ? "fft-checked" : "fft-wide";
            struct matrix image = matrix_random(dtype, 300, 300, 1), kernel = matrix_random(dtype, 80, 80, 2);
            const int64_t edge = is_slow(device) ? 300 : 700;
            struct matrix wide = matrix_random(dtype, edge - 50, edge, 1), small = matrix_random(dtype, 31, 31, 2);
            struct matrix product = matrix_random_rank_one(dtype, 80, 80, 2);
            matrix_set(&image, 100, 100, 1e7);
            check_choice(device, &image, &kernel, is_ready(device, "convolve", variant) ? variant : "tiled");
            if (d)
                check_choice(device, &wide, &small, "tiled");
            else
                check_choice(device, &image, &product, "separable");
            matrix_free(&image);
            matrix_free(&kernel);
            matrix_free(&wide);
            matrix_free(&small);
            matrix_free(&product);
        }
    fl_device_close(device);
}

/* Calls of auto follow each other on two streams, and nothing waits for a verdict between them: kernels that are a
 * product and kernels that are not take turns, and each call has the bits of the variant that its own kernel asks for.
 */
static void check_turns(fl_device *device, fl_dtype dtype)
{
    enum { EDGE = 320, TAPS = 63, CALLS = 4, STREAMS = 2 };
    const char *const variants[] = {dtype == FL_F32 ? "fft-wide" : "fft-checked", "separable"};
    const char *const resource = fl_device_describe(device)->resource;
    const size_t bytes = (size_t)EDGE * EDGE * (dtype == FL_F32 ? sizeof(float) : sizeof(double));
    struct matrix image = matrix_random(dtype, EDGE, EDGE, 1), got = matrix_create(dtype, EDGE, EDGE);
    struct matrix kernels[] = {matrix_random(dtype, TAPS, TAPS, 2), matrix_random_rank_one(dtype, TAPS, TAPS, 3)};
    struct matrix wanted[] = {matrix_create(dtype, EDGE, EDGE), matrix_create(dtype, EDGE, EDGE)};
    fl_array *a = array_from(device, &image), *b[2], *out[STREAMS][CALLS];
    fl_stream *streams[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        must(fl_stream_create(device, &streams[s]));
        for (int c = 0; c < CALLS; c++)
            must(fl_array_create(device, dtype, 2, image.shape, &out[s][c]));
    }
    for (int k = 0; k < 2; k++) {
        struct expected expected = expected_convolve(&image, &kernels[k], FL_SAME);
        b[k] = array_from(device, &kernels[k]);
        must(fl_convolve(device, a, b[k], FL_SAME, out[0][0], &(fl_run){.variant = variants[k]}));
        must(fl_array_to_host(out[0][0], wanted[k].data));
        expect_near(&expected, &wanted[k], "%s: %s", resource, variants[k]);
        expected_free(&expected);
    }
    for (int c = 0; c < CALLS; c++)
        for (int s = 0; s < STREAMS; s++)
            must(fl_convolve(device, a, b[(c + s) % 2], FL_SAME, out[s][c], &(fl_run){.stream = streams[s]}));
    for (int s = 0; s < STREAMS; s++)
        for (int c = 0; c < CALLS; c++) {
            must(fl_array_read(out[s][c], got.data, streams[s]));
            must(fl_stream_wait(streams[s]));
            cr_expect(memcmp(got.data, wanted[(c + s) % 2].data, bytes) == 0,
                      "%s: call %d of stream %d has other bits than %s", resource, c, s, variants[(c + s) % 2]);
        }
    for (int k = 0; k < 4; k++) {
        fl_timing timing = {0};
        const fl_run run = {.stream = streams[k / 2], .timing = &timing};
        must(fl_convolve(device, a, b[k % 2], FL_SAME, out[0][0], &run));
        cr_expect(strcmp(timing.variant, variants[k % 2]) == 0, "%s: auto took %s, not %s", resource, timing.variant,
                  variants[k % 2]);
    }
    for (int s = 0; s < STREAMS; s++) {
        for (int c = 0; c < CALLS; c++)
            fl_array_free(out[s][c]);
        fl_stream_free(streams[s]);
    }
    for (int k = 0; k < 2; k++) {
        matrix_free(&kernels[k]);
        matrix_free(&wanted[k]);
    }
    free_arrays(a, b[0], b[1]);
    matrix_free(&image);
    matrix_free(&got);
}

ON_EVERY_BACKEND(convolve, auto_of_gpus_by_turns)
{
    fl_device *device = open_device(on->resource);
    for (int d = 0; d < 2; d++)
        if (is_gpu(device) && !is_left_out(4))
            check_turns(device, d ? FL_F64 : FL_F32);
    fl_device_close(device);
}

/* A second stream waits for an event of the first and goes on with its result. */
ON_EVERY_BACKEND(convolve, second_stream_waits_for_the_first)
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
    free_arrays(a, b, c, out);
    expected_free(&once);
    expected_free(&twice);
    matrix_free(&image);
    matrix_free(&kernel);
    matrix_free(&got);
    fl_device_close(device);
}

/* Inputs freed right after the call, and their memory asked for again and overwritten, while the work may be queued. */
ON_EVERY_BACKEND(convolve, inputs_freed_while_queued)
{
    fl_device *device = open_device(on->resource);
    struct matrix image = matrix_random(FL_F32, 200, 180, 1), kernel = matrix_random(FL_F32, 11, 12, 2);
    struct matrix other = matrix_random(FL_F32, 200, 180, 3);
    struct expected expected = expected_convolve(&image, &kernel, FL_SAME);
    struct guarded guarded = guarded_create(device, FL_F32, 2, image.shape, 0);
    fl_stream *stream;
    must(fl_stream_create(device, &stream));
    for (int i = 0; i < 5; i++) {
        fl_array *a = array_from(device, &image), *b = array_from(device, &kernel);
        must(fl_convolve(device, a, b, FL_SAME, guarded.out, &(fl_run){.stream = stream}));
        free_arrays(a, b);
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
