/* SPDX-License-Identifier: MIT
 *
 * device.h - the part of the pipeline that the device does: chunks of matrices copied there, reconstructed and
 * copied back, several under way at a time, each engine in a stream of its own.
 */
#ifndef FLYNN_APPS_BATCH_DEVICE_H
#define FLYNN_APPS_BATCH_DEVICE_H

#include "item.h"

#include "harness/backends.h"

enum {
    MOST_SLOTS = 64,
    MOST_RECORDED = 1 << 16, /* chunks of a pass of which the engines' times are kept */
    WAITING_SHAPES = 8,      /* shapes whose chunks are filled at the same time */
};
enum { ENGINE_H2D, ENGINE_KERNEL, ENGINE_D2H, ENGINES };

typedef struct device_plan {
    fl_device *device;
    const char *variant; /* of reconstruct; NULL: auto */
    int block[3];
    int slots;     /* chunks under way at a time; with one, a single stream does it all */
    int64_t chunk; /* matrices of a chunk at the most; 0: as many as have chunk_bytes of results */
    int64_t chunk_bytes;
    bool pinned; /* host memory of the pipeline's own */
    /* Told of each part of an item that is back, in the order in which they were added: `count` matrices from the
     * first-th on, their elements at `y` until it returns. Called by the thread that adds. */
    void (*back)(void *user, batch_item *item, int64_t first, int64_t count, const void *y);
    /* Told of each part that will not come back, once the device failed. */
    void (*lost)(void *user, batch_item *item, int64_t count);
    void *user;
} device_plan;

/* When an engine worked on a chunk: seconds since the pass began. */
typedef struct engine_span {
    double start, end;
} engine_span;

/* What came of it. */
typedef struct device_report {
    double busy_s[ENGINES];         /* that the engine worked on anything */
    double together_s[ENGINES + 1]; /* that so many of the engines worked at once; [0] is not counted */
    double bytes[ENGINES];          /* copied; of the kernel: compulsory */
    double flops;
    int64_t launches, matrices;
    int slots;                        /* less than the plan's where memory was short */
    int64_t chunk;                    /* matrices of the largest chunk */
    int64_t host_bytes, device_bytes; /* the most that the slots took */
    bool smaller;                     /* memory was short, and the pipeline was made smaller */
    fl_timing timing;                 /* of the first launch: variant, block */
} device_report;

typedef struct batch_device batch_device;

/* Ends the command where host memory for the pipeline itself is short. */
batch_device *batch_device_create(const device_plan *plan);

/* Begins a pass: what is told of it counts from here. Nothing is under way. */
void batch_device_begin(batch_device *d);

/* Adds an item; where its chunk is full, queues it, after waiting for the oldest chunk if all slots are taken. The
 * item must stay until all of it is back. Not FL_OK: the device failed, or has not even room for one matrix; nothing
 * more can be added then. */
fl_status batch_device_add(batch_device *d, batch_item *item);

/* Queues what was not yet, and waits until everything is back. */
fl_status batch_device_finish(batch_device *d);

/* What came of the pass, once it is finished. */
device_report batch_device_report(const batch_device *d);

/* Frees it; what is under way is waited for, and lost, as what waits is. NULL does nothing. */
void batch_device_free(batch_device *d);

/* Memory that copies may be queued from. Ends the command when there is none. */
void *batch_host_memory(fl_device *device, bool pinned, size_t bytes);
void batch_free_host_memory(fl_device *device, bool pinned, void *memory);

#endif
