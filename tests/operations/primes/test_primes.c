/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 5 };
static const int64_t pattern = (int64_t)0xA5A5A5A5A5A5A5A5;

/* ------------------------------------------------------------------------------------------- what is expected ---- */

/* The primes below `upto`: the sieve as Eratosthenes had it, on all numbers at once. */
struct primes {
    int64_t upto, count;
    int64_t *prime;
};

static struct primes expected_primes(int64_t upto)
{
    struct primes expected = {upto, 0, malloc((size_t)(upto + 1) * sizeof(int64_t))};
    bool *composite = calloc((size_t)upto + 1, sizeof *composite);
    for (int64_t n = 2; n < upto; n++) {
        if (composite[n])
            continue;
        expected.prime[expected.count++] = n;
        for (int64_t m = n * n; m < upto; m += n)
            composite[m] = true;
    }
    free(composite);
    return expected;
}

/* How many of them are below `upto`. */
static int64_t count_below(const struct primes *expected, int64_t upto)
{
    int64_t count = 0;
    while (count < expected->count && expected->prime[count] < upto)
        count++;
    return count;
}

/* The primes from `first` on and below `upto` by the device, in an array with room for more than needed and guards
 * around it, against the known ones, which must reach that far. */
static void check_between(fl_device *device, const struct primes *expected, int64_t first, int64_t upto,
                          const fl_run *run)
{
    const int64_t before = count_below(expected, first < upto ? first : upto), one = 1;
    const int64_t count = count_below(expected, upto) - before, room = fl_primes_between_bound(first, upto) + SPARE;
    const int64_t *wanted_primes = expected->prime + before;
    char what[160];
    snprintf(what, sizeof what, "%s %s from %lld below %lld, block %d", fl_device_describe(device)->resource,
             run && run->variant ? run->variant : "auto", (long long)first, (long long)upto, run ? run->block[0] : 0);
    struct guarded out = guarded_create(device, FL_I64, 1, &room, 1),
                   found = guarded_create(device, FL_I64, 1, &one, 1);
    if (first == 0)
        must(fl_primes(device, upto, out.out, found.out, run));
    else
        must(fl_primes_between(device, first, upto, out.out, found.out, run));
    int64_t got_count = -1, *got = malloc((size_t)room * sizeof *got);
    guarded_copy(&found, &got_count, what);
    guarded_copy(&out, got, what);
    cr_expect(got_count == count, "%s: expected %lld primes, got %lld", what, (long long)count, (long long)got_count);
    for (int64_t i = 0; i < room; i++) {
        int64_t wanted = i < count ? wanted_primes[i] : pattern;
        cr_assert(got[i] == wanted, "%s: element %lld of %lld is %lld, expected %lld", what, (long long)i,
                  (long long)count, (long long)got[i], (long long)wanted);
    }
    fl_run counting = run ? *run : (fl_run){0};
    counting.timing = NULL; /* that of the list is what the caller wants */
    must(fl_primes_count(device, first, upto, found.out, &counting));
    guarded_copy(&found, &got_count, what);
    cr_expect(got_count == count, "%s: expected a count of %lld primes, got %lld", what, (long long)count,
              (long long)got_count);
    free(got);
    guarded_free(&out);
    guarded_free(&found);
}

static void check_primes(fl_device *device, const struct primes *expected, int64_t upto, const fl_run *run)
{
    check_between(device, expected, 0, upto, run);
}

static void check_every_variant(fl_device *device, const struct primes *expected, int64_t first, int64_t upto)
{
    const char *variant;
    if (is_left_out(4))
        return;
    for (size_t i = 0; (variant = variant_of(device, "primes", FL_I64, i)) != NULL; i++)
        check_between(device, expected, first, upto, &(fl_run){.variant = variant});
}

/* ----------------------------------------------------------------------------------------------------- tests ---- */

Test(primes, bound)
{
    struct primes known = expected_primes(1000000);
    int64_t count = 0;
    for (int64_t upto = -3; upto <= 1000000; upto++) {
        if (count < known.count && known.prime[count] < upto)
            count++;
        int64_t bound = fl_primes_bound(upto);
        cr_assert(bound >= count, "below %lld: %lld primes, bound %lld", (long long)upto, (long long)count,
                  (long long)bound);
        cr_assert(upto > 17 || bound == count, "below %lld: %lld primes, bound %lld", (long long)upto, (long long)count,
                  (long long)bound);
    }
    /* Known: oeis.org/A006880; 2^40: oeis.org/A007053. */
    cr_expect(fl_primes_bound(1000000000) >= 50847534 && fl_primes_bound(1000000000) < 61000000);
    cr_expect(fl_primes_bound(FL_PRIMES_MOST) >= 41203088796);
    free(known.prime);
}

Test(primes, bound_between)
{
    enum { MOST = 700, FAR = 1000000, STEP = 9973 };
    struct primes known = expected_primes(FAR);
    for (int64_t first = -2; first <= MOST; first++)
        for (int64_t upto = -2, count = 0, k = count_below(&known, first); upto <= MOST; upto++) {
            while (k + count < known.count && known.prime[k + count] < upto)
                count++;
            cr_assert(fl_primes_between_bound(first, upto) >= count, "from %lld below %lld: %lld primes, bound %lld",
                      (long long)first, (long long)upto, (long long)count,
                      (long long)fl_primes_between_bound(first, upto));
        }
    for (int64_t first = 0; first <= FAR; first += STEP)
        for (int64_t upto = first; upto <= FAR; upto += STEP)
            cr_assert(fl_primes_between_bound(first, upto) >= count_below(&known, upto) - count_below(&known, first));
    /* The last quarter of the numbers below 2^40 has about 9.9 10^9 primes. */
    cr_expect(fl_primes_between_bound(FL_PRIMES_MOST / 4 * 3, FL_PRIMES_MOST) < 12000000000);
    /* Of few numbers far away 2 n / ln n is the least. */
    cr_expect(fl_primes_between_bound(1000000000, 1000010000) == 2171);
    free(known.prime);
}

/* Every pair of numbers around the small primes, which a sieve finds in another way than others. */
ON_EVERY_BACKEND(primes, between_small)
{
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes(40);
    for (int64_t first = -1; first <= 40; first++)
        for (int64_t upto = first - 1; upto <= 40; upto++)
            check_every_variant(device, &expected, first, upto);
    free(expected.prime);
    fl_device_close(device);
}

/* From within a segment, at its edges and behind several of them; after the root of the last number and before. */
ON_EVERY_BACKEND(primes, between)
{
    static const int64_t firsts[] = {2, 3, 1000, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, (1 << 20) + 12345, 2500000};
    static const int64_t lengths[] = {1, 2, 100, 1 << 16, (1 << 16) + 3, 300001};
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes(2500000 + 300001);
    for (size_t f = 0; f < COUNT(firsts); f++)
        for (size_t l = 0; l < COUNT(lengths); l++)
            if ((!is_small_test() || (f + l) % 6 == 0) && !is_left_out(4)) /* each of them once or twice */
                check_between(device, &expected, firsts[f], firsts[f] + lengths[l], &(fl_run){.variant = "sieve"});
    check_between(device, &expected, 65536, 66000, &(fl_run){.variant = "sqrt-all"});
    check_between(device, &expected, 65536, 65600, &(fl_run){.variant = "trial-all"});
    check_between(device, &expected, 65536, 65600, &(fl_run){.variant = "sqrt-each"});
    free(expected.prime);
    fl_device_close(device);
}

ON_EVERY_BACKEND(primes, small)
{
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes(130);
    for (int64_t upto = -1; upto <= 130; upto++)
        check_every_variant(device, &expected, 0, upto);
    free(expected.prime);
    fl_device_close(device);
}

/* The square of a prime is the first number that only this prime strikes out, and whose root must be exact. */
ON_EVERY_BACKEND(primes, squares)
{
    static const int64_t primes[] = {11, 13, 17, 19, 31, 37, 61};
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes(257 * 257 + 3);
    for (size_t i = 0; i < COUNT(primes); i++)
        for (int64_t upto = primes[i] * primes[i] - 1; upto <= primes[i] * primes[i] + 2; upto++)
            check_every_variant(device, &expected, 0, upto);
    for (int64_t upto = 257 * 257 - 1; upto <= 257 * 257 + 2; upto++) {
        check_primes(device, &expected, upto, &(fl_run){.variant = "sieve"});
        check_primes(device, &expected, upto, &(fl_run){.variant = "sqrt-all"});
    }
    free(expected.prime);
    fl_device_close(device);
}

/* Segments are of 2^15 odd numbers, 2^16 numbers; on a CPU a thread takes 16 of them, and 5 threads would not share
 * them evenly. */
ON_EVERY_BACKEND(primes, segments)
{
    static const int64_t edges[] = {1 << 16, 1 << 17, 3 << 16, 1 << 20, 1 << 21, (1 << 21) + (5 << 16)};
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes((1 << 21) + (5 << 16) + 3);
    for (size_t i = 0; i < COUNT(edges); i++)
        for (int64_t upto = edges[i] - 1; upto <= edges[i] + 2; upto++)
            check_primes(device, &expected, upto, &(fl_run){.variant = "sieve"});
    for (int64_t upto = (1 << 16) - 1; upto <= (1 << 16) + 2; upto++)
        check_primes(device, &expected, upto, &(fl_run){.variant = "sqrt-all"});
    free(expected.prime);
    fl_device_close(device);
}

/* Beyond 2^21 a GPU divides in integers, below by reciprocals. */
ON_EVERY_BACKEND(primes, either_division)
{
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes((1 << 21) + 1000);
    check_between(device, &expected, is_small_test() ? (1 << 21) - 20000 : 0, (1 << 21) + 1000,
                  &(fl_run){.variant = "sqrt-all"});
    free(expected.prime);
    fl_device_close(device);
}

/* A variant that asks for each number collects 4096 primes at a time: these are two such pieces and a rest. */
ON_EVERY_BACKEND(primes, pieces_of_the_list)
{
    const int64_t upto = 85000;
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes(upto);
    const char *variant;
    cr_assert(expected.count > 2 * 4096 && expected.count % 4096 > 0);
    for (size_t i = 0; (variant = variant_of(device, "primes", FL_I64, i)) != NULL; i++)
        if (strcmp(variant, "sqrt-each") == 0 && !is_small_test())
            check_primes(device, &expected, upto, &(fl_run){.variant = variant});
    free(expected.prime);
    fl_device_close(device);
}

/* ------------------------------------------------------------------------------------------------- far away ---- */

/* The primes from `first` on below `upto`, by the primes up to the root; expected_primes' struct with those alone. */
static struct primes expected_between(int64_t first, int64_t upto)
{
    struct primes expected = {upto, 0, malloc((size_t)(upto - first + 1) * sizeof(int64_t))};
    struct primes base = expected_primes((1 << 20) + 1);
    bool *composite = calloc((size_t)(upto - first) + 1, sizeof *composite);
    for (int64_t k = 0; k < base.count; k++)
        for (int64_t p = base.prime[k], m = (first + p - 1) / p * p; m < upto; m += p)
            if (m >= p * p)
                composite[m - first] = true;
    for (int64_t n = first; n < upto; n++)
        if (!composite[n - first])
            expected.prime[expected.count++] = n;
    free(composite);
    free(base.prime);
    return expected;
}

/* Beyond 2^32, and up to the largest number there may be, whose root is longer than a segment. */
ON_EVERY_BACKEND(primes, far_away)
{
    static const int64_t ends[] = {(INT64_C(1) << 32) + 3, (INT64_C(1) << 32) + 100000, 1000000000000, FL_PRIMES_MOST};
    const int64_t length = is_small_test() ? 20000 : 150000;
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t e = 0; e < COUNT(ends); e++) {
        if (is_left_out(2) || (is_small_test() && e % 3 != 0)) /* a small test has the first and the last */
            continue;
        struct primes expected = expected_between(ends[e] - length, ends[e]);
        for (size_t i = 0; (variant = variant_of(device, "primes", FL_I64, i)) != NULL; i++)
            if (strcmp(variant, "sieve") == 0 || strcmp(variant, "library") == 0)
                check_between(device, &expected, ends[e] - length, ends[e], &(fl_run){.variant = variant});
        free(expected.prime);
    }
    fl_device_close(device);
}

/* ---------------------------------------------------------------------------------------------------- random ---- */

/* Any numbers, of any length: always the same. */
ON_EVERY_BACKEND(primes, random_limits)
{
    const int64_t most = is_small_test() ? 200000 : 9000000;
    const int times = is_small_test() ? 8 : 60;
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes(most);
    uint64_t drawn = 1;
    for (int i = 0; i < times; i++) {
        int64_t limit[2];
        for (int k = 0; k < 2; k++) {
            drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            limit[k] = (int64_t)(drawn >> 33) % most >> (drawn >> 29) % 12;
        }
        const int64_t first = limit[0] < limit[1] ? limit[0] : limit[1], upto = limit[0] + limit[1] - first;
        if (is_left_out(3))
            continue;
        check_between(device, &expected, i % 3 == 0 ? 0 : first, upto, &(fl_run){.variant = "sieve"});
    }
    free(expected.prime);
    fl_device_close(device);
}

/* ----------------------------------------------------------------------------------------------------- known ---- */

static int64_t count_below_by(fl_device *device, int64_t upto, const char *variant)
{
    const int64_t one = 1;
    int64_t found = -1;
    fl_array *count;
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    must(fl_primes_count(device, 0, upto, count, &(fl_run){.variant = variant}));
    must(fl_array_to_host(count, &found));
    fl_array_free(count);
    return found;
}

/* How many there are below powers of ten and of two: oeis.org/A006880, oeis.org/A007053. */
ON_EVERY_BACKEND(primes, known_counts)
{
    static const int64_t of_ten[] = {0, 4, 25, 168, 1229, 9592, 78498, 664579, 5761455, 50847534};
    static const int64_t of_two[] = {0,       0,       2,       4,       6,        11,       18,      31,
                                     54,      97,      172,     309,     564,      1028,     1900,    3512,
                                     6542,    12251,   23000,   43390,   82025,    155611,   295947,  564163,
                                     1077871, 2063689, 3957809, 7603553, 14630843, 28192750, 54400028};
    fl_device *device = open_device(on->resource);
    const int64_t most = is_slow(device) || is_small_test() ? 1000000 : INT64_C(1) << 30;
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "primes", FL_I64, i)) != NULL; i++) {
        if (strcmp(variant, "sieve") != 0 && strcmp(variant, "library") != 0)
            continue;
        int64_t power = 1;
        for (size_t k = 0; k < COUNT(of_ten) && power <= most; k++, power *= 10)
            cr_expect(count_below_by(device, power, variant) == of_ten[k], "%s %s: primes below 10^%zu", on->resource,
                      variant, k);
        for (size_t k = 0; k < COUNT(of_two) && INT64_C(1) << k <= most; k++)
            cr_expect(count_below_by(device, INT64_C(1) << k, variant) == of_two[k], "%s %s: primes below 2^%zu",
                      on->resource, variant, k);
    }
    fl_device_close(device);
}

struct known {
    int64_t upto, count, sum; /* oeis.org/A006880, oeis.org/A046731 */
};

static void check_known(fl_device *device, const char *variant, struct known known)
{
    const int64_t room = fl_primes_bound(known.upto), one = 1;
    fl_array *out, *count;
    int64_t found, sum = 0, *prime = malloc((size_t)room * sizeof *prime);
    must(fl_array_create(device, FL_I64, 1, &room, &out));
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    must(fl_primes(device, known.upto, out, count, &(fl_run){.variant = variant}));
    must(fl_array_to_host(count, &found));
    must(fl_array_to_host(out, prime));
    for (int64_t i = 0; i < known.count; i++)
        sum += prime[i];
    cr_expect(found == known.count && sum == known.sum, "%s %s: %lld primes below %lld, the first %lld add up to %lld",
              fl_device_describe(device)->resource, variant, (long long)found, (long long)known.upto,
              (long long)known.count, (long long)sum);
    free(prime);
    free_arrays(out, count);
}

ON_EVERY_BACKEND(primes, known_values)
{
    static const struct known four = {10000, 1229, 5736396}, five = {100000, 9592, 454396537},
                              six = {1000000, 78498, 37550402023}, seven = {10000000, 664579, 3203324994356};
    fl_device *device = open_device(on->resource);
    const char *variant;
    for (size_t i = 0; (variant = variant_of(device, "primes", FL_I64, i)) != NULL; i++)
        check_known(device, variant, four);
    check_known(device, "sqrt-all", five);
    check_known(device, "sieve", six);
    if (!is_slow(device)) {
        check_known(device, "sqrt-all", six);
        check_known(device, "sieve", seven);
    }
    if (is_gpu(device) && !is_slow(device))
        check_known(device, "trial-all", six);
    fl_device_close(device);
}

ON_EVERY_BACKEND(primes, blocks)
{
    static const int blocks[][3] = {{1, 0, 0},   {31, 0, 0},  {33, 0, 0}, {100, 0, 0},
                                    {512, 0, 0}, {16, 16, 0}, {3, 5, 7}};
    fl_device *device = open_device(on->resource);
    if (!is_gpu(device)) { /* blocks are a GPU's */
        fl_device_close(device);
        return;
    }
    struct primes expected = expected_primes(200000);
    for (size_t b = 0; b < COUNT(blocks); b++) {
        fl_run run = {.variant = "sieve", .block = {blocks[b][0], blocks[b][1], blocks[b][2]}};
        check_primes(device, &expected, 200000, &run);
        run.variant = "sqrt-all";
        check_primes(device, &expected, 20000, &run);
        run.variant = "trial-all";
        check_primes(device, &expected, 2000, &run);
    }
    check_primes(device, &expected, 200000,
                 &(fl_run){.variant = "sieve", .block = {fl_device_describe(device)->max_threads_per_block}});
    free(expected.prime);
    fl_device_close(device);
}

/* Counting reads and writes nothing but the count. */
static void expect_counting_is_timed(fl_device *device, int64_t upto, const char *variant)
{
    fl_timing timing;
    const int64_t one = 1;
    fl_array *count;
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    must(fl_primes_count(device, 0, upto, count, &(fl_run){.variant = variant, .timing = &timing}));
    cr_expect(strcmp(timing.variant, variant) == 0 && timing.kernel_s > 0);
    cr_expect(timing.bytes == 8 && timing.bytes_requested >= 8, "%s: %g bytes", variant, timing.bytes);
    fl_array_free(count);
}

ON_EVERY_BACKEND(primes, timing)
{
    fl_device *device = open_device(on->resource);
    struct primes expected = expected_primes(5000);
    const char *variant;
    for (size_t i = 1; (variant = variant_of(device, "primes", FL_I64, i)) != NULL; i++) {
        fl_timing timing;
        check_primes(device, &expected, 5000, &(fl_run){.variant = variant, .timing = &timing});
        cr_expect(strcmp(timing.variant, variant) == 0 && timing.kernel_s > 0);
        cr_expect(timing.bytes == (double)(8 * (expected.count + 1)), "%s %s: %g bytes", on->resource, variant,
                  timing.bytes);
        cr_expect(timing.bytes_requested >= timing.bytes);
        expect_counting_is_timed(device, 5000, variant);
        if (is_gpu(device) && strstr(variant, "-each"))
            cr_expect(timing.block[0] == 1 && timing.grid[0] == 1);
        else if (is_gpu(device))
            cr_expect(timing.block[0] == 256 && timing.grid[0] >= 1 && timing.shared_bytes > 0);
    }
    fl_timing timing;
    check_primes(device, &expected, 5000, &(fl_run){.timing = &timing});
    cr_expect(strcmp(timing.variant, "sieve") == 0, "%s: auto took %s", on->resource, timing.variant);
    free(expected.prime);
    fl_device_close(device);
}

ON_EVERY_BACKEND(primes, wrong_arguments)
{
    fl_device *device = open_device(on->resource), *other = open_device("serial");
    const int64_t one = 1, two = 2, bound = fl_primes_bound(1000), less = bound - 1;
    struct guarded out = guarded_create(device, FL_I64, 1, &bound, 1);
    fl_array *shorter, *narrow, *square, *count, *pair, *foreign, *whole, *inside;
    must(fl_array_create(device, FL_I64, 1, &less, &shorter));
    must(fl_array_create(device, FL_I32, 1, &bound, &narrow));
    must(fl_array_create(device, FL_I64, 2, (int64_t[]){20, 20}, &square));
    must(fl_array_create(device, FL_I64, 1, &one, &count));
    must(fl_array_create(device, FL_I64, 1, &two, &pair));
    must(fl_array_create(other, FL_I64, 1, &bound, &foreign));
    must(fl_array_create(device, FL_I64, 1, &bound, &whole));
    must(fl_array_view(whole, &one, &one, &inside));
    expect_argument_error(fl_primes(NULL, 1000, out.out, count, NULL), "device");
    expect_argument_error(fl_primes(device, FL_PRIMES_MOST + 1, out.out, count, NULL), "1099511627776");
    expect_argument_error(fl_primes(device, 1000, NULL, count, NULL), "out is NULL");
    expect_argument_error(fl_primes(device, 1000, out.out, NULL, NULL), "count is NULL");
    expect_argument_error(fl_primes(device, 1000, shorter, count, NULL), "fl_primes_bound(1000)");
    expect_argument_error(fl_primes_between(device, 10, 100000, out.out, count, NULL),
                          "fl_primes_between_bound(10, 100000)");
    expect_argument_error(fl_primes(device, 1000, narrow, count, NULL), "i32");
    expect_argument_error(fl_primes(device, 1000, square, count, NULL), "2 dimensions");
    expect_argument_error(fl_primes(device, 1000, out.out, pair, NULL), "count");
    expect_argument_error(fl_primes(device, 1000, whole, inside, NULL), "shares memory");
    expect_argument_error(fl_primes_count(NULL, 0, 1000, count, NULL), "device");
    expect_argument_error(fl_primes_count(device, 0, FL_PRIMES_MOST + 1, count, NULL), "1099511627776");
    expect_argument_error(fl_primes_count(device, 0, 1000, NULL, NULL), "count is NULL");
    expect_argument_error(fl_primes_count(device, 0, 1000, pair, NULL), "count");
    expect_status(FL_E_WRONG_DEVICE, fl_primes_count(device, 0, 1000, foreign, NULL));
    expect_status(FL_E_WRONG_DEVICE, fl_primes(device, 1000, foreign, count, NULL));
    expect_error_says("fl_array_to_device(out");
    expect_status(FL_E_UNKNOWN, fl_primes(device, 1000, out.out, count, &(fl_run){.variant = "seive"}));
    expect_error_says("sieve");
    if (is_gpu(device)) {
        int huge = 1 << 30;
        expect_status(FL_E_LIMIT, fl_primes(device, 1000, out.out, count,
                                            &(fl_run){.variant = "sieve", .block = {huge, huge, huge}}));
    }
    expect_untouched(&out, on->resource);
    free_arrays(shorter, narrow, square, count, pair, foreign, whole, inside);
    guarded_free(&out);
    fl_device_close(device);
    fl_device_close(other);
}
