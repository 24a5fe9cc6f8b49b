/* SPDX-License-Identifier: MIT
 *
 * flynn increment, sqrt, maximum, log_of_sum: the element-wise exercises.
 */
#include "commands.h"

#include "files/files.h"
#include "harness/exercise.h"
#include "harness/reference.h"
#include "support/fail.h"
#include "support/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_IN_PLACE = KEY_OWN, KEY_SHAPE };
enum { LOG_ULPS = 4 }; /* flynn.h's bound of log_of_sum */

/* What only these commands have. */
typedef struct own_options {
    const struct command *command;
    const char *argument[2]; /* files, or numbers where the command takes them; NULL: not given */
    int64_t shape[FL_MAX_DIMS];
    int ndim; /* of --shape; 0: not given */
    bool in_place;
    const char *output;
} own_options;

/* One of the four. */
typedef struct command {
    const char *name;
    int inputs;
    bool bytes;   /* takes u8 */
    bool numbers; /* an argument may be a number */
    fl_status (*call)(fl_device *, fl_array *const *, fl_array *const *, const void *, const fl_run *);
    /* The course's i-th input. */
    host_array (*make)(const common_options *common, const own_options *own, int i);
} command;

/* ---------------------------------------------------------------------------------------------- options ---- */

static const struct argp_option output_option[] = {
    {"output", 'o', "FILE", 0, "Write the result: .npy", 0},
    {0},
};
static const struct argp_option increment_options[] = {
    {"shape", KEY_SHAPE, "HxW", 0, "Ones in an array of that shape instead of a line: 256x256 (1 to 4 numbers)", 0},
    {"in-place", KEY_IN_PLACE, 0, 0, "Increment the array itself, as the course does, instead of into another one", 0},
    {"output", 'o', "FILE", 0, "Write the result: .npy", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    own_options *own = state->input;

    switch (key) {
    case KEY_SHAPE:
        option_numbers("shape", value, 1, FL_MAX_DIMS, "1 to 4 numbers, such as 256x256", own->shape);
        own->ndim = 1;
        for (const char *x = value; (x = strchr(x, 'x')) != NULL; x++)
            own->ndim++;
        return 0;
    case KEY_IN_PLACE: own->in_place = true; return 0;
    case 'o': own->output = value; return 0;
    case ARGP_KEY_ARG:
        for (int i = 0; i < own->command->inputs; i++)
            if (!own->argument[i]) {
                own->argument[i] = value;
                return 0;
            }
        return ARGP_ERR_UNKNOWN;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ----------------------------------------------------------------------------------- the course's inputs ---- */

static host_array create(fl_dtype dtype, int ndim, const int64_t *shape)
{
    host_array array;
    problem why;

    exercise_must(host_array_create(&array, dtype, ndim, shape, "--size", &why), &why);
    return array;
}

static int64_t size_or(const common_options *common, int64_t size)
{
    return common->size ? common->size : size;
}

static fl_dtype dtype_or(const common_options *common, fl_dtype dtype)
{
    return common->has_dtype ? common->dtype : dtype;
}

/* increment: 65,536 ones. */
static host_array make_ones(const common_options *common, const own_options *own, int i)
{
    int64_t line = size_or(common, 65536);
    host_array ones;

    (void)i;
    if (own->ndim && common->size)
        fail(EXIT_BAD_INPUT, "--size: --shape says it already; expected one of the two");
    ones = create(dtype_or(common, FL_F64), own->ndim ? own->ndim : 1, own->ndim ? own->shape : &line);
    for (int64_t n = 0; n < host_array_size(&ones); n++)
        host_array_set(&ones, n, 1);
    return ones;
}

/* sqrt: 0, 1, 2 ... 4095. */
static host_array make_range(const common_options *common, const own_options *own, int i)
{
    int64_t size = size_or(common, 4096);
    host_array range = create(dtype_or(common, FL_F32), 1, &size);

    (void)own, (void)i;
    for (int64_t n = 0; n < size; n++)
        host_array_set(&range, n, (double)n);
    return range;
}

static host_array make_random(const common_options *common, int ndim, const int64_t *shape, int i)
{
    fl_dtype dtype = dtype_or(common, FL_F32);
    bool integers = dtype != FL_F32 && dtype != FL_F64;

    return exercise_random(dtype, ndim, shape, 0, integers ? 100 : 1, common->seed + (uint64_t)i);
}

/* maximum: cubes of 256^3. */
static host_array make_cube(const common_options *common, const own_options *own, int i)
{
    int64_t edge = size_or(common, 256);

    (void)own;
    if (edge > 1 << 20)
        fail(EXIT_BAD_INPUT, "--size: %" PRId64 " is too long an edge of a cube; expected at most %d", edge, 1 << 20);
    return make_random(common, 3, (int64_t[]){edge, edge, edge}, i);
}

/* log_of_sum: ten million numbers. */
static host_array make_line(const common_options *common, const own_options *own, int i)
{
    int64_t size = size_or(common, 10000000);

    (void)own;
    return make_random(common, 1, &size, i);
}

/* ----------------------------------------------------------------------------------------------- inputs ---- */

static bool is_number(const command *c, const char *argument, double *value)
{
    char *end;

    if (!c->numbers || !argument || !*argument)
        return false;
    *value = strtod(argument, &end);
    return *end == '\0';
}

static void check_dtype(const command *c, const char *whose, fl_dtype dtype)
{
    if (dtype == FL_U8 && !c->bytes)
        fail(EXIT_BAD_INPUT, "%s: %s takes f32, f64, i32 and i64, not u8", whose, c->name);
}

static host_array read_input(const command *c, const common_options *common, const char *path)
{
    host_array array = exercise_read(path, "input", 1, FL_MAX_DIMS);

    if (host_array_size(&array) == 0)
        fail(EXIT_BAD_INPUT, "%s: the input is %s; expected at least one element", path,
             format_shape(array.ndim, array.shape).text);
    if (common->has_dtype)
        exercise_convert(&array, common->dtype);
    check_dtype(c, path, array.dtype);
    return array;
}

/* A number wherever the other input has an element, and in its dtype if that is one of floating-point numbers. */
static host_array spread(const common_options *common, double value, const host_array *other)
{
    fl_dtype dtype = other && other->dtype == FL_F32 ? FL_F32 : FL_F64;
    host_array array = create(dtype_or(common, dtype), other ? other->ndim : 1, other ? other->shape : (int64_t[]){1});

    for (int64_t i = 0; i < host_array_size(&array); i++)
        host_array_set(&array, i, value);
    return array;
}

static void check_shapes(const own_options *own, const host_array *inputs)
{
    bool same = inputs[0].ndim == inputs[1].ndim;

    for (int d = 0; same && d < inputs[0].ndim; d++)
        same = inputs[0].shape[d] == inputs[1].shape[d];
    if (!same)
        fail(EXIT_BAD_INPUT, "%s is %s, %s is %s; expected one shape", own->argument[0],
             format_shape(inputs[0].ndim, inputs[0].shape).text, own->argument[1],
             format_shape(inputs[1].ndim, inputs[1].shape).text);
}

/* Files and numbers; the course's where there are none. True: all of them are numbers. */
static bool take_inputs(const common_options *common, const own_options *own, host_array *inputs)
{
    const command *c = own->command;
    double value[2];
    bool number[2] = {is_number(c, own->argument[0], &value[0]), is_number(c, own->argument[1], &value[1])};

    if (common->has_dtype)
        check_dtype(c, "--dtype", common->dtype);
    if (own->argument[0] && (common->size || own->ndim))
        fail(EXIT_BAD_INPUT, "--%s: is for the course's input; %s has its own size", common->size ? "size" : "shape",
             own->argument[0]);
    if (c->inputs == 2 && own->argument[0] && !own->argument[1])
        fail(EXIT_BAD_INPUT, "%s alone; expected two inputs, or none for the course's", own->argument[0]);
    for (int i = 0; i < c->inputs; i++)
        if (!own->argument[i])
            inputs[i] = c->make(common, own, i);
        else if (!number[i])
            inputs[i] = read_input(c, common, own->argument[i]);
    for (int i = 0; i < c->inputs; i++)
        if (number[i])
            inputs[i] = spread(common, value[i], number[1 - i] ? NULL : &inputs[1 - i]);
    if (c->inputs == 2)
        check_shapes(own, inputs);
    return number[0] && number[1];
}

/* --------------------------------------------------------------------------------------------- the check ---- */

/* What `call` and `check` need besides the arrays. */
typedef struct setting {
    const command *command;
    host_array expected;
    bool scalars; /* both inputs were numbers: the value is shown */
    double x, y;
} setting;

/* What the oracle makes of the inputs. */
static host_array find_expected(const command *c, const exercise *e)
{
    fl_device *device = oracle_device(c->name);
    const output_spec *o = &e->outputs[0];
    host_array expected = create(o->dtype, o->ndim, o->shape);
    fl_array *inputs[2] = {0}, *out;

    for (int i = 0; i < e->input_count; i++)
        must(fl_array_from_host(device, e->inputs[i].dtype, e->inputs[i].ndim, e->inputs[i].shape, e->inputs[i].data,
                                &inputs[i]));
    must(fl_array_create(device, o->dtype, o->ndim, o->shape, &out));
    must(c->call(device, inputs, &out, NULL, &(fl_run){.variant = "reference"}));
    must(fl_array_to_host(out, expected.data));
    fl_array_free(inputs[0]);
    fl_array_free(inputs[1]);
    fl_array_free(out);
    fl_device_close(device);
    return expected;
}

/* From |x| to the next number of that dtype. */
static double unit_in_last_place(fl_dtype dtype, double x)
{
    x = fabs(x);
    return dtype == FL_F32 ? (double)nextafterf((float)x, INFINITY) - x : nextafter(x, (double)INFINITY) - x;
}

/* A double holds no i64 beyond 2^53: two that it cannot tell apart must be made different. */
static double integer_result(int64_t result, int64_t expected)
{
    double value = (double)result;

    return result == expected || value != (double)expected ? value : nextafter(value, (double)INFINITY);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const setting *s = e->more;
    const host_array *expected = &s->expected, *result = &m->results[0];
    bool exact = strcmp(s->command->name, "log_of_sum") != 0;
    compare_result found = compare_start();

    snprintf(method, size, exact ? "reference, exactly" : "reference, %d units in the last place", LOG_ULPS);
    for (int64_t i = 0, n = host_array_size(expected); i < n; i++) {
        double wanted = host_array_get(expected, i), got = host_array_get(result, i);
        if (expected->dtype == FL_I64)
            got = integer_result(((int64_t *)result->data)[i], ((int64_t *)expected->data)[i]);
        compare_add(&found, i, got, wanted, exact ? 0 : LOG_ULPS * unit_in_last_place(expected->dtype, wanted));
    }
    return found;
}

static void print_value(const exercise *e, const measurement *m)
{
    const setting *s = e->more;

    printf("%s: log(%g + %g) = %.17g\n", m->device.resource, s->x, s->y, host_array_get(&m->results[0], 0));
}

static void add_value(const exercise *e, const measurement *m, json_t *row)
{
    double value = host_array_get(&m->results[0], 0);

    (void)e;
    json_object_set_new(row, "value", isfinite(value) ? json_real(value) : json_null());
}

/* ----------------------------------------------------------------------------------------- the commands ---- */

static fl_status call_increment(fl_device *device, fl_array *const *in, fl_array *const *out, const void *more,
                                const fl_run *run)
{
    (void)more;
    return fl_increment(device, in[0], out[0], run);
}

static fl_status call_sqrt(fl_device *device, fl_array *const *in, fl_array *const *out, const void *more,
                           const fl_run *run)
{
    (void)more;
    return fl_sqrt(device, in[0], out[0], run);
}

static fl_status call_maximum(fl_device *device, fl_array *const *in, fl_array *const *out, const void *more,
                              const fl_run *run)
{
    (void)more;
    return fl_maximum(device, in[0], in[1], out[0], run);
}

static fl_status call_log_of_sum(fl_device *device, fl_array *const *in, fl_array *const *out, const void *more,
                                 const fl_run *run)
{
    (void)more;
    return fl_log_of_sum(device, in[0], in[1], out[0], run);
}

/* The result's dtype, as flynn.h has it. */
static fl_dtype result_dtype(const command *c, const host_array *inputs)
{
    fl_dtype x = inputs[0].dtype, y = c->inputs == 2 ? inputs[1].dtype : x;
    bool floats = x == FL_F32 || x == FL_F64 || y == FL_F32 || y == FL_F64;

    if (c->bytes) /* sqrt, log_of_sum: floating-point in any case */
        return x == FL_F32 && y == FL_F32 ? FL_F32 : FL_F64;
    return x == y ? x : floats ? FL_F64 : FL_I64;
}

/* "maximum: 256x256x256 f32, f32" */
static exercise make_exercise(const own_options *own, const host_array *inputs, const setting *s)
{
    const command *c = own->command;
    exercise e = {.name = c->name,
                  .input_count = c->inputs,
                  .in_place = own->in_place,
                  .steady = true,
                  .more = s,
                  .call = c->call,
                  .check = check,
                  .print_more = s->scalars ? print_value : NULL,
                  .add_json = s->scalars ? add_value : NULL};

    for (int i = 0; i < c->inputs; i++)
        e.inputs[i] = inputs[i];
    exercise_output(&e, result_dtype(c, inputs), inputs[0].ndim, inputs[0].shape);
    snprintf(e.title, sizeof e.title, "%s: %s %s%s%s%s", c->name, format_shape(inputs[0].ndim, inputs[0].shape).text,
             fl_dtype_name(inputs[0].dtype), c->inputs == 2 ? ", " : "",
             c->inputs == 2 ? fl_dtype_name(inputs[1].dtype) : "", own->in_place ? " in place" : "");
    return e;
}

static int run_command(const command *c, const char *name, const char *arguments, const char *summary,
                       const struct argp_option *options, int argc, char **argv)
{
    own_options own = {.command = c};
    const command_line line = {name,    arguments, summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               options, parse,     &own};
    common_options common;
    host_array inputs[2] = {0};
    setting s = {.command = c};
    result_list results;
    problem why;
    int code;

    options_parse(&line, argc, argv, &common);
    if (own.output)
        exercise_must(file_check_output(own.output, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    s.scalars = take_inputs(&common, &own, inputs);
    s.x = s.scalars ? host_array_get(&inputs[0], 0) : 0;
    s.y = s.scalars ? host_array_get(&inputs[1], 0) : 0;
    exercise e = make_exercise(&own, inputs, &s);
    s.expected = find_expected(c, &e);
    code = exercise_run(&e, &common, &backends, &results);
    exercise_write(&results, 0, own.output);

    result_list_free(&results);
    backends_close(&backends);
    for (int i = 0; i < c->inputs; i++)
        host_array_free(&inputs[i]);
    host_array_free(&s.expected);
    options_free(&common);
    return code;
}

int command_increment(int argc, char **argv)
{
    static const command c = {"increment", 1, false, false, call_increment, make_ones};

    return run_command(
        &c, "flynn increment", "[FILE]",
        "Adds one to each element, checks the result and tells the time in its parts: opening the device, "
        "the cold launch, the warm ones.\v"
        "FILE is a .npy file of f32, f64, i32 or i64 with up to four dimensions; without it, 65,536 ones in "
        "f64 (--size, --shape, --dtype). The largest integer wraps around to the smallest.",
        increment_options, argc, argv);
}

int command_sqrt(int argc, char **argv)
{
    static const command c = {"sqrt", 1, true, false, call_sqrt, make_range};

    return run_command(&c, "flynn sqrt", "[FILE]",
                       "Takes the square root of each element, checks the result and tells the time in its parts.\v"
                       "FILE is a .npy or .png file with up to four dimensions; without it, 0, 1, 2 ... 4095 in f32 "
                       "(--size, --dtype). f32 is computed in f32, all else in f64.",
                       output_option, argc, argv);
}

int command_maximum(int argc, char **argv)
{
    static const command c = {"maximum", 2, false, false, call_maximum, make_cube};

    return run_command(
        &c, "flynn maximum", "[X Y]",
        "Takes the larger of two elements, NaN where either is, checks the result and tells the time in "
        "its parts.\v"
        "X and Y are .npy files of one shape, of f32, f64, i32 or i64, with up to four dimensions; without "
        "them, two cubes of random f32 with an edge of 256 (--size, --dtype, --seed).",
        output_option, argc, argv);
}

int command_log_of_sum(int argc, char **argv)
{
    static const command c = {"log_of_sum", 2, true, true, call_log_of_sum, make_line};

    return run_command(
        &c, "flynn log_of_sum", "[X Y]",
        "Computes log(x + y) for each element, checks the result and tells the time in its parts.\v"
        "X and Y are .npy files of one shape with up to four dimensions, or numbers (flynn log_of_sum 6 7); "
        "without them, two times ten million random f32 in 0..1 (--size, --dtype, --seed). f32 with f32 is "
        "computed in f32, all else in f64.",
        output_option, argc, argv);
}
