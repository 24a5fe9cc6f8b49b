/* SPDX-License-Identifier: MIT
 *
 * batch.h - what `flynn batch` is asked to do, what each pipeline reports, and the steps between them.
 *
 *     read, decode -> [queue] -> decompose -> [queue] -> copy, reconstruct, copy back -> [queue] -> check, encode,
 * write
 *
 * docs/commands/batch.md draws the pipeline, and describes each column and key of the results.
 */
#pragma once

#include "columns.h"
#include "device.h"

#include "run/backends.h"
#include "run/passes.h"
#include "options/options.h"

typedef enum pipeline_mode {
    PIPELINE_ONE_BY_ONE, /* each item goes through all stages before the next one; ordinary host memory */
    PIPELINE_PINNED,     /* the same with pinned host memory */
    PIPELINE_STREAMS,    /* the device works on several chunks while one thread of the host goes on */
    PIPELINE_FULL,       /* the same, and the host's stages have threads of their own */
} pipeline_mode;
/* "one-by-one" ...; NULL ends the list. */
extern const char *const pipeline_mode_names[];

enum { MOST_PIPELINES = 8 };

/* One value of --pipeline. */
typedef struct pipeline_choice {
    pipeline_mode mode;
    int streams;
} pipeline_choice;

typedef struct batch_options {
    int64_t keep; /* 0: not given */
    const char *folder, *factors;
    int64_t synthetic[3]; /* all 0: not given */
    bool resume;
    int64_t threads, chunk;
    const char *decompose_on, *svd;
    int pipeline_count;
    pipeline_choice pipelines[MOST_PIPELINES];
} batch_options;

typedef struct batch_source {
    batch_kind kind;
    int64_t count;
    matrix_shape shape;         /* rows and columns 0, keep 0: each item has its own */
    bool in_memory;             /* factors are in memory before the clock starts */
    const char *const *inputs;  /* NULL: random factors */
    const char *const *outputs; /* NULL: nothing is written; an entry that is NULL: that item is done already */
    batch_item *ready;          /* `distinct` items whose factors stay in memory: item i of the batch is a copy of
                                   ready[i % distinct]. NULL: items are read as they are needed */
    int64_t distinct;
} batch_source;

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
    bool late;               /* --max-time was over before all items were started */
    bool broken;             /* the batch ended early */
    bool machine_failed;     /* to do an image: no memory, an I/O error */
    problem why;             /* the first reason of these two, which is printed at the end: one line */
    struct rank_part *parts; /* of several ranks: what each did; NULL: there is one */
} pipeline_report;

/* The work of one of several ranks. */
typedef struct rank_part {
    char host[64], resource[48], variant[64];
    double wall_s;          /* until its last image was done */
    pipeline_report report; /* timing.variant points to `variant`; other pointers are addresses of that rank */
} rank_part;

/* One pipeline on one backend. */
typedef struct batch_run {
    const open_backend *backend;
    char reconstruct_on[48]; /* the backend's resource, or one thread of it */
    link_rates link;
    int threads; /* of the host that the mode may use */
    pipeline_report report;
} batch_run;

/* The state that all runs of the command share, and the runs. */
typedef struct batch_command {
    const common_options *common;
    const batch_options *own;
    backend_list backends;
    fl_device *decompose_on; /* NULL: nothing is decomposed */
    batch_source source;
    int64_t pool_bytes; /* host memory of ready factors */
    int count;
    batch_run *runs;
} batch_command;

typedef struct pipeline_plan {
    const batch_command *command;
    pipeline_mode mode;
    const device_plan *device; /* all but `back`, `lost` and `user` */
    bool writes;               /* false: outputs are encoded, and not written */
    int threads;               /* mode full: this many decompose, as many encode, and a quarter of them decode */
} pipeline_plan;

/* Items whose factors stay in memory that a device can copy from. The caller sets the first two and zeroes the rest. */
typedef struct batch_pool {
    fl_device *device;
    bool pinned;
    batch_item *items;
    int64_t count, bytes;
    fl_array *arrays[FACTORS]; /* of random factors on a CPU, in place of `host` */
    void *host[FACTORS];
} batch_pool;

/* inputs.c: these end the command for names and sizes that cannot be used. */

/* The images among the arguments; else the folders in --factors that have a u.npy, or that folder itself; else random
 * matrices. */
batch_source inputs_find(const batch_options *own, const common_options *common);
/* Gives each input of --output-dir a file there; --resume: none to those whose file exists. */
void inputs_name_outputs(batch_source *source, const batch_options *own);
/* Makes the outputs' folder, unless it exists. */
void inputs_make_folder(const char *folder);
void inputs_free(batch_source *source);

/* pool.c: factors that are in host memory before the clock starts. */

/* Random factors for `count` matrices of a shape: u and vt between -1 and 1, singular values from 1 down. What does not
 * fit into 256 MiB is used again and again: the pool then has fewer items. */
void batch_pool_make(batch_pool *pool, const matrix_shape *shape, int64_t count, uint64_t seed);
/* Factors from the files of each folder, of which the leading `keep` are taken (0: all). An item that cannot be read is
 * marked as failed. The folders' names must stay. */
void batch_pool_read(batch_pool *pool, const char *const *folders, int64_t count, int64_t keep);
void batch_pool_free(batch_pool *pool);

/* pipeline.c: runs the batch once, or, if the factors are ready, once and then in timed passes. */
pipeline_report pipeline_run(const pipeline_plan *plan);
void pipeline_report_free(pipeline_report *report);

/* show.c: tables on stdout and JSON, as the options ask. */
void batch_show(const batch_command *c);
/* Returns whether all results of the run are right, and have the same bits as those of the backend's first right
 * run. */
bool batch_is_right(const batch_command *c, const batch_run *run);
