/* SPDX-License-Identifier: MIT
 *
 * flynn slice: a large array lies on a device, and the host needs a slice of it. Is it faster to copy everything and
 * slice on the host, or to slice first?
 */
#include "commands.h"
#include "slice.h"

#include "files/files.h"
#include "run/exercise.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/row.h"
#include "view/titles.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_EDGE = 8192, LARGEST_EDGE = 1 << 20, MOST_PARTS = 16 };

typedef struct part_list {
    int count;
    slice_part list[MOST_PARTS];
} part_list;

/* The number at *text, which it steps over; `missing` if there is none. */
static int64_t take_index(const char **text, int64_t missing)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return missing;
    int64_t number = strtoll(*text, &end, 10); /* INT64_MAX, beyond every array, if it is too large */
    *text = end;
    return number;
}

static slice_part whole_array(const host_array *a, const char *kind)
{
    slice_part part = {.kind = kind};

    memcpy(part.shape, a->shape, sizeof part.shape);
    return part;
}

static slice_part parse_part(const char *text, const host_array *a)
{
    slice_part part = whole_array(a, "slice");
    const char *at = text;
    bool valid = true;

    for (int d = 0; d < a->ndim && valid && (d == 0 || *at); d++) { /* the rest may be left out, as in NumPy */
        int64_t start = take_index(&at, 0), stop;
        valid = *at == ':';
        at += valid;
        stop = take_index(&at, a->shape[d]);
        if (valid && (start > stop || stop > a->shape[d]))
            fail(EXIT_BAD_INPUT,
                 "--slice: '%s': %" PRId64 ":%" PRId64 " is not a range of the %" PRId64 " elements of dimension %d",
                 text, start, stop, a->shape[d], d);
        part.start[d] = start;
        part.shape[d] = stop - start;
        if (*at != ',' || d + 1 == a->ndim)
            break;
        at++;
    }
    if (!valid || *at)
        fail(EXIT_BAD_INPUT,
             "--slice: '%s' is not a slice of an array of shape %s; expected START:STOP for each dimension, such as "
             "0:16,:",
             text, format_shape(a->ndim, a->shape).text);
    return part;
}

static void keep_middle(slice_part *part, int d, int64_t length)
{
    part->start[d] = (part->shape[d] - length) / 2;
    part->shape[d] = length;
}

/* Adds 1, a 64th, an eighth and a half of the elements along dimension d, without duplicates. */
static void add_series(part_list *parts, const host_array *a, const char *kind, int d)
{
    const int64_t n = a->shape[d], lengths[] = {1, n / 64, n / 8, n / 2};

    for (int64_t i = 0, last = 0; i < 4; i++) {
        if (lengths[i] <= last)
            continue;
        last = lengths[i];
        parts->list[parts->count] = whole_array(a, kind);
        keep_middle(&parts->list[parts->count++], d, last);
    }
}

static part_list make_parts(const char *slice, const host_array *a)
{
    const int last = a->ndim - 1;
    part_list parts = {0};
    slice_part block = whole_array(a, "block");

    if (slice || host_array_size(a) == 0) {
        parts.list[parts.count++] = slice ? parse_part(slice, a) : whole_array(a, "slice");
        return parts;
    }
    add_series(&parts, a, "rows", 0);
    if (last == 0)
        return parts;
    add_series(&parts, a, "columns", last);
    keep_middle(&block, 0, a->shape[0] < 8 ? 1 : a->shape[0] / 8);
    keep_middle(&block, last, a->shape[last] < 8 ? 1 : a->shape[last] / 8);
    parts.list[parts.count++] = block;
    return parts;
}

/* The array of the file, or random numbers. */
static host_array make_array(const char *path, const common_options *common)
{
    static const input_kind kind = {"array", 1, FL_MAX_DIMS, true};
    const int64_t edge = common->size ? common->size : USUAL_EDGE;
    host_array array;

    if (!path && edge > LARGEST_EDGE)
        fail(EXIT_BAD_INPUT, "--size: an edge of %" PRId64 " is too large; the largest is %d", edge, LARGEST_EDGE);
    if (!path)
        return exercise_random(common->has_dtype ? common->dtype : FL_F32, 2, (int64_t[]){edge, edge}, 0, 100,
                               common->seed);
    const array_source source = {path, common->seed, common->has_dtype ? &common->dtype : NULL};
    array = exercise_read(&source, &kind);
    if (common->has_dtype)
        exercise_convert(&array, common->dtype);
    return array;
}

/* Returns whether --max-time is over and there is a row to show. */
static bool is_over(const json_t *rows)
{
    return json_array_size(rows) > 0 && progress_is_late();
}

/* Measures every slice in every choice on one device, until the time is over. Adds rows, the lines that explain them,
 * and to `done` how many slices were measured in all choices. Returns whether all rows are right. */
static bool measure_slices(const char *device, slice_session *session, const part_list *parts, json_t *rows,
                           json_t *lines, int *done)
{
    const size_t first = json_array_size(rows);
    const int choices = slice_can_pack(session) ? SLICE_CHOICES : SLICE_PACKED; /* the last one */
    int complete = 0;
    bool right = true;

    for (int i = 0; i < parts->count && !is_over(rows); i++) {
        const size_t first_choice = json_array_size(rows);
        int choice = 0;
        progress("%s: slice %d of %d", device, i + 1, parts->count);
        for (; choice < choices && !is_over(rows); choice++) {
            json_t *row = slice_measure(session, &parts->list[i], (slice_choice)choice);
            right = right && row_is_right(row);
            json_append(rows, row);
        }
        slice_rank(rows, first_choice);
        complete += choice == choices;
    }
    progress_end();
    if (complete > 0)
        slice_explain(rows, first, complete, choices, lines);
    *done += complete;
    return right;
}

static const own_option own_options[] = {
    {"slice", OPTION_TEXT, 0, "RANGES",
     .help =
         "One slice, START:STOP for each dimension: 0:16,:\vAs NumPy writes it, with commas between the dimensions. "
         "Default: rows, columns and a block, small and large."},
    {0},
};

static const char summary[] =
    "Copies slices of a large array from the device to the host in three ways and shows what each takes.\v"
    "whole copies the whole array and slices it on the host. view slices on the device (fl_array_view, which copies "
    "nothing) and copies only the slice. packed first gathers the slice's rows on the device (in the dtypes that "
    "`convert` has). ARRAY is a .npy or .png file; without it, --size x --size random numbers (8192) of --dtype "
    "(f32).\v"
    "-b all\tsome slices on every backend\n"
    "image.npy --slice=0:4,:\tone slice of your own array\n";

int command_slice(int argc, char **argv)
{
    const char *slice = NULL;
    const command_line line = {"flynn slice",
                               "[ARRAY]",
                               1,
                               summary,
                               TAKES_BACKEND | TAKES_SIZE | TAKES_DTYPE | TAKES_SEED | TAKES_TIMING | TAKES_OUTPUT |
                                   TAKES_RESULT | TAKES_FILES | TAKES_MAX_MEMORY,
                               own_options,
                               .own = &slice,
                               .titles = TITLES_OF(slice_columns)};
    json_t *rows = json_new_list(), *lines = json_new_list();
    common_options common;
    bool right = true;
    int done = 0;
    problem why;

    options_parse(&line, argc, argv, &common);
    const char *file = common.argument_count ? common.arguments[0] : NULL;
    const char *output = slice ? common.output : NULL;
    if (file) {
        option_refuse(&common, TAKES_SIZE, "%s has its own size", file);
        exercise_refuse_seed(&common);
    }
    if (!file)
        option_refuse(&common, TAKES_MAX_MEMORY, "no file is given");
    if (!slice)
        option_refuse(&common, TAKES_RESULT, "there are several slices; give --slice too");
    if (output)
        must_do(file_check_output(output, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    host_array array = make_array(file, &common);
    part_list parts = make_parts(slice, &array);

    for (int i = 0; i < backends.count && !is_over(rows); i++) {
        slice_session *session = slice_session_open(&backends.open[i], &array, &common);
        bool fine = measure_slices(backends.open[i].requested, session, &parts, rows, lines, &done);
        host_array result = slice_result(session);
        if (i == 0 && output && fine)
            file_put(output, &result, NULL);
        else if (i == 0 && output)
            note("the slice of %s is wrong: %s was not written", backends.open[i].requested, output);
        right = right && fine;
        slice_session_close(session);
    }
    if (progress_is_late())
        note("--max-time: the time was over after %zu row%s; %d of %d slices are complete", json_array_size(rows),
             json_array_size(rows) == 1 ? "" : "s", done, backends.count * parts.count);
    slice_show(rows, lines, &array, &backends, &common);
    backends_close(&backends);
    host_array_free(&array);
    options_free(&common);
    return right ? EXIT_DONE : EXIT_WRONG_RESULT;
}
