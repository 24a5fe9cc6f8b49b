/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include "support/fail.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

static const int64_t pool_bytes_most = (int64_t)256 << 20;

/* Numbers between -1 and 1; singular values from 1 down. */
static void fill_factors(batch_item *item, random_state *random)
{
    const double step = 1.0 / (double)item->rank;

    for (int i = 0; i < FACTORS; i++)
        for (int64_t e = 0; e < item_factor_size(item, i); e++) {
            const double value = i == 1 ? 1 - step * (double)e : (double)(int64_t)random_next(random) * 0x1p-63;
            if (item->dtype == FL_F32)
                ((float *)item->factors[i])[e] = (float)value;
            else
                ((double *)item->factors[i])[e] = value;
        }
}

/* So many matrices of the batch are different ones: as many as there are, but no more than fit into some memory with
 * what is kept of each besides. */
static int64_t distinct_matrices(const batch_item *like, int64_t count)
{
    const int64_t bytes = (int64_t)(item_factor_bytes(like, 0) + item_factor_bytes(like, 1) +
                                    item_factor_bytes(like, 2) + sizeof *like),
                  most = pool_bytes_most / bytes > 1 ? pool_bytes_most / bytes : 1;

    return count < most ? count : most;
}

static void create_pool_memory(batch_pool *pool, const batch_item *like)
{
    const int64_t shapes[FACTORS][3] = {
        {pool->count, like->rows, like->rank}, {pool->count, like->rank, 1}, {pool->count, like->rank, like->columns}};

    for (int i = 0; i < FACTORS; i++) {
        const size_t bytes = (size_t)pool->count * item_factor_bytes(like, i);
        pool->bytes += (int64_t)bytes;
        if (fl_device_describe(pool->device)->host_memory) {
            must(fl_array_create(pool->device, like->dtype, i == 1 ? 2 : 3, shapes[i], &pool->arrays[i]));
            pool->host[i] = fl_array_data(pool->arrays[i]);
        } else {
            pool->host[i] = batch_host_memory(pool->device, pool->pinned, bytes);
        }
    }
}

static void take_items(batch_pool *pool, int64_t count)
{
    pool->count = count;
    pool->items = calloc((size_t)count, sizeof *pool->items);
    if (!pool->items)
        fail(EXIT_BROKEN, "out of host memory");
}

void batch_pool_make(batch_pool *pool, const batch_item *like, int64_t count, uint64_t seed)
{
    random_state random = random_start(seed);

    take_items(pool, distinct_matrices(like, count));
    create_pool_memory(pool, like);
    for (int64_t n = 0; n < pool->count; n++) {
        batch_item *item = &pool->items[n];
        *item = *like;
        item->stays = true;
        item->pool = pool->arrays[0] ? pool->arrays : NULL;
        item->pool_index = n;
        for (int i = 0; i < FACTORS; i++)
            item->factors[i] = (char *)pool->host[i] + (size_t)n * item_factor_bytes(item, i);
        fill_factors(item, &random);
    }
}

void batch_pool_free(batch_pool *pool)
{
    for (int i = 0; i < FACTORS; i++) {
        if (!pool->arrays[i])
            batch_free_host_memory(pool->device, pool->pinned, pool->host[i]);
        fl_array_free(pool->arrays[i]);
    }
    free(pool->items);
}

/* Where an item's factor goes, behind the one before, which ended at `end`: those of one shape follow each other, so
 * that one copy takes them all; others begin where any dtype may. */
static int64_t place_after(const batch_item *before, const batch_item *item, int64_t end)
{
    if (before && before->dtype == item->dtype && before->rows == item->rows && before->columns == item->columns &&
        before->rank == item->rank)
        return end;
    return (end + (int64_t)sizeof(double) - 1) / (int64_t)sizeof(double) * (int64_t)sizeof(double);
}

/* Moves the i-th factor of all items from what was read into one piece of memory. */
static void lay_together(batch_pool *pool, int i)
{
    const batch_item *before = NULL;
    int64_t end = 0;

    for (int64_t n = 0; n < pool->count; n++) /* at the most */
        if (pool->items[n].state == ITEM_GOES_ON)
            end += (int64_t)(item_factor_bytes(&pool->items[n], i) + sizeof(double));
    pool->host[i] = batch_host_memory(pool->device, pool->pinned, (size_t)end);
    end = 0;
    for (int64_t n = 0; n < pool->count; n++) {
        batch_item *item = &pool->items[n];
        if (item->state == ITEM_GOES_ON) {
            end = place_after(before, item, end);
            memcpy((char *)pool->host[i] + end, item->factors[i], item_factor_bytes(item, i));
            item->factors[i] = (char *)pool->host[i] + end;
            end += (int64_t)item_factor_bytes(item, i);
            before = item;
        }
        host_array_free(&item->files[i]);
    }
    pool->bytes += end;
}

void batch_pool_read(batch_pool *pool, const char *const *folders, int64_t count, int64_t rank)
{
    take_items(pool, count);
    for (int64_t n = 0; n < pool->count; n++) {
        batch_item *item = &pool->items[n];
        item->input = folders[n];
        item->check = compare_start();
        item_read_factors(item, rank);
        free(item->y);
        item->y = NULL;
        item->stays = true;
    }
    for (int i = 0; i < FACTORS; i++)
        lay_together(pool, i);
}
