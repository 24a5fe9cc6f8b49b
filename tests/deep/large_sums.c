/* SPDX-License-Identifier: MIT
 *
 * large_sums.c - the cases of large.c that add elements up, or find the largest: histogram, scan and reduce.
 */
#include "large.h"

#include <inttypes.h>
#include <string.h>

/* A bin for each value; and all in one bin, whose count needs more than 32 bits. */
static void test_histogram(fl_dtype dtype)
{
    const int64_t most = 100;
    pattern p = pattern_of(dtype, most);
    int64_t expected[100] = {0};
    const char *variant;

    for (int64_t i = 0; i < period; i++)
        expected[value(i, most)]++;
    for (size_t v = 0; (variant = variant_of("histogram", dtype, v)) != NULL; v++) {
        fl_array *in, *out, *one;
        int64_t got[100], all = -1;
        case_begin();
        in = repeat(&p, count);
        out = create_array(FL_I64, most, 1);
        one = create_array(FL_I64, 1, 1);
        if (!problem[0] && done(fl_histogram(device, in, 0, (double)most, false, out, &(fl_run){.variant = variant})) &&
            done(fl_array_to_host(out, got)))
            for (int64_t b = 0; b < most; b++)
                if (got[b] != expected[b] * (count / period))
                    case_wrong("%" PRId64 " are in bin %" PRId64 ", expected %" PRId64, got[b], b,
                               expected[b] * (count / period));
        if (!problem[0] && strcmp(variant, "library") != 0 &&
            done(fl_histogram(device, in, 0, 1e3, false, one, &(fl_run){.variant = variant})))
            all = read_count(one);
        if (!problem[0] && strcmp(variant, "library") != 0 && all != count)
            case_wrong("%" PRId64 " are in one bin, expected %" PRId64, all, count);
        case_end("histogram", variant, fl_dtype_name(dtype), count);
        fl_array_free(in);
        fl_array_free(out);
        fl_array_free(one);
    }
    pattern_free(&p);
}

/* Differences of neighbours, whose running sums are the pattern again: whole numbers, which no order rounds. */
static void test_scan(fl_dtype dtype)
{
    const int64_t most = 1000, last = value(period - 1, most);
    pattern p = pattern_create(dtype, period, 1), sums = pattern_create(fl_reduce_dtype(dtype, FL_SUM), period, 1);
    const char *variant;

    for (int64_t i = 0; i < period; i++) {
        const int64_t sum = value(i, most) - last, difference = sum - (i == 0 ? 0 : value(i - 1, most) - last);
        if (dtype == FL_F32)
            ((float *)p.data)[i] = (float)difference, ((float *)sums.data)[i] = (float)sum;
        else
            ((int32_t *)p.data)[i] = (int32_t)difference, ((int64_t *)sums.data)[i] = sum;
    }
    for (size_t v = 0; (variant = variant_of("scan", dtype, v)) != NULL; v++) {
        fl_array *in, *out;
        if (dtype == FL_F32 && strcmp(variant, "library") == 0)
            continue;
        case_begin();
        in = repeat(&p, count);
        out = create_array(sums.dtype, count, 1);
        if (!problem[0] && done(fl_scan(device, in, FL_SUM, false, out, &(fl_run){.variant = variant})))
            expect(out, &sums, 0);
        case_end("scan", variant, fl_dtype_name(dtype), count);
        fl_array_free(in);
        fl_array_free(out);
    }
    pattern_free(&p);
    pattern_free(&sums);
}

/* ------------------------------------------------------------------------------------------------------ reduce ---- */

/* The one number that a call finds; -1 after an error or where the variant does not take the call. */
static int64_t reduced(const fl_array *in, fl_reduction reduction, const char *variant, bool *taken)
{
    fl_array *out = create_array(FL_I64, 1, 1);
    int64_t got = -1;
    const fl_status status =
        out ? fl_reduce(device, in, reduction, FL_ALL_AXES, out, &(fl_run){.variant = variant}) : FL_E_MEMORY;

    *taken = !(status == FL_E_UNSUPPORTED && strcmp(variant, "library") == 0);
    if (*taken && done(status))
        got = read_count(out);
    fl_array_free(out);
    return got;
}

/* The sum of the bytes, and the place of the only largest one, where 32 bits wrap and at the end. */
static void test_places(const fl_array *in, fl_array *bytes, const char *variant, int64_t sum)
{
    const int64_t places[] = {INT32_MAX, INT64_C(1) << 31, UINT32_MAX, INT64_C(1) << 32, count - 1};
    const uint8_t usual = 3, most = 255;
    bool taken;
    const int64_t got = reduced(in, FL_SUM, variant, &taken);

    if (!problem[0] && got != sum)
        case_wrong("the sum is %" PRId64 ", expected %" PRId64, got, sum);
    for (size_t i = 0; i < sizeof places / sizeof *places && !problem[0]; i++) {
        if (places[i] >= count || !write_rows(bytes, places[i], 1, &most))
            continue;
        const int64_t place = reduced(bytes, FL_ARGMAX, variant, &taken);
        if (!problem[0] && taken && place != places[i])
            case_wrong("the largest is at %" PRId64 ", expected %" PRId64, place, places[i]);
        if (!problem[0])
            write_rows(bytes, places[i], 1, &usual);
    }
}

static void test_bytes(void)
{
    const int64_t most = 251;
    pattern p = pattern_of(FL_U8, most), same = pattern_create(FL_U8, period, 1);
    const char *variant;
    int64_t sum = 0;

    memset(same.data, 3, (size_t)period);
    for (int64_t i = 0; i < period; i++)
        sum += value(i, most);
    for (size_t v = 0; (variant = variant_of("reduce", FL_U8, v)) != NULL; v++) {
        fl_array *in, *bytes;
        case_begin();
        in = repeat(&p, count);
        bytes = repeat(&same, count);
        if (!problem[0])
            test_places(in, bytes, variant, sum * (count / period));
        case_end("reduce", variant, "u8", count);
        fl_array_free(in);
        fl_array_free(bytes);
    }
    pattern_free(&p);
    pattern_free(&same);
}

/* Two elements for each of `count` results, which lie along the other dimension than `axis`: in pieces of a period. */
static fl_array *pairs(const float *piece, int axis)
{
    const int along = 1 - axis;
    int64_t start[2] = {0, 0}, shape[2] = {2, 2};
    fl_array *array = NULL;

    shape[along] = count;
    if (!done(fl_array_create(device, FL_F32, 2, shape, &array)))
        return NULL;
    shape[along] = period;
    for (; start[along] < count && !problem[0]; start[along] += period) {
        fl_array *view = NULL;
        if (done(fl_array_view(array, start, shape, &view)))
            done(fl_array_write(view, piece, NULL));
        fl_array_free(view);
    }
    done(fl_device_wait(device));
    return array;
}

/* More results than an index of 32 bits counts: of columns, and of rows; sums of floats that no order rounds. */
static void test_results(int axis)
{
    pattern p = pattern_create(FL_F32, 2, period), sums = pattern_create(FL_F32, period, 1);
    const char *variant;

    for (int64_t i = 0; i < period; i++) {
        const float first = (float)value(i, 1000003), second = first + 1;
        ((float *)p.data)[axis == 0 ? i : 2 * i] = first;
        ((float *)p.data)[axis == 0 ? period + i : 2 * i + 1] = second;
        ((float *)sums.data)[i] = first + second;
    }
    for (size_t v = 0; (variant = variant_of("reduce", FL_F32, v)) != NULL; v++) {
        fl_array *in, *out;
        if (strcmp(variant, "library") == 0) /* the last axis of less than 2^31 rows */
            continue;
        case_begin();
        in = pairs(p.data, axis);
        out = create_array(FL_F32, count, 1);
        if (!problem[0] && done(fl_reduce(device, in, FL_SUM, axis, out, &(fl_run){.variant = variant})))
            expect(out, &sums, 0);
        case_end(axis == 0 ? "reduce (columns)" : "reduce (rows)", variant, "f32", count);
        fl_array_free(in);
        fl_array_free(out);
    }
    pattern_free(&p);
    pattern_free(&sums);
}

void test_sums(void)
{
    if (wanted("histogram"))
        test_histogram(FL_U8), test_histogram(FL_F32);
    if (wanted("scan"))
        test_scan(FL_F32), test_scan(FL_I32);
    if (wanted("reduce"))
        test_bytes(), test_results(0), test_results(1);
}
