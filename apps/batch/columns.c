/* SPDX-License-Identifier: MIT */
#include "columns.h"
#include "item.h"

#include "view/json.h"
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

const column batch_rank_columns[] = {
    {"rank", "rank", AS_COUNT, NULL},
    {"host", "host", AS_TEXT, NULL},
    {"backend", "resource", AS_TEXT, NULL},
    {"images", "done", AS_COUNT, NULL},
    {"failed", "failed", AS_COUNT, NULL},
    {"wall", "wall_s", AS_SECONDS, NULL},
    {"images/s", "images_per_s", AS_COUNT, NULL},
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
