/* SPDX-License-Identifier: MIT */
#include "allclose.h"

#include "ranks/group.h"
#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/threads.h"

#include <stdlib.h>

enum { BLOCK = 1 << 16 }; /* elements */

/* The arrays, which threads compare by the variant `reference` in blocks. */
typedef struct block_list {
    fl_device *device;
    const host_array *a, *b;
    double relative, absolute;
    bool equal_nan;
    fl_closeness *found; /* one for each block */
} block_list;

static void compare_block(void *blocks, int64_t i)
{
    const block_list *const list = blocks;
    const int64_t first = i * BLOCK, count = int64_smaller(BLOCK, host_array_size(list->a) - first);
    fl_array *const a = reference_part(list->device, list->a, first, count);
    fl_array *const b = reference_part(list->device, list->b, first, count);
    const fl_run run = {.variant = "reference", .stream = reference_stream(list->device)};

    must(fl_allclose(list->device, a, b, list->relative, list->absolute, list->equal_nan, &list->found[i], &run));
    fl_stream_free(run.stream);
    fl_array_free(a);
    fl_array_free(b);
}

/* Adds what was found in the part that starts at element `first`, behind all parts added before: of equals the first
 * is the worst. */
static void add_part(fl_closeness *all, const fl_closeness *part, int64_t first)
{
    all->differing += part->differing;
    if (part->worst_index >= 0 && (all->worst_index < 0 || part->worst_excess > all->worst_excess)) {
        all->worst_index = first + part->worst_index;
        all->worst_excess = part->worst_excess;
    }
}

static fl_closeness find_here(block_list *list)
{
    const int64_t count = (host_array_size(list->a) + BLOCK - 1) / BLOCK;
    fl_closeness all = {.worst_index = -1};

    list->found = memory_zeroed((size_t)count, sizeof *list->found);
    threads_share(group_threads(), count, compare_block, list);
    for (int64_t i = 0; i < count; i++)
        add_part(&all, &list->found[i], i * BLOCK);
    free(list->found);
    return all;
}

/* A rank's elements, and what it found in them. */
typedef struct share {
    int64_t elements;
    fl_closeness found;
} share;

fl_closeness allclose_expect(const host_array *a, const host_array *b, double relative, double absolute, bool equal_nan)
{
    const int ranks = group_info()->size;
    block_list list = {reference_device("allclose", "reference"), a, b, relative, absolute, equal_nan, NULL};
    const share here = {host_array_size(a), find_here(&list)};
    share *const shares = memory_zeroed((size_t)ranks, sizeof *shares);
    fl_closeness all = {.worst_index = -1};
    int64_t first = 0;

    fl_device_close(list.device);
    group_gather(&here, shares, sizeof here);
    for (int r = 0; r < ranks; r++) {
        add_part(&all, &shares[r].found, first);
        first += shares[r].elements;
    }
    free(shares);
    return all;
}
