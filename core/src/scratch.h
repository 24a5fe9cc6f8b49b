/* SPDX-License-Identifier: MIT
 * Device memory for the length of one call, kept for the next: a stream-ordered pool. A block that a stream gave back
 * may be handed to the same stream at once, since the later work waits for the earlier; to another stream only when the
 * device has nothing queued. */
#ifndef FLYNN_CORE_SCRATCH_H
#define FLYNN_CORE_SCRATCH_H

#include <flynn/plugin.h>
#include <pthread.h>

typedef struct core_block {
    struct core_block *next;
    void *memory;
    size_t bytes;
    void *stream; /* whose work used it last; NULL: nobody's */
    bool in_use;
} core_block;

typedef struct core_pool {
    pthread_mutex_t lock;
    const fl_plugin_device *device;
    core_block *blocks;
} core_pool;

void core_pool_init(core_pool *pool, const fl_plugin_device *device);

/* fl_host.scratch: the smallest free block that fits, else a new one; when memory is short, after all that is unused
 * was freed. */
fl_status core_pool_take(const fl_context *context, size_t bytes, void **memory);

/* Takes back all blocks that `stream` has, when the call that queued work on them returned. */
void core_pool_give_back(core_pool *pool, void *stream);

/* The stream ended and its work is done: its blocks are anybody's. */
void core_pool_forget_stream(core_pool *pool, void *stream);

/* Device memory that stays: not from the pool, but when memory is short, in place of what the pool keeps unused. */
fl_status core_pool_allocate(core_pool *pool, size_t bytes, void **memory);

/* Frees all blocks. The device's work is done. */
void core_pool_end(core_pool *pool);

#endif
