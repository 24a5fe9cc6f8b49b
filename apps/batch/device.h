/* SPDX-License-Identifier: MIT
 *
 * device.h - the device's part of the pipeline: chunks of matrices are copied there, reconstructed and copied back,
 * several under way at a time, each engine (copies there, kernels, copies back) in its own stream.
 */
#pragma once

#include "item.h"

enum {
    MOST_SLOTS = 64,
    WAITING_SHAPES = 8, /* shapes whose chunks are filled at the same time */
};

typedef struct device_plan {
    fl_device *device;
    const char *variant; /* of reconstruct; NULL: auto */
    int block[3];
    int slots;           /* chunks under way at a time; with one, a single stream does it all */
    int64_t chunk;       /* most matrices of a chunk */
    int64_t chunk_bytes; /* most bytes of its results, unless one matrix has more */
    bool pinned;         /* the pipeline's own host memory */
    /* Called by the thread that adds, for each part of an item that is back, in the order in which they were added:
     * `count` matrices from the first-th on, whose elements stay at `y` until it returns. */
    void (*back)(void *user, batch_item *item, int64_t first, int64_t count, const void *y);
    /* Called for each part that will not come back because the device failed. */
    void (*lost)(void *user, batch_item *item, int64_t count);
    void *user;
} device_plan;

/* Sums over one pass. */
typedef struct device_report {
    double busy_s[ENGINES];         /* time in which the engine worked */
    double together_s[ENGINES + 1]; /* time in which exactly [i] engines worked; [0] is not counted */
    double bytes[ENGINES];          /* copied; of the kernel: each input and output once */
    double flops;
    int64_t launches, matrices;
    int slots;                        /* fewer than planned if memory was short */
    int64_t chunk;                    /* matrices of the largest chunk */
    int64_t host_bytes, device_bytes; /* largest memory of the slots */
    bool smaller;                     /* memory was short, and the pipeline was made smaller */
    fl_timing timing;                 /* of the first launch */
} device_report;

typedef struct batch_device batch_device;

/* Ends the command where host memory for the pipeline itself is short. */
batch_device *batch_device_create(const device_plan *plan);

/* Starts a pass with empty slots; the report's sums start at 0. */
void batch_device_begin(batch_device *d);

/* Adds an item. A chunk that is full is queued, after the oldest one has come back if all slots are taken. The item
 * must stay until all of it is back. If not FL_OK the device failed, or has no room for one matrix; nothing can be
 * added any more. */
fl_status batch_device_add(batch_device *d, batch_item *item);

/* Queues what still waits for a full chunk, and waits until everything is back. */
fl_status batch_device_finish(batch_device *d);

/* The report of a finished pass. */
device_report batch_device_report(batch_device *d);

/* Waits for work under way; it is lost, as is what waits for a full chunk. NULL does nothing. */
void batch_device_free(batch_device *d);
