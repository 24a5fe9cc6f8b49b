/* SPDX-License-Identifier: MIT
 *
 * flynn sort: the sorting exercise.
 */
#include "commands.h"

#include "checks/sort.h"
#include "files/files.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { COURSE_SIZE = 4096 * 4096 };
enum { KEY_IN_PLACE = KEY_OWN };

/* What only this command has. */
typedef struct sort_options {
    const char *file; /* NULL: random numbers */
    bool in_place;
    const char *output;
} sort_options;

static const struct argp_option own_options[] = {
    {"in-place", KEY_IN_PLACE, 0, 0, "Sort the array itself instead of into another one", 0},
    {"output", 'o', "FILE", 0, "Write the result: .npy", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    sort_options *own = state->input;

    switch (key) {
    case KEY_IN_PLACE: own->in_place = true; return 0;
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
    "Sorts numbers in ascending order, as numpy.sort does (NaN last), checks the result and tells the time in its "
    "parts.\v"
    "FILE is a one-dimensional .npy file of f32, f64, i32 or i64; without it, --size (4096 * 4096) random numbers in "
    "0..1, or for --dtype=i32 and i64 of all their range, from --seed.";

/* ------------------------------------------------------------------------------------------------ input ---- */

static host_array random_numbers(const common_options *common)
{
    const int64_t size = common->size ? common->size : COURSE_SIZE;
    const fl_dtype dtype = common->has_dtype ? common->dtype : FL_F32;
    const double end = dtype == FL_I32 ? 0x1p31 : dtype == FL_I64 ? 0x1p63 : 1;

    return exercise_random(dtype, 1, &size, end == 1 ? 0 : -end, end, common->seed);
}

static host_array take_input(const common_options *common, const sort_options *own)
{
    host_array numbers;

    if (common->has_dtype && common->dtype == FL_U8)
        fail(EXIT_BAD_INPUT, "--dtype: sort takes f32, f64, i32 and i64, not u8");
    if (!own->file)
        return random_numbers(common);
    if (common->size)
        fail(EXIT_BAD_INPUT, "--size: is for random numbers; %s has its own size", own->file);
    numbers = exercise_read(own->file, "input", 1, 1);
    if (common->has_dtype)
        exercise_convert(&numbers, common->dtype);
    if (numbers.dtype == FL_U8)
        fail(EXIT_BAD_INPUT, "%s: the input is of u8; expected f32, f64, i32 or i64 (--dtype=i32 converts it)",
             own->file);
    return numbers;
}

/* Before long work: a row of numbers is no picture, so that the file must be a .npy that can be written. */
static void check_output(const char *path)
{
    const char *ending = strrchr(path, '.');
    problem why;

    if (!ending || strcasecmp(ending, ".npy") != 0)
        fail(EXIT_BAD_INPUT, "%s: has no known ending; expected .npy", path);
    exercise_must(file_check_writable(path, &why), &why);
}

/* ----------------------------------------------------------------------------------------- the exercise ---- */

static fl_status call_sort(fl_device *device, fl_array *const *inputs, fl_array *const *outputs, const void *more,
                           const fl_run *run)
{
    (void)more;
    return fl_sort(device, inputs[0], outputs[0], run);
}

static compare_result check_sort(const exercise *e, const measurement *m, char *method, size_t size)
{
    snprintf(method, size, "order, and a checksum of all elements");
    return sort_compare(&m->results[0], *(const uint64_t *)e->more);
}

/* "sort: 16777216 f32 in place" */
static exercise make_exercise(const host_array *numbers, bool in_place, const uint64_t *checksum)
{
    exercise e = {.name = "sort",
                  .input_count = 1,
                  .inputs = {*numbers},
                  .in_place = in_place,
                  .more = checksum,
                  .call = call_sort,
                  .check = check_sort};

    exercise_output(&e, numbers->dtype, 1, numbers->shape);
    snprintf(e.title, sizeof e.title, "sort: %" PRId64 " %s%s", numbers->shape[0], fl_dtype_name(numbers->dtype),
             in_place ? " in place" : "");
    return e;
}

int command_sort(int argc, char **argv)
{
    sort_options own = {0};
    const command_line line = {"flynn sort", "[FILE]", summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options,  parse,    &own};
    common_options common;
    result_list results;
    int code;

    options_parse(&line, argc, argv, &common);
    if (own.output)
        check_output(own.output);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    host_array numbers = take_input(&common, &own);
    uint64_t checksum = sort_checksum(&numbers);
    exercise e = make_exercise(&numbers, own.in_place, &checksum);
    code = exercise_run(&e, &common, &backends, &results);
    exercise_write(&results, 0, own.output);

    result_list_free(&results);
    backends_close(&backends);
    host_array_free(&numbers);
    options_free(&common);
    return code;
}
