/* SPDX-License-Identifier: MIT
 *
 * show.h - the results of a batch: JSON, and tables as views of it. docs/commands/batch.md describes each column and
 * key.
 */
#ifndef FLYNN_APPS_BATCH_SHOW_H
#define FLYNN_APPS_BATCH_SHOW_H

#include "link.h"
#include "pipeline.h"

#include "harness/backends.h"
#include "view/columns.h"

/* One pipeline on one backend. */
typedef struct batch_run {
    const open_backend *backend;
    char reconstruct_on[48]; /* the backend's resource, or one thread of it */
    link_rates link;
    int threads; /* of the host that the mode may use */
    pipeline_report report;
} batch_run;

typedef struct batch_summary {
    const batch_source *source;
    const common_options *common;
    const backend_list *backends;
    const char *decompose_on; /* NULL: nothing is decomposed */
    int64_t pool_bytes;       /* host memory of ready factors */
    int count;
    batch_run *runs;
} batch_summary;

/* All results of the run are right, and have the same bits as those of the backend's first right run. */
bool batch_is_right(const batch_summary *summary, const batch_run *run);

/* Tables on stdout and JSON, as the options ask. */
void batch_show(const batch_summary *summary);

/* ---- Views of a document's value under "batch", also for `flynn report` ---- */

/* "256 matrices made here, 512x512 f32, rank 100" */
cell batch_title(const json_t *batch);
/* Of a run: "streams:6"; "ok", "WRONG", "2 failed" or "ended at 3 of 6". */
cell batch_pipeline(const json_t *run);
cell batch_verdict(const json_t *run);
/* The threads or the engine that do a stage: "check, encode, write". */
const char *batch_worker(const json_t *run, const json_t *stage);
/* Rows of `runs`; of their stages, each with the keys of its run (rows_within). */
extern const column batch_run_columns[], batch_stage_columns[], batch_law_columns[], batch_memory_columns[];
/* Adds the numbers of runs and stages that follow from others: spread, each_s, bytes_per_s. Older documents lack them.
 */
void batch_add_derived(json_t *batch);

#endif
