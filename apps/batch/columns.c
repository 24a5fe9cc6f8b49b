/* SPDX-License-Identifier: MIT */
#include "columns.h"
#include "item.h"

#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/units.h"

#include <stdio.h>
#include <string.h>

cell batch_title(const json_t *batch)
{
    const char *source = row_text(batch, "source"), *on = json_string_value(json_object_get(batch, "decompose_on"));
    const json_t *shape = json_object_get(batch, "shape"), *rank = json_object_get(batch, "singular_values");
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
    {.key = "resource"},
    {.title = "pipeline", .make = batch_pipeline},
    {.title = "images", .key = "done", .as = AS_COUNT},
    {.title = "wall", .key = "wall_s", .as = AS_SECONDS, .noise = "disturbed"},
    {.key = "spread"},
    {.title = "images/s", .key = "images_per_s", .as = AS_COUNT, .noise = "disturbed"},
    {.title = "speed-up", .key = "over_one_by_one.speed_up", .as = AS_FACTOR, .noise = "disturbed"},
    {.title = "overlap", .key = "overlap", .as = AS_COUNT, .drop = 17},
    {.title = "bound by", .make = bound_cell},
    {.title = "link limit", .key = "link.limit_s", .as = AS_SECONDS, .drop = 27},
    {.title = "reached", .key = "link.reached", .as = AS_PART, .drop = 25, .noise = "disturbed"},
    {.title = "check", .make = batch_verdict},
    {0},
};

const column batch_stage_columns[] = {
    {.key = "resource"},
    {.title = "pipeline", .make = batch_pipeline},
    {.title = "stage", .key = "stage"},
    {.title = "threads", .key = "threads", .as = AS_COUNT},
    {.title = "busy", .key = "busy_s", .as = AS_SECONDS},
    {.title = "of wall", .key = "utilization", .as = AS_PART},
    {.title = "images", .key = "count", .as = AS_COUNT},
    {.title = "each", .key = "each_s", .as = AS_SECONDS},
    {.title = "moved", .key = "bytes_per_s", .as = AS_BYTE_RATE},
    {0},
};

const column batch_law_columns[] = {
    {.key = "resource"},
    {.title = "pipeline", .make = batch_pipeline},
    {.title = "speed-up", .key = "over_one_by_one.speed_up", .as = AS_FACTOR, .noise = "disturbed"},
    {.title = "workers", .key = "over_one_by_one.workers", .as = AS_COUNT},
    {.title = "serial by Amdahl", .key = "over_one_by_one.amdahl_serial_fraction", .as = AS_NUMBER},
    {.title = "limit", .key = "over_one_by_one.amdahl_limit", .as = AS_FACTOR, .drop = 24},
    {.title = "serial by Gustafson", .key = "over_one_by_one.gustafson_serial_fraction", .as = AS_NUMBER},
    {.title = "two engines", .key = "engines_together.two_s", .as = AS_SECONDS},
    {.title = "all three", .key = "engines_together.three_s", .as = AS_SECONDS},
    {0},
};

const column batch_memory_columns[] = {
    {.key = "resource"},
    {.title = "pipeline", .make = batch_pipeline},
    {.title = "computed on", .key = "reconstruct_on", .drop = 37},
    {.title = "launches", .key = "launches", .as = AS_COUNT},
    {.title = "chunks", .key = "streams", .as = AS_COUNT, .drop = 36},
    {.title = "matrices each", .key = "chunk", .as = AS_COUNT, .drop = 39},
    {.title = "on the device", .key = "memory.device_bytes", .as = AS_BYTES},
    {.title = "for copies", .key = "memory.host_bytes", .as = AS_BYTES, .drop = 38},
    {.title = "factors", .key = "memory.factors_bytes", .as = AS_BYTES, .drop = 35},
    {.title = "images at most", .key = "memory.images_on_host", .as = AS_COUNT, .drop = 34},
    {.title = "peak of the process", .key = "memory.peak_bytes", .as = AS_BYTES},
    {0},
};

const column batch_rank_columns[] = {
    {.title = "rank", .key = "rank", .as = AS_COUNT},
    {.title = "host", .key = "host", .drop = 16},
    {.key = "resource"},
    {.title = "images", .key = "done", .as = AS_COUNT},
    {.title = "failed", .key = "failed", .as = AS_COUNT},
    {.title = "wall", .key = "wall_s", .as = AS_SECONDS},
    {.title = "images/s", .key = "images_per_s", .as = AS_COUNT},
    {0},
};

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

void batch_add_derived(json_t *batch)
{
    json_t *run, *stage;
    size_t i, k;

    json_array_foreach(json_object_get(batch, "runs"), i, run)
    {
        const fl_bench_statistics wall = row_statistics(json_object_get(run, "times_s"));
        json_put(run, "spread", json_number(statistics_spread(&wall)));
        noise_put(run, "");
        json_array_foreach(json_object_get(run, "stages"), k, stage)
        {
            const double busy = row_number(stage, "busy_s"), bytes = row_number(stage, "bytes");
            json_put(stage, "each_s", json_number(busy / row_number(stage, "count")));
            json_put(stage, "bytes_per_s", bytes > 0 ? json_number(bytes / busy) : json_null());
        }
    }
}
