/* SPDX-License-Identifier: MIT
 *
 * pipeline.h - the stages of a batch put together: one after the other, or as producers and consumers.
 *
 *     read, decode -> [queue] -> decompose -> [queue] -> copy, reconstruct, copy back -> [queue] -> check, encode,
 * write
 *
 * docs/commands/batch.md draws it.
 */
#ifndef FLYNN_APPS_BATCH_PIPELINE_H
#define FLYNN_APPS_BATCH_PIPELINE_H

#include "device.h"

#include "harness/measure.h"

typedef enum pipeline_mode {
    PIPELINE_ONE_BY_ONE, /* each item through all stages before the next one; ordinary host memory */
    PIPELINE_PINNED,     /* the same with pinned host memory */
    PIPELINE_STREAMS,    /* the device works on several chunks, while the host goes on, stage by stage */
    PIPELINE_FULL,       /* and the host's stages are done by threads of their own */
} pipeline_mode;

typedef enum batch_stage {
    STAGE_READ,
    STAGE_DECODE,
    STAGE_DECOMPOSE,
    STAGE_CHECK,
    STAGE_ENCODE,
    STAGE_WRITE,
    STAGES
} batch_stage;
/* "read", "decode" ... */
extern const char *const stage_names[STAGES];

/* Where a batch's items come from. */
typedef enum batch_kind { BATCH_IMAGES, BATCH_FACTORS, BATCH_SYNTHETIC } batch_kind;

typedef struct batch_source {
    batch_kind kind;
    int64_t count;
    const char *const *inputs;  /* of images and factors */
    const char *const *outputs; /* NULL: nothing is written; an entry that is NULL: that one is done already */
    batch_item *ready;          /* `distinct` items whose factors stay in memory: item i of the batch is like ready[i %
                                   distinct]. NULL: items are read as they are needed */
    int64_t distinct;
} batch_source;

typedef struct pipeline_plan {
    pipeline_mode mode;
    const batch_source *source;
    const device_plan *device; /* all but `back`, `lost` and `user` */
    fl_device *decompose_on;   /* NULL: nothing is decomposed */
    const char *decompose_variant;
    bool writes; /* false: outputs are encoded, and not written */
    int64_t rank;
    uint64_t seed;
    int threads; /* of the host, in mode full: that decompose, and as many that encode; a quarter decode */
    measure_plan timing;
} pipeline_plan;

typedef struct stage_report {
    int threads;
    double busy_s; /* of all threads together */
    int64_t count; /* items */
    double bytes;  /* read or written */
} stage_report;

/* An item that failed. */
typedef struct batch_failure {
    char *input, *message;
    bool wrong; /* its check, not its file */
} batch_failure;

typedef struct pipeline_report {
    pipeline_mode mode;
    samples wall;                /* of the timed passes; the one pass of a batch that is read as it goes */
    double cold_s;               /* the first pass; NaN where that is the only one */
    stage_report stages[STAGES]; /* of the pass told of here, which is the last one */
    device_report device;
    int64_t done, dropped, failed, already_there;
    batch_failure *failures; /* `failed` of them */
    compare_result check;    /* of all results */
    double worst_error;      /* the largest ||a - y|| / ||a|| of an image */
    double error, norm;      /* of all images */
    uint64_t sum;       /* of all results' bits, whatever their order: the same in each mode, or something is wrong */
    int64_t peak_bytes; /* the most memory that the process has had */
    int64_t queued;     /* items that can be under way on the host at the most */
    bool interrupted;
    bool broken; /* it ended before its end: `why` */
    problem why;
} pipeline_report;

/* Runs the batch once, or, where the factors are ready, once and then in timed passes. */
pipeline_report pipeline_run(const pipeline_plan *plan);
void pipeline_report_free(pipeline_report *report);

/* From here on SIGINT and SIGTERM end the batch in order: what is on the device or being written is finished, nothing
 * else is begun. Another one, a moment later, ends the process at once. */
void pipeline_catch_signals(void);
/* No more of that. */
void pipeline_let_signals_through(void);
/* The signal that came; 0: none. */
int pipeline_signal(void);

#endif
