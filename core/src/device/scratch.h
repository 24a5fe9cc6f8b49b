/* SPDX-License-Identifier: MIT
 * A stream-ordered pool of device memory for single calls. The same stream can reuse a freed block at once, since its
 * later work waits for the earlier; another stream only when the first stream has ended. */
#ifndef FLYNN_CORE_SCRATCH_H
#define FLYNN_CORE_SCRATCH_H

#include "base/lock.h"

#include <flynn/plugin.h>

typedef struct core_block {
    struct core_block *next;
    void *memory;
    size_t bytes;
    void *stream; /* the last stream that used it; NULL: none, or it has ended */
    bool in_use;
} core_block;

typedef struct core_pool {
    core_lock lock;
    atomic_int in_use; /* blocks that calls use */
    const fl_plugin_device *device;
    core_block *blocks;
} core_pool;

void core_pool_init(core_pool *pool, const fl_plugin_device *device);

/* fl_host.scratch: the smallest free block that fits, else a new one. If memory is short, frees all unused blocks
 * first.
 */
fl_status core_pool_take(const fl_context *context, size_t bytes, void **memory);

/* Frees all blocks of `stream`, when the call that queued work on them returns. */
void core_pool_give_back(core_pool *pool, void *stream);

/* The stream has ended and its work is done: any stream may use its blocks. */
void core_pool_forget_stream(core_pool *pool, void *stream);

/* Device memory outside the pool. If memory is short, frees the unused blocks of the pool first. */
fl_status core_pool_allocate(core_pool *pool, size_t bytes, void **memory);

/* Frees all blocks. Called when the device's work is done. */
void core_pool_end(core_pool *pool);

#endif
