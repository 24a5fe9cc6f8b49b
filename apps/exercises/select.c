/* SPDX-License-Identifier: MIT
 *
 * flynn select: the elements of an array that are not zero, in their order.
 */
#include "commands.h"

#include "files/files.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/options.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { USUAL_SIZE = 1 << 24 };

/* What only this command has. */
typedef struct select_options {
    const char *file; /* NULL: random numbers */
    const char *output;
} select_options;

static const struct argp_option own_options[] = {
    {"output", 'o', "FILE", 0, "Write the elements that are not zero: .npy", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    select_options *own = state->input;

    switch (key) {
    case 'o': own->output = value; return 0;
    case ARGP_KEY_ARG:
        if (own->file)
            return ARGP_ERR_UNKNOWN;
        own->file = value;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary[] =
    "Keeps the elements of an array that are not zero, in their order, as x[x != 0] in NumPy; checks them and tells "
    "the "
    "time in its parts.\v"
    "FILE is a .npy or .png file of up to four dimensions, taken row by row; without it, --size (16777216) numbers of "
    "--dtype (i32), of which a coin that --seed decides makes half 0. NaN is not zero, -0 is.";

/* ----------------------------------------------------------------------------------------------- inputs ---- */

/* 1 to 100, or 0 as often. */
static host_array coins(const common_options *common)
{
    random_state random = random_start(common->seed);
    host_array array;
    problem why;

    exercise_must(host_array_create(&array, common->has_dtype ? common->dtype : FL_I32, 1,
                                    (int64_t[]){common->size ? common->size : USUAL_SIZE}, "--size", &why),
                  &why);
    for (int64_t i = 0; i < array.shape[0]; i++) {
        uint64_t drawn = random_next(&random);
        host_array_set(&array, i, drawn >> 63 ? (double)(drawn % 100 + 1) : 0);
    }
    return array;
}

static host_array take_input(const common_options *common, const select_options *own)
{
    host_array array;

    if (common->size && own->file)
        fail(EXIT_BAD_INPUT, "--size: is for random numbers; %s has its own size", own->file);
    if (!own->file)
        return coins(common);
    array = exercise_read(own->file, "input", 1, FL_MAX_DIMS);
    if (common->has_dtype)
        exercise_convert(&array, common->dtype);
    array.shape[0] = host_array_size(&array); /* one row after the other */
    array.ndim = 1;
    for (int d = 1; d < FL_MAX_DIMS; d++)
        array.shape[d] = 1;
    return array;
}

/* --------------------------------------------------------------------------------------------- the check ---- */

static bool is_zero(const host_array *array, int64_t i)
{
    switch (array->dtype) {
    case FL_U8: return ((const uint8_t *)array->data)[i] == 0;
    case FL_I32: return ((const int32_t *)array->data)[i] == 0;
    case FL_I64: return ((const int64_t *)array->data)[i] == 0;
    case FL_F32: return ((const float *)array->data)[i] == 0;
    default: return ((const double *)array->data)[i] == 0;
    }
}

/* Each element that is not zero must be the next one of the result, bit for bit, which must end with the last. */
static compare_result check_select(const exercise *e, const measurement *m, char *method, size_t size)
{
    const host_array *in = &e->inputs[0], *result = &m->results[0];
    const size_t width = fl_dtype_size(in->dtype);
    compare_result found = compare_start();
    int64_t k = 0;

    for (int64_t i = 0; i < in->shape[0]; i++) {
        if (is_zero(in, i))
            continue;
        const char *wanted = (const char *)in->data + (size_t)i * width;
        bool same = k < result->shape[0] && memcmp((const char *)result->data + (size_t)k * width, wanted, width) == 0;
        double expected = host_array_get(in, i), got = k < result->shape[0] ? host_array_get(result, k) : (double)NAN;
        if (same)
            compare_add(&found, k, expected, expected, 0);
        else /* two that are one as doubles differ all the same */
            compare_add(&found, k, got == expected || (isnan(got) && isnan(expected)) ? INFINITY : got, expected, 0);
        k++;
    }
    if (*(const int64_t *)m->results[1].data != k) /* too many: those that are expected were all there */
        compare_add(&found, k, (double)*(const int64_t *)m->results[1].data, (double)k, 0);
    found.ok = found.failed == 0; /* of none there are none */
    snprintf(method, size, "a loop on the host: each element bit for bit, and their number");
    return found;
}

/* ------------------------------------------------------------------------------------------ the exercise ---- */

static fl_status call_select(fl_device *device, fl_array *const *inputs, fl_array *const *outputs, const void *more,
                             const fl_run *run)
{
    (void)more;
    return fl_select(device, inputs[0], outputs[0], outputs[1], run);
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    (void)e;
    json_object_set_new(row, "count", json_integer(m->results[0].shape[0]));
}

static void print_more(const exercise *e, const measurement *m)
{
    printf("%s: kept %" PRId64 " of %" PRId64 "\n", m->device.resource, m->results[0].shape[0], e->inputs[0].shape[0]);
}

int command_select(int argc, char **argv)
{
    select_options own = {0};
    const command_line line = {"flynn select", "[FILE]", summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options,    parse,    &own};
    exercise e = {.name = "select",
                  .input_count = 1,
                  .counted = true,
                  .call = call_select,
                  .check = check_select,
                  .add_json = add_json,
                  .print_more = print_more};
    common_options common;
    result_list results;
    problem why;
    int code;

    options_parse(&line, argc, argv, &common);
    if (own.output)
        exercise_must(file_check_output(own.output, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    e.inputs[0] = take_input(&common, &own);
    exercise_output(&e, e.inputs[0].dtype, 1, e.inputs[0].shape);
    exercise_output(&e, FL_I64, 1, (int64_t[]){1});
    snprintf(e.title, sizeof e.title, "select: what is not zero of %" PRId64 " %s", e.inputs[0].shape[0],
             fl_dtype_name(e.inputs[0].dtype));
    code = exercise_run(&e, &common, &backends, &results);
    exercise_write(&results, 0, own.output);

    result_list_free(&results);
    backends_close(&backends);
    host_array_free(&e.inputs[0]);
    options_free(&common);
    return code;
}
