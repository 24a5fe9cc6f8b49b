/* SPDX-License-Identifier: MIT
 *
 * show.h - what `flynn laws` measured: its points, the laws fitted to them, as JSON, as a table and in words.
 */
#pragma once

#include "fit.h"

#include "support/statistics.h"
#include "view/columns.h"

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
    const char *disturbed;     /* the cause of noise in its times; NULL: none was found */
    bool oversubscribed;       /* more threads or ranks than there are processors, or GPUs, for */
    scaling_point p;
} law_point;

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

/* Speed-ups with their spreads, and the fits: of threads and ranks Amdahl's law to the strong points and Gustafson's to
 * the weak ones, of batches both to the same. */
void laws_fit_all(laws_found *found);

/* The document's key "laws". */
json_t *laws_json(const laws_found *found);

/* Views of that key's value and of its fits; of its points, valid until the next call. */
extern const column laws_columns[], laws_fit_columns[];
const column *laws_point_columns(const json_t *laws);
/* What a point's n and time may be called instead; for laws_point_columns(NULL), which has all other columns. */
extern const column laws_unit_columns[];

/* The points of all kinds of scaling and both fits as lists of rows; new references. */
json_t *laws_points(const json_t *laws);
json_t *laws_fits(const json_t *laws);

/* Prints the table, the fits, and where they fail; `laws` is that key's value. */
void laws_show(const laws_found *found, const json_t *laws);
