/* SPDX-License-Identifier: MIT
 *
 * batch.h - how `flynn batch` scales over the workers of its pipeline `full`: what `flynn laws batch` measures.
 */
#pragma once

#include "show.h"

#include "batch/batch.h"

/* The options of TAKES_RUN that `flynn laws batch` takes, besides --backend and --repeat; laws itself takes
 * --max-memory for it alone. */
enum { LAWS_BATCH_TAKES = TAKES_VARIANT | TAKES_BLOCK | TAKES_MAX_MEMORY | TAKES_MAX_TIME };

/* The batches that are measured, and with what. */
typedef struct laws_batch {
    const common_options *common; /* its arguments: "batch", then images and folders */
    batch_source source;          /* the images; laws_batch_find sets it */
    const char *backend, *isa;    /* "omp" and ":v3", between which a number of threads may stand */
    bool threaded;                /* `backend` has as many threads as there are workers */
    int64_t keep;                 /* singular values; 0: not given */
    const int64_t *n;             /* workers, ascending from 1 */
    int count;
    int processors; /* that the process may use */
} laws_batch;

/* Finds the images. Ends the command if there are none, or fewer than workers. Free the source with inputs_free. */
void laws_batch_find(laws_batch *what);

/* The point of the seconds that each round took; noisy where they vary by more than half. `work`: over the first
 * point's. */
law_point laws_batch_point(const laws_batch *what, int64_t workers, int images, double work, const double *seconds,
                           int count);

/* Measures strong scaling (all images, each number of workers in turns) into points[0], and weak scaling (images in
 * proportion to the workers) into points[1]; each time is that of a process from its first image to its last. Ends the
 * command if a batch fails. After a signal or --max-time the points have the rounds that were run, and are missing
 * where none was. Returns the document of the first batch without its results, with `stopped`, to be freed. */
json_t *laws_batch_measure(const laws_batch *what, law_points points[2]);
