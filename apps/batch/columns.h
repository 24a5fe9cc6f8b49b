/* SPDX-License-Identifier: MIT
 *
 * columns.h - views of what a batch writes as JSON, for `flynn batch` and `flynn report`. `batch` is the value of that
 * key in a document, `run` one of its runs. docs/commands/batch.md describes each column and key.
 */
#pragma once

#include "view/columns.h"

/* "256 random matrices, 512x512 f32, 100 components" */
cell batch_title(const json_t *batch);
/* "streams:6"; "ok", "WRONG", "2 failed" or "ended at 3 of 6". */
cell batch_pipeline(const json_t *run);
cell batch_verdict(const json_t *run);
/* The threads or the engine that do a stage: "check, encode, write". */
const char *batch_worker(const json_t *run, const json_t *stage);
/* Rows of `runs`; of their stages, each with the keys of its run (rows_within). */
extern const column batch_run_columns[], batch_stage_columns[], batch_law_columns[], batch_memory_columns[];
/* Rows of a run's `per_rank`. */
extern const column batch_rank_columns[];
/* Returns sentences about the runs: for several, how many are right and which is the fastest; for one, how many images
 * are right and what limits it. A new reference. */
json_t *batch_sentences(const json_t *batch);
/* Adds the numbers of runs and stages that follow from others: spread, each_s, bytes_per_s. Older documents lack them.
 */
void batch_add_derived(json_t *batch);
