/* SPDX-License-Identifier: MIT */
#include "page.h"
#include "html.h"

#include "batch/columns.h"
#include "batch/item.h"
#include "view/json.h"
#include "view/row.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

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

/* The place of a stage in the life of an image; the last one for an unknown stage. */
static int place_of(const json_t *stage)
{
    int place = 0;

    while (place < STAGES && strcmp(row_text(stage, "stage"), stage_kinds[place].name) != 0)
        place++;
    return place;
}

void report_batch_prepare(json_t *batch)
{
    json_t *run, *stage;
    size_t i, k;

    json_array_foreach(json_object_get(batch, "runs"), i, run)
    {
        json_t *ordered = json_new_list();
        for (int place = 0; place <= STAGES; place++)
            json_array_foreach(json_object_get(run, "stages"), k, stage) if (place_of(stage) == place)
                json_array_append(ordered, stage);
        json_put(run, "stages", ordered);
    }
    batch_add_derived(batch);
}

static cell part(const json_t *row, const char *key)
{
    return cell_value(json_object_get(row, key));
}

void report_batch_wrong(FILE *out, const json_t *run)
{
    const json_t *check = json_object_get(run, "check");

    html_print(out, "<li><b>batch</b> on %s, pipeline %s: %s", row_text(run, "resource"), batch_pipeline(run).text,
               batch_verdict(run).text);
    if (json_is_string(json_object_get(run, "ended_by")))
        html_print(out, "; %s", row_text(run, "ended_by"));
    if (row_number(check, "failed") > 0)
        html_print(out, "; %s of %s numbers are wrong, the worst is %s instead of %s", part(check, "failed").text,
                   part(check, "compared").text, part(check, "worst_result").text, part(check, "worst_expected").text);
    fputs("</li>\n", out);
}

static void put_batch(FILE *out, const json_t *batch, const report_plot *plots)
{
    const json_t *runs = json_object_get(batch, "runs");
    json_t *stages = rows_within(runs, "stages");

    html_print(out, "<h3>%s</h3>", batch_title(batch).text);
    html_table(out, "Runs", batch_run_columns, runs, 1);
    fputs("<div class=plots>", out);
    for (int i = 0; i < 2; i++)
        html_plot(out, &plots[i]);
    fputs("</div>\n", out);
    html_table(out, "Stages", batch_stage_columns, stages, 2);
    json_decref(stages);
}

void report_batch_write(FILE *out, const json_t *batches, const report_plots *plots)
{
    const json_t *batch;
    size_t i;

    json_array_foreach(batches, i, batch) put_batch(out, batch, &plots->list[2 * i]);
}
