/* SPDX-License-Identifier: MIT
 *
 * large_vectors.c - the cases of large.c on arrays of one dimension: allclose, what is computed element by element,
 * convolve1d, select, sort, merge, search_sorted and primes.
 */
#include "large.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A difference at each index where one could be lost, the last one the largest. */
static void test_allclose(void)
{
    const int64_t places[] = {0, INT32_MAX, INT64_C(1) << 31, UINT32_MAX, INT64_C(1) << 32, count - 1};
    pattern p = pattern_of(FL_F32, 1000003);
    fl_array *a, *b;
    fl_closeness found;
    int64_t differing = 0;

    case_begin();
    a = repeat(&p, count);
    b = repeat(&p, count);
    if (a && b && done(fl_allclose(device, a, b, 0, 0, false, &found, NULL)) && (!found.close || found.differing != 0))
        case_wrong("%" PRId64 " of equal elements differ", found.differing);
    for (size_t i = 0; a && b && !problem[0] && i < sizeof places / sizeof *places; i++) {
        float other = (float)(value(places[i] % period, 1000003) + 1 + (int64_t)i);
        if (places[i] >= count)
            continue;
        differing++;
        if (write_rows(b, places[i], 1, &other) && done(fl_device_wait(device)) &&
            done(fl_allclose(device, a, b, 0, 0.5, false, &found, NULL)) &&
            (found.close || found.differing != differing || found.worst_index != places[i]))
            case_wrong("%" PRId64 " elements differ, the worst is %" PRId64 "; expected %" PRId64 ", %" PRId64,
                       found.differing, found.worst_index, differing, places[i]);
    }
    case_end("allclose", "naive", "f32", count);
    fl_array_free(a);
    fl_array_free(b);
    pattern_free(&p);
}

/* -------------------------------------------------------------------- element by element, and sums of neighbours ----
 */

static const float taps[] = {1, 2, 3};

static fl_status run_increment(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_increment(device, in[0], out, run);
}

static fl_status run_sqrt(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_sqrt(device, in[0], out, run);
}

static fl_status run_maximum(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_maximum(device, in[0], in[1], out, run);
}

static fl_status run_log_of_sum(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_log_of_sum(device, in[0], in[1], out, run);
}

static fl_status run_copy(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_copy_array(device, in[0], out, run);
}

static fl_status run_convert(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_convert(device, in[0], out, run);
}

static fl_status run_multiply_add(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_multiply_add(device, in[0], 2, 1, 2, out, run);
}

static fl_status run_convolve1d(fl_array *const *in, fl_array *out, const fl_run *run)
{
    return fl_convolve1d(device, in[0], in[1], FL_VALID, out, run);
}

/* Element i of what is expected; x: the first input. The second input of maximum and log_of_sum is the first one turned
 * round within each period. */
static double expect_increment(int64_t i, int64_t most)
{
    return (double)(value(i, most) + 1);
}

static double expect_sqrt(int64_t i, int64_t most)
{
    return sqrt((double)value(i, most));
}

static double expect_maximum(int64_t i, int64_t most)
{
    return fmax((double)value(i, most), (double)value(period - 1 - i, most));
}

static double expect_log_of_sum(int64_t i, int64_t most)
{
    return log((double)(value(i, most) + value(period - 1 - i, most)));
}

static double expect_same(int64_t i, int64_t most)
{
    return (double)value(i, most);
}

static double expect_multiply_add(int64_t i, int64_t most)
{
    return (double)(4 * value(i, most) + 3);
}

static double expect_convolve1d(int64_t i, int64_t most)
{
    double sum = 0;
    for (int64_t k = 0; k < 3; k++)
        sum += (double)taps[k] * (double)value((i + 2 - k) % period, most);
    return sum;
}

static const struct simple {
    const char *name;
    fl_dtype in, out, computes;
    int64_t most;     /* the values are below */
    char second;      /* input: 0 none, 'r' the first one turned round, 'k' the taps */
    int64_t shorter;  /* than the input */
    double tolerance; /* 0: exact */
    fl_status (*run)(fl_array *const *in, fl_array *out, const fl_run *run);
    double (*expected)(int64_t i, int64_t most);
} simple[] = {
    {"increment", FL_I32, FL_I32, FL_I32, 1000003, 0, 0, 0, run_increment, expect_increment},
    {"increment", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_increment, expect_increment},
    {"sqrt", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_sqrt, expect_sqrt},
    {"maximum", FL_F32, FL_F32, FL_F32, 1000003, 'r', 0, 0, run_maximum, expect_maximum},
    {"log_of_sum", FL_F32, FL_F32, FL_F32, 1000003, 'r', 0, 5e-6, run_log_of_sum, expect_log_of_sum},
    {"copy", FL_U8, FL_U8, FL_U8, 251, 0, 0, 0, run_copy, expect_same},
    {"copy", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_copy, expect_same},
    {"convert", FL_U8, FL_F32, FL_F32, 251, 0, 0, 0, run_convert, expect_same},
    {"convert", FL_U8, FL_I64, FL_I64, 251, 0, 0, 0, run_convert, expect_same},
    {"multiply_add", FL_F32, FL_F32, FL_F32, 1000003, 0, 0, 0, run_multiply_add, expect_multiply_add},
    /* fft: 20 (log2 65536 + 2) u |s| |k| for elements below 16, see flynn.h */
    {"convolve1d", FL_F32, FL_F32, FL_F32, 16, 'k', 2, 0.2, run_convolve1d, expect_convolve1d},
};

static pattern expected_pattern(const struct simple *s)
{
    pattern p = pattern_create(s->out, period, 1);
    for (int64_t i = 0; i < period; i++) {
        double x = s->expected(i, s->most);
        switch (s->out) {
        case FL_U8: ((uint8_t *)p.data)[i] = (uint8_t)x; break;
        case FL_I32: ((int32_t *)p.data)[i] = (int32_t)x; break;
        case FL_I64: ((int64_t *)p.data)[i] = (int64_t)x; break;
        default: ((float *)p.data)[i] = (float)x; break;
        }
    }
    return p;
}

static pattern second_input(const struct simple *s)
{
    pattern p = pattern_create(FL_F32, s->second == 'k' ? 3 : period, 1);
    for (int64_t i = 0; i < p.rows; i++)
        ((float *)p.data)[i] = s->second == 'k' ? taps[i] : (float)value(period - 1 - i, s->most);
    return p;
}

static void test_simple(const struct simple *s)
{
    pattern first = pattern_of(s->in, s->most), expected = expected_pattern(s), second = {0};
    pattern nothing = pattern_create(s->out, period, 1);
    const char *variant;

    memset(nothing.data, 0xff, (size_t)period * fl_dtype_size(s->out)); /* NaN, -1 or 255 */
    if (s->second)
        second = second_input(s);
    for (size_t v = 0; (variant = variant_of(s->name, s->computes, v)) != NULL; v++) {
        fl_array *in[2] = {NULL, NULL}, *out;
        case_begin();
        in[0] = repeat(&first, count);
        in[1] = s->second ? repeat(&second, s->second == 'k' ? 3 : count) : NULL;
        out = repeat(&nothing, count - s->shorter);
        if (!problem[0] && done(s->run(in, out, &(fl_run){.variant = variant}))) {
            fl_array_free(in[1]);
            in[1] = NULL;
            /* Only fft rounds what is exact in the others. */
            expect(out, &expected, s->second == 'k' && strcmp(variant, "fft") != 0 ? 0 : s->tolerance);
        }
        case_end(s->name, variant, fl_dtype_name(s->in), count);
        fl_array_free(in[0]);
        fl_array_free(in[1]);
        fl_array_free(out);
    }
    pattern_free(&first);
    pattern_free(&expected);
    pattern_free(&nothing);
    if (s->second)
        pattern_free(&second);
}

/* --------------------------------------------------------------------------------------------- select and sort ---- */

static void test_select(fl_dtype dtype)
{
    const int64_t most = 3; /* a third are zeros */
    pattern p = pattern_of(dtype, most), selected = pattern_create(dtype, period, 1);
    size_t size = fl_dtype_size(dtype);
    const char *variant;

    selected.rows = 0;
    for (int64_t i = 0; i < period; i++)
        if (value(i, most) != 0)
            memcpy((char *)selected.data + size * (size_t)selected.rows++, (char *)p.data + size * (size_t)i, size);
    for (size_t v = 0; (variant = variant_of("select", dtype, v)) != NULL; v++) {
        fl_array *in, *out, *number, *view = NULL;
        int64_t wanted = count / period * selected.rows, got = -1;
        case_begin();
        in = repeat(&p, count);
        out = create_array(dtype, count, 1);
        number = create_array(FL_I64, 1, 1);
        if (!problem[0] && done(fl_select(device, in, out, number, &(fl_run){.variant = variant})))
            got = read_count(number);
        if (!problem[0] && got != wanted)
            case_wrong("%" PRId64 " were selected, expected %" PRId64, got, wanted);
        if (!problem[0] && done(fl_array_view(out, (int64_t[]){0}, &wanted, &view)))
            expect(view, &selected, 0);
        case_end("select", variant, fl_dtype_name(dtype), count);
        fl_array_free(view);
        fl_array_free(in);
        fl_array_free(out);
        fl_array_free(number);
    }
    pattern_free(&p);
    pattern_free(&selected);
}

/* Each of the values 0..period-1 comes as often as the pattern. */
static fl_array *sorted(void)
{
    fl_array *array = create_array(FL_I32, count, 1);
    pattern chunk = pattern_create(FL_I32, period, 1);
    int64_t left = count / period;
    int32_t now_at = 0;
    for (int64_t at = 0; array && !problem[0] && at < count; at += period) {
        for (int64_t i = 0; i < period; i++) {
            ((int32_t *)chunk.data)[i] = now_at;
            if (--left == 0)
                now_at++, left = count / period;
        }
        if (write_rows(array, at, period, chunk.data))
            done(fl_device_wait(device));
    }
    pattern_free(&chunk);
    return array;
}

static void test_sort(void)
{
    pattern p = pattern_of(FL_I32, period);
    fl_array *expected;
    const char *variant;

    case_begin();
    expected = sorted();
    if (!expected || problem[0])
        case_end("sort", "", "i32", count);
    for (size_t v = 0; expected && (variant = variant_of("sort", FL_I32, v)) != NULL; v++) {
        fl_array *data;
        case_begin();
        data = repeat(&p, count);
        if (!problem[0] && done(fl_sort(device, data, data, &(fl_run){.variant = variant})))
            expect_array(data, expected, 0);
        case_end("sort", variant, "i32", count);
        fl_array_free(data);
    }
    fl_array_free(expected);
    pattern_free(&p);
}

/* The second part of what is sorted, and the first one. */
static void test_merge(void)
{
    const int64_t first = count / 3, second = count - first, start = 0;
    fl_array *all, *x = NULL, *y = NULL, *out;

    case_begin();
    all = sorted();
    out = create_array(FL_I32, count, 1);
    if (!problem[0] && done(fl_array_view(all, &first, &second, &x)) && done(fl_array_view(all, &start, &first, &y)) &&
        done(fl_merge(device, x, y, out, NULL)))
        expect_array(out, all, 0);
    case_end("merge", "naive", "i32", count);
    fl_array_free(x);
    fl_array_free(y);
    fl_array_free(out);
    fl_array_free(all);
}

/* Each value has its first element behind all of the smaller ones. */
static void test_search_sorted(void)
{
    pattern p = pattern_of(FL_I32, period), places = pattern_create(FL_I64, period, 1);
    fl_array *all, *values, *out;
    const char *variant;

    for (int64_t i = 0; i < period; i++)
        ((int64_t *)places.data)[i] = value(i, period) * (count / period);
    case_begin();
    all = sorted();
    values = repeat(&p, period);
    out = create_array(FL_I64, period, 1);
    if (problem[0])
        case_end("search_sorted", "", "i32", count);
    for (size_t v = 0; all && out && values && (variant = variant_of("search_sorted", FL_I32, v)) != NULL; v++) {
        case_begin();
        if (done(fl_search_sorted(device, all, values, out, &(fl_run){.variant = variant})))
            expect(out, &places, 0);
        case_end("search_sorted", variant, "i32", count);
    }
    fl_array_free(all);
    fl_array_free(values);
    fl_array_free(out);
    pattern_free(&p);
    pattern_free(&places);
}

/* ------------------------------------------------------------------------------------------------------ primes ---- */

/* Primes below powers of two: https://oeis.org/A007053. */
static const struct {
    int bits;
    int64_t primes;
} known[] = {{12, 564},      {16, 6542},      {20, 82025},     {24, 1077871},  {28, 14630843},
             {30, 54400028}, {31, 105097565}, {32, 203280221}, {33, 393615806}};

static bool is_prime(int64_t n)
{
    for (int64_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return false;
    return n >= 2;
}

/* A thousand results from `start` on are successive primes. */
static void expect_successive(fl_array *out, int64_t start)
{
    static int64_t got[1000];
    fl_array *view = NULL;
    int64_t length = sizeof got / sizeof *got;
    if (length > fl_array_size(out) - start)
        length = fl_array_size(out) - start;
    if (!done(fl_array_view(out, &start, &length, &view)) || !done(fl_array_to_host(view, got)))
        length = 0;
    fl_array_free(view);
    for (int64_t i = 0; i < length; i++) {
        if (!is_prime(got[i]))
            case_wrong("[%" PRId64 "] is %" PRId64 ", which is not a prime number", start + i, got[i]);
        for (int64_t n = got[i] + 1; i + 1 < length && n < got[i + 1]; n++)
            if (is_prime(n))
                case_wrong("%" PRId64 " is missing after [%" PRId64 "]", n, start + i);
    }
}

/* Below the largest power of two of the table that is at most `upto`. */
static void test_primes_by(const char *variant, int64_t upto)
{
    fl_array *out, *number, *found = NULL;
    size_t k = 0;
    while (k + 1 < sizeof known / sizeof *known && INT64_C(1) << known[k + 1].bits <= upto)
        k++;
    upto = INT64_C(1) << known[k].bits;
    case_begin();
    out = create_array(FL_I64, fl_primes_bound(upto), 1);
    number = create_array(FL_I64, 1, 1);
    if (!problem[0] && done(fl_primes(device, upto, out, number, &(fl_run){.variant = variant}))) {
        int64_t got = read_count(number);
        if (!problem[0] && got != known[k].primes)
            case_wrong("%" PRId64 " primes, expected %" PRId64, got, known[k].primes);
        if (!problem[0] && done(fl_array_view(out, (int64_t[]){0}, &got, &found)))
            for (int part = 0; part < 16; part++)
                expect_successive(found, (got > 1000 ? got - 1000 : 0) / 15 * part);
        if (!problem[0])
            expect_successive(found, got > 1000 ? got - 1000 : 0);
    }
    case_end("primes", variant, "i64", upto);
    fl_array_free(found);
    fl_array_free(out);
    fl_array_free(number);
}

void test_vectors(void)
{
    if (wanted("allclose"))
        test_allclose();
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (wanted(simple[i].name))
            test_simple(&simple[i]);
    if (wanted("select"))
        test_select(FL_U8), test_select(FL_F32);
    if (wanted("sort"))
        test_sort();
    if (wanted("merge"))
        test_merge();
    if (wanted("search_sorted"))
        test_search_sorted();
}

void test_primes(void)
{
    if (!wanted("primes"))
        return;
    test_primes_by("sieve", elements);
    /* One thread a number; `upto` is at most FL_PRIMES_MOST_TRIAL. */
    test_primes_by("sqrt-all", elements < FL_PRIMES_MOST_TRIAL ? elements / 8 : FL_PRIMES_MOST_TRIAL);
}
