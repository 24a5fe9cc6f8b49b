/* SPDX-License-Identifier: MIT */
#include "batch.h"
#include "html.h"

#include "view/json.h"
#include "view/row.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- the document ---- */

/* Null, or what can be drawn. */
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

static void add(batch_words *w, const char *before, const char *text)
{
    size_t used = strlen(w->text);

    snprintf(w->text + used, sizeof w->text - used, "%s%s", before, text);
}

batch_words report_batch_title(const json_t *batch)
{
    const json_t *shape = json_object_get(batch, "shape");
    const char *source = row_text(batch, "source");
    batch_words w = {""};

    add(&w, "", format_count(row_number(batch, "count")).text);
    add(&w, " ",
        strcmp(source, "factors") == 0     ? "sets of factors"
        : strcmp(source, "synthetic") == 0 ? "matrices made here"
                                           : source);
    for (size_t i = 0; i < json_array_size(shape) && i < 4; i++)
        add(&w, i ? "x" : ", ", format_count(json_number_value(json_array_get(shape, i))).text);
    if (json_array_size(shape) > 0)
        add(&w, " ", row_text(batch, "dtype"));
    if (json_is_number(json_object_get(batch, "rank")))
        add(&w, ", rank ", format_count(row_number(batch, "rank")).text);
    if (json_is_string(json_object_get(batch, "decompose_on")))
        add(&w, ", decomposed on ", row_text(batch, "decompose_on"));
    return w;
}

batch_words report_batch_pipeline(const json_t *run)
{
    batch_words w = {""};

    add(&w, "", row_text(run, "pipeline"));
    if (strcmp(w.text, "streams") == 0)
        add(&w, ":", format_count(row_number(run, "streams")).text);
    return w;
}

static batch_words bound_of(const json_t *run)
{
    batch_words w = {"-"};
    const double utilization = row_number(run, "bound_utilization");

    if (utilization > 0)
        snprintf(w.text, sizeof w.text, "%s: %s %.0f %%", row_text(run, "bound"), row_text(run, "bound_by"),
                 100 * utilization);
    return w;
}

/* As `flynn batch` tells it of the run. */
static batch_words verdict_of(const json_t *run)
{
    const double failed = row_number(run, "failed"), done = row_number(run, "done"),
                 dropped = row_number(run, "dropped"), there = row_number(run, "already_there");
    batch_words w = {"ok"};

    if (json_is_true(json_object_get(run, "interrupted")) || json_is_string(json_object_get(run, "ended_by")) ||
        dropped > 0)
        snprintf(w.text, sizeof w.text, "ended at %.0f of %.0f", done + there, done + there + failed + dropped);
    else if (failed > 0)
        snprintf(w.text, sizeof w.text, "%.0f failed", failed);
    else if (!row_is_right(run))
        strcpy(w.text, row_number(json_object_get(run, "check"), "failed") > 0
                           ? "WRONG"
                           : "WRONG: other bits than another pipeline's");
    else if (json_is_true(json_object_get(run, "emulation")))
        strcpy(w.text, "ok (emulation: times mean nothing)");
    return w;
}

void report_batch_wrong(FILE *out, const json_t *run)
{
    const json_t *check = json_object_get(run, "check");

    fputs("<li><b>batch</b> on ", out);
    html_text(out, row_text(run, "resource"));
    fputs(", pipeline ", out);
    html_text(out, report_batch_pipeline(run).text);
    fputs(": ", out);
    html_text(out, verdict_of(run).text);
    if (json_is_string(json_object_get(run, "ended_by"))) {
        fputs("; ", out);
        html_text(out, row_text(run, "ended_by"));
    }
    if (row_number(check, "failed") > 0) {
        fputs("; ", out);
        html_value(out, json_object_get(check, "failed"));
        fputs(" of ", out);
        html_value(out, json_object_get(check, "compared"));
        fputs(" numbers are wrong, the worst is ", out);
        html_value(out, json_object_get(check, "worst_result"));
        fputs(" instead of ", out);
        html_value(out, json_object_get(check, "worst_expected"));
    }
    fputs("</li>\n", out);
}

/* --------------------------------------------------------------------------------------------------- tables ---- */

static void put_cell(FILE *out, const table_column *column, const char *text)
{
    html_element(out, column->is_number ? "td class=n" : "td", text);
}

static double spread_of(const json_t *run)
{
    enum { MOST = 1000 };
    const json_t *value;
    double s[MOST];
    int count = 0;
    statistics wall;
    size_t i;

    json_array_foreach(json_object_get(run, "times_s"), i, value) if (count < MOST) s[count++] =
        json_number_value(value);
    wall = statistics_of(s, count);
    return count > 1 ? wall.spread / wall.median : (double)NAN;
}

static const table_column run_columns[] = {
    {"backend", 0}, {"pipeline", 0}, {"images", 1},     {"wall", 1},    {"spread", 1}, {"images/s", 1}, {"speed-up", 1},
    {"overlap", 1}, {"bound by", 0}, {"link limit", 1}, {"reached", 1}, {"check", 0},  {NULL, 0},
};

static void put_run(FILE *out, const json_t *run, bool again)
{
    const json_t *link = json_object_get(run, "link"), *over = json_object_get(run, "over_one_by_one");
    const table_column *c = run_columns + 1;

    fputs(row_is_right(run) ? "<tr>" : "<tr class=wrong>", out);
    html_element(out, again ? "th scope=row class=again" : "th scope=row", row_text(run, "resource"));
    put_cell(out, c++, report_batch_pipeline(run).text);
    put_cell(out, c++, format_count(row_number(run, "done")).text);
    put_cell(out, c++, format_seconds(row_number(run, "wall_s")).text);
    put_cell(out, c++, format_percent(spread_of(run)).text);
    put_cell(out, c++, format_count(row_number(run, "images_per_s")).text);
    put_cell(out, c++, format_factor(row_number(over, "speed_up")).text);
    put_cell(out, c++, format_count(row_number(run, "overlap")).text);
    put_cell(out, c++, bound_of(run).text);
    put_cell(out, c++, format_seconds(row_number(link, "limit_s")).text);
    put_cell(out, c++, format_percent(row_number(link, "reached")).text);
    put_cell(out, c++, verdict_of(run).text);
    fputs("</tr>\n", out);
}

/* A body for each backend. */
static void put_runs(FILE *out, const json_t *runs)
{
    const char *before = NULL;
    const json_t *run;
    size_t i;

    html_table_begin(out, "Runs");
    html_table_heads(out, run_columns);
    json_array_foreach(runs, i, run)
    {
        const char *resource = row_text(run, "resource");
        const bool again = before && strcmp(before, resource) == 0;
        fputs(again ? "" : before ? "</tbody><tbody>" : "<tbody>", out);
        put_run(out, run, again);
        before = resource;
    }
    fputs("</tbody>", out);
    html_table_end(out);
}

static const table_column stage_columns[] = {
    {"backend", 0}, {"pipeline", 0}, {"stage", 0}, {"threads", 1}, {"busy", 1},
    {"of wall", 1}, {"images", 1},   {"each", 1},  {"moved", 1},   {NULL, 0},
};

static void put_stage(FILE *out, const json_t *run, const json_t *stage, bool again)
{
    const double busy = row_number(stage, "busy_s"), bytes = row_number(stage, "bytes");
    const table_column *c = stage_columns + 1;

    fputs("<tr>", out);
    html_element(out, again ? "th scope=row class=again" : "th scope=row", row_text(run, "resource"));
    put_cell(out, c++, report_batch_pipeline(run).text);
    put_cell(out, c++, row_text(stage, "stage"));
    put_cell(out, c++, format_count(row_number(stage, "threads")).text);
    put_cell(out, c++, format_seconds(busy).text);
    put_cell(out, c++, format_percent(row_number(stage, "utilization")).text);
    put_cell(out, c++, format_count(row_number(stage, "count")).text);
    put_cell(out, c++, format_seconds(busy / row_number(stage, "count")).text);
    put_cell(out, c++, format_rate(bytes > 0 ? bytes / busy : (double)NAN, "B/s").text);
    fputs("</tr>\n", out);
}

/* A body for each run. */
static void put_stages(FILE *out, const json_t *runs)
{
    const json_t *run, *stage;
    size_t i, k;

    html_table_begin(out, "Stages");
    html_table_heads(out, stage_columns);
    json_array_foreach(runs, i, run)
    {
        fputs("<tbody>", out);
        json_array_foreach(json_object_get(run, "stages"), k, stage) put_stage(out, run, stage, k > 0);
        fputs("</tbody>", out);
    }
    html_table_end(out);
}

static void put_batch(FILE *out, const json_t *batch, const report_plot *plots)
{
    const json_t *runs = json_object_get(batch, "runs");

    html_element(out, "h3", report_batch_title(batch).text);
    put_runs(out, runs);
    fputs("<div class=plots>", out);
    for (int i = 0; i < 2; i++)
        html_plot(out, &plots[i]);
    fputs("</div>\n", out);
    put_stages(out, runs);
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
          "What is busy all the time, 100 %, is what the others wait for.</p>\n",
          out);
    json_array_foreach(batches, i, batch) put_batch(out, batch, &plots->list[2 * i]);
    fputs("</section>\n", out);
}
