/* SPDX-License-Identifier: MIT */
#include "sort_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const fl_dtype sort_dtypes[4] = {FL_F32, FL_F64, FL_I32, FL_I64};
const char *const kind_names[KINDS] = {"uniform",    "any bits",      "special",          "NaN",  "all equal",
                                       "few values", "sorted before", "in reverse order", "pipes"};

/* ----------------------------------------------------------------------------------------------- the order ---- */

/* numpy.sort's: NaN after all else. */
#define COMPARE(type) \
    static int compare_##type(const void *a, const void *b) \
    { \
        const type x = *(const type *)a, y = *(const type *)b; \
        const int x_last = !(x == x), y_last = !(y == y); \
        return x_last || y_last ? x_last - y_last : (x > y) - (x < y); \
    }
#pragma GCC diagnostic ignored "-Wtautological-compare" /* integers are always the same as themselves */
COMPARE(float)
COMPARE(double)
COMPARE(int32_t)
COMPARE(int64_t)
COMPARE(uint32_t)
COMPARE(uint64_t)

static int (*order_of(fl_dtype dtype))(const void *, const void *)
{
    switch (dtype) {
    case FL_F32: return compare_float;
    case FL_F64: return compare_double;
    case FL_I32: return compare_int32_t;
    default: return compare_int64_t;
    }
}

bool is_same(fl_dtype dtype, const void *a, const void *b, int64_t i)
{
    size_t at = (size_t)i * fl_dtype_size(dtype);
    return order_of(dtype)((const char *)a + at, (const char *)b + at) == 0;
}

/* A copy in that order. */
static void *copy_sorted(const void *data, int64_t n, size_t size, int (*order)(const void *, const void *))
{
    void *copy = malloc((size_t)n * size + 1);
    cr_assert(copy != NULL);
    if (n > 0) {
        memcpy(copy, data, (size_t)n * size);
        qsort(copy, (size_t)n, size, order);
    }
    return copy;
}

static int (*order_of_bits(fl_dtype dtype))(const void *, const void *)
{
    return fl_dtype_size(dtype) == 4 ? compare_uint32_t : compare_uint64_t;
}

void *sorted_of(const struct numbers *numbers)
{
    const size_t size = fl_dtype_size(numbers->dtype), bytes = (size_t)numbers->n * size;
    const uint64_t key = hash_bytes((uint64_t)numbers->dtype, numbers->data, bytes);
    void *values = malloc(bytes + 1);
    cr_assert(values != NULL);
    if (recall(key, values, bytes))
        return values;
    free(values);
    values = copy_sorted(numbers->data, numbers->n, size, order_of(numbers->dtype));
    remember(key, values, bytes);
    return values;
}

/* Whether both hold the same elements, bit for bit, in any order. Elements that have the same place in both cancel out:
 * what is left are those that are equal by the order and not in their bits, zeros and NaN. */
static bool is_permutation(const struct numbers *got, const void *other)
{
    const size_t size = fl_dtype_size(got->dtype);
    const char *a = got->data, *b = other;
    int64_t first = 0, end = got->n;
    while (first < end && memcmp(a + (size_t)first * size, b + (size_t)first * size, size) == 0)
        first++;
    while (end > first && memcmp(a + (size_t)(end - 1) * size, b + (size_t)(end - 1) * size, size) == 0)
        end--;
    void *x = copy_sorted(a + (size_t)first * size, end - first, size, order_of_bits(got->dtype));
    void *y = copy_sorted(b + (size_t)first * size, end - first, size, order_of_bits(got->dtype));
    bool same = memcmp(x, y, (size_t)(end - first) * size) == 0;
    free(x);
    free(y);
    return same;
}

/* ------------------------------------------------------------------------------------------------- numbers ---- */

static void set_bits(const struct numbers *numbers, int64_t i, uint64_t bits)
{
    if (fl_dtype_size(numbers->dtype) == 4)
        ((uint32_t *)numbers->data)[i] = (uint32_t)bits;
    else
        ((uint64_t *)numbers->data)[i] = bits;
}

static uint64_t special_bits(fl_dtype dtype, uint64_t choice)
{
    static const uint32_t f32[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                   0x7f800001, 0xff812345, 0xffffffff, 0x7fffffff, 0x7f7fffff, 0xff7fffff,
                                   1,          0x80000001, 0x3f800000, 0xbf800000};
    static const uint64_t f64[] = {
        0,
        0x8000000000000000,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000000,
        0xfff8000000000000,
        0x7ff0000000000001,
        0xfff0000012345678,
        0xffffffffffffffff,
        0x7fffffffffffffff,
        0x7fefffffffffffff,
        0xffefffffffffffff,
        1,
        0x8000000000000001,
        0x3ff0000000000000,
        0xbff0000000000000,
    };
    static const int32_t i32[] = {INT32_MIN, INT32_MIN + 1, -2, -1, 0, 1, 2, INT32_MAX - 1, INT32_MAX};
    static const int64_t i64[] = {INT64_MIN, INT64_MIN + 1, -2, -1, 0, 1, 2, INT64_MAX - 1, INT64_MAX};
    switch (dtype) {
    case FL_F32: return f32[choice % COUNT(f32)];
    case FL_F64: return f64[choice % COUNT(f64)];
    case FL_I32: return (uint64_t)i32[choice % COUNT(i32)];
    default: return (uint64_t)i64[choice % COUNT(i64)];
    }
}

static uint64_t nan_bits(fl_dtype dtype, uint64_t random)
{
    uint64_t sign = random & 1, payload = random >> 44 | 1;
    return dtype == FL_F32 ? sign << 31 | 0x7f800000 | payload : sign << 63 | 0x7ff0000000000000 | payload;
}

static void set_number(const struct numbers *numbers, int64_t i, enum kind kind, uint64_t random)
{
    bool floats = numbers->dtype == FL_F32 || numbers->dtype == FL_F64;
    double unit = (double)(random >> 40) * 0x1p-24;
    switch (kind) {
    case SPECIAL: set_bits(numbers, i, special_bits(numbers->dtype, random >> 33)); break;
    case ALL_NAN: set_bits(numbers, i, floats ? nan_bits(numbers->dtype, random) : random); break;
    case EQUAL: set_bits(numbers, i, special_bits(numbers->dtype, 15)); break;
    case FEW: set_bits(numbers, i, special_bits(numbers->dtype, random >> 33 & 3)); break;
    case UNIFORM:
        if (numbers->dtype == FL_F32)
            ((float *)numbers->data)[i] = (float)unit;
        else if (numbers->dtype == FL_F64)
            ((double *)numbers->data)[i] = unit;
        else
            set_bits(numbers, i, random);
        break;
    default: set_bits(numbers, i, random); break;
    }
}

/* Elements by where they go: backwards, or up and down four times. */
static void rearrange(const struct numbers *numbers, enum kind kind)
{
    size_t size = fl_dtype_size(numbers->dtype);
    char *ordered = copy_sorted(numbers->data, numbers->n, size, order_of(numbers->dtype)), *to = numbers->data;
    int64_t n = numbers->n, pipe = n / 4 + 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t from = kind == DESCENDING ? n - 1 - i : i;
        if (kind == PIPES && i / pipe % 2 == 1)
            from = i / pipe * pipe + (i / pipe + 1 < 4 ? pipe - 1 - i % pipe : i % pipe);
        memcpy(to + (size_t)i * size, ordered + (size_t)from * size, size);
    }
    free(ordered);
}

struct numbers numbers_create(fl_dtype dtype, int64_t n, enum kind kind, uint64_t seed)
{
    struct numbers numbers = {dtype, n, malloc((size_t)n * fl_dtype_size(dtype) + 1)};
    cr_assert(numbers.data != NULL);
    for (int64_t i = 0; i < n; i++)
        set_number(&numbers, i, kind, random_bits(&seed));
    if (kind >= ASCENDING && n > 0)
        rearrange(&numbers, kind);
    return numbers;
}

void numbers_free(struct numbers *numbers)
{
    free(numbers->data);
}

/* -------------------------------------------------------------------------------------------------- checks ---- */

void expect_sorted(const void *expected, const struct numbers *got, const char *what)
{
    for (int64_t i = 0; i < got->n; i++)
        if (!is_same(got->dtype, expected, got->data, i)) {
            cr_expect(false, "%s: %lld %s: wrong at %lld", what, (long long)got->n, fl_dtype_name(got->dtype),
                      (long long)i);
            break;
        }
    cr_expect(is_permutation(got, expected), "%s: %lld %s: elements were changed, lost or doubled", what,
              (long long)got->n, fl_dtype_name(got->dtype));
}

void check_sort(fl_device *device, const struct numbers *input, const void *expected, bool in_place, const fl_run *run,
                const char *what)
{
    char title[160];
    snprintf(title, sizeof title, "%s %s%s: %s", fl_device_describe(device)->resource,
             run && run->variant ? run->variant : "auto", in_place ? " in place" : "", what);
    struct guarded in = guarded_create(device, input->dtype, 1, &input->n, 3),
                   out = guarded_create(device, input->dtype, 1, &input->n, 5);
    struct numbers got = {input->dtype, input->n, malloc((size_t)input->n * fl_dtype_size(input->dtype) + 1)};
    must(fl_array_write(in.out, input->data, NULL));
    fl_status status = fl_sort(device, in.out, in_place ? in.out : out.out, run);
    status = status ? status : fl_device_wait(device);
    cr_expect(status == FL_OK, "%s: %s", title, fl_last_error());
    guarded_copy(&in, got.data, title);
    if (!in_place) {
        cr_expect(memcmp(got.data, input->data, (size_t)input->n * fl_dtype_size(input->dtype)) == 0,
                  "%s: the input was changed", title);
        guarded_copy(&out, got.data, title);
    }
    if (status == FL_OK)
        expect_sorted(expected, &got, title);
    free(got.data);
    guarded_free(&in);
    guarded_free(&out);
}

const char *numbers_at(const struct numbers *numbers, int64_t i)
{
    return (const char *)numbers->data + (size_t)i * fl_dtype_size(numbers->dtype);
}

bool numbers_precede(fl_dtype dtype, const void *a, const void *b)
{
    switch (dtype) {
    case FL_F32:
        return *(const float *)a < *(const float *)b ||
               (*(const float *)b != *(const float *)b && *(const float *)a == *(const float *)a);
    case FL_F64:
        return *(const double *)a < *(const double *)b ||
               (*(const double *)b != *(const double *)b && *(const double *)a == *(const double *)a);
    case FL_I32: return *(const int32_t *)a < *(const int32_t *)b;
    default: return *(const int64_t *)a < *(const int64_t *)b;
    }
}

struct numbers numbers_sorted(fl_dtype dtype, int64_t n, enum kind kind, uint64_t seed)
{
    struct numbers numbers = numbers_create(dtype, n, kind, seed);
    void *sorted = sorted_of(&numbers);
    free(numbers.data);
    numbers.data = sorted;
    return numbers;
}

fl_array *numbers_on(fl_device *device, const struct numbers *numbers)
{
    fl_array *array;
    must(fl_array_from_host(device, numbers->dtype, 1, &numbers->n, numbers->data, &array));
    return array;
}
