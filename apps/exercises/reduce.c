/* SPDX-License-Identifier: MIT
 *
 * flynn reduce: many numbers become one, or one for each row or column.
 */
#include "run/registry.h"

#include "checks/reduce.h"
#include "display/numbers.h"
#include "support/fail.h"
#include "support/print.h"
#include "view/json.h"
#include "view/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DOT = FL_ARGMAX + 1 }; /* after those of fl_reduction */

static const char *const operations[] = {[FL_SUM] = "sum",
                                         [FL_MINIMUM] = "minimum",
                                         [FL_MAXIMUM] = "maximum",
                                         [FL_ARGMIN] = "argmin",
                                         [FL_ARGMAX] = "argmax",
                                         [DOT] = "dot",
                                         NULL};
enum { OWN, F64 };
static const char *const accumulators[] = {[OWN] = "own", [F64] = "f64", NULL};

typedef struct reduce_options {
    int operation, accumulate;
    int64_t axis;               /* FL_ALL_AXES: not given */
    int64_t shape[FL_MAX_DIMS]; /* zeros: not given */
} reduce_options;

static const own_option options[] = {
    {"operation", OPTION_CHOICE, offsetof(reduce_options, operation), "NAME",
     .help = "sum (default), minimum, maximum, argmin, argmax, dot\vargmin and argmax are the places of extremes; "
             "dot is the sum of the products of X and Y.",
     .names = operations},
    {"axis", OPTION_INTEGER, offsetof(reduce_options, axis), "N",
     .help = "Along this dimension, 0 the outermost (all elements)", .most = FL_MAX_DIMS - 1},
    {"accumulate", OPTION_CHOICE, offsetof(reduce_options, accumulate), "DTYPE",
     .help = "own (default) or f64: what sums are computed in\vIt is the result's dtype, too. own: of f32 f32, of f64 "
             "f64, of integers i64.",
     .names = accumulators},
    {"shape", OPTION_NUMBERS, offsetof(reduce_options, shape), "HxW",
     .help = "Random numbers in this shape, such as 4Kx1K", .least = 1, .most = FL_MAX_DIMS, .void_with = 1,
     .says_size = true},
    {0},
};

static fl_reduction reduction_of(const reduce_options *own)
{
    return own->operation == DOT ? FL_SUM : (fl_reduction)own->operation;
}

/* Refuses what the command line alone shows to be wrong. */
static void settle(exercise *e)
{
    const reduce_options *own = e->own;
    const int files = e->common.argument_count, inputs = own->operation == DOT ? 2 : 1;

    if (files > inputs)
        fail(EXIT_BAD_INPUT, "--operation: %s takes one array, and '%s' is a second one; expected dot, which takes two",
             operations[own->operation], e->common.arguments[1]);
    if (files > 0 && files < inputs)
        fail(EXIT_BAD_INPUT, "--operation: dot takes two arrays, X Y, and one is given; expected both, or none for "
                             "random numbers");
    exercise_refuse_seed(&e->common);
    if (own->accumulate == F64 && reduction_of(own) != FL_SUM)
        fail(EXIT_BAD_INPUT, "--accumulate: %s adds nothing up; expected sum or dot", operations[own->operation]);
    if (own->axis != FL_ALL_AXES && group_is_distributed())
        fail(EXIT_BAD_INPUT, "--axis: several ranks do not take it: they reduce all elements");
}

static void take(exercise *e)
{
    e->input_count = ((const reduce_options *)e->own)->operation == DOT ? 2 : 1;
    exercise_take_inputs(e);
}

static host_array make(const exercise *e, int i)
{
    return exercise_random_input(e, i, 1, ((const reduce_options *)e->own)->shape);
}

/* The shape of the result; returns its dimensions. On several ranks rank 0 has it. */
static int result_shape(const host_array *x, int axis, int64_t *shape)
{
    int ndim = 0;

    for (int d = 0; d < x->ndim && axis != FL_ALL_AXES; d++)
        if (d != axis)
            shape[ndim++] = x->shape[d];
    if (ndim == 0)
        shape[ndim++] = group_prints() ? 1 : 0;
    return ndim;
}

static void plan(exercise *e)
{
    const reduce_options *own = e->own;
    const host_array *x = &e->inputs[0];
    int64_t shape[FL_MAX_DIMS] = {1}, whole[FL_MAX_DIMS];
    const int ndim = exercise_whole_input(e, 0, whole);
    char along[24] = "";

    if (e->input_count == 2) {
        exercise_one_shape(e);
        exercise_one_dtype(e);
    }
    if (own->axis >= ndim)
        fail(EXIT_BAD_INPUT, "--axis: %" PRId64 " is too large for an input of %d dimension%s; expected %s%d",
             own->axis, ndim, ndim == 1 ? "" : "s", ndim == 1 ? "" : "0 to ", ndim - 1);
    if (own->axis != FL_ALL_AXES)
        snprintf(along, sizeof along, " along axis %d", (int)own->axis);
    exercise_output(e, own->accumulate == F64 ? FL_F64 : fl_reduce_dtype(x->dtype, reduction_of(own)),
                    result_shape(x, (int)own->axis, shape), shape);
    exercise_title(e, "reduce: %s of %s %s%s%s", operations[own->operation], format_shape(ndim, whole).text,
                   fl_dtype_name(x->dtype), own->accumulate == F64 ? " in f64" : "", along);
}

/* Each rank gets the result of all; rank 0 puts it into the output, as a result to check. */
static fl_status call_group(const exercise *e, fl_device *device, fl_array *const *in, fl_array *out, const fl_run *run)
{
    int64_t result = 0; /* room for one of any dtype */
    fl_status status = fl_group_reduce_array(group_of_all(), device, in[0], e->input_count == 2 ? in[1] : NULL,
                                             reduction_of(e->own), e->outputs[0].dtype, &result, run, group_cost());

    if (status == FL_OK)
        status = fl_array_write(out, &result, run->stream);
    return status == FL_OK ? fl_device_wait(device) : status;
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    const reduce_options *own = e->own;

    if (group_is_distributed())
        return call_group(e, device, in, out[0], run);
    return own->operation == DOT ? fl_dot(device, in[0], in[1], (int)own->axis, out[0], run)
                                 : fl_reduce(device, in[0], reduction_of(own), (int)own->axis, out[0], run);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const reduce_options *own = e->own;
    const reduce_work work = {&e->inputs[0], e->input_count == 2 ? &e->inputs[1] : NULL, reduction_of(own),
                              (int)own->axis,
                              strcmp(m->timing.variant, "naive") == 0 || strcmp(m->timing.variant, "library") == 0};

    snprintf(method, size, "%s",
             work.reduction != FL_SUM || !fl_dtype_is_float(e->outputs[0].dtype)
                 ? "a loop on the host, exactly"
                 : "a compensated sum on the host, with the bound of flynn.h");
    return group_is_distributed() ? reduce_compare_distributed(&work, &m->results[0])
                                  : reduce_compare(&work, &m->results[0]);
}

/* A single result is the answer itself. */
static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const host_array *result = &m->results[0];

    json_put(row, "operation", json_text(operations[((const reduce_options *)e->own)->operation]));
    if (host_array_size(result) == 1)
        json_put(row, "result", json_element(result, 0));
}

/* "omp:2 pairwise: sum = 8388608.5" */
static void print(const exercise *e, const measurement *m, const json_t *row)
{
    const host_array *result = &m->results[0];
    const char *operation = operations[((const reduce_options *)e->own)->operation];

    (void)row;
    if (host_array_size(result) == 1)
        text_print("%s %s: %s = %s\n", m->device.resource, m->timing.variant, operation,
                   number_of_element(result, 0).text);
}

const exercise_kind reduce_exercise = {
    .name = "reduce",
    .summary = "sum numbers, or find the least or largest",
    .help =
        "Puts many numbers together to one, or to one for each row or column, as numpy.sum, min, max, argmin, argmax "
        "and dot do.\v"
        "X and Y are .npy or .png files of up to four dimensions; Y, of X's shape, is for --operation=dot. Without "
        "them: --size (16777216) numbers of --dtype (f32) from --seed, in 0..1, or for integers 0 to 99. The sum of "
        "f32 is f32 unless --accumulate=f64. See docs/exercises/reduce.md.\v"
        "\trandom numbers on the best backend\n"
        "x.npy --axis=0 -o sums.npy\tthe sums of a matrix's columns\n"
        "x.npy y.npy --operation=dot\tof your own arrays\n",
    .arguments = "[X [Y]]",
    .input_count = 2,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}, {"input", 1, FL_MAX_DIMS, true}},
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK,
    .options = options,
    .own_size = sizeof(reduce_options),
    .own = &(const reduce_options){.axis = FL_ALL_AXES},
    .made = "the random numbers",
    .size = 1 << 24,
    .laws = {1 << 24, 1, NULL},
    .taxonomy_size = 1 << 24,
    .distributed = 3,
    .of_input = true,
    .steps = {make, plan, call, NULL, check, NULL},
    .settle = settle,
    .take = take,
    .add_json = add_json,
    .print = print,
};
