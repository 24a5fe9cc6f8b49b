/* SPDX-License-Identifier: MIT
 *
 * flynn search_sorted: where values belong in a sorted array.
 */
#include "run/registry.h"

#include "support/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SORTED, VALUES };

typedef struct search_options {
    int64_t sorted;
} search_options;

static const own_option options[] = {
    {"sorted", OPTION_INTEGER, offsetof(search_options, sorted), "N",
     .help = "How many sorted numbers to search in (1048576)", .least = 1, .most = INT64_MAX, .void_with = 1},
    {0},
};

/* The order of fl_sort, for each dtype: NaN is last. */
#define PRECEDES(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))
#define ORDER(type) \
    static int order_##type(const void *a, const void *b) \
    { \
        const type x = *(const type *)a, y = *(const type *)b; \
        return PRECEDES(y, x) - PRECEDES(x, y); \
    }
ORDER(float)
ORDER(double)
ORDER(int32_t)
ORDER(int64_t)

/* qsort's comparison of elements. */
static int (*order_of(fl_dtype dtype))(const void *, const void *)
{
    return dtype == FL_F32   ? order_float
           : dtype == FL_F64 ? order_double
           : dtype == FL_I32 ? order_int32_t
                             : order_int64_t;
}

static const void *element(const host_array *array, int64_t i)
{
    return (const char *)array->data + (size_t)i * fl_dtype_size(array->dtype);
}

/* Returns whether element i of `sorted` comes before the value and is not equal to it. */
static bool is_below(const host_array *sorted, int64_t i, const host_array *values, int64_t value)
{
    return order_of(sorted->dtype)(element(sorted, i), element(values, value)) < 0;
}

static host_array make(const exercise *e, int i)
{
    const int64_t size = i == SORTED ? ((const search_options *)e->own)->sorted : exercise_size(e);
    const fl_dtype dtype = exercise_dtype(e, FL_F32);
    const double end = dtype == FL_I32 ? 0x1p31 : dtype == FL_I64 ? 0x1p63 : 1;
    host_array array = exercise_random(dtype, 1, &size, end == 1 ? 0 : -end, end, e->common.seed + (uint64_t)i);

    if (i == SORTED)
        qsort(array.data, (size_t)size, fl_dtype_size(dtype), order_of(dtype));
    return array;
}

/* Ends the command if a file's elements are not in order, or of another dtype than the values. */
static void check_inputs(const exercise *e)
{
    const host_array *sorted = &e->inputs[SORTED];

    exercise_one_dtype(e);
    for (int64_t i = 1; i < sorted->shape[0]; i++)
        if (is_below(sorted, i, sorted, i - 1))
            fail(EXIT_BAD_INPUT,
                 "%s: is not sorted: element %" PRId64 " is less than the one before it (flynn sort %s -o sorted.npy)",
                 e->common.arguments[0], i, e->common.arguments[0]);
}

static void plan(exercise *e)
{
    const host_array *sorted = &e->inputs[SORTED], *values = &e->inputs[VALUES];

    if (e->common.argument_count > 0)
        check_inputs(e);
    exercise_output(e, FL_I64, 1, values->shape);
    exercise_title(e, "search_sorted: %" PRId64 " values in %" PRId64 " sorted %s", values->shape[0], sorted->shape[0],
                   fl_dtype_name(sorted->dtype));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return fl_search_sorted(device, in[SORTED], in[VALUES], out[0], run);
}

/* How many elements come before the value. */
static int64_t expected_place(const host_array *sorted, const host_array *values, int64_t value)
{
    int64_t low = 0, high = sorted->shape[0];

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (is_below(sorted, middle, values, value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The element before the place is less than the value, and that at the place is not: one place alone has this. */
static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const host_array *sorted = &e->inputs[SORTED], *values = &e->inputs[VALUES];
    const int64_t n = sorted->shape[0], *places = m->results[0].data;
    compare_result found = compare_start();

    for (int64_t i = 0; i < values->shape[0]; i++) {
        const int64_t place = places[i];
        if (place >= 0 && place <= n && (place == 0 || is_below(sorted, place - 1, values, i)) &&
            (place == n || !is_below(sorted, place, values, i)))
            compare_add_equal(&found, i, (double)place, 1);
        else
            compare_add(&found, i, (double)place, (double)expected_place(sorted, values, i), 0);
    }
    found.ok = found.failed == 0;
    snprintf(method, size, "the elements before and at the place of each value, on the host");
    return found;
}

static const char *why_scalar(const exercise *e)
{
    (void)e;
    return "each step of a search waits for the comparison before it";
}

const exercise_kind search_sorted_exercise = {
    .name = "search_sorted",
    .summary = "find where values belong in a sorted array",
    .help = "Finds for each value how many elements of a sorted array are less than it, as numpy.searchsorted does "
            "(NaN is more than any number).\v"
            "SORTED and VALUES are one-dimensional .npy files of one dtype: f32, f64, i32 or i64. Without them: "
            "--size (4194304) random values and --sorted (1048576) numbers to search in, of --dtype (f32) from --seed, "
            "in 0..1, or for i32 and i64 over their whole range.\v"
            "\trandom values on the best backend\n"
            "-b all --sorted=1000\tevery backend side by side\n"
            "sorted.npy values.npy -o places.npy\tyour own arrays\n",
    .arguments = "[SORTED VALUES]",
    .input_count = 2,
    .inputs = {{"sorted", 1, 1, true}, {"values", 1, 1, true}},
    .least_files = 2,
    .dtypes = DTYPES_SIGNED,
    .file_dtypes = DTYPES_SIGNED,
    .lacks = TAKES_CHECK,
    .options = options,
    .own_size = sizeof(search_options),
    .own = &(const search_options){.sorted = 1 << 20},
    .made = "the random numbers",
    .size = 1 << 22,
    .laws = {1 << 22, 1, NULL},
    .taxonomy_size = 1 << 20,
    .ordered = true,
    .of_input = true,
    .steps = {make, plan, call, NULL, check, NULL},
    .why_scalar = why_scalar,
};
