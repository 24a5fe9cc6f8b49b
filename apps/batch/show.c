/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "harness/results.h"
#include "support/fail.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_BYTES = 1 << 26, LINK_TIMES = 5, MOST_FAILURES_SHOWN = 20 };

static const char *const mode_names[] = {"one-by-one", "pinned", "streams", "full"};
static const char *const kind_names[] = {"images", "factors", "synthetic"};
static const char *const engine_names[ENGINES] = {"copy to device", "reconstruct", "copy to host"};
static const char *const engine_bounds[ENGINES] = {"link", "compute", "link"};
static const char *const stage_bounds[STAGES] = {"I/O", "CPU", "CPU", "CPU", "CPU", "I/O"};

/* ---------------------------------------------------------------------------------------------- the link ---- */

static double copy_rate(fl_array *array, void *host, bool to_host, fl_event **events, fl_stream *stream)
{
    double best = INFINITY, seconds;

    for (int i = 0; i < LINK_TIMES; i++) {
        must(fl_event_record(events[0], stream));
        must(to_host ? fl_array_read(array, host, stream) : fl_array_write(array, host, stream));
        must(fl_event_record(events[1], stream));
        must(fl_event_elapsed(events[0], events[1], &seconds));
        best = fmin(best, seconds);
    }
    return LINK_BYTES / best;
}

link_rates link_measure(fl_device *device)
{
    const int64_t bytes = LINK_BYTES;
    link_rates rates = {NAN, NAN};
    fl_array *array;
    fl_stream *stream;
    fl_event *events[2];
    void *host;

    if (fl_device_describe(device)->host_memory || fl_device_describe(device)->emulation)
        return rates;
    if (fl_array_create(device, FL_U8, 1, &bytes, &array) != FL_OK)
        return rates; /* too full for that: the batch will say so, or do with less */
    must(fl_host_alloc(device, LINK_BYTES, &host));
    memset(host, 1, LINK_BYTES);
    must(fl_stream_create(device, &stream));
    must(fl_event_create(device, &events[0]));
    must(fl_event_create(device, &events[1]));
    rates.h2d_bytes_per_s = copy_rate(array, host, false, events, stream);
    rates.d2h_bytes_per_s = copy_rate(array, host, true, events, stream);
    fl_event_free(events[0]);
    fl_event_free(events[1]);
    fl_stream_free(stream);
    fl_host_free(device, host);
    fl_array_free(array);
    return rates;
}

/* ------------------------------------------------------------------------------------ numbers of one run ---- */

static double wall_of(const batch_run *run)
{
    return median(run->report.wall.s, run->report.wall.count);
}

/* The wall time of the pass that stages and engines tell of. */
static double told_wall(const batch_run *run)
{
    const samples *wall = &run->report.wall;

    return wall->count > 0 ? wall->s[wall->count - 1] : (double)NAN;
}

/* All that went through: those that failed cost time too. */
static double images_per_s(const batch_run *run)
{
    return (double)run->report.done / wall_of(run);
}

/* The least time that the link takes for the batch's bytes: each direction by itself. */
static double link_limit(const batch_run *run)
{
    const double *bytes = run->report.device.bytes;

    return fmax(bytes[ENGINE_H2D] / run->link.h2d_bytes_per_s, bytes[ENGINE_D2H] / run->link.d2h_bytes_per_s);
}

/* Seconds that all stages and engines worked, over those that passed. */
static double overlap_of(const batch_run *run)
{
    double sum = 0;

    for (int i = 0; i < STAGES; i++)
        sum += run->report.stages[i].busy_s;
    for (int e = 0; e < ENGINES; e++)
        sum += run->report.device.busy_s[e];
    return sum / told_wall(run);
}

/* Stages that the same threads do. */
typedef struct stage_group {
    const char *name;
    int first, last;
} stage_group;
static const stage_group groups_of_threads[] = {
    {"read, decode", STAGE_READ, STAGE_DECODE},
    {"decompose", STAGE_DECOMPOSE, STAGE_DECOMPOSE},
    {"check, encode, write", STAGE_CHECK, STAGE_WRITE},
};
static const stage_group group_of_one = {"the host's thread", STAGE_READ, STAGE_WRITE};

/* What was busy for the largest part of the time. */
typedef struct bound {
    const char *what, *who; /* "link", "copy to host" */
    double utilization;
} bound;

/* The part of the time that a group's threads were busy; what bounds it is its longest stage's. */
static bound bound_of_group(const batch_run *run, const stage_group *group)
{
    bound b = {"-", group->name, 0};
    double longest = 0;

    for (int i = group->first; i <= group->last; i++) {
        const stage_report *s = &run->report.stages[i];
        b.utilization += s->busy_s / s->threads / told_wall(run);
        if (s->busy_s > longest) {
            longest = s->busy_s;
            b.what = stage_bounds[i];
        }
    }
    return b;
}

static bound bound_of(const batch_run *run)
{
    const bool one = run->report.mode != PIPELINE_FULL;
    bound b = {"-", "-", 0};

    for (int g = 0; g < (one ? 1 : 3); g++) {
        const bound group = bound_of_group(run, one ? &group_of_one : &groups_of_threads[g]);
        if (group.utilization > b.utilization)
            b = group;
    }
    for (int e = 0; e < ENGINES; e++) {
        const double utilization = run->report.device.busy_s[e] / told_wall(run);
        if (utilization > b.utilization)
            b = (bound){engine_bounds[e], engine_names[e], utilization};
    }
    return b;
}

/* What can work at the same time: threads of the host, and a GPU's engines; of a CPU's device the same threads. */
static int workers_of(const batch_summary *summary, const batch_run *run)
{
    const fl_device_info *info = fl_device_describe(run->backend->device);
    const int host = summary->source->ready ? 0 : run->report.mode == PIPELINE_FULL ? run->threads : 1;

    if (run->report.mode <= PIPELINE_PINNED)
        return 1;
    if (info->host_memory)
        return host > 1 ? host : 1;
    return host + ENGINES;
}

/* The same backend's run one by one; NULL: there is none, or it did not go through. */
static const batch_run *baseline_of(const batch_summary *summary, const batch_run *run)
{
    for (int i = 0; i < summary->count; i++) {
        const batch_run *other = &summary->runs[i];
        if (other->backend == run->backend && other->report.mode == PIPELINE_ONE_BY_ONE && other != run &&
            other->report.done > 0 && other->report.done == run->report.done)
            return other;
    }
    return NULL;
}

static double speed_up_of(const batch_summary *summary, const batch_run *run)
{
    const batch_run *base = baseline_of(summary, run);

    return base ? wall_of(base) / wall_of(run) : (double)NAN;
}

/* The serial fraction that a speed-up of S by n workers stands for: Karp and Flatt, "Measuring parallel processor
 * performance", CACM 33, 1990, is Amdahl's law solved for it; Gustafson's, S = n - f (n - 1), likewise. */
static double amdahl_fraction(double speed_up, int n)
{
    return n > 1 ? (n / speed_up - 1) / (n - 1) : (double)NAN;
}

static double gustafson_fraction(double speed_up, int n)
{
    return n > 1 ? (n - speed_up) / (n - 1) : (double)NAN;
}

static bool all_right(const batch_run *run)
{
    const pipeline_report *r = &run->report;

    return r->failed == 0 && r->dropped == 0 && !r->broken && (r->check.compared == 0 || r->check.ok);
}

bool batch_same_answers(const batch_summary *summary, const batch_run *run)
{
    const batch_run *first = run;

    for (int i = summary->count; i-- > 0;)
        if (summary->runs[i].backend == run->backend && all_right(&summary->runs[i]))
            first = &summary->runs[i];
    return !all_right(run) || first->report.sum == run->report.sum;
}

/* ------------------------------------------------------------------------------------------------ tables ---- */

typedef struct cell {
    char text[96];
} cell;

static cell mode_cell(const batch_run *run)
{
    cell c;

    if (run->report.mode == PIPELINE_STREAMS)
        snprintf(c.text, sizeof c.text, "streams:%d", run->report.device.slots);
    else
        snprintf(c.text, sizeof c.text, "%s", mode_names[run->report.mode]);
    return c;
}

static cell bound_cell(const batch_run *run)
{
    const bound b = bound_of(run);
    cell c;

    snprintf(c.text, sizeof c.text, "%s: %s %.0f %%", b.what, b.who, 100 * b.utilization);
    return c;
}

static cell check_cell(const batch_summary *summary, const batch_run *run)
{
    const pipeline_report *r = &run->report;
    cell c = {"ok"};

    if (r->broken || r->interrupted)
        snprintf(c.text, sizeof c.text, "ended at %" PRId64 " of %" PRId64, r->done + r->already_there,
                 summary->source->count);
    else if (r->failed > 0)
        snprintf(c.text, sizeof c.text, "%" PRId64 " failed", r->failed);
    else if (!batch_same_answers(summary, run))
        strcpy(c.text, "WRONG: other bits than the first pipeline's");
    else if (fl_device_describe(run->backend->device)->emulation)
        strcpy(c.text, "ok (emulation: times mean nothing)");
    return c;
}

static void show_runs(const batch_summary *summary)
{
    static const table_column columns[] = {
        {"backend", 0},  {"pipeline", 0}, {"images", 1},  {"wall", 1},     {"spread", 1},
        {"images/s", 1}, {"speed-up", 1}, {"overlap", 1}, {"bound by", 0}, {"link limit", 1},
        {"reached", 1},  {"check", 0},    {NULL, 0},
    };
    table *t = table_create(columns);

    for (int i = 0; i < summary->count; i++) {
        const batch_run *run = &summary->runs[i];
        const statistics wall = statistics_of(run->report.wall.s, run->report.wall.count);
        const double limit = link_limit(run);
        table_add(t, (const char *const[]){
                         fl_device_describe(run->backend->device)->resource, mode_cell(run).text,
                         format_count((double)run->report.done).text, format_seconds(wall.median).text,
                         run->report.wall.count > 1 ? format_percent(wall.spread / wall.median).text : "-",
                         format_count(images_per_s(run)).text, format_factor(speed_up_of(summary, run)).text,
                         format_count(overlap_of(run)).text, bound_cell(run).text, format_seconds(limit).text,
                         format_percent(limit / wall.median).text, check_cell(summary, run).text});
    }
    table_print(t, stdout);
    table_free(t);
}

static const table_column stage_columns[] = {
    {"backend", 0}, {"pipeline", 0}, {"stage", 0}, {"threads", 1}, {"busy", 1},
    {"of wall", 1}, {"images", 1},   {"each", 1},  {"moved", 1},   {NULL, 0},
};

static void add_stage(table *t, const batch_run *run, const char *stage, const char *threads, double busy, int workers,
                      double count, double rate)
{
    table_add(t, (const char *const[]){fl_device_describe(run->backend->device)->resource, mode_cell(run).text, stage,
                                       threads, format_seconds(busy).text,
                                       format_percent(busy / workers / told_wall(run)).text, format_count(count).text,
                                       format_seconds(busy / count).text, format_rate(rate, "B/s").text});
}

static void add_stages(table *t, const batch_run *run, batch_stage first, batch_stage last)
{
    char threads[16];

    for (int s = (int)first; s <= (int)last; s++) {
        const stage_report *stage = &run->report.stages[s];
        snprintf(threads, sizeof threads, "%d", stage->threads);
        if (stage->count > 0)
            add_stage(t, run, stage_names[s], threads, stage->busy_s, stage->threads, (double)stage->count,
                      stage->bytes > 0 ? stage->bytes / stage->busy_s : (double)NAN);
    }
}

static void show_stages(const batch_summary *summary)
{
    table *t = table_create(stage_columns);

    for (int i = 0; i < summary->count; i++) {
        const batch_run *run = &summary->runs[i];
        const device_report *d = &run->report.device;
        add_stages(t, run, STAGE_READ, STAGE_DECOMPOSE);
        for (int e = 0; e < ENGINES; e++)
            if (d->busy_s[e] > 0)
                add_stage(t, run, engine_names[e], "-", d->busy_s[e], 1, (double)d->matrices,
                          d->bytes[e] / d->busy_s[e]);
        add_stages(t, run, STAGE_CHECK, STAGE_WRITE);
    }
    table_print(t, stdout);
    table_free(t);
}

static void show_reading(const batch_summary *summary, const batch_run *run)
{
    const double s = speed_up_of(summary, run);
    const int n = workers_of(summary, run);
    const double f = amdahl_fraction(s, n);

    if (!isfinite(s) || n < 2)
        return;
    printf("%s %s: %.3gx by %d that can work at once: serial fraction %.3g by Amdahl's law",
           fl_device_describe(run->backend->device)->resource, mode_cell(run).text, s, n, f);
    if (f > 0)
        printf(", so never more than %.3gx", 1 / f);
    printf("; %.3g by Gustafson's", gustafson_fraction(s, n));
    if (f < 0) /* what one by one pays besides */
        printf(". More than they account for: %s gain too", fl_device_describe(run->backend->device)->host_memory
                                                                ? "larger launches, and fewer waits for the disk,"
                                                                : "larger copies and launches, and pinned memory,");
    printf("\n");
}

static void show_memory(const batch_run *run, int64_t pool)
{
    const device_report *d = &run->report.device;

    printf("%s %s: %d chunk%s of up to %" PRId64 " matri%s at a time on %s, %s there, %s of the host for copies",
           fl_device_describe(run->backend->device)->resource, mode_cell(run).text, d->slots, d->slots == 1 ? "" : "s",
           d->chunk, d->chunk == 1 ? "x" : "ces", run->reconstruct_on, format_bytes((double)d->device_bytes).text,
           format_bytes((double)d->host_bytes).text);
    if (pool > 0)
        printf(", %s of factors", format_bytes((double)pool).text);
    else
        printf(", up to %" PRId64 " image%s on the host", run->report.queued, run->report.queued == 1 ? "" : "s");
    printf("; the process had %s at the most; %" PRId64 " launch%s\n",
           format_bytes((double)run->report.peak_bytes).text, d->launches, d->launches == 1 ? "" : "es");
}

static void show_together(const batch_run *run)
{
    const device_report *d = &run->report.device;

    if (fl_device_describe(run->backend->device)->host_memory)
        return;
    printf("%s %s: two of copy there, kernel, copy back at once for %s, all three for %s, of %s\n",
           fl_device_describe(run->backend->device)->resource, mode_cell(run).text,
           format_seconds(d->together_s[2]).text, format_seconds(d->together_s[3]).text,
           format_seconds(told_wall(run)).text);
}

static void show_failures(const pipeline_report *r)
{
    for (int64_t i = 0; i < r->failed && i < MOST_FAILURES_SHOWN; i++)
        printf("failed: %s\n", r->failures[i].message);
    if (r->failed > MOST_FAILURES_SHOWN)
        printf("failed: %" PRId64 " more; --json lists them all\n", r->failed - MOST_FAILURES_SHOWN);
}

static void show_title(const batch_summary *summary)
{
    const batch_source *source = summary->source;

    printf("batch: %" PRId64 " %s", source->count,
           source->kind == BATCH_IMAGES    ? "images"
           : source->kind == BATCH_FACTORS ? "sets of factors"
                                           : "matrices made here");
    if (summary->rows > 0)
        printf(", %" PRId64 "x%" PRId64 " %s", summary->rows, summary->columns, fl_dtype_name(summary->dtype));
    if (summary->rank > 0)
        printf(", rank %" PRId64, summary->rank);
    if (summary->decompose_on)
        printf(", decomposed on %s", summary->decompose_on);
    printf("\n");
}

static void show_text(const batch_summary *summary)
{
    const pipeline_report *first = &summary->runs[0].report;

    show_title(summary);
    show_runs(summary);
    printf("\n");
    show_stages(summary);
    printf("\n");
    for (int i = 0; i < summary->count; i++) {
        show_reading(summary, &summary->runs[i]);
        show_together(&summary->runs[i]);
        show_memory(&summary->runs[i], summary->pool_bytes);
    }
    if (first->norm > 0)
        printf("||a - a_k||_F: %.3g %% of ||a||_F over all images, %.3g %% of the worst one\n",
               100 * first->error / first->norm, 100 * first->worst_error);
    for (int i = 0; i < summary->backends->count; i++)
        printf("%s: %s\n", fl_device_describe(summary->backends->open[i].device)->resource,
               fl_device_describe(summary->backends->open[i].device)->name);
    for (int i = 0; i < summary->backends->skipped_count; i++)
        printf("skipped %s: %s\n", summary->backends->skipped[i].name, summary->backends->skipped[i].reason);
    if (first->already_there > 0)
        printf("%" PRId64 " of %" PRId64 " were there already\n", first->already_there, summary->source->count);
    show_failures(first);
}

/* -------------------------------------------------------------------------------------------------- JSON ---- */

static json_t *json_stage(const char *name, const char *kind, int threads, double busy, double wall, int64_t count,
                          double bytes)
{
    json_t *stage = json_new_object();

    json_put(stage, "stage", json_text(name));
    json_put(stage, "bound", json_text(kind));
    json_put(stage, "threads", threads > 0 ? json_whole(threads) : json_null());
    json_put(stage, "busy_s", json_number(busy));
    json_put(stage, "utilization", json_number(busy / (threads > 0 ? threads : 1) / wall));
    json_put(stage, "count", json_whole(count));
    json_put(stage, "bytes", json_number(bytes));
    return stage;
}

static json_t *json_stages(const batch_run *run)
{
    const device_report *d = &run->report.device;
    json_t *stages = json_new_list();

    for (int i = 0; i < STAGES; i++) {
        const stage_report *s = &run->report.stages[i];
        if (s->count > 0)
            json_append(stages, json_stage(stage_names[i], stage_bounds[i], s->threads, s->busy_s, told_wall(run),
                                           s->count, s->bytes));
    }
    for (int e = 0; e < ENGINES; e++)
        if (d->busy_s[e] > 0)
            json_append(stages, json_stage(engine_names[e], engine_bounds[e], 0, d->busy_s[e], told_wall(run),
                                           d->matrices, d->bytes[e]));
    return stages;
}

static json_t *json_link(const batch_run *run)
{
    json_t *link = json_new_object();

    json_put(link, "h2d_bytes_per_s", json_number(run->link.h2d_bytes_per_s));
    json_put(link, "d2h_bytes_per_s", json_number(run->link.d2h_bytes_per_s));
    json_put(link, "limit_s", json_number(link_limit(run)));
    json_put(link, "reached", json_number(link_limit(run) / wall_of(run)));
    return link;
}

static json_t *json_reading(const batch_summary *summary, const batch_run *run)
{
    const double s = speed_up_of(summary, run);
    const int n = workers_of(summary, run);
    json_t *reading = json_new_object();

    json_put(reading, "speed_up", json_number(s));
    json_put(reading, "workers", json_whole(n));
    json_put(reading, "amdahl_serial_fraction", json_number(amdahl_fraction(s, n)));
    json_put(reading, "gustafson_serial_fraction", json_number(gustafson_fraction(s, n)));
    return reading;
}

static json_t *json_check(const batch_summary *summary, const batch_run *run)
{
    const compare_result *c = &run->report.check;
    json_t *check = json_new_object();
    char bits[24];

    snprintf(bits, sizeof bits, "%016" PRIx64, run->report.sum);
    json_put(check, "ok", json_boolean(all_right(run) && batch_same_answers(summary, run)));
    json_put(check, "method",
             json_text(summary->source->kind == BATCH_IMAGES
                           ? "random sums of the product, of the singular vectors and of what is left"
                           : "random sums of the product in the first pass; the same bits, sampled, in the others"));
    json_put(check, "compared", json_whole(c->compared));
    json_put(check, "failed", json_whole(c->failed));
    json_put(check, "max_abs", json_number(c->max_abs));
    json_put(check, "worst_result", json_number(c->worst_result));
    json_put(check, "worst_expected", json_number(c->worst_expected));
    json_put(check, "tolerance", json_number(c->worst_bound));
    json_put(check, "bits", json_text(bits));
    return check;
}

static json_t *json_memory(const batch_summary *summary, const batch_run *run)
{
    json_t *memory = json_new_object();

    json_put(memory, "device_bytes", json_whole(run->report.device.device_bytes));
    json_put(memory, "host_bytes", json_whole(run->report.device.host_bytes));
    json_put(memory, "factors_bytes", json_whole(summary->pool_bytes));
    json_put(memory, "images_on_host", json_whole(run->report.queued));
    json_put(memory, "peak_bytes", json_whole(run->report.peak_bytes));
    json_put(memory, "made_smaller", json_boolean(run->report.device.smaller));
    return memory;
}

static json_t *json_failures(const pipeline_report *r)
{
    json_t *list = json_new_list();

    for (int64_t i = 0; i < r->failed; i++) {
        json_t *entry = json_new_object();
        json_put(entry, "input", json_text(r->failures[i].input));
        json_put(entry, "message", json_text(r->failures[i].message));
        json_put(entry, "wrong", json_boolean(r->failures[i].wrong));
        json_append(list, entry);
    }
    return list;
}

static json_t *json_run(const batch_summary *summary, const batch_run *run)
{
    const pipeline_report *r = &run->report;
    const device_report *d = &r->device;
    const bound b = bound_of(run);
    json_t *row = json_new_object(), *together = json_new_object();

    results_put_device(row, run->backend->requested, fl_device_describe(run->backend->device));
    json_put(row, "pipeline", json_text(mode_names[r->mode]));
    json_put(row, "reconstruct_on", json_text(run->reconstruct_on));
    json_put(row, "variant", json_text(d->timing.variant));
    json_put(row, "streams", json_whole(d->slots));
    json_put(row, "chunk", json_whole(d->chunk));
    json_put(row, "launches", json_whole(d->launches));
    json_put(row, "done", json_whole(r->done));
    json_put(row, "failed", json_whole(r->failed));
    json_put(row, "dropped", json_whole(r->dropped));
    json_put(row, "already_there", json_whole(r->already_there));
    json_put(row, "open_s", json_number(fl_device_describe(run->backend->device)->open_s));
    json_put(row, "cold_s", json_number(r->cold_s));
    json_put(row, "wall_s", json_number(wall_of(run)));
    json_put(row, "told_wall_s", json_number(told_wall(run)));
    json_put(row, "times_s", json_numbers(r->wall.s, r->wall.count));
    json_put(row, "images_per_s", json_number(images_per_s(run)));
    json_put(row, "stages", json_stages(run));
    json_put(row, "overlap", json_number(overlap_of(run)));
    json_put(together, "two_s", json_number(d->together_s[2]));
    json_put(together, "three_s", json_number(d->together_s[3]));
    json_put(row, "engines_together", together);
    json_put(row, "bound", json_text(b.what));
    json_put(row, "bound_by", json_text(b.who));
    json_put(row, "bound_utilization", json_number(b.utilization));
    json_put(row, "link", json_link(run));
    json_put(row, "over_one_by_one", json_reading(summary, run));
    json_put(row, "flops", json_number(d->flops));
    json_put(row, "memory", json_memory(summary, run));
    json_put(row, "error", r->norm > 0 ? json_number(r->error / r->norm) : json_null());
    json_put(row, "worst_error", r->norm > 0 ? json_number(r->worst_error) : json_null());
    json_put(row, "check", json_check(summary, run));
    json_put(row, "interrupted", json_boolean(r->interrupted));
    json_put(row, "ended_by", r->broken ? json_text(r->why.text) : json_null());
    json_put(row, "failures", json_failures(r));
    return row;
}

static json_t *make_document(const batch_summary *summary)
{
    json_t *document = results_document(summary->backends, json_new_list()), *batch = json_new_object(),
           *runs = json_new_list();
    const int64_t shape[] = {summary->rows, summary->columns};

    json_object_del(document, "results");
    json_put(batch, "source", json_text(kind_names[summary->source->kind]));
    json_put(batch, "count", json_whole(summary->source->count));
    json_put(batch, "rank", summary->rank > 0 ? json_whole(summary->rank) : json_null());
    json_put(batch, "shape", summary->rows > 0 ? json_wholes(shape, 2) : json_null());
    json_put(batch, "dtype",
             summary->source->kind == BATCH_FACTORS ? json_null() : json_text(fl_dtype_name(summary->dtype)));
    json_put(batch, "decompose_on", json_text(summary->decompose_on));
    for (int i = 0; i < summary->count; i++)
        json_append(runs, json_run(summary, &summary->runs[i]));
    json_put(batch, "runs", runs);
    json_put(document, "batch", batch);
    return document;
}

void batch_show(const batch_summary *summary)
{
    json_t *document = make_document(summary);

    if (results_write(summary->common, document))
        show_text(summary);
    json_decref(document);
}
