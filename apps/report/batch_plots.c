/* SPDX-License-Identifier: MIT */
#include "bars.h"
#include "batch.h"

#include "support/memory.h"
#include "view/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VIOLET "#8a4fd0"

enum { MOST_RUNS = 64, MOST_WORKERS = 12 };

/* -------------------------------------------------------------------------------------------- the wall time ---- */

static void add_wall(report_plots *plots, const json_t *runs, int count, const char *title)
{
    bar_row rows[MOST_RUNS];
    report_plot *p;

    for (int i = 0; i < count; i++) {
        const json_t *run = json_array_get(runs, (size_t)i);
        rows[i] =
            (bar_row){.seconds = {row_number(run, "wall_s"), row_number(json_object_get(run, "link"), "limit_s")}};
        snprintf(rows[i].label, sizeof rows[i].label, "%.16s %.12s", row_text(run, "resource"),
                 report_batch_pipeline(run).text);
    }
    p = plot_add_times(plots, "batch-wall", title, rows, count);
    snprintf(p->title, sizeof p->title, "Wall");
}

/* --------------------------------------------------------------------------------- how busy everything was ---- */

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

static const char *worker_name(const json_t *run, const json_t *stage)
{
    static const char *const threads[][2] = {{"read", "read, decode"},
                                             {"decode", "read, decode"},
                                             {"check", "check, encode, write"},
                                             {"encode", "check, encode, write"},
                                             {"write", "check, encode, write"}};
    const char *name = row_text(stage, "stage");

    if (!json_is_number(json_object_get(stage, "threads")))
        return name;
    if (strcmp(row_text(run, "pipeline"), "full") != 0)
        return "the host's thread";
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        if (strcmp(name, threads[i][0]) == 0)
            return threads[i][1];
    return name;
}

static worker *worker_of(busy_run *b, const json_t *stage)
{
    worker new = {.busy = 0};

    snprintf(new.name, sizeof new.name, "%.24s", worker_name(b->run, stage));
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
static void put_worker(FILE *script, const worker *w, double y, double high, const frame *f)
{
    const double whole = (f->right - f->left) / high, line = f->left + whole;
    double x = f->left;
    char number[32];

    plot_label(script, w->name, f->left - 8, y, f, "right");
    for (int i = 0; i < w->parts; i++) {
        const char *name = row_text(w->stages[i], "stage");
        const double length = whole * row_number(w->stages[i], "utilization");
        plot_bar(script, x, x + fmax(length - 1, 0.5), y, f, colour_of(w->stages[i]));
        if (w->parts > 1 && (double)strlen(name) * LETTER < length)
            plot_label(script, name, x + length / 2, y, f, "center front tc rgb 'white'");
        x += length;
    }
    snprintf(number, sizeof number, w->busy < 0.1 ? "%.2g %%" : "%.0f %%", 100 * w->busy);
    plot_label(script, number, x < line && x + NUMBER > line ? line + 5 : x + 5, y, f, "left");
}

static void put_run(FILE *script, const busy_run *b, double top, double high, const frame *f)
{
    char head[128];

    snprintf(head, sizeof head, "%.16s %.12s, bound by %.32s", row_text(b->run, "resource"),
             report_batch_pipeline(b->run).text, row_text(b->run, "bound_by"));
    plot_label(script, head, 8, top - HEAD / 2 - 1, f, "left");
    for (int i = 0; i < b->count; i++)
        put_worker(script, &b->workers[i], top - HEAD - (i + 0.5) * BAR, high, f);
}

static void put_axis(FILE *script, double high)
{
    fprintf(script,
            "set xrange [0:%.9g]\nset xtics %.9g format '%%g %%%%' scale 0\nunset ytics\nset yrange [0:1]\n"
            "set arrow from 100,graph 0 to 100,graph 1 nohead lw 1 dt 2 lc rgb '" GREY "'\n",
            100 * high, high < 1.5 ? 25 : plot_step(100 * high, 5));
}

static void draw_busy(report_plot *p, const busy_run *list, int count, double most, int longest)
{
    const frame f = {p->width, p->height, 12 + LETTER * longest, p->width - 14, 26, p->height - 4};
    const double room = (double)(f.right - f.left) / (f.right - f.left - NUMBER), high = room * most;
    double top = f.top;
    size_t size;
    FILE *script = plot_script(p, &size);

    plot_frame(script, &f);
    put_axis(script, high);
    for (int i = 0; i < count; i++) {
        put_run(script, &list[i], top, high, &f);
        top -= HEAD + list[i].count * BAR;
    }
    fprintf(script, "plot NaN\n");
    plot_close(script);
}

static void add_busy(report_plots *plots, const json_t *runs, int count, const char *title)
{
    busy_run *list = memory_zeroed((size_t)count, sizeof *list);
    int height = 34, longest = 0;
    double most = 1;
    report_plot *p;

    for (int i = 0; i < count; i++) {
        list[i].run = json_array_get(runs, (size_t)i);
        collect(&list[i]);
        height += HEAD + list[i].count * BAR;
        for (int k = 0; k < list[i].count; k++) {
            const worker *w = &list[i].workers[k];
            longest = (int)strlen(w->name) > longest ? (int)strlen(w->name) : longest;
            most = fmax(most, w->busy);
        }
    }
    p = plot_add(plots, "batch-busy", title, BUSY_WIDTH, height);
    snprintf(p->title, sizeof p->title, "Busy, of wall");
    draw_busy(p, list, count, most, longest);
    free(list);
}

void report_batch_plots(report_plots *plots, const json_t *batches)
{
    const json_t *batch;
    size_t i;

    json_array_foreach(batches, i, batch)
    {
        const json_t *runs = json_object_get(batch, "runs");
        const cell title = report_batch_title(batch);
        const int count = json_array_size(runs) < MOST_RUNS ? (int)json_array_size(runs) : MOST_RUNS;
        add_wall(plots, runs, count, title.text);
        add_busy(plots, runs, count, title.text);
    }
}
