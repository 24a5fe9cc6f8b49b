/* SPDX-License-Identifier: MIT
 *
 * flynn slice: a slice of a large array on a device, wanted on the host. Copy all and slice there, or slice first?
 */
#include "commands.h"
#include "show.h"

#include "files/files.h"
#include "harness/exercise.h"
#include "support/fail.h"
#include "support/progress.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_EDGE = 8192, LARGEST_EDGE = 1 << 20, MOST_PARTS = 16 };

/* What only this command has. */
typedef struct slice_options {
    const char *file;  /* NULL: random numbers */
    const char *slice; /* "0:16,:" as NumPy writes it; NULL: a series of slices */
    const char *output;
} slice_options;

static const own_option own_options[] = {
    {"slice", OPTION_TEXT, offsetof(slice_options, slice), "RANGES",
     .help = "One slice, as NumPy writes it: START:STOP for each dimension, with commas between them, such as 0:16,: "
             "(default: rows, columns and a block, small and large)"},
    {0},
};

static const char summary[] =
    "Brings slices of a large array from the device to the host in three ways, compares each with the array, and tells "
    "what each way took.\v"
    "whole copies the whole array and slices it on the host; view slices on the device (fl_array_view, which copies "
    "nothing) and copies only that; packed lets the device bring the slice's rows together first (in the dtypes that "
    "`convert` has). ARRAY "
    "is a .npy or .png file; without it, --size x --size random numbers (8192) of --dtype (f32).";

/* ----------------------------------------------------------------------------------------------- slices ---- */

typedef struct part_list {
    int count;
    named_part list[MOST_PARTS];
} part_list;

/* A number at *text, which it steps over; `missing` where there is none. */
static int64_t take_index(const char **text, int64_t missing, const char *whole)
{
    char *end;
    long long number;

    if (!isdigit((unsigned char)**text))
        return missing;
    errno = 0;
    number = strtoll(*text, &end, 10);
    if (errno)
        fail(EXIT_BAD_INPUT, "--slice: '%s' has a number of more than 64 bits", whole);
    *text = end;
    return number;
}

static slice_part parse_part(const char *text, const host_array *a)
{
    const char *at = text;
    slice_part part = {{0}, {1, 1, 1, 1}};

    for (int d = 0; d < a->ndim; d++) {
        int64_t length = a->shape[d], stop;
        if (*at == '\0' && d > 0) { /* left out at the end: all of it, as in NumPy */
            part.shape[d] = length;
            continue;
        }
        part.start[d] = take_index(&at, 0, text);
        if (*at != ':')
            fail(EXIT_BAD_INPUT,
                 "--slice: '%s' is no slice; expected START:STOP for each dimension, such as 0:16,:", text);
        at++;
        stop = take_index(&at, length, text);
        if (part.start[d] >= stop || stop > length)
            fail(EXIT_BAD_INPUT,
                 "--slice: '%s': %" PRId64 ":%" PRId64 " selects nothing, or more than there is, of the %" PRId64
                 " elements along dimension %d; expected 0 <= START < STOP <= %" PRId64,
                 text, part.start[d], stop, length, d, length);
        part.shape[d] = stop - part.start[d];
        if (*at == ',' && d + 1 < a->ndim)
            at++;
        else if (*at != '\0')
            break;
    }
    if (*at != '\0')
        fail(EXIT_BAD_INPUT,
             "--slice: '%s' goes on where its last range should end; expected START:STOP for each of the "
             "array's dimensions (%d)",
             text, a->ndim);
    return part;
}

/* The middle `length` elements along dimension d, all of the others. */
static slice_part middle(const host_array *a, int d, int64_t length)
{
    slice_part part = {{0}, {1, 1, 1, 1}};

    for (int i = 0; i < a->ndim; i++)
        part.shape[i] = a->shape[i];
    part.shape[d] = length;
    part.start[d] = (a->shape[d] - length) / 2;
    return part;
}

/* Adds 1, a 64th, an eighth and a half along dimension d, as far as those differ. */
static void add_series(part_list *parts, const host_array *a, const char *kind, int d)
{
    static const int64_t divisors[] = {64, 8, 2};
    int64_t length = 1, last = 0;

    for (int i = 0; i <= 3; i++) {
        if (i > 0)
            length = a->shape[d] / divisors[i - 1];
        if (length > last)
            parts->list[parts->count++] = (named_part){kind, middle(a, d, length)};
        last = length > last ? length : last;
    }
}

static part_list make_parts(const slice_options *own, const host_array *a)
{
    part_list parts = {0};
    slice_part block;

    if (own->slice) {
        parts.list[parts.count++] = (named_part){"slice", parse_part(own->slice, a)};
        return parts;
    }
    add_series(&parts, a, "rows", 0);
    if (a->ndim == 1)
        return parts;
    add_series(&parts, a, "columns", a->ndim - 1);
    block = middle(a, 0, a->shape[0] / 8 ? a->shape[0] / 8 : 1);
    block.shape[a->ndim - 1] = a->shape[a->ndim - 1] / 8 ? a->shape[a->ndim - 1] / 8 : 1;
    block.start[a->ndim - 1] = (a->shape[a->ndim - 1] - block.shape[a->ndim - 1]) / 2;
    parts.list[parts.count++] = (named_part){"block", block};
    return parts;
}

static host_array take_array(const common_options *common, const slice_options *own)
{
    fl_dtype dtype = common->has_dtype ? common->dtype : FL_F32;
    int64_t edge = common->size ? common->size : USUAL_EDGE;
    host_array array;

    if (common->size && own->file)
        fail(EXIT_BAD_INPUT, "--size: is for random numbers; %s has its own size", own->file);
    if (edge > LARGEST_EDGE)
        fail(EXIT_BAD_INPUT, "--size: %" PRId64 " is too large an edge; expected at most %d", edge, LARGEST_EDGE);
    if (!own->file)
        return exercise_random(dtype, 2, (int64_t[]){edge, edge}, 0, 100, common->seed);
    array = exercise_read(own->file, &(input_kind){"array", 1, FL_MAX_DIMS, false});
    if (common->has_dtype)
        exercise_convert(&array, common->dtype);
    return array;
}

/* -------------------------------------------------------------------------------------------- measuring ---- */

/* Every slice on one backend, in every way; the first backend's slice goes to `output`. */
static bool measure_backend(const open_backend *backend, const host_array *array, const part_list *parts,
                            const measure_plan *plan, slice_outcome *list, const char *output)
{
    slice_session *session = slice_session_open(backend->device, array, plan);
    bool right = true;
    problem why;

    for (int i = 0; i < parts->count; i++) {
        slice_outcome *o = &list[i];
        progress("%s: slice %d of %d", backend->requested, i + 1, parts->count);
        *o = (slice_outcome){backend, fl_device_describe(backend->device), array, &parts->list[i], {{0}}};
        for (int w = 0; w < SLICE_WAYS; w++)
            o->ways[w] = slice_measure(session, &parts->list[i].part, (slice_way)w);
        right = right && slice_is_right(o);
    }
    progress_end();
    if (output && right) {
        host_array slice = *array;
        memcpy(slice.shape, parts->list[0].part.shape, sizeof slice.shape);
        slice.data = (void *)slice_session_result(session);
        exercise_must(file_write(output, &slice, &why), &why);
    } else if (output) {
        note("the slice of %s is wrong: %s was not written", backend->requested, output);
    }
    slice_session_close(session);
    return right;
}

static slice_outcome *measure_all(const host_array *array, const part_list *parts, const backend_list *backends,
                                  const common_options *common, const char *output, bool *right)
{
    slice_outcome *list = calloc((size_t)(backends->count * parts->count), sizeof *list);
    measure_plan plan = measure_plan_of(common);

    if (!list)
        fail(EXIT_BROKEN, "out of host memory");
    plan.min_time_s /= 4; /* many slices, three ways each */
    *right = true;
    for (int i = 0; i < backends->count; i++)
        if (!measure_backend(&backends->open[i], array, parts, &plan, list + i * parts->count, i ? NULL : output))
            *right = false;
    return list;
}

int command_slice(int argc, char **argv)
{
    slice_options own = {0};
    const command_line line = {"flynn slice",
                               "[ARRAY]",
                               1,
                               summary,
                               TAKES_BACKEND | TAKES_SIZE | TAKES_DTYPE | TAKES_SEED | TAKES_TIMING | TAKES_OUTPUT |
                                   TAKES_RESULT,
                               own_options,
                               &own};
    common_options common;
    problem why;
    bool right;

    options_parse(&line, argc, argv, &common);
    own.file = common.argument_count ? common.arguments[0] : NULL;
    own.output = common.output;
    if (own.output && !own.slice)
        fail(EXIT_BAD_INPUT, "--output: there are several slices to write; expected --slice as well");
    if (own.output)
        exercise_must(file_check_output(own.output, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    host_array array = take_array(&common, &own);
    part_list parts = make_parts(&own, &array);
    slice_outcome *list = measure_all(&array, &parts, &backends, &common, own.output, &right);

    slice_show(list, &backends, parts.count, &common);
    for (int i = 0; i < backends.count * parts.count; i++)
        for (int w = 0; w < SLICE_WAYS; w++)
            slice_times_free(&list[i].ways[w]);
    free(list);
    backends_close(&backends);
    host_array_free(&array);
    options_free(&common);
    return right ? EXIT_DONE : EXIT_WRONG_RESULT;
}
