/* SPDX-License-Identifier: MIT
 *
 * sentences.h - the points that `flynn laws` measured, and what they show, in words.
 */
#pragma once

#include "fit.h"

#include "support/statistics.h"

#include <jansson.h>
#include <stdint.h>

enum { MOST_POINTS = 64 };

/* One measured point; `p` is set by laws_fit_all. */
typedef struct law_point {
    int result;   /* its place in "results"; -1: it has none */
    int64_t n;    /* threads, ranks, workers, or the batch */
    int64_t size; /* as --size or --upto has it; images */
    double work;  /* over that of the first point */
    fl_bench_statistics kernel;
    double bytes_per_s;
    double percent_of_ceiling; /* NaN: not known */
    double imbalance;          /* of ranks; NaN: there is one */
    double link_share;         /* part of the time that ranks exchange data; NaN: there is one */
    char disturbed[128];       /* the cause of noise in its times; "": none was found */
    bool oversubscribed;       /* more threads or ranks than there are processors, or GPUs, for */
    scaling_point p;
} law_point;

/* Takes the cause of noise from the point's row. */
void law_point_disturb(law_point *p, const json_t *row);

/* Points of one kind. */
typedef struct law_points {
    const char *kind; /* "strong", "weak", "batch" */
    scaling_law law;  /* that describes these */
    int count;
    law_point list[MOST_POINTS];
} law_points;

typedef struct laws_found {
    const char *exercise, *backend, *device, *unit; /* unit: "threads", "ranks", "workers" or "batch" */
    bool emulation;
    int processors; /* that the process may use; 0 on a GPU */
    int kinds;
    law_points points[2];
    scaling_fit fits[2]; /* by scaling_law */
} laws_found;

extern const char *const laws_names[]; /* "Amdahl" */

/* Returns whether the law of these points does not describe the i-th one. */
bool laws_is_off(const laws_found *found, const law_points *points, int i);

/* Returns whether n is of that unit. */
bool laws_is_by(const laws_found *found, const char *unit);

/* The text that is being put together. */
typedef struct law_words {
    char text[1024];
} law_words;

/* What the points say, from the values of the document's key "laws" alone: with which n each kind of scaling gets the
 * most done, and how much more than one; none of an emulation. A noisy point is never the best. A new reference. */
json_t *laws_sentences(const json_t *laws);

/* Where the law fails to describe the points, or the points to show it; "" where neither does. */
law_words laws_failing(const laws_found *found, const law_points *points);
