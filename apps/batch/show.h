/* SPDX-License-Identifier: MIT
 *
 * show.h - the results of a batch: JSON, and tables as views of it. docs/commands/batch.md describes each column and
 * key.
 */
#ifndef FLYNN_APPS_BATCH_SHOW_H
#define FLYNN_APPS_BATCH_SHOW_H

#include "columns.h"
#include "link.h"
#include "pipeline.h"

#include "harness/backends.h"

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

#endif
