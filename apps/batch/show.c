/* SPDX-License-Identifier: MIT
 *
 * show.c - what a batch prints: one row for each pipeline, the stages, and the images that failed.
 */
#include "distributed.h"

#include "ranks/group.h"
#include "run/results.h"
#include "support/print.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAILURES_SHOWN = 20 };

static const char *const kind_names[] = {"images", "factors", "synthetic"};

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
    json_put(run, "overlap", json_number(sum / row_number(run, "last_wall_s")));
    json_put(run, "bound", json_text(bound));
    json_put(run, "bound_by", json_text(by));
    json_put(run, "bound_utilization", json_number(most));
}

/* All that was done, of a run that only --max-time may have cut short. */
static bool is_right_so_far(const batch_run *run)
{
    const pipeline_report *r = &run->report;

    return r->failed == 0 && (r->dropped == 0 || r->late) && !r->broken && (r->check.compared == 0 || r->check.ok);
}

bool batch_is_right(const batch_command *c, const batch_run *run)
{
    for (int i = 0; i < c->count && is_right_so_far(run) && !run->report.late; i++)
        if (c->runs[i].backend == run->backend && is_right_so_far(&c->runs[i]) && !c->runs[i].report.late)
            return c->runs[i].report.sum == run->report.sum;
    return is_right_so_far(run);
}

/* "link.limit_s" goes into the object "link". */
static void put(json_t *row, const char *key, json_t *value)
{
    const char *dot = strchr(key, '.');
    char outer[32];

    snprintf(outer, sizeof outer, "%.*s", dot ? (int)(dot - key) : 0, key);
    if (dot && !json_object_get(row, outer))
        json_put(row, outer, json_new_object());
    json_put(dot ? json_object_get(row, outer) : row, dot ? dot + 1 : key, value);
}

/* The stages of the last pass, which took `wall_s`. */
static json_t *json_stages(const batch_run *run, double wall_s)
{
    json_t *stages = json_new_list();

    for (int i = 0; i < STAGES; i++) {
        const stage_report *s = &run->report.stages[i];
        const int threads = s->threads > 0 ? s->threads : group_info()->size; /* an engine a rank */
        if (s->count == 0 || (s->threads == 0 && !(s->busy_s > 0)))
            continue;
        json_t *stage = json_new_object();
        json_put(stage, "stage", json_text(stage_kinds[i].name));
        json_put(stage, "bound", json_text(stage_kinds[i].bound));
        json_put(stage, "threads", s->threads > 0 ? json_whole(s->threads) : json_null());
        json_put(stage, "busy_s", json_number(s->busy_s));
        json_put(stage, "utilization", json_number(s->busy_s / threads / wall_s));
        json_put(stage, "count", json_whole(s->count));
        json_put(stage, "bytes", json_number(s->bytes));
        json_append(stages, stage);
    }
    return stages;
}

/* How many can work at the same time: threads of the host, and a GPU's engines. On a CPU the device is the threads. */
static int workers_of(const batch_command *c, const batch_run *run)
{
    const int host = c->source.ready ? 0 : run->report.mode == PIPELINE_FULL ? run->threads : 1;

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
    const json_t *other;
    double s = NAN;
    size_t i;

    json_array_foreach(rows, i, other) if (isnan(s) && other != row && done > 0 && row_number(other, "done") == done &&
                                           strcmp(row_text(other, "resource"), resource) == 0 &&
                                           strcmp(row_text(other, "pipeline"), "one-by-one") == 0) s =
        row_number(other, "wall_s") / row_number(row, "wall_s");
    const double f = (n / s - 1) / (n - 1);
    put(row, "over_one_by_one.speed_up", json_number(s));
    put(row, "over_one_by_one.workers", json_whole(workers));
    put(row, "over_one_by_one.amdahl_serial_fraction", json_number(f));
    put(row, "over_one_by_one.amdahl_limit", json_number(f > 0 ? 1 / f : (double)NAN));
    put(row, "over_one_by_one.gustafson_serial_fraction", json_number((n - s) / (n - 1)));
}

static void put_link(json_t *row, const batch_run *run, double wall)
{
    const double *bytes = run->report.device.bytes, there = bytes[ENGINE_H2D] / run->link.h2d_bytes_per_s,
                 back = bytes[ENGINE_D2H] / run->link.d2h_bytes_per_s, limit = fmax(there, back) / group_info()->size;

    put(row, "link.h2d_bytes_per_s", json_number(run->link.h2d_bytes_per_s));
    put(row, "link.d2h_bytes_per_s", json_number(run->link.d2h_bytes_per_s));
    put(row, "link.limit_s", json_number(limit));
    put(row, "link.reached", json_number(limit / wall));
}

static void put_check(json_t *row, const batch_command *c, const batch_run *run)
{
    const char *method = c->source.kind == BATCH_IMAGES
                             ? "random sums of the product, of the singular vectors and of the remainder"
                             : "random sums of the product in the first pass, sampled bits in the others";
    json_t *check = results_check(&run->report.check, method, 0, NULL);
    char bits[24];

    snprintf(bits, sizeof bits, "%016" PRIx64, run->report.sum);
    json_put(check, "ok", json_boolean(batch_is_right(c, run)));
    json_put(check, "bits", json_text(bits));
    json_object_del(check, "max_rel");
    json_object_del(check, "worst_index"); /* the results have no common index */
    json_put(row, "check", check);
}

static const char *host_memory_of(const batch_command *c, const batch_run *run)
{
    if (fl_device_describe(run->backend->device)->host_memory)
        return "in place";
    return run->report.mode > PIPELINE_ONE_BY_ONE && !c->common->pageable ? "pinned" : "pageable";
}

static json_t *json_run(const batch_command *c, const batch_run *run)
{
    const pipeline_report *r = &run->report;
    const device_report *d = &r->device;
    const double wall = median(r->wall.s, r->wall.count), last_wall = r->wall.s[r->wall.count - 1];
    json_t *row = json_new_object();

    results_put_device(row, run->backend->requested, fl_device_describe(run->backend->device));
    put(row, "pipeline", json_text(pipeline_mode_names[r->mode]));
    put(row, "reconstruct_on", json_text(run->reconstruct_on));
    put(row, "variant", json_text(d->timing.variant));
    put(row, "block", json_wholes((int64_t[]){d->timing.block[0], d->timing.block[1], d->timing.block[2]}, 3));
    put(row, "host_memory", json_text(host_memory_of(c, run)));
    put(row, "streams", json_whole(d->slots));
    put(row, "chunk", json_whole(d->chunk));
    put(row, "launches", json_whole(d->launches));
    put(row, "done", json_whole(r->done));
    put(row, "failed", json_whole(r->failed));
    put(row, "dropped", json_whole(r->dropped));
    put(row, "already_there", json_whole(r->already_there));
    put(row, "open_s", json_number(fl_device_describe(run->backend->device)->open_s));
    put(row, "cold_s", json_number(r->cold_s));
    put(row, "wall_s", json_number(wall));
    put(row, "last_wall_s", json_number(last_wall));
    put(row, "times_s", json_numbers(r->wall.s, r->wall.count));
    put(row, "images_per_s", json_number((double)r->done / wall));
    put(row, "stages", json_stages(run, last_wall));
    put_bound(row);
    put(row, "engines_together.two_s", json_number(d->together_s[2]));
    put(row, "engines_together.three_s", json_number(d->together_s[3]));
    put_link(row, run, wall);
    put(row, "flops", json_number(d->flops));
    put(row, "memory.device_bytes", json_whole(d->device_bytes));
    put(row, "memory.host_bytes", json_whole(d->host_bytes));
    put(row, "memory.factors_bytes", json_whole(c->pool_bytes));
    put(row, "memory.images_on_host", json_whole(r->queued));
    put(row, "memory.peak_bytes", json_whole(r->peak_bytes));
    put(row, "memory.made_smaller", json_boolean(d->smaller));
    put(row, "error", r->norm > 0 ? json_number(r->error / r->norm) : json_null());
    put(row, "worst_error", r->norm > 0 ? json_number(r->worst_error) : json_null());
    put_check(row, c, run);
    put(row, "interrupted", json_boolean(r->interrupted));
    put(row, "ended_by", json_text(r->broken ? r->why.text : r->late ? "--max-time: the time was over" : NULL));
    put(row, "failures", json_incref(r->failures));
    if (r->parts)
        ranks_put(row, r);
    return row;
}

static json_t *make_batch(const batch_command *c)
{
    const matrix_shape *m = &c->source.shape;
    const bool own_dtypes = c->source.kind == BATCH_FACTORS;
    json_t *batch = json_new_object(), *runs = json_new_list();

    json_put(batch, "source", json_text(kind_names[c->source.kind]));
    json_put(batch, "count", json_whole(c->source.count));
    json_put(batch, "singular_values", m->keep > 0 ? json_whole(m->keep) : json_null());
    json_put(batch, "shape", m->rows > 0 ? json_wholes((int64_t[]){m->rows, m->columns}, 2) : json_null());
    json_put(batch, "dtype", own_dtypes ? json_null() : json_text(fl_dtype_name(m->dtype)));
    json_put(batch, "decompose_on",
             c->decompose_on ? json_text(fl_device_describe(c->decompose_on)->resource) : json_null());
    for (int i = 0; i < c->count; i++)
        json_append(runs, json_run(c, &c->runs[i]));
    for (int i = 0; i < c->count; i++)
        put_speed_up(runs, json_array_get(runs, (size_t)i), workers_of(c, &c->runs[i]) * group_info()->size);
    json_put(batch, "runs", runs);
    batch_add_derived(batch);
    return batch;
}

static void show_failures(const json_t *failures)
{
    const size_t count = json_array_size(failures);

    for (size_t i = 0; i < count && i < MOST_FAILURES_SHOWN; i++)
        text_print("failed: %s\n", row_text(json_array_get(failures, i), "message"));
    if (count > MOST_FAILURES_SHOWN)
        text_print("failed: %zu others; --json lists all\n", count - MOST_FAILURES_SHOWN);
}

static void show_table(const column *columns, const json_t *rows)
{
    columns_print(columns, rows, TABLE_TEXT, stdout);
    if (json_array_size(rows) > 0)
        text_print("\n");
}

static void show_text(const batch_command *c, const json_t *batch)
{
    const json_t *runs = json_object_get(batch, "runs"), *first = json_array_get(runs, 0);
    const backend_list *backends = &c->backends;
    json_t *stages = rows_within(runs, "stages");

    text_print("batch: %s\n", batch_title(batch).text);
    sentences_print(batch_sentences(batch), NULL);
    show_table(batch_run_columns, runs);
    show_table(batch_stage_columns, stages);
    show_table(batch_memory_columns, runs);
    if (group_is_distributed())
        show_table(batch_rank_columns, json_object_get(first, "per_rank"));
    if (c->count > 1)
        show_table(batch_law_columns, runs);
    noise_print(runs, NULL);
    json_decref(stages);
    if (json_is_number(json_object_get(first, "error")))
        text_print("||a - a_k||_F / ||a||_F: %.3g %% over all images, %.3g %% for the worst image\n",
                   100 * row_number(first, "error"), 100 * row_number(first, "worst_error"));
    for (int b = 0; b < backends->count; b++)
        text_print("%s: %s\n", fl_device_describe(backends->open[b].device)->resource,
                   fl_device_describe(backends->open[b].device)->name);
    results_print_skipped(backends);
    if (group_is_distributed())
        text_print("%.0f ranks: the slowest took %.3g times the mean\n", row_number(first, "ranks"),
                   row_number(first, "imbalance"));
    if (row_number(first, "already_there") > 0)
        text_print("%.0f of %.0f outputs existed already (--resume)\n", row_number(first, "already_there"),
                   row_number(batch, "count"));
    show_failures(json_object_get(first, "failures"));
}

void batch_show(const batch_command *c)
{
    json_t *document = results_document(&c->backends, json_new_list()), *batch = make_batch(c);

    json_object_del(document, "results");
    json_put(document, "batch", batch);
    if (results_write(c->common, document))
        show_text(c, batch);
    json_decref(document);
}
