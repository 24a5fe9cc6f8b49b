/* SPDX-License-Identifier: MIT
 *
 * test_convolve1d_calls.c - how convolve1d is called: blocks, wrong arguments, timing, threads and streams. What it
 * computes is in test_convolve1d.c.
 */
#include "convolve1d.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ blocks ---- */

/* No whole number of packs, more threads than outputs, several dimensions. */
ON_EVERY_BACKEND(convolve1d, odd_blocks)
{
    static const int blocks[][3] = {{7, 0, 0}, {1, 1, 0},  {1024, 1, 0}, {513, 1, 1},
                                    {8, 8, 8}, {33, 5, 0}, {512, 0, 0}};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (int dtype = FL_F32; dtype <= FL_F64; dtype++) {
        struct matrix signal = matrix_random((fl_dtype)dtype, 1, 4001, 8);
        struct matrix kernel = matrix_random((fl_dtype)dtype, 1, 29, 9);
        struct sums sums = sums_create(&signal, &kernel, FL_SAME);
        for (size_t b = 0; b < COUNT(blocks); b++)
            for (size_t i = 0; (variant = variant_of(device, "convolve1d", (fl_dtype)dtype, i)) != NULL; i++) {
                fl_timing timing = {0};
                fl_run run = {.variant = variant, .timing = &timing};
                memcpy(run.block, blocks[b], sizeof run.block);
                check_one(device, &signal, &kernel, FL_SAME, &run, &sums, (struct starts){1, 0, 3});
                if (is_gpu(device) && strncmp(variant, "fft", 3) != 0) /* whose blocks are no choice of the caller's */
                    cr_expect(timing.block[0] == blocks[b][0], "%s %s: asked for %d threads in x, ran %d", on->resource,
                              variant, blocks[b][0], timing.block[0]);
            }
        sums_free(&sums);
        matrix_free(&signal);
        matrix_free(&kernel);
    }
    fl_device_close(device);
}

struct small_problem {
    struct matrix signal, kernel;
    struct sums sums;
    fl_array *a, *b;
    struct guarded guarded;
};

/* full, f32, 30 elements with 4. */
static struct small_problem small_problem_create(fl_device *device)
{
    struct small_problem problem = {.signal = matrix_random(FL_F32, 1, 30, 1),
                                    .kernel = matrix_random(FL_F32, 1, 4, 2)};
    problem.sums = sums_create(&problem.signal, &problem.kernel, FL_FULL);
    problem.a = vector_inside(device, &problem.signal, 1);
    problem.b = vector_inside(device, &problem.kernel, 1);
    problem.guarded = guarded_create(device, FL_F32, 1, (int64_t[]){33}, 3);
    return problem;
}

static void small_problem_free(struct small_problem *problem)
{
    guarded_free(&problem->guarded);
    free_arrays(problem->a, problem->b);
    sums_free(&problem->sums);
    matrix_free(&problem->signal);
    matrix_free(&problem->kernel);
}

/* After what failed, the device is usable and nothing was written. */
static void expect_usable(fl_device *device, struct small_problem *problem)
{
    const char *resource = fl_device_describe(device)->resource;
    expect_untouched(&problem->guarded, resource);
    check_variants(device, &problem->signal, &problem->kernel, FL_FULL, &problem->sums);
}

ON_EVERY_BACKEND(convolve1d, blocks_that_are_refused)
{
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    struct small_problem problem = small_problem_create(device);
    fl_array *out = problem.guarded.out;
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "convolve1d", FL_F32, i)) != NULL; i++) {
        fl_run negative = {.variant = variant, .block = {-1, 4, 0}};
        expect_argument_error(fl_convolve1d(device, problem.a, problem.b, FL_FULL, out, &negative), "block[0]");
        if (!is_gpu(device))
            continue;
        fl_run large = {.variant = variant, .block = {info->max_threads_per_block / 2 + 1, 2, 1}};
        expect_status(FL_E_LIMIT, fl_convolve1d(device, problem.a, problem.b, FL_FULL, out, &large));
        fl_run deep = {.variant = variant, .block = {1, 1, info->max_block[2] + 1}};
        expect_status(FL_E_LIMIT, fl_convolve1d(device, problem.a, problem.b, FL_FULL, out, &deep));
    }
    expect_usable(device, &problem);
    small_problem_free(&problem);
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- wrong arguments ---- */

ON_EVERY_BACKEND(convolve1d, wrong_output)
{
    static const struct {
        fl_dtype dtype;
        int ndim;
        int64_t shape[2];
    } wrong[] = {{FL_F32, 1, {32}}, {FL_F32, 1, {34}}, {FL_F64, 1, {33}}, {FL_I32, 1, {33}}, {FL_F32, 2, {1, 33}}};
    fl_device *device = open_device(on->resource);
    struct small_problem problem = small_problem_create(device);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        fl_array *out = NULL;
        must(fl_array_create(device, wrong[i].dtype, wrong[i].ndim, wrong[i].shape, &out));
        expect_argument_error(fl_convolve1d(device, problem.a, problem.b, FL_FULL, out, NULL), "out");
        fl_array_free(out);
    }
    small_problem_free(&problem);
    fl_device_close(device);
}

/* A window has the bits of that part of the full result, whichever input is the longer one. */
ON_EVERY_BACKEND(convolve1d, windows)
{
    static const int64_t taps[] = {1, 15, 4000};
    static const int64_t windows[][2] = {{0, 0}, {0, 1}, {0, 100}, {7, 993}, {1000, 2000}, {2999, 1}, {3000, 0}};
    enum { SIZE = 3000 };
    fl_device *device = open_device(on->resource);
    const fl_run run = {.variant = "naive"};
    for (size_t k = 0; k < COUNT(taps); k++) {
        const int64_t size = SIZE, full = SIZE + taps[k] - 1;
        struct matrix signal = matrix_random(FL_F32, 1, size, 1), kernel = matrix_random(FL_F32, 1, taps[k], 2);
        float *whole = malloc((size_t)full * sizeof *whole), *part = malloc((size_t)SIZE * sizeof *part);
        fl_array *a, *b, *out;
        must(fl_array_from_host(device, FL_F32, 1, &size, signal.data, &a));
        must(fl_array_from_host(device, FL_F32, 1, &taps[k], kernel.data, &b));
        must(fl_array_create(device, FL_F32, 1, &full, &out));
        must(fl_convolve1d(device, a, b, FL_FULL, out, &run));
        must(fl_array_to_host(out, whole));
        fl_array_free(out);
        for (size_t w = 0; w < COUNT(windows); w++) {
            const int64_t at = windows[w][0], length = windows[w][1];
            must(fl_array_create(device, FL_F32, 1, &length, &out));
            must(fl_convolve1d_window(device, a, b, at, out, &run));
            must(fl_array_to_host(out, part));
            cr_expect(memcmp(part, whole + at, (size_t)length * sizeof *part) == 0, "%s: %lld from %lld on, %lld taps",
                      on->resource, (long long)length, (long long)at, (long long)taps[k]);
            fl_array_free(out);
        }
        must(fl_array_create(device, FL_F32, 1, &size, &out));
        expect_argument_error(fl_convolve1d_window(device, a, b, -1, out, NULL), "starts at -1");
        expect_argument_error(fl_convolve1d_window(device, a, b, taps[k], out, NULL), "the full result has");
        free_arrays(a, b, out);
        matrix_free(&signal);
        matrix_free(&kernel);
        free(whole);
        free(part);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(convolve1d, wrong_inputs)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    struct small_problem problem = small_problem_create(device);
    fl_array *a = problem.a, *b = problem.b, *out = problem.guarded.out, *empty = NULL, *square = NULL, *there = NULL;
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){0}, &empty));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){2, 2}, &square));
    must(fl_array_create(other, FL_F32, 1, (int64_t[]){4}, &there));
    expect_argument_error(fl_convolve1d(NULL, a, b, FL_FULL, out, NULL), "device");
    expect_argument_error(fl_convolve1d(device, NULL, b, FL_FULL, out, NULL), "signal");
    expect_argument_error(fl_convolve1d(device, a, NULL, FL_FULL, out, NULL), "kernel");
    expect_argument_error(fl_convolve1d(device, a, b, FL_FULL, NULL, NULL), "out");
    expect_argument_error(fl_convolve1d(device, empty, b, FL_FULL, out, NULL), "signal has no elements");
    expect_argument_error(fl_convolve1d(device, a, empty, FL_FULL, out, NULL), "kernel has no elements");
    expect_argument_error(fl_convolve1d(device, a, square, FL_FULL, out, NULL), "kernel has 2 dimensions");
    expect_status(FL_E_WRONG_DEVICE, fl_convolve1d(device, a, there, FL_FULL, out, NULL));
    expect_error_says("kernel");
    expect_argument_error(fl_convolve1d(device, a, b, (fl_mode)7, out, NULL), "mode is 7");
    expect_status(FL_E_UNKNOWN, fl_convolve1d(device, a, b, FL_FULL, out, &(fl_run){.variant = "tilde"}));
    expect_error_says("tiled");
    expect_usable(device, &problem);
    free_arrays(empty, square, there);
    small_problem_free(&problem);
    fl_device_close(device);
    fl_device_close(other);
}

/* The output may lie beside an input in one array, and not on it. */
ON_EVERY_BACKEND(convolve1d, overlapping_output)
{
    fl_device *device = open_device(on->resource);
    struct matrix data = matrix_random(FL_F32, 1, 100, 1), kernel = matrix_random(FL_F32, 1, 3, 2);
    struct matrix first_half = data;
    const int64_t half = 50;
    first_half.shape[1] = half;
    struct sums sums = sums_create(&first_half, &kernel, FL_SAME);
    fl_array *whole = vector_inside(device, &data, 0), *b = vector_inside(device, &kernel, 0), *a, *over, *beside;
    must(fl_array_view(whole, (int64_t[]){0}, &half, &a));
    must(fl_array_view(whole, (int64_t[]){49}, &half, &over));
    must(fl_array_view(whole, (int64_t[]){50}, &half, &beside));
    expect_argument_error(fl_convolve1d(device, a, b, FL_SAME, over, NULL), "out");
    expect_status(FL_E_ARGUMENT, fl_convolve1d(device, b, a, FL_VALID, a, NULL));
    /* Of the right length, 99 - 50 + 1, and over the kernel. */
    fl_array *signal;
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){99}, &signal));
    expect_argument_error(fl_convolve1d(device, signal, over, FL_VALID, beside, NULL), "kernel");
    fl_array_free(signal);
    must(fl_convolve1d(device, a, b, FL_SAME, beside, NULL));
    struct matrix got = matrix_create(FL_F32, 1, half);
    must(fl_array_to_host(beside, got.data));
    sums_expect(&sums, &got, false, "%s: an output beside the signal", on->resource);
    free_arrays(a, over, beside, whole, b);
    sums_free(&sums);
    matrix_free(&data);
    matrix_free(&kernel);
    matrix_free(&got);
    fl_device_close(device);
}

Test(convolve1d, shapes)
{
    static const struct {
        int64_t signal, kernel;
        fl_mode mode;
        int64_t out; /* 0: no such convolution */
        const char *words;
    } cases[] = {
        {5, 3, FL_FULL, 7, ""},
        {5, 3, FL_SAME, 5, ""},
        {5, 3, FL_VALID, 3, ""},
        {3, 5, FL_FULL, 7, ""},
        {3, 5, FL_SAME, 3, ""},
        {3, 5, FL_VALID, 3, ""},
        {1, 1, FL_VALID, 1, ""},
        {0, 3, FL_FULL, 0, "signal is 0"},
        {3, 0, FL_SAME, 0, "kernel is 0"},
        {-7, 3, FL_FULL, 0, "signal is -7"},
        {5, 3, (fl_mode)3, 0, "mode is 3"},
        {INT64_MAX, 2, FL_FULL, 0, "64 bits"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t out = -1;
        fl_status status = fl_convolve1d_shape(cases[i].signal, cases[i].kernel, cases[i].mode, &out);
        if (cases[i].out == 0) {
            cr_expect(status == FL_E_ARGUMENT && out == -1, "case %zu: %s", i, fl_status_name(status));
            expect_error_says(cases[i].words);
        } else {
            cr_expect(status == FL_OK && out == cases[i].out, "case %zu: %lld", i, (long long)out);
        }
    }
    expect_argument_error(fl_convolve1d_shape(5, 3, FL_FULL, NULL), "out");
}

/* ------------------------------------------------------------------------------------ timing, threads, streams ---- */

ON_EVERY_BACKEND(convolve1d, timing_is_filled)
{
    fl_device *device = open_device(on->resource);
    struct matrix signal = matrix_random(FL_F32, 1, 3000, 1), kernel = matrix_random(FL_F32, 1, 15, 2);
    struct sums sums = sums_create(&signal, &kernel, FL_FULL);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "convolve1d", FL_F32, i)) != NULL; i++) {
        fl_timing timing = {.kernel_s = -1};
        check_one(device, &signal, &kernel, FL_FULL, &(fl_run){.variant = variant, .timing = &timing}, &sums,
                  (struct starts){0, 0, 0});
        bool automatic = strcmp(variant, "auto") == 0;
        cr_expect(timing.variant && strcmp(timing.variant, automatic ? "tiled" : variant) == 0, "%s %s: ran '%s'",
                  on->resource, variant, timing.variant);
        cr_expect(timing.kernel_s > 0 && timing.kernel_s < 10, "%s %s: %g s", on->resource, variant, timing.kernel_s);
        cr_expect(timing.bytes == 4.0 * (3000 + 15 + 3014), "%s %s: %g compulsory bytes", on->resource, variant,
                  timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes, "%s %s: %g bytes requested", on->resource, variant,
                  timing.bytes_requested);
        /* Each of 3000 elements meets each of 15 taps once; some variants add zeros, fft has fewer or more. */
        if (strcmp(variant, "naive") == 0)
            cr_expect(timing.flops == 2.0 * 3000 * 15, "%s: %g operations", on->resource, timing.flops);
        cr_expect(timing.flops > 0);
        if (is_gpu(device))
            cr_expect(timing.block[0] > 0 && timing.grid[0] > 0, "%s %s: no block", on->resource, variant);
    }
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    fl_device_close(device);
}

/* In f32, for long kernels, on GPUs for very long ones; the signal has zeros and one large number. */
ON_EVERY_BACKEND(convolve1d, auto_takes_fft_wide)
{
    fl_device *device = open_device(on->resource);
    if (is_gpu(device) && is_left_out(4)) { /* it takes seconds on an emulated one */
        fl_device_close(device);
        return;
    }
    const int64_t size = is_gpu(device) ? 200000 : 5000;
    struct matrix signal = matrix_random(FL_F32, 1, size, 1);
    struct matrix kernel = matrix_random(FL_F32, 1, is_gpu(device) ? 5500 : 1200, 2);
    struct sums sums = sums_create(&signal, &kernel, FL_FULL);
    fl_array *a = vector_inside(device, &signal, 0), *b = vector_inside(device, &kernel, 0), *out;
    must(fl_array_create(device, FL_F32, 1, &size, &out));
    const bool ready = fl_convolve1d(device, a, b, FL_SAME, out, &(fl_run){.variant = "fft-wide"}) == FL_OK;
    free_arrays(a, b, out);
    fl_timing timing = {0};
    check_one(device, &signal, &kernel, FL_FULL, &(fl_run){.timing = &timing}, &sums, (struct starts){1, 2, 3});
    cr_expect(!ready || strcmp(timing.variant, "fft-wide") == 0, "%s: auto took %s", on->resource, timing.variant);
    sums_free(&sums);
    for (int64_t i = 0; i < size; i++)
        matrix_set(&signal, 0, i, i == size - 1000 ? 1e7 : i < size / 2 ? 0 : matrix_get(&signal, 0, i));
    sums = sums_create(&signal, &kernel, FL_FULL);
    check_one(device, &signal, &kernel, FL_FULL, NULL, &sums, (struct starts){1, 2, 3});
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    fl_device_close(device);
}

/* A GPU's fft transforms several blocks of a long signal at once: 13 of two segments of 4096 elements, each of which
 * gives 4080 of the 100004 outputs; the grid's second dimension counts them. */
ON_EVERY_BACKEND(convolve1d, blocks_of_fft_at_once)
{
    fl_device *device = open_device(on->resource);
    struct matrix signal = matrix_random(FL_F32, 1, 100000, 1), kernel = matrix_random(FL_F32, 1, 5, 2);
    struct sums sums = sums_create(&signal, &kernel, FL_FULL);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "convolve1d", FL_F32, i)) != NULL; i++) {
        fl_timing timing = {0};
        if (!is_gpu(device) || strcmp(variant, "fft") != 0)
            continue;
        check_one(device, &signal, &kernel, FL_FULL, &(fl_run){.variant = variant, .timing = &timing}, &sums,
                  (struct starts){0, 0, 0});
        cr_expect(timing.grid[1] == 13, "%s: %lld blocks at once", on->resource, (long long)timing.grid[1]);
    }
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    fl_device_close(device);
}

/* Convolves its own signal on its own stream, by each variant, without Criterion, whose tests fail in one thread
 * only. */
static void *convolve_on_own_stream(void *argument)
{
    struct worker *worker = argument;
    fl_device *device = worker->device;
    int64_t size = 3000 + 700 * (int64_t)worker->seed;
    struct matrix signal = matrix_random(FL_F32, 1, size, worker->seed), kernel = matrix_random(FL_F32, 1, 40, 7);
    struct matrix got = matrix_create(FL_F32, 1, size);
    struct sums sums = sums_create(&signal, &kernel, FL_SAME);
    fl_stream *stream = NULL;
    fl_array *a = NULL, *b = NULL, *out = NULL;
    const char *variant;
    bool ok = fl_stream_create(device, &stream) == FL_OK &&
              fl_array_from_host(device, FL_F32, 1, &size, signal.data, &a) == FL_OK &&
              fl_array_from_host(device, FL_F32, 1, &kernel.shape[1], kernel.data, &b) == FL_OK &&
              fl_array_create(device, FL_F32, 1, &size, &out) == FL_OK;
    for (size_t i = 0; ok && (variant = variant_of(device, "convolve1d", FL_F32, i)) != NULL; i++) {
        memset(got.data, 0, (size_t)size * sizeof(float));
        ok = fl_convolve1d(device, a, b, FL_SAME, out, &(fl_run){.stream = stream, .variant = variant}) == FL_OK &&
             fl_array_read(out, got.data, stream) == FL_OK && fl_stream_wait(stream) == FL_OK &&
             sums_are_near(&sums, &got, strcmp(variant, "fft") == 0);
    }
    free_arrays(a, b, out);
    fl_stream_free(stream);
    sums_free(&sums);
    matrix_free(&signal);
    matrix_free(&kernel);
    matrix_free(&got);
    worker->ok = ok;
    return NULL;
}

ON_EVERY_BACKEND(convolve1d, threads_share_a_device)
{
    threads_share_a_device(on->resource, convolve_on_own_stream);
}

/* Without a library its rows are missing, with a reason; with it they are there. */
/* A tile is reported as it ran: not larger than the result. */
ON_EVERY_BACKEND(convolve1d, tile_of_few_outputs)
{
    fl_device *device = open_device(on->resource);
    struct matrix signal = matrix_random(FL_F32, 1, 40, 1);
    fl_array *a = vector_inside(device, &signal, 0), *out;
    fl_timing timing;
    must(fl_array_create(device, FL_F32, 1, (int64_t[]){40}, &out));
    must(fl_convolve1d(device, a, a, FL_SAME, out, &(fl_run){.variant = "tiled", .timing = &timing}));
    cr_expect(is_gpu(device) || timing.block[0] == 40, "%s: a tile of %d", on->resource, timing.block[0]);
    free_arrays(a, out);
    matrix_free(&signal);
    fl_device_close(device);
}

Test(convolve1d, fft_is_offered_or_told, .timeout = 240)
{
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *backend = fl_backend_get(i);
        if (!backend->usable)
            continue;
        fl_device *device = open_device(backend->name);
        for (int dtype = FL_F32; dtype <= FL_F64; dtype++) {
            bool offered = false;
            const char *variant;
            for (size_t v = 0; (variant = variant_of(device, "convolve1d", (fl_dtype)dtype, v)) != NULL; v++)
                offered = offered || strcmp(variant, "fft") == 0;
            cr_expect(offered || strstr(backend->probe.lacks, "fft"), "%s: no fft in %s, and not told: %s",
                      backend->name, fl_dtype_name((fl_dtype)dtype), backend->probe.lacks);
        }
        fl_device_close(device);
    }
}
