/* SPDX-License-Identifier: MIT
 *
 * flynn sort: the sorting exercise.
 */
#include "run/registry.h"

#include "checks/sort.h"
#include "support/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sort_options {
    bool in_place;
} sort_options;

static const own_option options[] = {
    {"in-place", OPTION_FLAG, offsetof(sort_options, in_place), .help = "Sort the array itself"},
    {0},
};

static host_array make(const exercise *e, int i)
{
    const int64_t size = exercise_size(e);
    const fl_dtype dtype = exercise_dtype(e, FL_F32);
    const double end = dtype == FL_I32 ? 0x1p31 : dtype == FL_I64 ? 0x1p63 : 1;

    (void)i;
    return exercise_random_share(dtype, 1, &size, end == 1 ? 0 : -end, end, e->common.seed);
}

static void plan(exercise *e)
{
    const host_array *numbers = &e->inputs[0];
    const sort_options *own = e->own;

    int64_t whole;

    e->in_place = own->in_place || e->once;
    exercise_output(e, numbers->dtype, 1, numbers->shape);
    exercise_whole(e->input_rows[0], 1, numbers->shape, &whole);
    exercise_title(e, "sort: %" PRId64 " %s%s", whole, fl_dtype_name(numbers->dtype), own->in_place ? " in place" : "");
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return group_is_distributed() ? fl_group_sort(group_of_all(), device, in[0], out[0], run, group_cost())
                                  : fl_sort(device, in[0], out[0], run);
}

/* A checksum, so that the input may be overwritten. */
static void expect(exercise *e)
{
    uint64_t *checksum = e->expected = memory_zeroed(1, sizeof *checksum);

    *checksum = sort_checksum(&e->inputs[0]);
}

static void release(exercise *e)
{
    free(e->expected);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const uint64_t *checksum = e->expected;

    snprintf(method, size, "order, and a checksum of all elements");
    return (group_is_distributed() ? sort_compare_distributed : sort_compare)(&m->results[0], *checksum);
}

const exercise_kind sort_exercise = {
    .name = "sort",
    .summary = "sort numbers in ascending order",
    .help = "Sorts numbers in ascending order, as numpy.sort does (NaN last).\v"
            "FILE is a one-dimensional .npy file of f32, f64, i32 or i64. Without it: --size (4096 * 4096) random "
            "numbers of --dtype (f32) from --seed, in 0..1, or for i32 and i64 over their whole range.\v"
            "\trandom numbers on the best backend\n"
            "-b all --size=1M --dtype=i32\tevery backend side by side\n"
            "x.npy -o sorted.npy\tyour own array\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, 1, true}},
    .dtypes = DTYPES_SIGNED,
    .file_dtypes = DTYPES_SIGNED,
    .lacks = TAKES_CHECK,
    .options = options,
    .own_size = sizeof(sort_options),
    .made = "the random numbers",
    .size = 4096 * 4096,
    .laws = {1 << 22, 1, NULL},
    .distributed = 1,
    .scalar_library = true, /* qsort */
    .spends_input = true,
    .steps = {make, plan, call, expect, check, release},
};
