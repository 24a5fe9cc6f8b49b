/* SPDX-License-Identifier: MIT
 *
 * flynn allclose: are two arrays the same to a tolerance?
 */
#include "commands.h"

#include "harness/exercise.h"
#include "harness/reference.h"
#include "support/fail.h"
#include "support/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COURSE_SIZE = 4096 };
enum { KEY_RTOL = KEY_OWN, KEY_ATOL, KEY_EQUAL_NAN };
/* What fl_closeness says, as the exercise's output: i64. */
enum { DIFFERING, WORST_INDEX, WORST_EXCESS, TOLD };

/* What only this command has. */
typedef struct allclose_options {
    const char *file[2];
    double relative, absolute;
    bool equal_nan;
} allclose_options;

static const struct argp_option own_options[] = {
    {"rtol", KEY_RTOL, "X", 0, "Tolerance relative to B's element (1e-5)", 0},
    {"atol", KEY_ATOL, "X", 0, "Absolute tolerance (1e-8)", 0},
    {"equal-nan", KEY_EQUAL_NAN, 0, 0, "NaN is close to NaN", 0},
    {0},
};

static double tolerance(const char *option, const char *value)
{
    char *end;
    double number = strtod(value, &end);

    if (end == value || *end || !(number >= 0))
        option_fail(option, "'%s' is no tolerance; expected a number of at least 0", value);
    return number;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    allclose_options *own = state->input;

    switch (key) {
    case KEY_RTOL: own->relative = tolerance("rtol", value); return 0;
    case KEY_ATOL: own->absolute = tolerance("atol", value); return 0;
    case KEY_EQUAL_NAN: own->equal_nan = true; return 0;
    case ARGP_KEY_ARG:
        if (own->file[1])
            return ARGP_ERR_UNKNOWN;
        own->file[own->file[0] ? 1 : 0] = value;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary[] =
    "Compares two arrays as numpy.allclose does: |a - b| <= atol + rtol * |b| for every element. Tells how many differ "
    "and which of them the most; the exit code is 1 when any does.\v"
    "A and B are .npy or .png files of one shape; without them, the square roots of 0, 1, 2 ... 4095 (--size) in f32, "
    "computed by the first backend (A) and by the host (B). f32 with f32 is compared in f32, all else in f64.";

/* ----------------------------------------------------------------------------------------------- inputs ---- */

/* The course's: a device's result and the host's. */
static void make_inputs(const common_options *common, fl_device *device, host_array *inputs)
{
    int64_t size = common->size ? common->size : COURSE_SIZE;
    fl_array *range, *roots;
    problem why;

    for (int i = 0; i < 2; i++)
        exercise_must(host_array_create(&inputs[i], FL_F32, 1, &size, "--size", &why), &why);
    for (int64_t i = 0; i < size; i++)
        ((float *)inputs[1].data)[i] = (float)i;
    must(fl_array_from_host(device, FL_F32, 1, &size, inputs[1].data, &range));
    must(fl_array_create(device, FL_F32, 1, &size, &roots));
    must(fl_sqrt(device, range, roots, NULL));
    must(fl_array_to_host(roots, inputs[0].data));
    fl_array_free(range);
    fl_array_free(roots);
    for (int64_t i = 0; i < size; i++)
        ((float *)inputs[1].data)[i] = sqrtf((float)i);
}

static void read_inputs(const allclose_options *own, host_array *inputs)
{
    bool same;

    if (!own->file[1])
        fail(EXIT_BAD_INPUT, "%s alone; expected two files, or none for the course's", own->file[0]);
    for (int i = 0; i < 2; i++)
        inputs[i] = exercise_read(own->file[i], "input", 1, FL_MAX_DIMS);
    same = inputs[0].ndim == inputs[1].ndim;
    for (int d = 0; same && d < inputs[0].ndim; d++)
        same = inputs[0].shape[d] == inputs[1].shape[d];
    if (!same)
        fail(EXIT_BAD_INPUT, "%s is %s, %s is %s; expected one shape", own->file[0],
             format_shape(inputs[0].ndim, inputs[0].shape).text, own->file[1],
             format_shape(inputs[1].ndim, inputs[1].shape).text);
    if (host_array_size(&inputs[0]) == 0)
        fail(EXIT_BAD_INPUT, "%s: the input is %s; expected at least one element", own->file[0],
             format_shape(inputs[0].ndim, inputs[0].shape).text);
}

static void take_inputs(const common_options *common, const allclose_options *own, fl_device *first, host_array *inputs)
{
    if (own->file[0] && common->size)
        fail(EXIT_BAD_INPUT, "--size: is for the course's input; %s has its own size", own->file[0]);
    if (own->file[0])
        read_inputs(own, inputs);
    else
        make_inputs(common, first, inputs);
    for (int i = 0; i < 2 && common->has_dtype; i++)
        exercise_convert(&inputs[i], common->dtype);
}

/* ----------------------------------------------------------------------------------------- the exercise ---- */

/* What `call` and `check` need besides the arrays. */
typedef struct setting {
    const allclose_options *own;
    int64_t *told; /* by the call under way, until it is copied to the output */
    int64_t expected[TOLD];
} setting;

static void pack(const fl_closeness *found, int64_t *told)
{
    told[DIFFERING] = found->differing;
    told[WORST_INDEX] = found->worst_index;
    memcpy(&told[WORST_EXCESS], &found->worst_excess, sizeof told[WORST_EXCESS]);
}

/* The verdict comes back to the host; from there it goes into the output, as a result to check. */
static fl_status call_allclose(fl_device *device, fl_array *const *in, fl_array *const *out, const void *more,
                               const fl_run *run)
{
    const setting *s = more;
    fl_closeness found;
    fl_status status =
        fl_allclose(device, in[0], in[1], s->own->relative, s->own->absolute, s->own->equal_nan, &found, run);

    if (status != FL_OK)
        return status;
    pack(&found, s->told);
    return fl_array_write(out[0], s->told, run->stream);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const setting *s = e->more;
    const int64_t *got = m->results[0].data;
    compare_result found = compare_start();

    snprintf(method, size, "reference, exactly");
    for (int i = 0; i < TOLD; i++)
        compare_add(&found, i, got[i] == s->expected[i] ? 0 : 1, 0, 0);
    return found;
}

/* "omp:2: not close: 3 of 4096 differ; the worst is [7]: 1.5 and 1.25, 4.2 times its bound" */
static void print_verdict(const exercise *e, const measurement *m)
{
    const int64_t *told = m->results[0].data, index = told[WORST_INDEX];
    const host_array *a = &e->inputs[0], *b = &e->inputs[1];
    double excess;

    memcpy(&excess, &told[WORST_EXCESS], sizeof excess);
    if (told[DIFFERING] == 0)
        printf("%s: close: none of %" PRId64 " differs\n", m->device.resource, host_array_size(a));
    else if (index >= 0 && index < host_array_size(a))
        printf("%s: not close: %" PRId64 " of %" PRId64
               " differ; the worst is %s: %.9g and %.9g, %.3g times its bound\n",
               m->device.resource, told[DIFFERING], host_array_size(a), format_index(index, a->ndim, a->shape).text,
               host_array_get(a, index), host_array_get(b, index), excess);
}

static void add_verdict(const exercise *e, const measurement *m, json_t *row)
{
    const int64_t *told = m->results[0].data, index = told[WORST_INDEX];
    double excess;

    memcpy(&excess, &told[WORST_EXCESS], sizeof excess);
    json_object_set_new(row, "close", json_boolean(told[DIFFERING] == 0));
    json_object_set_new(row, "differing", json_integer(told[DIFFERING]));
    json_object_set_new(row, "worst", json_integer(index));
    json_object_set_new(row, "worst_excess", isfinite(excess) ? json_real(excess) : json_null());
    (void)e;
}

/* What the oracle finds. */
static void find_expected(setting *s, const host_array *inputs)
{
    fl_device *device = oracle_device("allclose");
    fl_array *a, *b;
    fl_closeness found;

    must(fl_array_from_host(device, inputs[0].dtype, inputs[0].ndim, inputs[0].shape, inputs[0].data, &a));
    must(fl_array_from_host(device, inputs[1].dtype, inputs[1].ndim, inputs[1].shape, inputs[1].data, &b));
    must(fl_allclose(device, a, b, s->own->relative, s->own->absolute, s->own->equal_nan, &found,
                     &(fl_run){.variant = "reference"}));
    pack(&found, s->expected);
    fl_array_free(a);
    fl_array_free(b);
    fl_device_close(device);
}

static exercise make_exercise(const host_array *inputs, const setting *s)
{
    exercise e = {.name = "allclose",
                  .input_count = 2,
                  .inputs = {inputs[0], inputs[1]},
                  .more = s,
                  .call = call_allclose,
                  .check = check,
                  .add_json = add_verdict,
                  .print_more = print_verdict};

    exercise_output(&e, FL_I64, 1, (int64_t[]){TOLD});
    snprintf(e.title, sizeof e.title, "allclose: %s %s, %s; rtol %g, atol %g",
             format_shape(inputs[0].ndim, inputs[0].shape).text, fl_dtype_name(inputs[0].dtype),
             fl_dtype_name(inputs[1].dtype), s->own->relative, s->own->absolute);
    return e;
}

int command_allclose(int argc, char **argv)
{
    allclose_options own = {.relative = 1e-5, .absolute = 1e-8};
    const command_line line = {"flynn allclose", "[A B]", summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options,      parse,   &own};
    common_options common;
    host_array inputs[2] = {0};
    int64_t told[TOLD];
    setting s = {.own = &own, .told = told};
    result_list results;
    int code;

    options_parse(&line, argc, argv, &common);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    take_inputs(&common, &own, backends.open[0].device, inputs);
    find_expected(&s, inputs);
    exercise e = make_exercise(inputs, &s);
    code = exercise_run(&e, &common, &backends, &results);

    result_list_free(&results);
    backends_close(&backends);
    host_array_free(&inputs[0]);
    host_array_free(&inputs[1]);
    options_free(&common);
    return code != EXIT_DONE ? code : s.expected[DIFFERING] ? EXIT_WRONG_RESULT : EXIT_DONE;
}
