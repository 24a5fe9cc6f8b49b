/* SPDX-License-Identifier: MIT
 *
 * pool.c - generated inputs: a few items in memory that take turns as if they were many.
 */
#include "batch.h"

#include "support/host_memory.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

static const int64_t most_pool_bytes = (int64_t)256 << 20;

static void fill_factors(batch_item *item, random_state *random)
{
    const double step = 1.0 / (double)item->shape.keep;

    for (int i = 0; i < FACTORS; i++) {
        const int64_t size = (int64_t)(bytes_of_array(&item->shape, i) / fl_dtype_size(item->shape.dtype));
        host_array factor = {.dtype = item->shape.dtype, .data = item->factors[i]};
        for (int64_t e = 0; e < size; e++)
            host_array_set(&factor, e, i == 1 ? 1 - step * (double)e : (double)(int64_t)random_next(random) * 0x1p-63);
    }
}

/* How many of the matrices have factors of their own. */
static int64_t distinct_matrices(const matrix_shape *shape, int64_t count)
{
    int64_t bytes = (int64_t)sizeof(batch_item), most;

    for (int i = 0; i < FACTORS; i++)
        bytes += (int64_t)bytes_of_array(shape, i);
    most = most_pool_bytes / bytes > 1 ? most_pool_bytes / bytes : 1;
    return count < most ? count : most;
}

static void create_pool_memory(batch_pool *pool, const matrix_shape *shape)
{
    int64_t shapes[ARRAYS][3];

    shapes_of_arrays(shape, pool->count, shapes);
    for (int i = 0; i < FACTORS; i++) {
        const size_t bytes = (size_t)pool->count * bytes_of_array(shape, i);
        pool->bytes += (int64_t)bytes;
        if (fl_device_describe(pool->device)->host_memory) {
            must(fl_array_create(pool->device, shape->dtype, i == 1 ? 2 : 3, shapes[i], &pool->arrays[i]));
            pool->host[i] = fl_array_data(pool->arrays[i]);
        } else {
            must(host_memory_create(pool->device, pool->pinned, bytes, &pool->host[i]));
        }
    }
}

void batch_pool_make(batch_pool *pool, const matrix_shape *shape, int64_t count, uint64_t seed)
{
    random_state random = random_start(seed);

    pool->count = distinct_matrices(shape, count);
    pool->items = memory_zeroed((size_t)pool->count, sizeof *pool->items);
    create_pool_memory(pool, shape);
    for (int64_t n = 0; n < pool->count; n++) {
        batch_item *item = &pool->items[n];
        item->kind = BATCH_SYNTHETIC;
        item->shape = *shape;
        item->matrices = 1;
        item->check = compare_start();
        item->stays = true;
        item->pool = pool->arrays[0] ? pool->arrays : NULL;
        item->pool_index = n;
        for (int i = 0; i < FACTORS; i++)
            item->factors[i] = (char *)pool->host[i] + (size_t)n * bytes_of_array(shape, i);
        fill_factors(item, &random);
    }
}

void batch_pool_free(batch_pool *pool)
{
    for (int i = 0; i < FACTORS; i++) {
        if (!pool->arrays[i])
            host_memory_free(pool->device, pool->pinned, pool->host[i]);
        fl_array_free(pool->arrays[i]);
    }
    free(pool->items);
}

/* Where an item's factor goes, after the one before, which ended at `end`: those of one shape follow each other, so
 * that one copy takes them all; others start where any dtype may. */
static int64_t place_after(const batch_item *before, const batch_item *item, int64_t end)
{
    const int64_t align = sizeof(double);

    return before && same_shape(&before->shape, &item->shape) ? end : (end + align - 1) / align * align;
}

/* Moves the i-th factor of all items that were read into one piece of memory. */
static void lay_together(batch_pool *pool, int i)
{
    const batch_item *before = NULL;
    int64_t end = 0;
    size_t most = 0;

    for (int64_t n = 0; n < pool->count; n++)
        if (pool->items[n].state == ITEM_GOES_ON)
            most += bytes_of_array(&pool->items[n].shape, i) + sizeof(double);
    must(host_memory_create(pool->device, pool->pinned, most, &pool->host[i]));
    for (int64_t n = 0; n < pool->count; n++) {
        batch_item *item = &pool->items[n];
        if (item->state == ITEM_GOES_ON) {
            end = place_after(before, item, end);
            memcpy((char *)pool->host[i] + end, item->factors[i], bytes_of_array(&item->shape, i));
            item->factors[i] = (char *)pool->host[i] + end;
            end += (int64_t)bytes_of_array(&item->shape, i);
            before = item;
        }
        host_array_free(&item->files[i]);
    }
    pool->bytes += end;
}

void batch_pool_read(batch_pool *pool, const char *const *folders, int64_t count, int64_t keep)
{
    pool->count = count;
    pool->items = memory_zeroed((size_t)count, sizeof *pool->items);
    for (int64_t n = 0; n < count; n++) {
        batch_item *item = &pool->items[n];
        *item = (batch_item){.kind = BATCH_FACTORS, .input = folders[n], .check = compare_start(), .stays = true};
        if (!item_read_factors(item, keep))
            item->state = ITEM_FAILED;
    }
    for (int i = 0; i < FACTORS; i++)
        lay_together(pool, i);
}
