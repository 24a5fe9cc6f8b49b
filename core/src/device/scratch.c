/* SPDX-License-Identifier: MIT */
#include "scratch.h"

#include "base/status.h"

#include <stdlib.h>

void core_pool_init(core_pool *pool, const fl_plugin_device *device)
{
    *pool = (core_pool){.device = device};
}

static core_block *best_fit(core_pool *pool, void *stream, size_t bytes)
{
    core_block *best = NULL;

    for (core_block *b = pool->blocks; b; b = b->next)
        if (!b->in_use && (b->stream == stream || !b->stream) && b->bytes >= bytes && (!best || b->bytes < best->bytes))
            best = b;
    return best;
}

/* Frees the blocks that no call uses; true if there were any. */
static bool free_unused(core_pool *pool)
{
    bool freed = false;

    for (core_block **at = &pool->blocks; *at;) {
        core_block *b = *at;
        if (b->in_use) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        pool->device->api->release(pool->device->self, b->memory);
        free(b);
        freed = true;
    }
    return freed;
}

/* The caller holds the lock. */
static fl_status allocate(core_pool *pool, size_t bytes, void **memory)
{
    const fl_device_api *api = pool->device->api;
    fl_status status, waited;

    /* No object is larger (C11, 6.5.6): what rounds a size up, or allocates more than it, cannot overflow. */
    if (bytes > PTRDIFF_MAX)
        return core_fail(FL_E_MEMORY, "out of memory: %zu bytes requested", bytes);
    status = api->allocate(pool->device->self, bytes, memory);
    if (status != FL_E_MEMORY)
        return status;
    waited = api->synchronize(pool->device->self); /* may report an error of earlier work, which must not be lost */
    if (waited != FL_OK || !free_unused(pool))
        return waited != FL_OK ? waited : status;
    return api->allocate(pool->device->self, bytes, memory);
}

static fl_status new_block(core_pool *pool, size_t bytes, core_block **block)
{
    core_block *b = calloc(1, sizeof *b);
    fl_status status;

    if (!b)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = allocate(pool, bytes, &b->memory);
    if (status != FL_OK) {
        free(b);
        return status;
    }
    b->bytes = bytes;
    b->next = pool->blocks;
    pool->blocks = b;
    *block = b;
    return FL_OK;
}

fl_status core_pool_take(const fl_context *context, size_t bytes, void **memory)
{
    core_pool *pool = context->pool;
    fl_status status = FL_OK;
    core_block *block;

    core_lock_take(&pool->lock);
    block = best_fit(pool, context->stream, bytes);
    if (!block)
        status = new_block(pool, bytes ? bytes : 1, &block);
    if (status == FL_OK) {
        block->in_use = true;
        atomic_fetch_add_explicit(&pool->in_use, 1, memory_order_relaxed);
        block->stream = context->stream;
        *memory = block->memory;
    }
    core_lock_leave(&pool->lock);
    return status;
}

void core_pool_give_back(core_pool *pool, void *stream)
{
    if (atomic_load_explicit(&pool->in_use, memory_order_relaxed) == 0) /* this call took none: it would see its own */
        return;
    core_lock_take(&pool->lock);
    for (core_block *b = pool->blocks; b; b = b->next)
        if (b->stream == stream && b->in_use) {
            b->in_use = false;
            atomic_fetch_sub_explicit(&pool->in_use, 1, memory_order_relaxed);
        }
    core_lock_leave(&pool->lock);
}

void core_pool_forget_stream(core_pool *pool, void *stream)
{
    core_lock_take(&pool->lock);
    for (core_block *b = pool->blocks; b; b = b->next)
        if (b->stream == stream)
            b->stream = NULL;
    core_lock_leave(&pool->lock);
}

fl_status core_pool_allocate(core_pool *pool, size_t bytes, void **memory)
{
    fl_status status;

    core_lock_take(&pool->lock);
    status = allocate(pool, bytes, memory);
    core_lock_leave(&pool->lock);
    return status;
}

void core_pool_end(core_pool *pool)
{
    free_unused(pool);
}
