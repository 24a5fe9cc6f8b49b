/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include "ranks/child.h"
#include "support/fail.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/stopped.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { ROUNDS = 3, MOST_ROUNDS = 64, MOST_IMAGES = 100000 };

/* The processes of the command. */
typedef struct progress_count {
    int done, all;
} progress_count;

static int rounds_of(const laws_batch *what)
{
    const int asked = what->common->repeat;

    return asked == 0 ? ROUNDS : asked > MOST_ROUNDS ? MOST_ROUNDS : asked;
}

/* The seconds of a run in which every image was done; `exit_code`: its process's. */
static double seconds_of(const json_t *run, int exit_code)
{
    const json_t *failure = json_array_get(json_object_get(run, "failures"), 0);

    if (failure)
        fail(exit_code == EXIT_DONE ? EXIT_WRONG_RESULT : exit_code,
             "%s; no law is fitted to a batch without all of its images", row_text(failure, "message"));
    return row_number(run, "wall_s");
}

/* Runs one batch of the first `images` images and stores its seconds. Keeps the first document. Returns whether all
 * images were done: false if a signal or --max-time ended it, or nothing more is to start. */
static bool run_once(const laws_batch *what, int64_t workers, int images, progress_count *p, json_t **first,
                     double *seconds)
{
    common_options common = *what->common;
    child_words w;
    const json_t *run;
    char backend[64];

    if (stopped_now(p->done))
        return false;
    w = child_words_start("batch");
    progress("%d of %d", p->done + 1, p->all);
    progress_part((double)p->done / p->all);
    child_words_add(&w, "--pipeline=full");
    child_words_add(&w, "--threads=%" PRId64, workers);
    if (what->threaded)
        snprintf(backend, sizeof backend, "%s:%" PRId64 "%s", what->backend, workers, what->isa);
    else
        snprintf(backend, sizeof backend, "%s%s", what->backend, what->isa);
    common.backends = (char *[]){backend};
    common.backend_count = 1;
    child_words_common(&w, LAWS_BATCH_TAKES, &common);
    if (what->keep)
        child_words_add(&w, "--keep=%" PRId64, what->keep);
    child_words_add(&w, "--");
    for (int i = 0; i < images; i++)
        child_words_add(&w, "%s", what->source.inputs[i]);
    child_result r = child_run(&w);
    run = json_array_get(json_object_get(json_object_get(r.document, "batch"), "runs"), 0);
    if ((!run || row_number(run, "dropped") > 0) && stopped_now(p->done)) {
        json_decref(r.document);
        return false;
    }
    child_must(&r, "batch");
    if (row_number(run, "dropped") > 0)
        fail(EXIT_BROKEN,
             "--max-time: not even the first batch ended within %g s; give it more time, or a smaller input",
             what->common->max_time_s);
    *seconds = seconds_of(run, r.exit_code);
    if (*first)
        json_decref(r.document);
    else
        *first = r.document;
    p->done++;
    progress_end();
    return true;
}

law_point laws_batch_point(const laws_batch *what, int64_t workers, int images, double work, const double *seconds,
                           int count)
{
    json_t *row = json_new_object();
    law_point p = {.result = -1,
                   .n = workers,
                   .size = images,
                   .work = work,
                   .kernel = statistics_of(seconds, count),
                   .bytes_per_s = NAN,
                   .percent_of_ceiling = NAN,
                   .imbalance = NAN,
                   .link_share = NAN,
                   .oversubscribed = workers > what->processors};

    json_put(row, "times_s", json_numbers(seconds, count));
    noise_put(row, "");
    law_point_disturb(&p, row);
    json_decref(row);
    return p;
}

/* images[i] images by n[i] workers, in turns. A point has the rounds that were run; adds those that were not. */
static void measure(const laws_batch *what, const int *images, progress_count *p, json_t **first, law_points *points,
                    json_t *not_run)
{
    static double seconds[MOST_POINTS][MOST_ROUNDS];
    const int rounds = rounds_of(what);
    int count[MOST_POINTS] = {0};

    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < what->count; i++)
            if (run_once(what, what->n[i], images[i], p, first, &seconds[i][count[i]]))
                count[i]++;
    points->count = 0;
    for (int i = 0; i < what->count; i++) {
        const int missing = rounds - count[i];
        const char *part = count[i] ? cell_print("%d of %d rounds of ", missing, rounds).text : "";
        if (missing)
            json_append(not_run,
                        json_text(cell_print("%s%s scaling, n = %" PRId64, part, points->kind, what->n[i]).text));
        if (count[i])
            points->list[points->count++] =
                laws_batch_point(what, what->n[i], images[i], (double)images[i] / images[0], seconds[i], count[i]);
    }
}

void laws_batch_find(laws_batch *what)
{
    static const batch_options own;
    common_options images = *what->common;

    images.arguments++;
    images.argument_count--;
    if (images.argument_count == 0)
        fail(EXIT_BAD_INPUT, "batch needs images; expected PNGs or folders of them, such as flynn laws batch photos/");
    what->source = inputs_find(&own, &images);
    if (what->source.count < what->n[what->count - 1])
        fail(EXIT_BAD_INPUT, "%" PRId64 " images are too few for %" PRId64 " workers; expected at least one for each",
             what->source.count, what->n[what->count - 1]);
    if (what->source.count > MOST_IMAGES)
        fail(EXIT_BAD_INPUT, "%" PRId64 " images are too many; expected at most %d", what->source.count, MOST_IMAGES);
}

json_t *laws_batch_measure(const laws_batch *what, law_points points[2])
{
    const int all = (int)what->source.count;
    const double most = (double)what->n[what->count - 1];
    progress_count p = {0, 2 * rounds_of(what) * what->count};
    int strong[MOST_POINTS], weak[MOST_POINTS];
    json_t *document = NULL, *not_run = json_new_list();

    child_catch_signals();
    for (int i = 0; i < what->count; i++) {
        strong[i] = all;
        weak[i] = (int)fmax(1, round(all * (double)what->n[i] / most));
    }
    points[0].kind = "strong";
    points[0].law = AMDAHL;
    measure(what, strong, &p, &document, &points[0], not_run);
    points[1].kind = "weak";
    points[1].law = GUSTAFSON;
    measure(what, weak, &p, &document, &points[1], not_run);
    if (!document)
        stopped_leave();
    json_object_del(document, "batch");
    json_put(document, "results", json_new_list());
    stopped_put(document, "points", 2 * what->count - (int)json_array_size(not_run), not_run);
    return document;
}
