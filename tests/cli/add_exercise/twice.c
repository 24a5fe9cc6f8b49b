/* SPDX-License-Identifier: MIT
 *
 * An exercise that the command does not have: two is added to each element. For the test that one file and one line in
 * the registry are all that it takes.
 */
#include "run/registry.h"

#include <stdio.h>

typedef struct twice_options {
    int64_t first;
} twice_options;

static const own_option options[] = {
    {"first", OPTION_INTEGER, offsetof(twice_options, first), "N", .help = "The first element (0)", .most = 100},
    {0},
};

static host_array make(const exercise *e, int i)
{
    const int64_t size = exercise_size(e);
    host_array numbers = exercise_array(exercise_dtype(e, FL_F64), 1, &size);

    for (int64_t n = i; n < size; n++)
        host_array_set(&numbers, n, (double)(((const twice_options *)e->own)->first + n));
    return numbers;
}

static void plan(exercise *e)
{
    exercise_output(e, e->inputs[0].dtype, 1, e->inputs[0].shape);
    exercise_title(e, "twice: %lld", (long long)e->inputs[0].shape[0]);
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    fl_status status = fl_increment(device, in[0], out[0], &(fl_run){.stream = run->stream});

    (void)e;
    return status == FL_OK ? fl_increment(device, out[0], out[0], run) : status;
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    compare_result found = compare_start();

    snprintf(method, size, "two more than the input");
    for (int64_t i = 0; i < host_array_size(&e->inputs[0]); i++)
        compare_add(&found, i, host_array_get(&m->results[0], i), host_array_get(&e->inputs[0], i) + 2, 0);
    return found;
}

const exercise_kind twice_exercise = {
    .name = "twice",
    .operation = "increment",
    .summary = "add two to each element",
    .help = "Adds two to each element.",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, 1, false}},
    .dtypes = DTYPES_SIGNED,
    .file_dtypes = DTYPES_SIGNED,
    .lacks = TAKES_CHECK | TAKES_SEED,
    .options = options,
    .own_size = sizeof(twice_options),
    .made = "the numbers",
    .size = 1000,
    .laws = {100000, 1, NULL},
    .steps = {make, plan, call, NULL, check, NULL},
};
