/* SPDX-License-Identifier: MIT
 *
 * pool.h - factors that are in host memory before a batch's clock starts.
 */
#ifndef FLYNN_APPS_BATCH_POOL_H
#define FLYNN_APPS_BATCH_POOL_H

#include "device.h"

/* Items whose factors stay in memory that a device can copy from. The caller sets the first two and zeroes the rest.
 * Functions here end the command where memory is short. */
typedef struct batch_pool {
    fl_device *device;
    bool pinned;
    batch_item *items;
    int64_t count, bytes;
    fl_array *arrays[FACTORS]; /* of random factors on a CPU, in place of `host` */
    void *host[FACTORS];
} batch_pool;

/* Random factors for `count` matrices of a shape: u and vt between -1 and 1, singular values from 1 down. What does not
 * fit into 256 MiB is used again and again: the pool then has fewer items. */
void batch_pool_make(batch_pool *pool, const matrix_shape *shape, int64_t count, uint64_t seed);

/* Factors from the files of each folder, of which the leading `rank` are taken (0: all). An item that cannot be read is
 * marked as failed. The folders' names must stay. */
void batch_pool_read(batch_pool *pool, const char *const *folders, int64_t count, int64_t rank);

void batch_pool_free(batch_pool *pool);

#endif
