/* SPDX-License-Identifier: MIT
 *
 * show.h - what came of a batch, as tables and as JSON. docs/commands/batch.md describes each column and key.
 */
#ifndef FLYNN_APPS_BATCH_SHOW_H
#define FLYNN_APPS_BATCH_SHOW_H

#include "pipeline.h"

#include "harness/backends.h"

/* What the link to a device moves, measured with pinned memory; NaN where there is no link. */
typedef struct link_rates {
    double h2d_bytes_per_s, d2h_bytes_per_s;
} link_rates;
link_rates link_measure(fl_device *device);

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
    int64_t rank; /* 0: not the same for all */
    fl_dtype dtype;
    int64_t rows, columns;    /* of ready items; 0 */
    const char *decompose_on; /* NULL: nothing is decomposed */
    int64_t pool_bytes;       /* of factors that are ready, in host memory */
    int count;
    batch_run *runs;
} batch_summary;

/* Has the run computed the same bits as the backend's first one that finished? Another backend may round differently. A
 * run that is wrong or did not finish says nothing of that. */
bool batch_same_answers(const batch_summary *summary, const batch_run *run);

/* Tables and remarks on stdout and JSON, where each is asked for. */
void batch_show(const batch_summary *summary);

#endif
