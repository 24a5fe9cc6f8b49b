/* SPDX-License-Identifier: MIT
 *
 * test_sort.c - sort on every backend, in every variant, in place and not: against numpy.sort, against the C library's
 * qsort in NumPy's order, and bit for bit a permutation of the input; many elements against the command's own check,
 * which does not sort. How it is called is in test_sort_calls.c.
 */
#include "checks/sort.h"
#include "sort_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sorts by every variant, in turn into another array and in place, both views into larger ones with guards around
 * them; `turn` says which begins. */
static void check_variants(fl_device *device, const struct numbers *input, size_t turn, const char *what)
{
    if (is_left_out(4))
        return;
    void *expected = sorted_of(input);
    const char *variant;

    for (size_t i = 0; (variant = variant_of(device, "sort", input->dtype, i)) != NULL; i++)
        check_sort(device, input, expected, (i + turn) % 2 == 0, &(fl_run){.variant = variant}, what);
    free(expected);
}

ON_EVERY_BACKEND(sort, golden_files)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
        char name[64];
        snprintf(name, sizeof name, "%s.numbers", fl_dtype_name(sort_dtypes[d]));
        struct matrix input = matrix_golden("sort", name);
        snprintf(name, sizeof name, "%s.sorted", fl_dtype_name(sort_dtypes[d]));
        struct matrix golden = matrix_golden("sort", name);
        struct numbers numbers = {sort_dtypes[d], input.shape[1], input.data};
        void *expected = sorted_of(&numbers);
        cr_assert(input.dtype == sort_dtypes[d] && golden.shape[1] == numbers.n);
        for (int64_t i = 0; i < numbers.n; i++)
            cr_assert(is_same(numbers.dtype, expected, golden.data, i), "%s: NumPy differs at %lld", name,
                      (long long)i);
        for (size_t turn = 0; turn < 2; turn++)
            check_variants(device, &numbers, turn, "golden");
        free(expected);
        matrix_free(&input);
        matrix_free(&golden);
    }
    fl_device_close(device);
}

/* One below, at and one above what blocks, tiles and parts of threads are made of. */
ON_EVERY_BACKEND(sort, sizes)
{
    static const int64_t sizes[] = {0,    1,    2,    3,    4,    5,    7,    8,    9,    15,    16,   17,
                                    31,   32,   33,   63,   64,   65,   255,  256,  257,  1023,  1024, 1025,
                                    2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16383, 16385};
    fl_device *device = open_device(on->resource);
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
            struct numbers input = numbers_create(sort_dtypes[d], sizes[s], ANY_BITS, s);
            check_variants(device, &input, s + d, "sizes");
            numbers_free(&input);
        }
    fl_device_close(device);
}

/* NaN of both signs with payloads, infinities, zeros of both signs, the least and the largest numbers: at each size
 * that a sort of few elements is made for, and around those where another method starts. */
ON_EVERY_BACKEND(sort, special_values_of_all_sizes)
{
    fl_device *device = open_device(on->resource);
    for (int64_t n = 1; n < 20000 && !is_gpu(device); n = n < 70 ? n + 1 : n * 3 / 2)
        for (size_t d = (size_t)n % 2; d < COUNT(sort_dtypes); d += 2) {
            struct numbers input = numbers_create(sort_dtypes[d], n, n % 7 == 0 ? ALL_NAN : SPECIAL, (uint64_t)n);
            check_variants(device, &input, (size_t)n + d, "special values");
            numbers_free(&input);
        }
    fl_device_close(device);
}

ON_EVERY_BACKEND(sort, large)
{
    fl_device *device = open_device(on->resource);
    for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
        struct numbers input = numbers_create(sort_dtypes[d], 100003, ANY_BITS, d);
        check_variants(device, &input, d, "large");
        numbers_free(&input);
    }
    fl_device_close(device);
}

/* One element alone differs from the others in the lowest bits, and belongs behind those with the same high ones: each
 * thread must have told the others which bits differ in its part. */
ON_EVERY_BACKEND(sort, one_with_low_bits)
{
    enum { MANY = 200003 };
    fl_device *device = open_device(on->resource);
    for (int part = 0; part < 4; part++) {
        struct numbers input = numbers_create(FL_I32, MANY, EQUAL, 0);
        int32_t *number = input.data;
        for (int64_t i = 0; i < MANY; i++)
            number[i] = (int32_t)(i * 7919 % 5003) << 14;
        number[(MANY - 1) / 3 * part] |= 1;
        check_variants(device, &input, (size_t)part, "one with low bits");
        numbers_free(&input);
    }
    fl_device_close(device);
}

ON_EVERY_BACKEND(sort, patterns)
{
    static const int64_t sizes[] = {100, 20011};
    fl_device *device = open_device(on->resource);
    for (enum kind kind = SPECIAL; kind < KINDS; kind++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
                struct numbers input = numbers_create(sort_dtypes[d], sizes[s], kind, s);
                check_variants(device, &input, s + d, kind_names[kind]);
                numbers_free(&input);
            }
    fl_device_close(device);
}

/* A few NaN with a sign among many numbers, and none, and nothing else: what a library leaves in front. */
ON_EVERY_BACKEND(sort, signed_nan)
{
    static const int64_t counts[] = {0, 1, 2, 499, 500, 999, 1000};
    fl_device *device = open_device(on->resource);
    for (size_t c = 0; c < COUNT(counts); c++) {
        struct numbers input = numbers_create(FL_F32, 1000, UNIFORM, c);
        for (int64_t i = 0; i < counts[c]; i++)
            ((uint32_t *)input.data)[i * 389 % 1000] =
                0xffc00000u + (uint32_t)i; /* 389 and 1000 have no common factor */
        check_variants(device, &input, c, "NaN with a sign");
        numbers_free(&input);
    }
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- many elements ----
 */

/* From how many on a CPU's radix sort distributes elements to buckets, of how many a bucket is, from how many for each
 * thread on 14 bits tell buckets apart, and half of which make a bucket that no cache holds (backends/cpu/sort.c). */
enum { MANY = 1 << 14, FULL = 1 << 13, MANY_A_THREAD = (1 << 16) + 1, FAR = 300007 };

enum spread {
    ANY,
    ZEROS,
    HALF_BUCKET,
    ONE_BUCKET,
    ONE_FAR,
    SAME,
    UP,
    DOWN,
    LOW_BITS,
    HIGH_BITS,
    FULL_BUCKETS,
    SPREADS
};
static const char *const spread_names[SPREADS] = {"any bits",
                                                  "half zeros",
                                                  "half in one bucket",
                                                  "nearly all in one bucket",
                                                  "all the same but one",
                                                  "all the same",
                                                  "sorted",
                                                  "backwards",
                                                  "few low bits",
                                                  "high bits",
                                                  "full buckets"};

/* Keys of 31 bits, the 14 highest of which tell buckets apart: of one element less than fit, of as many, of one more,
 * with and without neighbours that would fit, and what is left from there to the greatest key. */
static uint32_t in_full_bucket(int64_t i, uint32_t random)
{
    static const int64_t sizes[] = {FULL, FULL + 1, FULL - 1, 1, FULL - 1, 2, FULL, 1, 1, FULL};
    uint32_t low = random & 0x1ffff;
    for (uint32_t prefix = 0; prefix < COUNT(sizes); prefix++) {
        if (i < sizes[prefix])
            return prefix << 17 | low;
        i -= sizes[prefix];
    }
    return i == 0 ? INT32_MAX : (random >> 17) % 16000 << 17 | 1u << 24 | low;
}

static uint32_t spread_bits(enum spread spread, int64_t i, int64_t n, uint32_t random)
{
    switch (spread) {
    case ANY: return random;
    case ZEROS: return random & 1 ? 0 : random;
    case HALF_BUCKET: return random & 1 ? 0x3f800000 | (random >> 1 & 0xffff) : random;
    case ONE_BUCKET: return i == n / 3 ? 0x7f000000 : 0x3f800000 | (random & 0xffff);
    case ONE_FAR: return i == n / 3 ? 0xff812345 : 0x3f800000;
    case SAME: return 0xffc00001; /* a NaN */
    case UP: return (uint32_t)i * 331;
    case DOWN: return (uint32_t)(n - i) * 331;
    case LOW_BITS: return 0xc0000000 | (random & 0x3f);
    case HIGH_BITS: return random & 0xfff00000;
    default: return in_full_bucket(i * 389 % n, random); /* neighbours come from far */
    }
}

/* The same in 64 bits: what tells elements apart is in the upper half, and in the lower one any bits, none, or all. */
static uint64_t spread_wide(enum spread spread, int64_t i, int64_t n, uint64_t random)
{
    const uint64_t word = spread_bits(spread, i, n, (uint32_t)(random >> 32));
    switch (spread) {
    case LOW_BITS: return word;
    case ANY:
    case HALF_BUCKET:
    case ONE_BUCKET:
    case UP:
    case DOWN:
    case FULL_BUCKETS: return word << 32 | (uint32_t)random;
    default: return word << 32;
    }
}

/* Returns the bytes that sorting them asks for, each. */
static double check_many(fl_device *device, fl_dtype dtype, int64_t n, enum spread spread, bool in_place)
{
    fl_array *in, *out = NULL;
    fl_timing timing;
    uint64_t seed = spread;
    void *data = malloc((size_t)n * fl_dtype_size(dtype));
    const host_array numbers = {dtype, 1, {n, 1, 1, 1}, data};
    cr_assert(data != NULL);
    for (int64_t i = 0; i < n; i++) {
        uint64_t random = random_bits(&seed);
        if (fl_dtype_size(dtype) == 4)
            ((uint32_t *)data)[i] = spread_bits(spread, i, n, (uint32_t)(random >> 32));
        else
            ((uint64_t *)data)[i] = spread_wide(spread, i, n, random);
    }
    uint64_t checksum = sort_checksum(&numbers);
    must(fl_array_from_host(device, dtype, 1, &n, data, &in));
    if (!in_place)
        must(fl_array_create(device, dtype, 1, &n, &out));
    must(fl_sort(device, in, in_place ? in : out, &(fl_run){.variant = "radix", .timing = &timing}));
    if (!in_place) {
        must(fl_array_to_host(in, data));
        cr_expect(sort_checksum(&numbers) == checksum, "%s: the input was changed", spread_names[spread]);
    }
    must(fl_array_to_host(in_place ? in : out, data));
    compare_result result = sort_compare(&numbers, checksum);
    cr_expect(result.ok, "%s: %lld %s, %s%s: %lld wrong, at %lld", fl_device_describe(device)->resource, (long long)n,
              fl_dtype_name(dtype), spread_names[spread], in_place ? ", in place" : "", (long long)result.failed,
              (long long)result.worst_index);
    free_arrays(in, out);
    free(data);
    return timing.bytes_requested / (double)n;
}

ON_EVERY_BACKEND(sort, many)
{
    fl_device *device = open_device(on->resource);
    if (fl_device_describe(device)->threads > 3 ||
        strcmp(on->resource, "omp") == 0) { /* the more, the longer it takes */
        fl_device_close(device);
        device = open_device("omp:3");
    }
    const int64_t full = MANY_A_THREAD * (int64_t)fl_device_describe(device)->threads;
    for (size_t d = 0; d < COUNT(sort_dtypes) && !is_gpu(device); d++) {
        const fl_dtype dtype = sort_dtypes[d];
        for (enum spread spread = ANY; spread < SPREADS; spread++) {
            if (is_left_out(4))
                continue;
            check_many(device, dtype, full, spread, (spread + d) % 2 == 0);
            check_many(device, dtype, MANY + 77, spread, (spread + d) % 2 == 1);
        }
        check_many(device, dtype, FAR, HALF_BUCKET, d % 2 == 0);
        check_many(device, dtype, FAR, ONE_BUCKET, d % 2 == 1);
        double fewer = check_many(device, dtype, MANY - 1, ANY, d % 2 == 0);
        double enough = check_many(device, dtype, MANY, ANY, d % 2 == 1);
        if (strcmp(on->resource, "serial") != 0)
            cr_expect(fewer != enough, "%s: not in buckets", on->resource);
    }
    fl_device_close(device);
}

/* A sort in place moves blocks of 2048 bytes to their buckets (backends/cpu/sort_blocks.h). The arrays end one element
 * before a block's end, at its end, and one after it. Some buckets are smaller than a block, and some lie in the parts
 * of two threads. */
ON_EVERY_BACKEND(sort, blocks_in_place)
{
    static const int64_t more[] = {0, 1, 255, 256, 257, 511, 512, 513};
    fl_device *device = open_device(strcmp(on->resource, "omp") == 0 ? "omp:7" : on->resource);
    for (enum spread spread = ANY; spread < SPREADS && !is_gpu(device); spread++)
        for (size_t d = 0; d < COUNT(sort_dtypes); d++) {
            for (size_t m = 0; m < COUNT(more); m++)
                check_many(device, sort_dtypes[d], MANY + more[m], spread, true);
            check_many(device, sort_dtypes[d], FAR, spread, true);
        }
    fl_device_close(device);
}
