/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "harness/results.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAILURES_SHOWN = 20 };

static const char *const kind_names[] = {"images", "factors", "synthetic"};
/* ------------------------------------------------------------------------------------- columns and words ---- */

cell batch_title(const json_t *batch)
{
    const char *source = row_text(batch, "source"), *on = json_string_value(json_object_get(batch, "decompose_on"));
    const json_t *shape = json_object_get(batch, "shape"), *rank = json_object_get(batch, "rank");
    char of_shape[48] = "", of_rank[32] = "";

    if (json_array_size(shape) == 2)
        snprintf(of_shape, sizeof of_shape, ", %.0fx%.0f %.8s", json_number_value(json_array_get(shape, 0)),
                 json_number_value(json_array_get(shape, 1)), row_text(batch, "dtype"));
    if (json_is_number(rank))
        snprintf(of_rank, sizeof of_rank, ", rank %.0f", json_number_value(rank));
    return cell_print("%s %.16s%s%s%s%.48s", format_count(row_number(batch, "count")).text,
                      strcmp(source, "factors") == 0     ? "sets of factors"
                      : strcmp(source, "synthetic") == 0 ? "random matrices"
                                                         : source,
                      of_shape, of_rank, on ? ", decomposed on " : "", on ? on : "");
}

cell batch_pipeline(const json_t *run)
{
    const char *name = row_text(run, "pipeline");

    return strcmp(name, "streams") == 0 ? cell_print("streams:%s", format_count(row_number(run, "streams")).text)
                                        : cell_print("%s", name);
}

static cell bound_cell(const json_t *run)
{
    const double part = row_number(run, "bound_utilization");

    return part > 0 ? cell_print("%s: %s %.0f %%", row_text(run, "bound"), row_text(run, "bound_by"), 100 * part)
                    : cell_print("-");
}

cell batch_verdict(const json_t *run)
{
    const double failed = row_number(run, "failed"), done = row_number(run, "done") + row_number(run, "already_there"),
                 dropped = row_number(run, "dropped");

    if (json_is_true(json_object_get(run, "interrupted")) || json_is_string(json_object_get(run, "ended_by")) ||
        dropped > 0)
        return cell_print("ended at %.0f of %.0f", done, done + failed + dropped);
    if (failed > 0)
        return cell_print("%.0f failed", failed);
    if (!row_is_right(run))
        return cell_print(row_number(run, "check.failed") > 0 ? "WRONG" : "WRONG: other bits than another pipeline's");
    return cell_print(row_is_ranked(run) ? "ok" : "ok (emulation)");
}

const column batch_run_columns[] = {
    {"backend", "resource", AS_TEXT, NULL},
    {"pipeline", NULL, AS_TEXT, batch_pipeline},
    {"images", "done", AS_COUNT, NULL},
    {"wall", "wall_s", AS_SECONDS, NULL},
    {"spread", "spread", AS_PART, NULL},
    {"images/s", "images_per_s", AS_COUNT, NULL},
    {"speed-up", "over_one_by_one.speed_up", AS_FACTOR, NULL},
    {"overlap", "overlap", AS_COUNT, NULL},
    {"bound by", NULL, AS_TEXT, bound_cell},
    {"link limit", "link.limit_s", AS_SECONDS, NULL},
    {"reached", "link.reached", AS_PART, NULL},
    {"check", NULL, AS_TEXT, batch_verdict},
    {0},
};

const column batch_stage_columns[] = {
    {"backend", "resource", AS_TEXT, NULL},
    {"pipeline", NULL, AS_TEXT, batch_pipeline},
    {"stage", "stage", AS_TEXT, NULL},
    {"threads", "threads", AS_COUNT, NULL},
    {"busy", "busy_s", AS_SECONDS, NULL},
    {"of wall", "utilization", AS_PART, NULL},
    {"images", "count", AS_COUNT, NULL},
    {"each", "each_s", AS_SECONDS, NULL},
    {"moved", "bytes_per_s", AS_BYTE_RATE, NULL},
    {0},
};

const column batch_law_columns[] = {
    {"backend", "resource", AS_TEXT, NULL},
    {"pipeline", NULL, AS_TEXT, batch_pipeline},
    {"speed-up", "over_one_by_one.speed_up", AS_FACTOR, NULL},
    {"workers", "over_one_by_one.workers", AS_COUNT, NULL},
    {"serial by Amdahl", "over_one_by_one.amdahl_serial_fraction", AS_NUMBER, NULL},
    {"limit", "over_one_by_one.amdahl_limit", AS_FACTOR, NULL},
    {"serial by Gustafson", "over_one_by_one.gustafson_serial_fraction", AS_NUMBER, NULL},
    {"two engines", "engines_together.two_s", AS_SECONDS, NULL},
    {"all three", "engines_together.three_s", AS_SECONDS, NULL},
    {0},
};

const column batch_memory_columns[] = {
    {"backend", "resource", AS_TEXT, NULL},
    {"pipeline", NULL, AS_TEXT, batch_pipeline},
    {"computed on", "reconstruct_on", AS_TEXT, NULL},
    {"launches", "launches", AS_COUNT, NULL},
    {"chunks", "streams", AS_COUNT, NULL},
    {"matrices each", "chunk", AS_COUNT, NULL},
    {"on the device", "memory.device_bytes", AS_BYTES, NULL},
    {"for copies", "memory.host_bytes", AS_BYTES, NULL},
    {"factors", "memory.factors_bytes", AS_BYTES, NULL},
    {"images at most", "memory.images_on_host", AS_COUNT, NULL},
    {"peak of the process", "memory.peak_bytes", AS_BYTES, NULL},
    {0},
};

/* --------------------------------------------------------------------------------------------- the bound ---- */

const char *batch_worker(const json_t *run, const json_t *stage)
{
    const char *name = row_text(stage, "stage");

    if (json_is_number(json_object_get(stage, "threads")) && strcmp(row_text(run, "pipeline"), "full") != 0)
        return "the host's thread";
    for (int i = 0; i < STAGES; i++)
        if (strcmp(name, stage_kinds[i].name) == 0)
            return stage_kinds[i].worker;
    return name;
}

/* Adds `overlap`, and which worker was busy for the largest part of the time, with the kind of its longest stage. */
static void put_bound(json_t *run)
{
    const json_t *stages = json_object_get(run, "stages"), *first, *stage;
    const char *bound = "-", *by = "-";
    double most = 0, sum = 0;
    size_t i, k;

    json_array_foreach(stages, i, first)
    {
        const char *worker = batch_worker(run, first), *kind = "-";
        double part = 0, longest = 0;
        sum += row_number(first, "busy_s");
        json_array_foreach(stages, k, stage)
        {
            const double busy = row_number(stage, "busy_s");
            if (strcmp(batch_worker(run, stage), worker) != 0)
                continue;
            part += row_number(stage, "utilization");
            kind = busy > longest ? row_text(stage, "bound") : kind;
            longest = fmax(busy, longest);
        }
        if (part > most) {
            most = part;
            bound = kind;
            by = worker;
        }
    }
    json_put(run, "overlap", json_number(sum / row_number(run, "told_wall_s")));
    json_put(run, "bound", json_text(bound));
    json_put(run, "bound_by", json_text(by));
    json_put(run, "bound_utilization", json_number(most));
}

/* -------------------------------------------------------------------------------------------------- JSON ---- */

static bool is_complete(const batch_run *run)
{
    const pipeline_report *r = &run->report;

    return r->failed == 0 && r->dropped == 0 && !r->broken && (r->check.compared == 0 || r->check.ok);
}

bool batch_is_right(const batch_summary *summary, const batch_run *run)
{
    for (int i = 0; i < summary->count; i++)
        if (summary->runs[i].backend == run->backend && is_complete(&summary->runs[i]))
            return is_complete(run) && summary->runs[i].report.sum == run->report.sum;
    return false;
}

/* The wall time of the last pass, from which the stages and engines are. */
static double last_wall(const batch_run *run)
{
    return run->report.wall.s[run->report.wall.count - 1];
}

static json_t *json_stages(const batch_run *run)
{
    json_t *stages = json_new_list();

    for (int i = 0; i < STAGES; i++) {
        const stage_report *s = &run->report.stages[i];
        const int threads = s->threads > 0 ? s->threads : 1;
        if (s->count == 0 || (s->threads == 0 && !(s->busy_s > 0)))
            continue;
        json_t *stage = json_new_object();
        json_put(stage, "stage", json_text(stage_kinds[i].name));
        json_put(stage, "bound", json_text(stage_kinds[i].bound));
        json_put(stage, "threads", s->threads > 0 ? json_whole(s->threads) : json_null());
        json_put(stage, "busy_s", json_number(s->busy_s));
        json_put(stage, "utilization", json_number(s->busy_s / threads / last_wall(run)));
        json_put(stage, "count", json_whole(s->count));
        json_put(stage, "bytes", json_number(s->bytes));
        json_append(stages, stage);
    }
    return stages;
}

void batch_add_derived(json_t *batch)
{
    json_t *run, *stage;
    size_t i, k;

    json_array_foreach(json_object_get(batch, "runs"), i, run)
    {
        const json_t *times = json_object_get(run, "times_s");
        const statistics wall = row_statistics(times);
        json_put(run, "spread", json_array_size(times) > 1 ? json_number(wall.spread / wall.median) : json_null());
        json_array_foreach(json_object_get(run, "stages"), k, stage)
        {
            const double busy = row_number(stage, "busy_s"), bytes = row_number(stage, "bytes");
            json_put(stage, "each_s", json_number(busy / row_number(stage, "count")));
            json_put(stage, "bytes_per_s", bytes > 0 ? json_number(bytes / busy) : json_null());
        }
    }
}

/* `limit_s`: the least time for the bytes of each direction by itself. */
static json_t *json_link(const batch_run *run, double wall)
{
    const double *bytes = run->report.device.bytes, limit = fmax(bytes[ENGINE_H2D] / run->link.h2d_bytes_per_s,
                                                                 bytes[ENGINE_D2H] / run->link.d2h_bytes_per_s);
    json_t *link = json_new_object();

    json_put(link, "h2d_bytes_per_s", json_number(run->link.h2d_bytes_per_s));
    json_put(link, "d2h_bytes_per_s", json_number(run->link.d2h_bytes_per_s));
    json_put(link, "limit_s", json_number(limit));
    json_put(link, "reached", json_number(limit / wall));
    return link;
}

/* How many can work at the same time: threads of the host, and a GPU's engines. On a CPU the device is the threads. */
static int workers_of(const batch_summary *summary, const batch_run *run)
{
    const int host = summary->source->ready ? 0 : run->report.mode == PIPELINE_FULL ? run->threads : 1;

    if (run->report.mode <= PIPELINE_PINNED)
        return 1;
    if (fl_device_describe(run->backend->device)->host_memory)
        return host > 1 ? host : 1;
    return host + ENGINES;
}

/* Over the same backend's run in mode one-by-one, if that did as many images. The serial fractions: Karp and Flatt,
 * "Measuring parallel processor performance", CACM 33, 1990, solve Amdahl's law for it; Gustafson's law,
 * S = n - f (n - 1), likewise. */
static void put_speed_up(const json_t *rows, json_t *row, int workers)
{
    const char *resource = row_text(row, "resource");
    const double done = row_number(row, "done"), n = workers > 1 ? workers : (double)NAN;
    json_t *over = json_new_object();
    const json_t *other;
    double s = NAN;
    size_t i;

    json_array_foreach(rows, i, other) if (isnan(s) && other != row && done > 0 && row_number(other, "done") == done &&
                                           strcmp(row_text(other, "resource"), resource) == 0 &&
                                           strcmp(row_text(other, "pipeline"), "one-by-one") == 0) s =
        row_number(other, "wall_s") / row_number(row, "wall_s");
    const double f = (n / s - 1) / (n - 1);
    json_put(over, "speed_up", json_number(s));
    json_put(over, "workers", json_whole(workers));
    json_put(over, "amdahl_serial_fraction", json_number(f));
    json_put(over, "amdahl_limit", json_number(f > 0 ? 1 / f : (double)NAN));
    json_put(over, "gustafson_serial_fraction", json_number((n - s) / (n - 1)));
    json_put(row, "over_one_by_one", over);
}

static json_t *json_check(const batch_summary *summary, const batch_run *run)
{
    const compare_result *c = &run->report.check;
    json_t *check = json_new_object();
    char bits[24];

    snprintf(bits, sizeof bits, "%016" PRIx64, run->report.sum);
    json_put(check, "ok", json_boolean(batch_is_right(summary, run)));
    json_put(check, "method",
             json_text(summary->source->kind == BATCH_IMAGES
                           ? "random sums of the product, of the singular vectors and of the remainder"
                           : "random sums of the product in the first pass, sampled bits in the others"));
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

static json_t *json_run(const batch_summary *summary, const batch_run *run)
{
    const pipeline_report *r = &run->report;
    const device_report *d = &r->device;
    const double wall = median(r->wall.s, r->wall.count);
    json_t *row = json_new_object(), *together = json_new_object();

    results_put_device(row, run->backend->requested, fl_device_describe(run->backend->device));
    json_put(row, "pipeline", json_text(pipeline_mode_names[r->mode]));
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
    json_put(row, "wall_s", json_number(wall));
    json_put(row, "told_wall_s", json_number(last_wall(run)));
    json_put(row, "times_s", json_numbers(r->wall.s, r->wall.count));
    json_put(row, "images_per_s", json_number((double)r->done / wall));
    json_put(row, "stages", json_stages(run));
    put_bound(row);
    json_put(together, "two_s", json_number(d->together_s[2]));
    json_put(together, "three_s", json_number(d->together_s[3]));
    json_put(row, "engines_together", together);
    json_put(row, "link", json_link(run, wall));
    json_put(row, "flops", json_number(d->flops));
    json_put(row, "memory", json_memory(summary, run));
    json_put(row, "error", r->norm > 0 ? json_number(r->error / r->norm) : json_null());
    json_put(row, "worst_error", r->norm > 0 ? json_number(r->worst_error) : json_null());
    json_put(row, "check", json_check(summary, run));
    json_put(row, "interrupted", json_boolean(r->interrupted));
    json_put(row, "ended_by", r->broken ? json_text(r->why.text) : json_null());
    json_put(row, "failures", json_incref(r->failures));
    return row;
}

static json_t *make_batch(const batch_summary *summary)
{
    const matrix_shape *m = &summary->source->shape;
    const bool own_dtypes = summary->source->kind == BATCH_FACTORS;
    json_t *batch = json_new_object(), *runs = json_new_list();

    json_put(batch, "source", json_text(kind_names[summary->source->kind]));
    json_put(batch, "count", json_whole(summary->source->count));
    json_put(batch, "rank", m->rank > 0 ? json_whole(m->rank) : json_null());
    json_put(batch, "shape", m->rows > 0 ? json_wholes((int64_t[]){m->rows, m->columns}, 2) : json_null());
    json_put(batch, "dtype", own_dtypes ? json_null() : json_text(fl_dtype_name(m->dtype)));
    json_put(batch, "decompose_on", json_text(summary->decompose_on));
    for (int i = 0; i < summary->count; i++)
        json_append(runs, json_run(summary, &summary->runs[i]));
    for (int i = 0; i < summary->count; i++)
        put_speed_up(runs, json_array_get(runs, (size_t)i), workers_of(summary, &summary->runs[i]));
    json_put(batch, "runs", runs);
    batch_add_derived(batch);
    return batch;
}

/* -------------------------------------------------------------------------------------------------- text ---- */

static void show_failures(const json_t *failures)
{
    const size_t count = json_array_size(failures);

    for (size_t i = 0; i < count && i < MOST_FAILURES_SHOWN; i++)
        printf("failed: %s\n", row_text(json_array_get(failures, i), "message"));
    if (count > MOST_FAILURES_SHOWN)
        printf("failed: %zu others; --json lists all\n", count - MOST_FAILURES_SHOWN);
}

static void show_text(const batch_summary *summary, const json_t *batch)
{
    const json_t *runs = json_object_get(batch, "runs"), *first = json_array_get(runs, 0);
    const backend_list *backends = summary->backends;
    json_t *stages = rows_within(runs, "stages");

    printf("batch: %s\n", batch_title(batch).text);
    columns_print(batch_run_columns, runs, TABLE_TEXT, stdout);
    printf("\n");
    columns_print(batch_stage_columns, stages, TABLE_TEXT, stdout);
    printf("\n");
    columns_print(batch_memory_columns, runs, TABLE_TEXT, stdout);
    printf("\n");
    if (summary->count > 1) {
        columns_print(batch_law_columns, runs, TABLE_TEXT, stdout);
        printf("\n");
    }
    json_decref(stages);
    if (json_is_number(json_object_get(first, "error")))
        printf("||a - a_k||_F / ||a||_F: %.3g %% over all images, %.3g %% for the worst image\n",
               100 * row_number(first, "error"), 100 * row_number(first, "worst_error"));
    for (int b = 0; b < backends->count; b++)
        printf("%s: %s\n", fl_device_describe(backends->open[b].device)->resource,
               fl_device_describe(backends->open[b].device)->name);
    for (int b = 0; b < backends->skipped_count; b++)
        printf("skipped %s: %s\n", backends->skipped[b].name, backends->skipped[b].reason);
    if (row_number(first, "already_there") > 0)
        printf("%.0f of %.0f outputs existed already (--resume)\n", row_number(first, "already_there"),
               row_number(batch, "count"));
    show_failures(json_object_get(first, "failures"));
}

void batch_show(const batch_summary *summary)
{
    json_t *document = results_document(summary->backends, json_new_list()), *batch = make_batch(summary);

    json_object_del(document, "results");
    json_put(document, "batch", batch);
    if (results_write(summary->common, document))
        show_text(summary, batch);
    json_decref(document);
}
