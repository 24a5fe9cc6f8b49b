/* SPDX-License-Identifier: MIT */
#include "columns.h"
#include "item.h"

#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/units.h"

#include <stdio.h>
#include <string.h>

/* "images", "sets of factors" */
static cell unit_of(const json_t *batch)
{
    const char *source = row_text(batch, "source");

    return cell_print("%.16s", strcmp(source, "factors") == 0     ? "sets of factors"
                               : strcmp(source, "synthetic") == 0 ? "random matrices"
                                                                  : source);
}

cell batch_title(const json_t *batch)
{
    const char *on = json_string_value(json_object_get(batch, "decompose_on"));
    const json_t *shape = json_object_get(batch, "shape"), *keep = json_object_get(batch, "singular_values");
    char of_shape[48] = "", of_keep[40] = "";

    if (json_array_size(shape) == 2)
        snprintf(of_shape, sizeof of_shape, ", %.0fx%.0f %.8s", json_number_value(json_array_get(shape, 0)),
                 json_number_value(json_array_get(shape, 1)), row_text(batch, "dtype"));
    if (json_is_number(keep))
        snprintf(of_keep, sizeof of_keep, ", %s", format_components(json_number_value(keep)).text);
    return cell_print("%s %s%s%s%s%.48s", format_count(row_number(batch, "count")).text, unit_of(batch).text, of_shape,
                      of_keep, on ? ", decomposed on " : "", on ? on : "");
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
    {.key = "pipeline", .make = batch_pipeline},
    {.key = "done"},
    {.key = "wall_s"},
    {.key = "spread"},
    {.key = "images_per_s"},
    {.key = "over_one_by_one.speed_up"},
    {.key = "overlap"},
    {.key = "bound_by", .make = bound_cell},
    {.key = "link.limit_s"},
    {.key = "link.reached"},
    {.key = "check", .make = batch_verdict},
    {0},
};

const column batch_stage_columns[] = {
    {.key = "resource"},    {.key = "pipeline", .make = batch_pipeline},
    {.key = "stage"},       {.key = "threads"},
    {.key = "busy_s"},      {.key = "utilization"},
    {.key = "count"},       {.key = "each_s"},
    {.key = "bytes_per_s"}, {0},
};

const column batch_law_columns[] = {
    {.key = "resource"},
    {.key = "pipeline", .make = batch_pipeline},
    {.key = "over_one_by_one.speed_up"},
    {.key = "over_one_by_one.workers"},
    {.key = "over_one_by_one.amdahl_serial_fraction"},
    {.key = "over_one_by_one.amdahl_limit"},
    {.key = "over_one_by_one.gustafson_serial_fraction"},
    {.key = "engines_together.two_s"},
    {.key = "engines_together.three_s"},
    {0},
};

const column batch_memory_columns[] = {
    {.key = "resource"},
    {.key = "pipeline", .make = batch_pipeline},
    {.key = "reconstruct_on"},
    {.key = "launches"},
    {.key = "streams"},
    {.key = "chunk"},
    {.key = "memory.device_bytes"},
    {.key = "memory.host_bytes"},
    {.key = "memory.factors_bytes"},
    {.key = "memory.images_on_host"},
    {.key = "memory.peak_bytes"},
    {0},
};

const column batch_rank_columns[] = {
    {.key = "rank"},   {.key = "host"},   {.key = "resource"},     {.key = "done"},
    {.key = "failed"}, {.key = "wall_s"}, {.key = "images_per_s"}, {0},
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

/* Returns whether noise decides the speed-up: that of the run, or of the device's run one-by-one. */
static bool is_speed_up_noisy(const json_t *runs, const json_t *run)
{
    const json_t *other;
    bool noisy = row_is_noisy(run);
    size_t i;

    json_array_foreach(runs, i, other) noisy =
        noisy || (row_is_noisy(other) && strcmp(row_text(other, "pipeline"), "one-by-one") == 0 &&
                  strcmp(row_text(other, "resource"), row_text(run, "resource")) == 0);
    return noisy;
}

void batch_add_derived(json_t *batch)
{
    const json_t *runs = json_object_get(batch, "runs");
    json_t *run, *stage;
    size_t i, k;

    json_array_foreach(runs, i, run)
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
    json_array_foreach(runs, i, run) json_put(run, "speed_up_disturbed", json_boolean(is_speed_up_noisy(runs, run)));
}

/* "all 6 images are right"; "4 of 6 images are right, 1 failed, 1 existed already". Images that existed already are
 * not looked at. "": none was done. */
static cell right_text(const json_t *batch, const json_t *run)
{
    const double all = row_number(batch, "count"), done = row_number(run, "done"), failed = row_number(run, "failed"),
                 there = row_number(run, "already_there");
    cell others = {""};

    if (!row_is_right(run) && failed == 0 && !(row_number(run, "dropped") > 0))
        return cell_print("the results are wrong");
    if (failed > 0)
        others = cell_print(", %s failed", format_count(failed).text);
    if (there > 0)
        others = cell_print("%s, %s existed already", others.text, format_count(there).text);
    if (done == all && all > 1)
        return cell_print("%s %s are right", all == 2 ? "both" : cell_print("all %s", format_count(all).text).text,
                          unit_of(batch).text);
    return done > 0 && all > 1 ? cell_print("%s of %s %s are right%s", format_count(done).text, format_count(all).text,
                                            unit_of(batch).text, others.text)
                               : (cell){""};
}

/* "the busiest is decompose (CPU), 97 % of the time"; "" of noise and emulations. */
static cell busiest_text(const json_t *run)
{
    const double part = row_number(run, "bound_utilization");

    if (!(part > 0) || row_is_noisy(run) || json_is_true(json_object_get(run, "emulation")))
        return (cell){""};
    return cell_print("the busiest is %.40s (%.10s), %.0f %% of the time", row_text(run, "bound_by"),
                      row_text(run, "bound"), 100 * part);
}

/* Complete runs, which are compared by their wall times; the pipeline is their variant. */
static json_t *contest_of(const json_t *runs)
{
    json_t *rows = json_new_list(), *run;
    size_t i;

    json_array_foreach(runs, i, run)
    {
        if (row_number(run, "dropped") > 0 || json_is_string(json_object_get(run, "ended_by")) ||
            json_is_true(json_object_get(run, "interrupted")))
            continue;
        json_t *row = json_new_copy(run);
        json_put(row, "variant", json_text(batch_pipeline(run).text));
        json_append(rows, row);
    }
    return rows;
}

json_t *batch_sentences(const json_t *batch)
{
    const json_t *runs = json_object_get(batch, "runs"), *only = json_array_get(runs, 0);
    json_t *sentences = sentences_of_right(runs);

    if (json_array_size(runs) == 1) {
        const cell texts[] = {right_text(batch, only), busiest_text(only)};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            if (*texts[i].text)
                json_append(sentences, json_text(texts[i].text));
        return sentences;
    }
    json_t *rows = contest_of(runs), *fastest = sentences_by(rows, "wall", "done", "cases");
    json_array_extend(sentences, fastest);
    json_decref(fastest);
    json_decref(rows);
    return sentences;
}
