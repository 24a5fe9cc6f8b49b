/* SPDX-License-Identifier: MIT */
#include "page.h"

#include "batch/columns.h"
#include "support/memory.h"
#include "view/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 64, MOST_WORKERS = 12 };

static void add_wall(report_plots *plots, const json_t *runs, int count, const char *title)
{
    bar_row rows[MOST_RUNS];
    report_plot *p;

    for (int i = 0; i < count; i++) {
        const json_t *run = json_array_get(runs, (size_t)i);
        rows[i] =
            (bar_row){.seconds = {row_number(run, "wall_s"), row_number(json_object_get(run, "link"), "limit_s")}};
        snprintf(rows[i].label, sizeof rows[i].label, "%.16s %.12s", row_text(run, "resource"),
                 batch_pipeline(run).text);
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
    const double whole = (c->right - c->left) / high, line = c->left + whole;
    double x = c->left;
    char number[32];

    plot_label(c, w->name, c->left - 8, y, "right");
    for (int i = 0; i < w->parts; i++) {
        const char *name = row_text(w->stages[i], "stage");
        const double length = whole * row_number(w->stages[i], "utilization");
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

    snprintf(head, sizeof head, "%.16s %.12s, bound by %.32s", row_text(b->run, "resource"),
             batch_pipeline(b->run).text, row_text(b->run, "bound_by"));
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
    plot_rows_end(c);
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
