/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "harness/results.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct part_text {
    char text[160];
} part_text;

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

static double total_of(const slice_outcome *o, slice_way way)
{
    return median(o->ways[way].total.s, o->ways[way].total.count);
}

static double copy_of(const slice_outcome *o, slice_way way)
{
    return median(o->ways[way].d2h.s, o->ways[way].d2h.count);
}

bool slice_is_right(const slice_outcome *o)
{
    bool all = true;

    for (int w = 0; w < SLICE_WAYS; w++)
        all = all && (!o->ways[w].possible || o->ways[w].check.ok);
    return all;
}

/* The place of a way by total time among the right ones; 0: wrong, an emulation's or not possible. */
static int rank_of(const slice_outcome *o, slice_way way)
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
static double row_bytes(const slice_outcome *o)
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
static quantity faster(const slice_outcome *o, slice_way way)
{
    bool comparable = rank_of(o, way) && rank_of(o, SLICE_WHOLE);

    return format_factor(comparable ? total_of(o, SLICE_WHOLE) / total_of(o, way) : (double)NAN);
}

static const char *check_text(const slice_outcome *o)
{
    return !slice_is_right(o) ? "WRONG" : o->device->emulation ? "ok (emulation: times mean nothing)" : "ok";
}

static void add_row(table *t, const slice_outcome *o)
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
    const slice_outcome *list;
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
        const slice_outcome *o = &all.list[i];
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

static double view_rate(const slice_outcome *o)
{
    return o->ways[SLICE_VIEW].copied / copy_of(o, SLICE_VIEW);
}

/* One line on what was measured on one backend. */
static explanation explain(outcomes all)
{
    const slice_outcome *first = &all.list[0], *best = first, *worst = first;
    double bytes = first->ways[SLICE_WHOLE].copied, whole = copy_of(first, SLICE_WHOLE);
    const char *where = first->device->host_memory
                            ? "arrays lie in host memory, so that there is no link and a view can "
                              "be read where it is; copying all within it"
                        : first->device->emulation ? "an emulation, without a link; copying all"
                                                   : "copying all over the link";
    explanation out;

    for (int i = 1; i < all.count; i++) {
        const slice_outcome *o = &all.list[i];
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

static void show_table(const slice_outcome *list, const backend_list *backends, int parts)
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

static json_t *json_check(const slice_outcome *o, const compare_result *c)
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

static json_t *json_row(const slice_outcome *o, slice_way way, const common_options *common)
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

void slice_show(const slice_outcome *list, const backend_list *backends, int parts, const common_options *common)
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
