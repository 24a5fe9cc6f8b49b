/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include "ranks/child.h"
#include "support/fail.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"

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

/* The seconds of a run in which every image was done. */
static double seconds_of(const json_t *run)
{
    const json_t *failure = json_array_get(json_object_get(run, "failures"), 0);

    if (failure)
        fail(EXIT_WRONG_RESULT, "%s; no law is fitted to a batch without all of its images",
             row_text(failure, "message"));
    return row_number(run, "wall_s");
}

/* The seconds of one batch of the first `images` images. Keeps the first document. */
static double run_once(const laws_batch *what, int64_t workers, int images, progress_count *p, json_t **first)
{
    common_options common = *what->common;
    child_words w = child_words_start("batch");
    json_t *document;
    char backend[64];
    double seconds;

    if (progress_is_late())
        fail(EXIT_BROKEN, "--max-time: the time was over after %d of %d processes, and a law needs all", p->done,
             p->all);
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
    document = child_document(&w, "batch");
    seconds = seconds_of(json_array_get(json_object_get(json_object_get(document, "batch"), "runs"), 0));
    if (*first)
        json_decref(document);
    else
        *first = document;
    p->done++;
    progress_end();
    return seconds;
}

static law_point point_of(const laws_batch *what, int64_t workers, int images, double work, const double *seconds,
                          int count)
{
    return (law_point){.result = -1,
                       .n = workers,
                       .size = images,
                       .work = work,
                       .kernel = statistics_of(seconds, count),
                       .bytes_per_s = NAN,
                       .percent_of_ceiling = NAN,
                       .imbalance = NAN,
                       .link_share = NAN,
                       .oversubscribed = workers > what->processors};
}

/* images[i] images by n[i] workers, in turns. */
static void measure(const laws_batch *what, const int *images, progress_count *p, json_t **first, law_points *points)
{
    static double seconds[MOST_POINTS][MOST_ROUNDS];
    const int rounds = rounds_of(what);

    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < what->count; i++)
            seconds[i][r] = run_once(what, what->n[i], images[i], p, first);
    points->count = what->count;
    for (int i = 0; i < what->count; i++)
        points->list[i] = point_of(what, what->n[i], images[i], (double)images[i] / images[0], seconds[i], rounds);
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
    json_t *document = NULL;

    for (int i = 0; i < what->count; i++) {
        strong[i] = all;
        weak[i] = (int)fmax(1, round(all * (double)what->n[i] / most));
    }
    points[0].kind = "strong";
    points[0].law = AMDAHL;
    measure(what, strong, &p, &document, &points[0]);
    points[1].kind = "weak";
    points[1].law = GUSTAFSON;
    measure(what, weak, &p, &document, &points[1]);
    json_object_del(document, "batch");
    return document;
}
