/* SPDX-License-Identifier: MIT */
#include "batch.h"
#include "html.h"

#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- the document ---- */

/* Null, or a number that a plot can show. */
static bool is_amount(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    const double number = json_number_value(value);

    return !value || json_is_null(value) || (json_is_number(value) && number >= 0 && number < 1e15);
}

static const char *stages_lack(const json_t *run)
{
    const json_t *stages = json_object_get(run, "stages"), *stage;
    size_t i;

    if (!json_is_array(stages))
        return "a list of stages in each run";
    json_array_foreach(stages, i, stage)
    {
        if (!json_is_string(json_object_get(stage, "stage")))
            return "a name of each stage";
        if (!is_amount(stage, "busy_s") || !is_amount(stage, "utilization"))
            return "busy_s and utilization of a stage as numbers";
    }
    return NULL;
}

const char *report_batch_lacks(const json_t *batch)
{
    const json_t *runs = json_object_get(batch, "runs"), *run;
    const char *lacks;
    size_t i;

    if (json_array_size(runs) == 0)
        return "a list of runs";
    json_array_foreach(runs, i, run)
    {
        lacks = stages_lack(run);
        if (lacks)
            return lacks;
        if (!is_amount(run, "wall_s") || !is_amount(json_object_get(run, "link"), "limit_s"))
            return "wall_s and link.limit_s of a run as numbers";
    }
    return NULL;
}

/* The place of a stage in the life of an image; the last one for a stage that is not known. */
static const char *const stage_names[] = {"read",         "decode", "decompose", "copy to device", "reconstruct",
                                          "copy to host", "check",  "encode",    "write"};
enum { STAGE_NAMES = sizeof stage_names / sizeof *stage_names };

static size_t place_of(const json_t *stage)
{
    size_t place = 0;

    while (place < STAGE_NAMES && strcmp(row_text(stage, "stage"), stage_names[place]) != 0)
        place++;
    return place;
}

void report_batch_order(json_t *batch)
{
    json_t *run, *stage;
    size_t i, k;

    json_array_foreach(json_object_get(batch, "runs"), i, run)
    {
        json_t *ordered = json_new_list();
        for (size_t place = 0; place <= STAGE_NAMES; place++)
            json_array_foreach(json_object_get(run, "stages"), k, stage) if (place_of(stage) == place)
                json_array_append(ordered, stage);
        json_put(run, "stages", ordered);
    }
}

/* ---------------------------------------------------------------------------------------------------- words ---- */

/* The text with the value of a key; "" where there is none. */
static cell with(const char *text, const json_t *batch, const char *key)
{
    const json_t *value = json_object_get(batch, key);

    return !value || json_is_null(value) ? cell_print("%s", "") : cell_print("%s%.60s", text, cell_value(value).text);
}

cell report_batch_title(const json_t *batch)
{
    const char *source = row_text(batch, "source");
    const bool has_shape = json_array_size(json_object_get(batch, "shape")) > 0;

    return cell_print("%s %s%s%s%s%s", format_count(row_number(batch, "count")).text,
                      strcmp(source, "factors") == 0     ? "sets of factors"
                      : strcmp(source, "synthetic") == 0 ? "matrices made here"
                                                         : source,
                      with(", ", batch, has_shape ? "shape" : "").text, with(" ", batch, has_shape ? "dtype" : "").text,
                      with(", rank ", batch, "rank").text, with(", decomposed on ", batch, "decompose_on").text);
}

cell report_batch_pipeline(const json_t *run)
{
    const char *pipeline = row_text(run, "pipeline");

    if (strcmp(pipeline, "streams") != 0)
        return cell_print("%s", pipeline);
    return cell_print("streams:%s", format_count(row_number(run, "streams")).text);
}

static cell bound_of(const json_t *run)
{
    const double utilization = row_number(run, "bound_utilization");

    if (!(utilization > 0))
        return cell_print("-");
    return cell_print("%s: %s %.0f %%", row_text(run, "bound"), row_text(run, "bound_by"), 100 * utilization);
}

/* As `flynn batch` shows it. */
static cell verdict_of(const json_t *run)
{
    const double failed = row_number(run, "failed"), done = row_number(run, "done"),
                 dropped = row_number(run, "dropped"), there = row_number(run, "already_there");

    if (json_is_true(json_object_get(run, "interrupted")) || json_is_string(json_object_get(run, "ended_by")) ||
        dropped > 0)
        return cell_print("ended at %.0f of %.0f", done + there, done + there + failed + dropped);
    if (failed > 0)
        return cell_print("%.0f failed", failed);
    if (!row_is_right(run))
        return cell_print(row_number(run, "check.failed") > 0 ? "WRONG" : "WRONG: other bits than another pipeline's");
    return cell_print(row_is_ranked(run) ? "ok" : "ok (emulation: times mean nothing)");
}

static cell part(const json_t *row, const char *key)
{
    return cell_value(json_object_get(row, key));
}

void report_batch_wrong(FILE *out, const json_t *run)
{
    const json_t *check = json_object_get(run, "check");

    html_print(out, "<li><b>batch</b> on %s, pipeline %s: %s", row_text(run, "resource"),
               report_batch_pipeline(run).text, verdict_of(run).text);
    if (json_is_string(json_object_get(run, "ended_by")))
        html_print(out, "; %s", row_text(run, "ended_by"));
    if (row_number(check, "failed") > 0)
        html_print(out, "; %s of %s numbers are wrong, the worst is %s instead of %s", part(check, "failed").text,
                   part(check, "compared").text, part(check, "worst_result").text, part(check, "worst_expected").text);
    fputs("</li>\n", out);
}

/* --------------------------------------------------------------------------------------------------- tables ---- */

static cell spread_of(const json_t *run)
{
    const json_t *times = json_object_get(run, "times_s");
    const statistics wall = row_statistics(times);

    return cell_print("%s", json_array_size(times) > 1 ? format_percent(wall.spread / wall.median).text : "-");
}

static cell each_of(const json_t *stage)
{
    return cell_print("%s", format_seconds(row_number(stage, "busy_s") / row_number(stage, "count")).text);
}

static cell rate_of(const json_t *stage)
{
    const double bytes = row_number(stage, "bytes");

    return cell_print("%s", bytes > 0 ? format_rate(bytes / row_number(stage, "busy_s"), "B/s").text : "-");
}

static const column run_columns[] = {
    {.title = "backend", .key = "resource"},
    {.title = "pipeline", .make = report_batch_pipeline},
    {.title = "images", .key = "done", .as = AS_COUNT},
    {.title = "wall", .key = "wall_s", .as = AS_SECONDS},
    {.title = "spread", .make = spread_of, .as = AS_PART},
    {.title = "images/s", .key = "images_per_s", .as = AS_COUNT},
    {.title = "speed-up", .key = "over_one_by_one.speed_up", .as = AS_FACTOR},
    {.title = "overlap", .key = "overlap", .as = AS_COUNT},
    {.title = "bound by", .make = bound_of},
    {.title = "link limit", .key = "link.limit_s", .as = AS_SECONDS},
    {.title = "reached", .key = "link.reached", .as = AS_PART},
    {.title = "check", .key = "check", .make = verdict_of},
    {0},
};

static const column stage_columns[] = {
    {.title = "backend", .key = "resource"},
    {.title = "pipeline", .make = report_batch_pipeline},
    {.title = "stage", .key = "stage"},
    {.title = "threads", .key = "threads", .as = AS_COUNT},
    {.title = "busy", .key = "busy_s", .as = AS_SECONDS},
    {.title = "of wall", .key = "utilization", .as = AS_PART},
    {.title = "images", .key = "count", .as = AS_COUNT},
    {.title = "each", .make = each_of, .as = AS_SECONDS},
    {.title = "moved", .make = rate_of, .as = AS_BYTE_RATE},
    {0},
};

static void put_batch(FILE *out, const json_t *batch, const report_plot *plots)
{
    const json_t *runs = json_object_get(batch, "runs");
    json_t *stages = rows_within(runs, "stages");

    html_print(out, "<h3>%s</h3>", report_batch_title(batch).text);
    html_table(out, "Runs", run_columns, runs, 1);
    fputs("<div class=plots>", out);
    for (int i = 0; i < 2; i++)
        html_plot(out, &plots[i]);
    fputs("</div>\n", out);
    html_table(out, "Stages", stage_columns, stages, 2);
    json_decref(stages);
}

void report_batch_write(FILE *out, const json_t *batches, const report_plots *plots)
{
    const json_t *batch;
    size_t i;

    if (json_array_size(batches) == 0)
        return;
    fputs("<section><h2>Batch</h2>\n<p class=note>Wall is the median of the timed passes, spread their interquartile "
          "range. Speed-up: over one-by-one on the same backend. Overlap: seconds that all threads and engines were "
          "busy, over wall. Bound by: what was busy for the largest part of the time. Link limit: the least time that "
          "the link takes; reached: that over wall.</p>\n<p class=note>Wall: <span class=kernel></span> wall <span "
          "class=total></span> link limit. Busy: <span class=kernel></span> compute <span class=total></span> link "
          "<span class=other></span> CPU <span class=disk></span> I/O; stages that the same threads do are one bar. "
          "The others wait for the one that is busy all the time, 100 %.</p>\n",
          out);
    json_array_foreach(batches, i, batch) put_batch(out, batch, &plots->list[2 * i]);
    fputs("</section>\n", out);
}
