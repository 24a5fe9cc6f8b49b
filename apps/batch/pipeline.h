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
    PIPELINE_ONE_BY_ONE, /* each item goes through all stages before the next one; ordinary host memory */
    PIPELINE_PINNED,     /* the same with pinned host memory */
    PIPELINE_STREAMS,    /* the device works on several chunks while one thread of the host goes on */
    PIPELINE_FULL,       /* the same, and the host's stages have threads of their own */
} pipeline_mode;
/* "one-by-one" ...; NULL ends the list. */
extern const char *const pipeline_mode_names[];

typedef struct batch_source {
    batch_kind kind;
    int64_t count;
    matrix_shape shape;         /* rows and columns 0, rank 0: each item has its own */
    bool in_memory;             /* factors are in memory before the clock starts */
    const char *const *inputs;  /* NULL: random factors */
    const char *const *outputs; /* NULL: nothing is written; an entry that is NULL: that item is done already */
    batch_item *ready;          /* `distinct` items whose factors stay in memory: item i of the batch is a copy of
                                   ready[i % distinct]. NULL: items are read as they are needed */
    int64_t distinct;
} batch_source;

typedef struct pipeline_plan {
    pipeline_mode mode;
    const batch_source *source;
    const device_plan *device; /* all but `back`, `lost` and `user` */
    fl_device *decompose_on;   /* NULL: nothing is decomposed */
    const char *decompose_variant;
    bool writes;       /* false: outputs are encoded, and not written */
    bool prints_files; /* prints failures of files, too, and not only those of checks */
    int64_t rank;
    uint64_t seed;
    int threads; /* mode full: this many decompose, as many encode, and a quarter of them decode */
    measure_plan timing;
} pipeline_plan;

typedef struct stage_report {
    int threads;   /* 0: an engine of the device */
    double busy_s; /* of all threads together */
    int64_t count; /* items; matrices of an engine */
    double bytes;  /* read, written or copied */
} stage_report;

typedef struct pipeline_report {
    pipeline_mode mode;
    samples wall;                /* of the timed passes, or of the only pass of a batch that is read as it goes */
    double cold_s;               /* the first pass; NaN if it is the only one */
    stage_report stages[STAGES]; /* of the last pass */
    device_report device;
    int64_t done, dropped, failed, already_there;
    int64_t wrong;        /* failed their check: some of `failed` */
    json_t *failures;     /* "failures" of the JSON */
    compare_result check; /* of all results */
    double worst_error;   /* the largest ||a - y|| / ||a|| of an image */
    double error, norm;   /* of all images */
    uint64_t sum;         /* of all results' bits: modes on one backend must agree in it */
    int64_t peak_bytes;   /* largest memory of the process so far */
    int64_t queued;       /* most items that can be under way on the host */
    bool interrupted;
    bool broken; /* the batch ended early, for the reason in `why` */
    problem why;
} pipeline_report;

/* Runs the batch once, or, if the factors are ready, once and then in timed passes. */
pipeline_report pipeline_run(const pipeline_plan *plan);
void pipeline_report_free(pipeline_report *report);

#endif
