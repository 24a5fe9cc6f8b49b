/* SPDX-License-Identifier: MIT
 *
 * flynn slice: a slice of a large array on a device, wanted on the host. Copy all and slice there, or slice first?
 */
#include "commands.h"
#include "slice_measure.h"

#include "support/csv_out.h"
#include "support/exercise.h"
#include "support/fail.h"
#include "support/files.h"
#include "support/json_out.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "support/table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_EDGE = 8192, LARGEST_EDGE = 1 << 20, MOST_PARTS = 16 };
enum { KEY_SLICE = KEY_OWN };

/* What only this command has. */
typedef struct slice_options {
    const char *file;  /* NULL: random numbers */
    const char *slice; /* "0:16,:" as NumPy writes it; NULL: a series of slices */
    const char *output;
} slice_options;

static const struct argp_option own_options[] = {
    {"slice", KEY_SLICE, "RANGES", 0,
     "One slice, as NumPy writes it: START:STOP for each dimension, with commas between them, such as 0:16,: "
     "(default: rows, columns and a block, small and large)",
     0},
    {"output", 'o', "FILE", 0, "With --slice: write the slice, as .npy, or .png (grey, clipped to 0..1)", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    slice_options *own = state->input;

    switch (key) {
    case KEY_SLICE: own->slice = value; return 0;
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
    "Brings slices of a large array from the device to the host in three ways, compares each with the array, and tells "
    "what each way took.\v"
    "whole copies the whole array and slices it on the host; view slices on the device (fl_array_view, which copies "
    "nothing) and copies only that; packed lets the device bring the slice's rows together first (in the dtypes that "
    "`convert` has). ARRAY "
    "is a .npy or .png file; without it, --size x --size random numbers (8192) of --dtype (f32).";

/* ----------------------------------------------------------------------------------------------- slices ---- */

typedef struct part_text {
    char text[160];
} part_text;

/* One slice, and of what kind it is: kinds are what crossovers are looked for in. */
typedef struct named_part {
    const char *kind; /* "rows", "columns", "block"; "slice" for --slice */
    slice_part part;
} named_part;

typedef struct part_list {
    int count;
    named_part list[MOST_PARTS];
} part_list;

/* "0:16,:" */
static part_text format_part(const host_array *a, const slice_part *p)
{
    part_text out = {""};
    size_t used = 0;

    for (int d = 0; d < a->ndim && used < sizeof out.text; d++) {
        const char *comma = d ? "," : "";
        if (p->shape[d] == a->shape[d])
            used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s:", comma);
        else
            used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%" PRId64 ":%" PRId64, comma,
                                     p->start[d], p->start[d] + p->shape[d]);
    }
    return out;
}

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

    if (strcmp(common->variant, "auto") != 0)
        fail(EXIT_BAD_INPUT, "--variant: slice always compares its three ways; expected none");
    if (common->wrong_timing)
        fail(EXIT_BAD_INPUT, "--wrong-timing: is for operations; slice has copies, which it waits for");
    if (common->size && own->file)
        fail(EXIT_BAD_INPUT, "--size: is for random numbers; %s has its own size", own->file);
    if (edge > LARGEST_EDGE)
        fail(EXIT_BAD_INPUT, "--size: %" PRId64 " is too large an edge; expected at most %d", edge, LARGEST_EDGE);
    if (!own->file)
        return exercise_random(dtype, 2, (int64_t[]){edge, edge}, 0, 100, common->seed);
    array = exercise_read(own->file, "array", 1, FL_MAX_DIMS);
    if (host_array_size(&array) == 0)
        fail(EXIT_BAD_INPUT, "%s: the array is %s, without elements; expected at least one", own->file,
             format_shape(array.ndim, array.shape).text);
    if (common->has_dtype)
        exercise_convert(&array, common->dtype);
    return array;
}

/* -------------------------------------------------------------------------------------------- the parts ---- */

/* All ways for one slice on one backend. */
typedef struct outcome {
    const open_backend *backend;
    const fl_device_info *device;
    const host_array *array;
    const named_part *named;
    slice_times ways[SLICE_WAYS];
} outcome;

static double total_of(const outcome *o, slice_way way)
{
    return median(o->ways[way].total.s, o->ways[way].total.count);
}

static double copy_of(const outcome *o, slice_way way)
{
    return median(o->ways[way].d2h.s, o->ways[way].d2h.count);
}

static bool ok(const outcome *o)
{
    bool all = true;

    for (int w = 0; w < SLICE_WAYS; w++)
        all = all && (!o->ways[w].possible || o->ways[w].check.ok);
    return all;
}

/* The place of a way by total time among the right ones; 0: wrong, an emulation's or not possible. */
static int rank_of(const outcome *o, slice_way way)
{
    int rank = 1;

    if (!o->ways[way].possible || !o->ways[way].check.ok || o->device->emulation)
        return 0;
    for (int w = 0; w < SLICE_WAYS; w++)
        rank += o->ways[w].possible && o->ways[w].check.ok && total_of(o, (slice_way)w) < total_of(o, way);
    return rank;
}

/* ------------------------------------------------------------------------------------------------ table ---- */

static const table_column columns[] = {
    {"backend", 0},      {"slice", 0}, {"bytes", 1},      {"row bytes", 1},      {"whole: copy", 1},
    {"slice", 1},        {"total", 1}, {"view: copy", 1}, {"GB/s", 1},           {"total", 1},
    {"packed: pack", 1}, {"copy", 1},  {"total", 1},      {"view is faster", 1}, {"packed is faster", 1},
    {"check", 0},        {NULL, 0},
};

/* Bytes that lie side by side in the slice. */
static double row_bytes(const outcome *o)
{
    double bytes = (double)fl_dtype_size(o->array->dtype);

    for (int d = o->array->ndim - 1; d >= 0; d--) {
        bytes *= (double)o->named->part.shape[d];
        if (o->named->part.shape[d] != o->array->shape[d])
            break;
    }
    return bytes;
}

/* "-" for an emulation and for what is wrong. */
static quantity faster(const outcome *o, slice_way way)
{
    bool comparable = rank_of(o, way) && rank_of(o, SLICE_WHOLE);

    return format_factor(comparable ? total_of(o, SLICE_WHOLE) / total_of(o, way) : (double)NAN);
}

static const char *check_text(const outcome *o)
{
    return !ok(o) ? "WRONG" : o->device->emulation ? "ok (emulation: times mean nothing)" : "ok";
}

static void add_row(table *t, const outcome *o)
{
    const slice_times *whole = &o->ways[SLICE_WHOLE], *packed = &o->ways[SLICE_PACKED];

    table_add(t, (const char *const[]){
                     o->device->resource, format_part(o->array, &o->named->part).text,
                     format_bytes(o->ways[SLICE_VIEW].copied).text, format_bytes(row_bytes(o)).text,
                     format_seconds(copy_of(o, SLICE_WHOLE)).text,
                     format_seconds(median(whole->host.s, whole->host.count)).text,
                     format_seconds(total_of(o, SLICE_WHOLE)).text, format_seconds(copy_of(o, SLICE_VIEW)).text,
                     format_number(o->ways[SLICE_VIEW].copied / copy_of(o, SLICE_VIEW) / 1e9).text,
                     format_seconds(total_of(o, SLICE_VIEW)).text,
                     format_seconds(median(packed->kernel.s, packed->kernel.count)).text,
                     format_seconds(copy_of(o, SLICE_PACKED)).text, format_seconds(total_of(o, SLICE_PACKED)).text,
                     faster(o, SLICE_VIEW).text, faster(o, SLICE_PACKED).text, check_text(o)});
}

/* ---------------------------------------------------------------------------------- what the table says ---- */

/* All slices on one backend. */
typedef struct outcomes {
    int count;
    const outcome *list;
} outcomes;

/* The slices of one kind in which `way` is faster than `other`, and where the two meet, in bytes of the slice: between
 * two measured slices, on a line with both axes logarithmic. */
typedef struct duel {
    int count, wins;
    double meet;      /* 0: nowhere, or in more than one place */
    bool wins_larger; /* `way` wins beyond that */
} duel;

static duel compare_ways(outcomes all, const char *kind, slice_way way, slice_way other)
{
    double last_bytes = 0, last = 0;
    duel d = {0};
    int crossings = 0;

    for (int i = 0; i < all.count; i++) {
        const outcome *o = &all.list[i];
        double bytes = o->ways[SLICE_VIEW].copied, advantage = log(total_of(o, other) / total_of(o, way));
        if (strcmp(o->named->kind, kind) != 0)
            continue;
        d.wins += advantage > 0;
        if (d.count++ > 0 && (last > 0) != (advantage > 0)) {
            crossings++;
            d.meet = last_bytes * pow(bytes / last_bytes, last / (last - advantage));
            d.wins_larger = advantage > 0;
        }
        last = advantage;
        last_bytes = bytes;
    }
    d.meet = crossings == 1 ? d.meet : 0;
    return d;
}

/* Adds "; a view is faster than copying all for 7 of 9 slices (columns: from 1.20 MiB on)". */
static void add_verdict(char *text, size_t size, outcomes all, const char *claim, slice_way way, slice_way other)
{
    static const char *const kinds[] = {"rows", "columns", "block", "slice"};
    int count = 0, wins = 0;
    char places[128] = "";

    if (!all.list[0].ways[way].possible)
        return;
    for (int i = 0; i < 4; i++) {
        duel d = compare_ways(all, kinds[i], way, other);
        size_t used = strlen(places);
        count += d.count;
        wins += d.wins;
        if (d.meet > 0)
            snprintf(places + used, sizeof places - used, "%s%s: %s %s%s", used ? ", " : " (", kinds[i],
                     d.wins_larger ? "from" : "up to", format_bytes(d.meet).text, d.wins_larger ? " on" : "");
    }
    snprintf(text + strlen(text), size - strlen(text), "; %s for %d of %d slice%s%s%s", claim, wins, count,
             count == 1 ? "" : "s", places, *places ? ")" : "");
}

typedef struct explanation {
    char text[800];
} explanation;

static double view_rate(const outcome *o)
{
    return o->ways[SLICE_VIEW].copied / copy_of(o, SLICE_VIEW);
}

/* One line on what was measured on one backend. */
static explanation explain(outcomes all)
{
    const outcome *first = &all.list[0], *best = first, *worst = first;
    double bytes = first->ways[SLICE_WHOLE].copied, whole = copy_of(first, SLICE_WHOLE);
    const char *where = first->device->host_memory
                            ? "arrays lie in host memory, so that there is no link and a view can "
                              "be read where it is; copying all within it"
                        : first->device->emulation ? "an emulation, without a link; copying all"
                                                   : "copying all over the link";
    explanation out;

    for (int i = 1; i < all.count; i++) {
        const outcome *o = &all.list[i];
        best = view_rate(o) > view_rate(best) ? o : best;
        worst = view_rate(o) < view_rate(worst) ? o : worst;
    }
    snprintf(out.text, sizeof out.text,
             "%s: %s takes %s for %s (%.3g GB/s), whatever the slice; a view moves its own bytes alone, at %.3g GB/s "
             "(rows of %s) to %.3g GB/s (rows of %s)",
             first->device->resource, where, format_seconds(whole).text, format_bytes(bytes).text, bytes / whole / 1e9,
             view_rate(worst) / 1e9, format_bytes(row_bytes(worst)).text, view_rate(best) / 1e9,
             format_bytes(row_bytes(best)).text);
    add_verdict(out.text, sizeof out.text, all, "a view is faster than copying all", SLICE_VIEW, SLICE_WHOLE);
    add_verdict(out.text, sizeof out.text, all, "packing on the device first is faster than a plain view", SLICE_PACKED,
                SLICE_VIEW);
    return out;
}

static void show_table(const outcome *list, const backend_list *backends, int parts)
{
    const host_array *a = list[0].array;
    table *t = table_create(columns);

    for (int i = 0; i < backends->count * parts; i++)
        add_row(t, &list[i]);
    printf("slice: of %s %s, %s\n", format_shape(a->ndim, a->shape).text, fl_dtype_name(a->dtype),
           format_bytes((double)host_array_bytes(a)).text);
    table_print(t, stdout);
    table_free(t);
    for (int i = 0; i < backends->count; i++)
        printf("%s\n", explain((outcomes){parts, list + i * parts}).text);
    for (int i = 0; i < backends->skipped_count; i++)
        printf("skipped %s: %s\n", backends->skipped[i].name, backends->skipped[i].reason);
    printf("checked against: every element of the array\n");
}

/* ------------------------------------------------------------------------------------------------- JSON ---- */

static json_t *json_check(const outcome *o, const compare_result *c)
{
    int64_t position[FL_MAX_DIMS] = {0};
    json_t *check = json_new_object();

    split_index(c->worst_index, o->array->ndim, o->named->part.shape, position);
    json_put(check, "ok", json_boolean(c->ok));
    json_put(check, "method", json_text("every element of the array"));
    json_put(check, "compared", json_whole(c->compared));
    json_put(check, "failed", json_whole(c->failed));
    json_put(check, "max_abs", json_number(c->max_abs));
    json_put(check, "worst_index", c->worst_index < 0 ? json_null() : json_wholes(position, o->array->ndim));
    json_put(check, "worst_result", json_number(c->worst_result));
    json_put(check, "worst_expected", json_number(c->worst_expected));
    return check;
}

static void put_times(json_t *row, const slice_times *t)
{
    static const char *const names[] = {"kernel", "d2h", "host", "total"};
    const samples *const lists[] = {&t->kernel, &t->d2h, &t->host, &t->total};
    json_t *times = json_new_object();
    char key[16];

    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "%s_s", names[i]);
        json_put(row, key, json_number(median(lists[i]->s, lists[i]->count)));
        json_put(times, names[i], json_numbers(lists[i]->s, lists[i]->count));
    }
    json_put(row, "times_s", times);
}

static json_t *json_row(const outcome *o, slice_way way, const common_options *common)
{
    const slice_times *t = &o->ways[way];
    int rank = rank_of(o, way);
    json_t *row = json_new_object();

    json_put(row, "exercise", json_text("slice"));
    results_put_device(row, o->backend->requested, o->device);
    json_put(row, "variant", json_text(slice_way_names[way]));
    json_put(row, "dtype", json_text(fl_dtype_name(o->array->dtype)));
    json_put(row, "slice", json_text(format_part(o->array, &o->named->part).text));
    json_put(row, "kind", json_text(o->named->kind));
    json_put(row, "start", json_wholes(o->named->part.start, o->array->ndim));
    json_put(row, "shape", json_wholes(o->named->part.shape, o->array->ndim));
    json_put(row, "array_shape", json_wholes(o->array->shape, o->array->ndim));
    json_put(row, "host_memory",
             json_text(o->device->host_memory ? "in place"
                       : common->pageable     ? "pageable"
                                              : "pinned"));
    json_put(row, "open_s", json_number(o->device->open_s));
    put_times(row, t);
    json_put(row, "bytes", json_number(o->ways[SLICE_VIEW].copied));
    json_put(row, "bytes_copied", json_number(t->copied));
    json_put(row, "row_bytes", json_number(row_bytes(o)));
    json_put(row, "copy_gbytes_per_s", json_number(t->copied / median(t->d2h.s, t->d2h.count) / 1e9));
    json_put(row, "rank", rank ? json_whole(rank) : json_null());
    json_put(row, "check", json_check(o, &t->check));
    return row;
}

static void show(const outcome *list, const backend_list *backends, int parts, const common_options *common)
{
    json_t *rows = json_new_list(), *lines = json_new_list(), *document;

    for (int i = 0; i < backends->count * parts; i++)
        for (int w = 0; w < SLICE_WAYS; w++)
            if (list[i].ways[w].possible)
                json_append(rows, json_row(&list[i], (slice_way)w, common));
    for (int i = 0; i < backends->count; i++)
        json_append(lines, json_text(explain((outcomes){parts, list + i * parts}).text));
    document = results_document(backends, rows);
    json_put(document, "explanations", lines);
    if (results_write(common, document))
        show_table(list, backends, parts);
    json_decref(document);
}

/* -------------------------------------------------------------------------------------------- measuring ---- */

/* Every slice on one backend, in every way; the first backend's slice goes to `output`. */
static bool measure_backend(const open_backend *backend, const host_array *array, const part_list *parts,
                            const measure_plan *plan, outcome *list, const char *output)
{
    slice_session *session = slice_session_open(backend->device, array, plan);
    bool right = true;
    problem why;

    for (int i = 0; i < parts->count; i++) {
        outcome *o = &list[i];
        progress("%s: slice %d of %d", backend->requested, i + 1, parts->count);
        *o = (outcome){backend, fl_device_describe(backend->device), array, &parts->list[i], {{0}}};
        for (int w = 0; w < SLICE_WAYS; w++)
            o->ways[w] = slice_measure(session, &parts->list[i].part, (slice_way)w);
        right = right && ok(o);
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

static outcome *measure_all(const host_array *array, const part_list *parts, const backend_list *backends,
                            const common_options *common, const char *output, bool *right)
{
    outcome *list = calloc((size_t)(backends->count * parts->count), sizeof *list);
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
    const command_line line = {"flynn slice", "[ARRAY]", summary, TAKES_BACKEND | TAKES_RUN | TAKES_JSON | TAKES_CSV,
                               own_options,   parse,     &own};
    common_options common;
    problem why;
    bool right;

    options_parse(&line, argc, argv, &common);
    if (own.output && !own.slice)
        fail(EXIT_BAD_INPUT, "--output: there are several slices to write; expected --slice as well");
    if (own.output)
        exercise_must(file_check_output(own.output, &why), &why);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    host_array array = take_array(&common, &own);
    part_list parts = make_parts(&own, &array);
    outcome *list = measure_all(&array, &parts, &backends, &common, own.output, &right);

    show(list, &backends, parts.count, &common);
    for (int i = 0; i < backends.count * parts.count; i++)
        for (int w = 0; w < SLICE_WAYS; w++)
            slice_times_free(&list[i].ways[w]);
    free(list);
    backends_close(&backends);
    host_array_free(&array);
    options_free(&common);
    return right ? EXIT_DONE : EXIT_WRONG_RESULT;
}
