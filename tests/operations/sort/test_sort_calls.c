/* SPDX-License-Identifier: MIT
 *
 * test_sort_calls.c - how sort is called: blocks, wrong arguments, arrays without elements, timing, streams.
 */
#include "sort_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------ blocks ---- */

/* Runs, unless the block has too little shared memory on this device, which the message must say. */
static void check_block(fl_device *device, const struct numbers *input, const void *expected, const char *variant,
                        const int *block)
{
    fl_timing timing = {0};
    fl_run run = {.variant = variant, .timing = &timing};
    memcpy(run.block, block, sizeof run.block);
    fl_array *in, *out;
    must(fl_array_from_host(device, input->dtype, 1, &input->n, input->data, &in));
    must(fl_array_create(device, input->dtype, 1, &input->n, &out));
    fl_status status = fl_sort(device, in, out, &run);
    if (status == FL_E_LIMIT) {
        expect_error_says("shared memory");
    } else {
        check_status(FL_OK, status, variant, __FILE__, __LINE__);
        struct numbers got = numbers_create(input->dtype, input->n, UNIFORM, 0);
        must(fl_array_to_host(out, got.data));
        expect_sorted(expected, &got, variant);
        numbers_free(&got);
        if (is_gpu(device) && timing.block[0] > 0)
            cr_expect(timing.block[0] == block[0], "%s: asked for a block of %d, ran %d", variant, block[0],
                      timing.block[0]);
    }
    free_arrays(in, out);
}

ON_EVERY_BACKEND(sort_calls, blocks)
{
    static const int blocks[][3] = {{1, 0, 0},   {2, 0, 0},   {7, 3, 1},   {31, 0, 0}, {32, 4, 2},   {33, 1, 1},
                                    {100, 0, 0}, {256, 1, 1}, {509, 0, 0}, {1, 1, 64}, {1024, 0, 0}, {4, 5, 6}};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t d = 0; d < 2; d++) {
        struct numbers input = numbers_create(sort_dtypes[d], is_small_test() ? 5000 : 20000, ANY_BITS, d);
        void *expected = sorted_of(&input);
        for (size_t b = 0; b < COUNT(blocks); b++)
            for (size_t i = 0; (variant = variant_of(device, "sort", input.dtype, i)) != NULL; i++)
                if (is_gpu(device) || strcmp(variant, "bitonic") == 0) /* no other variant has a block */
                    check_block(device, &input, expected, variant, blocks[b]);
        free(expected);
        numbers_free(&input);
    }
    fl_device_close(device);
}

/* --------------------------------------------------------------------------------------------- wrong arguments ---- */

ON_EVERY_BACKEND(sort_calls, wrong_arguments)
{
    static const struct {
        fl_dtype dtype;
        int ndim;
        int64_t shape[2];
    } wrong[] = {{FL_F64, 1, {10}}, {FL_I32, 1, {10}}, {FL_F32, 1, {9}}, {FL_F32, 1, {11}}, {FL_F32, 2, {1, 10}}};
    fl_device *device = open_device(on->resource);
    struct guarded guarded = guarded_create(device, FL_F32, 1, (int64_t[]){10}, 4);
    fl_array *in, *bytes, *matrix, *out = guarded.out;
    must(fl_array_from_host(device, FL_F32, 1, (int64_t[]){10}, (float[10]){3, 1, 2}, &in));
    must(fl_array_create(device, FL_U8, 1, (int64_t[]){10}, &bytes));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){2, 5}, &matrix));
    expect_argument_error(fl_sort(NULL, in, out, NULL), "device");
    expect_argument_error(fl_sort(device, NULL, out, NULL), "in is NULL");
    expect_argument_error(fl_sort(device, in, NULL, NULL), "out is NULL");
    expect_argument_error(fl_sort(device, bytes, bytes, NULL), "u8");
    expect_argument_error(fl_sort(device, matrix, out, NULL), "dimensions");
    expect_status(FL_E_UNKNOWN, fl_sort(device, in, out, &(fl_run){.variant = "radixx"}));
    expect_error_says("radix");
    for (size_t i = 0; i < COUNT(wrong); i++) {
        fl_array *other;
        must(fl_array_create(device, wrong[i].dtype, wrong[i].ndim, wrong[i].shape, &other));
        expect_argument_error(fl_sort(device, in, other, NULL), "out");
        fl_array_free(other);
    }
    expect_untouched(&guarded, on->resource);
    guarded_free(&guarded);
    free_arrays(in, bytes, matrix);
    fl_device_close(device);
}

ON_EVERY_BACKEND(sort_calls, overlapping_output)
{
    fl_device *device = open_device(on->resource);
    struct numbers input = numbers_create(FL_F32, 100, UNIFORM, 1), first = {FL_F32, 50, input.data};
    void *expected = sorted_of(&first);
    fl_array *whole, *in, *over, *beside;
    must(fl_array_from_host(device, FL_F32, 1, &input.n, input.data, &whole));
    must(fl_array_view(whole, (int64_t[]){0}, &first.n, &in));
    must(fl_array_view(whole, (int64_t[]){1}, &first.n, &over));
    must(fl_array_view(whole, (int64_t[]){50}, &first.n, &beside));
    expect_argument_error(fl_sort(device, in, over, NULL), "shares memory");
    expect_status(FL_E_ARGUMENT, fl_sort(device, over, in, NULL));
    must(fl_sort(device, in, beside, NULL));
    struct numbers got = numbers_create(FL_F32, 50, UNIFORM, 2);
    must(fl_array_to_host(beside, got.data));
    expect_sorted(expected, &got, "beside the input");
    must(fl_array_to_host(in, got.data));
    cr_expect(memcmp(got.data, input.data, 50 * sizeof(float)) == 0, "%s: the input was changed", on->resource);
    free_arrays(in, over, beside, whole);
    free(expected);
    numbers_free(&input);
    numbers_free(&got);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------- timing and streams ----
 */

ON_EVERY_BACKEND(sort_calls, timing_is_filled)
{
    fl_device *device = open_device(on->resource);
    struct numbers input = numbers_create(FL_F64, 30000, ANY_BITS, 1);
    const char *variant;
    fl_array *in, *out;
    must(fl_array_from_host(device, input.dtype, 1, &input.n, input.data, &in));
    must(fl_array_create(device, input.dtype, 1, &input.n, &out));
    for (size_t i = 0; (variant = variant_of(device, "sort", FL_F64, i)) != NULL; i++) {
        fl_timing timing = {.kernel_s = -1};
        must(fl_sort(device, in, out, &(fl_run){.variant = variant, .timing = &timing}));
        cr_expect(timing.variant && (i == 0 || strcmp(timing.variant, variant) == 0), "%s %s: ran '%s'", on->resource,
                  variant, timing.variant);
        cr_expect(timing.kernel_s > 0 && timing.kernel_s < 10, "%s %s: %g s", on->resource, variant, timing.kernel_s);
        cr_expect(timing.bytes == 2.0 * 30000 * 8, "%s %s: %g compulsory bytes", on->resource, variant, timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes && timing.flops == 0, "%s %s: %g bytes, %g operations",
                  on->resource, variant, timing.bytes_requested, timing.flops);
    }
    free_arrays(in, out);
    numbers_free(&input);
    fl_device_close(device);
}

/* Returns whether the device has VQSort, and auto takes it for some: with vectors of 512 bits. */
static bool takes_vqsort(const fl_device *device)
{
    fl_variant_info info;
    for (size_t i = 0; i < fl_variant_count(device); i++)
        if (fl_variant_get(device, i, &info) == FL_OK && strcmp(info.operation, "sort") == 0 &&
            strcmp(info.variant, "vqsort") == 0)
            return fl_variant_ready(device, i) == FL_OK && fl_device_describe(device)->vector_bits == 512;
    return false;
}

/* Family 25 of AMD's processors with such vectors: VQSort is slow there for 32 bits, and for many elements. */
static bool is_zen4(void)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    bool is = false;

    while (file && !is && fgets(line, sizeof line, file))
        is = strncmp(line, "cpu family\t: 25\n", sizeof line) == 0;
    if (file)
        fclose(file);
    return is;
}

/* The work of the network grows faster than that of counting, which costs much for few elements; VQSort is the fastest
 * between them where it uses the widest vectors, and only for few elements where threads could count. */
ON_EVERY_BACKEND(sort_calls, auto_chooses_by_size)
{
    static const int64_t sizes[] = {1, 16, 200, 1000, 100000};
    fl_device *device = open_device(on->resource);
    const fl_device_info *info = fl_device_describe(device);
    const bool vqsort = takes_vqsort(device), serial = strcmp(info->backend, "serial") == 0, zen4 = is_zen4();
    for (size_t s = 0; s < COUNT(sizes) && !is_gpu(device); s++)
        for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
            struct numbers input = numbers_create(sort_dtypes[d], sizes[s], ANY_BITS, d);
            void *sorted = sorted_of(&input);
            const bool is_wide = fl_dtype_size(input.dtype) == 8, faster = vqsort && (is_wide || !zen4);
            const char *of_1000 = serial ? "radix" : faster ? "vqsort" : "bitonic";
            const char *of_many = vqsort && !zen4 && info->threads == 1 ? "vqsort" : "radix";
            const char *expected = sizes[s] < 1000 ? "bitonic" : sizes[s] == 1000 ? of_1000 : of_many;
            fl_timing timing = {0};
            check_sort(device, &input, sorted, d % 2 == 0, &(fl_run){.timing = &timing}, "auto");
            cr_expect(strcmp(timing.variant, expected) == 0, "%s: %lld %s by %s, expected %s", on->resource,
                      (long long)sizes[s], fl_dtype_name(input.dtype), timing.variant, expected);
            cr_expect((timing.block[0] > 0) == (strcmp(timing.variant, "bitonic") == 0), "a block of %d",
                      timing.block[0]);
            free(sorted);
            numbers_free(&input);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(sort_calls, nothing_to_sort)
{
    fl_device *device = open_device(on->resource);
    fl_array *empty;
    fl_timing timing = {.kernel_s = -1};
    must(fl_array_create(device, FL_I64, 1, (int64_t[]){0}, &empty));
    must(fl_sort(device, empty, empty, &(fl_run){.variant = "radix", .timing = &timing}));
    cr_expect(timing.kernel_s >= 0 && timing.bytes == 0 && strcmp(timing.variant, "radix") == 0);
    must(fl_sort(device, empty, empty, NULL));
    expect_status(FL_E_UNKNOWN, fl_sort(device, empty, empty, &(fl_run){.variant = "quick"}));
    fl_array_free(empty);
    fl_device_close(device);
}

/* Sorts that follow each other in a stream use the same scratch memory; those in another stream must not. */
ON_EVERY_BACKEND(sort_calls, queued_one_after_the_other)
{
    enum { SORTS = 6 };
    fl_device *device = open_device(on->resource);
    fl_stream *streams[2];
    struct numbers input[SORTS];
    fl_array *arrays[SORTS];
    const char *variant;
    for (size_t s = 0; s < COUNT(streams); s++)
        must(fl_stream_create(device, &streams[s]));
    for (size_t v = 0; (variant = variant_of(device, "sort", FL_I32, v)) != NULL; v++) {
        for (int i = 0; i < SORTS; i++) {
            input[i] = numbers_create(sort_dtypes[i % 4], 7000 + 1000 * i, ANY_BITS, (uint64_t)i);
            must(fl_array_create(device, input[i].dtype, 1, &input[i].n, &arrays[i]));
            must(fl_array_write(arrays[i], input[i].data, streams[i % 2]));
        }
        for (int i = 0; i < SORTS; i++)
            must(fl_sort(device, arrays[i], arrays[i], &(fl_run){.variant = variant, .stream = streams[i % 2]}));
        must(fl_device_wait(device));
        for (int i = 0; i < SORTS; i++) {
            void *expected = sorted_of(&input[i]);
            must(fl_array_to_host(arrays[i], input[i].data));
            expect_sorted(expected, &input[i], variant);
            free(expected);
            numbers_free(&input[i]);
            fl_array_free(arrays[i]);
        }
    }
    for (size_t s = 0; s < COUNT(streams); s++)
        fl_stream_free(streams[s]);
    fl_device_close(device);
}
