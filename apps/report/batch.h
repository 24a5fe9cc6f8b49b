/* SPDX-License-Identifier: MIT
 *
 * batch.h - what `flynn report` tells of documents of `flynn batch` (docs/commands/batch.md).
 */
#ifndef FLYNN_APPS_REPORT_BATCH_H
#define FLYNN_APPS_REPORT_BATCH_H

#include "plot.h"

#include <jansson.h>

/* What a document's value under "batch" should be and is not, in words; NULL for one that can be told of. */
const char *report_batch_lacks(const json_t *batch);

/* Puts the stages of each run in the order in which an image goes through them. */
void report_batch_order(json_t *batch);

typedef struct batch_words {
    char text[192];
} batch_words;
/* "256 matrices made here, 512x512 f32, rank 100" */
batch_words report_batch_title(const json_t *batch);
/* "streams:6" */
batch_words report_batch_pipeline(const json_t *run);

/* Two plots a batch: the wall time of each run, and which part of it each thread and engine was busy. */
void report_batch_plots(report_plots *plots, const json_t *batches);

/* All batches of a machine, with those plots. */
void report_batch_write(FILE *out, const json_t *batches, const report_plots *plots);

/* What is wrong with a run whose check failed, as an entry of a list. */
void report_batch_wrong(FILE *out, const json_t *run);

#endif
