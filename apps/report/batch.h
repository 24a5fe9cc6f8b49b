/* SPDX-License-Identifier: MIT
 *
 * batch.h - the documents of `flynn batch` (docs/commands/batch.md) on the page of `flynn report`.
 */
#ifndef FLYNN_APPS_REPORT_BATCH_H
#define FLYNN_APPS_REPORT_BATCH_H

#include "plot.h"

#include "view/columns.h"

/* What the page needs and the value of a document's key "batch" lacks, in words; NULL: nothing. */
const char *report_batch_lacks(const json_t *batch);

/* Puts the stages of each run in the order in which an image goes through them. */
void report_batch_order(json_t *batch);

/* "256 matrices made here, 512x512 f32, rank 100" */
cell report_batch_title(const json_t *batch);
/* "streams:6" */
cell report_batch_pipeline(const json_t *run);

/* Two plots a batch: the wall time of each run, and the part of it that each thread and engine was busy. */
void report_batch_plots(report_plots *plots, const json_t *batches);

/* All batches of a machine, with those plots. */
void report_batch_write(FILE *out, const json_t *batches, const report_plots *plots);

/* An entry of the list of failures: a run whose check failed. */
void report_batch_wrong(FILE *out, const json_t *run);

#endif
