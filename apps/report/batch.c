/* SPDX-License-Identifier: MIT
 *
 * batch.c - the report's part on batches: tables of pipelines and stages, and a plot of how busy each engine was.
 */
#include "page.h"
#include "html.h"

#include "batch/columns.h"
#include "batch/item.h"
#include "support/memory.h"
#include "view/json.h"
#include "view/row.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
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
                json_append(ordered, json_incref(stage));
        json_put(run, "stages", ordered);
    }
    batch_add_derived(batch);
}

static void put_batch(FILE *out, const json_t *batch, const report_plot *plots)
{
    const json_t *runs = json_object_get(batch, "runs");
    json_t *stages = rows_within(runs, "stages");

    html_print(out, "<h3>%s</h3>", batch_title(batch).text);
    html_table(out, "Runs", batch_run_columns, runs, 1);
    if (plots) {
        fputs("<div class=plots>", out);
        for (int i = 0; i < 2; i++)
            html_plot(out, &plots[i]);
        fputs("</div>\n", out);
    }
    html_table(out, "Stages", batch_stage_columns, stages, 2);
    json_decref(stages);
}

void report_batch_write(FILE *out, const json_t *batches, const report_plots *plots)
{
    const json_t *batch;
    size_t i;

    json_array_foreach(batches, i, batch) put_batch(out, batch, plots->count > 0 ? &plots->list[2 * i] : NULL);
}

enum { MOST_RUNS = 64, MOST_WORKERS = 12 };

static void add_wall(report_plots *plots, const json_t *runs, int count, const char *title)
{
    bar_row rows[MOST_RUNS];
    report_plot *p;

    for (int i = 0; i < count; i++) {
        const json_t *run = json_array_get(runs, (size_t)i);
        rows[i] = bar_row_of(run, batch_pipeline(run).text, "wall_s", "link.limit_s");
    }
    p = plot_add_times(plots, "batch-wall", title, rows, count);
    snprintf(p->title, sizeof p->title, "Wall");
}

/* Threads that do the same stages, or an engine of the device: as `bound by` adds them up (docs/commands/batch.md). */
typedef struct worker {
    char name[32];
    double busy; /* of wall */
    int parts;
    const json_t *stages[MOST_WORKERS];
} worker;

typedef struct busy_run {
    const json_t *run;
    int count;
    worker workers[MOST_WORKERS];
} busy_run;

static worker *worker_of(busy_run *b, const json_t *stage)
{
    worker new = {.busy = 0};

    snprintf(new.name, sizeof new.name, "%.24s", batch_worker(b->run, stage));
    for (int i = 0; i < b->count; i++)
        if (strcmp(b->workers[i].name, new.name) == 0)
            return &b->workers[i];
    if (b->count == MOST_WORKERS)
        return NULL;
    b->workers[b->count] = new;
    return &b->workers[b->count++];
}

static void collect(busy_run *b)
{
    const json_t *stage;
    size_t i;

    json_array_foreach(json_object_get(b->run, "stages"), i, stage)
    {
        const double part = row_number(stage, "utilization");
        worker *w = worker_of(b, stage);
        if (!w || w->parts == MOST_WORKERS || !(part > 0))
            continue;
        w->busy += part;
        w->stages[w->parts++] = stage;
    }
}

enum { BUSY_WIDTH = 480, BAR = 18, HEAD = 24, NUMBER = 46 };

static const char *colour_of(const json_t *stage)
{
    const char *bound = row_text(stage, "bound");

    return strcmp(bound, "I/O") == 0       ? VIOLET
           : strcmp(bound, "link") == 0    ? ORANGE
           : strcmp(bound, "compute") == 0 ? BLUE
                                           : GREY;
}

/* Its stages one after the other, with their names where there is room. */
static void put_worker(const canvas *c, const worker *w, double y, double high)
{
    /* Only an emulation's bar, which does not set the scale, would be longer. */
    const double whole = (c->right - c->left) / high, line = c->left + whole, end = c->right - NUMBER + 2;
    double x = c->left;
    char number[32];

    plot_label(c, w->name, c->left - 8, y, "right");
    for (int i = 0; i < w->parts; i++) {
        const char *name = row_text(w->stages[i], "stage");
        const double length = fmin(whole * row_number(w->stages[i], "utilization"), end - x);
        plot_bar(c, x, x + fmax(length - 1, 0.5), y, colour_of(w->stages[i]));
        if (w->parts > 1 && plot_text_width(name) < length)
            plot_label(c, name, x + length / 2, y, "center front tc rgb 'white'");
        x += length;
    }
    snprintf(number, sizeof number, w->busy < 0.1 ? "%.2g %%" : "%.0f %%", 100 * w->busy);
    plot_label(c, number, x < line && x + NUMBER > line ? line + 5 : x + 5, y, "left");
}

static void put_run(const canvas *c, const busy_run *b, double top, double high)
{
    char head[128];

    snprintf(head, sizeof head, "%.16s %.12s, %sbound by %.32s", row_text(b->run, "resource"),
             batch_pipeline(b->run).text, json_is_true(json_object_get(b->run, "emulation")) ? "emulation, " : "",
             row_text(b->run, "bound_by"));
    plot_label(c, head, 8, top - HEAD / 2 - 1, "left");
    for (int i = 0; i < b->count; i++)
        put_worker(c, &b->workers[i], top - HEAD - (i + 0.5) * BAR, high);
}

static void draw_busy(canvas *c, const busy_run *list, int count, double most)
{
    const double high = most * (c->right - c->left) / (c->right - c->left - NUMBER);
    double top = c->top;

    snprintf(c->plot->title, sizeof c->plot->title, "Busy, of wall");
    fprintf(c->script,
            "set xrange [0:%.9g]\nset xtics %.9g format '%%g %%%%' scale 0\n"
            "set arrow from 100,graph 0 to 100,graph 1 nohead lw 1 dt 2 lc rgb '" GREY "'\n",
            100 * high, high < 1.5 ? 25 : axis_step(100 * high, 5));
    for (int i = 0; i < count; i++) {
        put_run(c, &list[i], top, high);
        top -= HEAD + list[i].count * BAR;
    }
    fprintf(c->script, "plot NaN\n");
    plot_end(c);
}

static void add_busy(report_plots *plots, const json_t *runs, int count, const char *title)
{
    busy_run *list = memory_zeroed((size_t)count, sizeof *list);
    int height = 34, letters = 1;
    double most = 1;
    canvas c;

    for (int i = 0; i < count; i++) {
        list[i].run = json_array_get(runs, (size_t)i);
        collect(&list[i]);
        height += HEAD + list[i].count * BAR;
        for (int k = 0; k < list[i].count; k++) {
            const worker *w = &list[i].workers[k];
            letters = (int)strlen(w->name) > letters ? (int)strlen(w->name) : letters;
            if (!json_is_true(json_object_get(list[i].run, "emulation")))
                most = fmax(most, w->busy);
        }
    }
    c = plot_begin(plots, "batch-busy", title, BUSY_WIDTH, height, letters);
    draw_busy(&c, list, count, most);
    free(list);
}

void report_plots_batch(report_plots *plots, const json_t *batches)
{
    const json_t *batch;
    size_t i;

    json_array_foreach(batches, i, batch)
    {
        const json_t *runs = json_object_get(batch, "runs");
        const cell title = batch_title(batch);
        const int count = json_array_size(runs) < MOST_RUNS ? (int)json_array_size(runs) : MOST_RUNS;
        add_wall(plots, runs, count, title.text);
        add_busy(plots, runs, count, title.text);
    }
}
