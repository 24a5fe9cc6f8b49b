/* SPDX-License-Identifier: MIT
 *
 * pipeline.h - a pipeline at work: what its passes share.
 */
#pragma once

#include "batch.h"
#include "queue.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct pipeline {
    const pipeline_plan *plan;
    const batch_source *source;
    pipeline_report report;
    batch_device *device;
    decomposer *decomposer; /* of modes with one thread */
    queue *finished;        /* items that the device is done with; NULL: modes with one thread */
    pthread_mutex_t lock;   /* of `report` */
    atomic_bool stopped;    /* nothing is started any more */
    atomic_bool has_result; /* an item has ended or will shortly: something is shown when --max-time is over */
    atomic_bool broken;     /* nothing is finished either */
    bool first_pass;        /* results are checked more thoroughly, and written */
    bool cut_short;         /* the last pass, by a signal */
    uint64_t *known;        /* of each ready item: a hash of its result, once that was found right; 0: not yet */
} pipeline;

/* Runs one pass over the batch. Its stages and counts replace those of the pass before. */
void pipeline_pass(pipeline *p);

/* Returns whether nothing is started any more: a signal, a broken batch, or the end of --max-time with something to
 * show. */
bool pipeline_is_stopped(pipeline *p);

/* device_plan.back and device_plan.lost; `user` is the pipeline. */
void pipeline_come_back(void *user, batch_item *item, int64_t first, int64_t count, const void *y);
void pipeline_be_lost(void *user, batch_item *item, int64_t count);
