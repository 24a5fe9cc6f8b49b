/* SPDX-License-Identifier: MIT
 *
 * flynn select: the elements of an array that are not zero, in their order.
 */
#include "checks/select.h"
#include "run/registry.h"

#include "support/print.h"
#include "support/random.h"
#include "view/json.h"
#include "view/row.h"

#include <inttypes.h>
#include <stdio.h>

/* 1 to 100, or with the same probability 0. */
static host_array make(const exercise *e, int i)
{
    random_state random = random_start(e->common.seed);
    const int64_t size = exercise_size(e);
    int64_t first;
    host_array array = exercise_share(exercise_dtype(e, FL_I32), 1, &size, &first);

    random_skip(&random, (uint64_t)first);
    for (int64_t n = i; n < array.shape[0]; n++) {
        uint64_t drawn = random_next(&random);
        host_array_set(&array, n, drawn >> 63 ? (double)(drawn % 100 + 1) : 0);
    }
    return array;
}

static void plan(exercise *e)
{
    const host_array *in = &e->inputs[0];

    exercise_output(e, in->dtype, 1, in->shape);
    exercise_output(e, FL_I64, 1, (int64_t[]){1});
    exercise_title(e, "select: the elements other than zero of %" PRId64 " %s", e->input_rows[0],
                   fl_dtype_name(in->dtype));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return group_is_distributed() ? fl_group_select(group_of_all(), device, in[0], out[0], out[1], run, group_cost())
                                  : fl_select(device, in[0], out[0], out[1], run);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const host_array *in = &e->inputs[0], *result = &m->results[0];
    compare_result found;
    int64_t kept;

    if (group_is_distributed()) {
        snprintf(method, size, "a loop on the host: how many elements, and a checksum of them in their order");
        return select_compare_distributed(in, result);
    }
    found = select_compare(in, result, &kept);
    exercise_check_count(m, kept, &found);
    snprintf(method, size, "a loop on the host: each element bit for bit, and their number");
    return found;
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    (void)e;
    json_put(row, "count", json_whole(group_count(m->results[0].shape[0])));
}

static void print(const exercise *e, const measurement *m, const json_t *row)
{
    text_print("%s: kept %.0f of %" PRId64 "\n", m->device.resource, row_number(row, "count"), e->input_rows[0]);
}

const exercise_kind select_exercise = {
    .name = "select",
    .summary = "keep the elements of an array that are not zero",
    .help = "Keeps the elements of an array that are not zero, in their order, as x[x != 0] in NumPy; NaN is kept, -0 "
            "is not.\v"
            "FILE is a .npy or .png file of up to four dimensions, taken row by row. Without it: --size (16777216) "
            "numbers of --dtype (i32), each of them 0 with a probability of one half, from --seed.\v"
            "\trandom numbers on the best backend\n"
            "-b all --size=1M\tevery backend side by side\n"
            "x.npy -o kept.npy\tyour own array\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}},
    .flat = true,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK,
    .made = "the random numbers",
    .size = 1 << 24,
    .laws = {1 << 24, 1, NULL},
    .counted = true,
    .distributed = 1,
    .steps = {make, plan, call, NULL, check, NULL},
    .add_json = add_json,
    .print = print,
};
