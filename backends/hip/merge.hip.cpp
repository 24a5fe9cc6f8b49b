/* SPDX-License-Identifier: MIT
 *
 * merge.hip.cpp - FL_OP_MERGE and FL_OP_SEARCH_SORTED on a GPU. The kernels are in merge_kernels.h.
 */
#include "device.hpp"
#include "merge_kernels.h"

#include <algorithm>

namespace
{

double size_of(fl_dtype dtype)
{
    return dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

dim3 dim3_of(const fl_launch *launch)
{
    return dim3((unsigned)launch->block[0], (unsigned)launch->block[1], (unsigned)launch->block[2]);
}

int threads_of(const fl_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

int64_t blocks_for(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

/* ----------------------------------------------------------------------------------------------------- merge ---- */

int64_t tile_of(const fl_merge_args *args, int threads)
{
    return (int64_t)threads * (size_of(args->out.dtype) == 4 ? merge_items<float> : merge_items<double>);
}

void plan_merge(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_merge_args *args = static_cast<const fl_merge_args *>(arguments);
    if (!hip_block(device, 256, launch))
        return;
    const double bytes = size_of(args->out.dtype);
    const int64_t n = args->out.shape[0], tile = tile_of(args, threads_of(launch));
    launch->grid[0] = hip_grid(device, 0, blocks_for(n, tile), launch->block[0]);
    launch->shared_bytes = tile * (int64_t)bytes;
    /* A search reads two elements a step; its result is written once and read twice. */
    int steps = 1;
    for (int64_t shorter = std::min(args->x.shape[0], args->y.shape[0]); shorter > 0; shorter /= 2)
        steps++;
    launch->bytes_requested =
        2 * (double)n * bytes + (double)(blocks_for(n, tile) + 1) * (2 * steps * bytes + 3 * sizeof(int64_t));
}

template <typename T>
fl_status merge(const fl_context *context, const fl_merge_args *args, const fl_launch *launch)
{
    const int threads = threads_of(launch);
    const int64_t tile = tile_of(args, threads), tiles = blocks_for(args->out.shape[0], tile);
    const int64_t searching = hip_grid(hip_device_of(context), 0, blocks_for(tiles + 1, threads), launch->block[0]);
    void *starts;
    fl_status status = context->host->scratch(context, (size_t)(tiles + 1) * sizeof(int64_t), &starts);
    if (status != FL_OK)
        return status;
    const merging<T> m = {static_cast<const T *>(args->x.data),
                          static_cast<const T *>(args->y.data),
                          static_cast<T *>(args->out.data),
                          args->x.shape[0],
                          args->y.shape[0],
                          tiles,
                          static_cast<int64_t *>(starts)};
    status = hip_queue(context, path_kernel<T>, dim3((unsigned)searching), dim3_of(launch), 0, m, tile);
    if (status != FL_OK)
        return status;
    return hip_queue(context, merge_kernel<T>, dim3((unsigned)launch->grid[0]), dim3_of(launch),
                     (size_t)launch->shared_bytes, m);
}

fl_status run_merge(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_merge_args *args = static_cast<const fl_merge_args *>(arguments);
    switch (args->out.dtype) {
    case FL_F32: return merge<float>(context, args, launch);
    case FL_F64: return merge<double>(context, args, launch);
    case FL_I32: return merge<int32_t>(context, args, launch);
    default: return merge<int64_t>(context, args, launch);
    }
}

/* ---------------------------------------------------------------------------------------------------- search ---- */

void plan_search(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_search_sorted_args *args = static_cast<const fl_search_sorted_args *>(arguments);
    if (!hip_block(device, 128, launch))
        return;
    const int64_t count = args->values.shape[0];
    int steps = 1;
    launch->grid[0] = hip_grid(device, 0, blocks_for(count, threads_of(launch)), launch->block[0]);
    for (int64_t n = args->sorted.shape[0]; n > 0; n /= 2)
        steps++;
    launch->bytes_requested = (steps * size_of(args->values.dtype) + sizeof(int64_t)) * (double)count;
}

template <typename T>
fl_status search(const fl_context *context, const fl_search_sorted_args *args, const fl_launch *launch)
{
    return hip_queue(context, search_kernel<T>, dim3((unsigned)launch->grid[0]), dim3_of(launch), 0,
                     static_cast<const T *>(args->sorted.data), args->sorted.shape[0],
                     static_cast<const T *>(args->values.data), args->values.shape[0],
                     static_cast<int64_t *>(args->out.data));
}

fl_status run_search(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_search_sorted_args *args = static_cast<const fl_search_sorted_args *>(arguments);
    switch (args->values.dtype) {
    case FL_F32: return search<float>(context, args, launch);
    case FL_F64: return search<double>(context, args, launch);
    case FL_I32: return search<int32_t>(context, args, launch);
    default: return search<int64_t>(context, args, launch);
    }
}

/* Levels in shared memory: as many as fit into what every block can have, but no more nodes than elements, or values.
 */
int levels_of(const fl_search_sorted_args *args)
{
    const int64_t most = search_tree_bytes / (int64_t)size_of(args->values.dtype),
                  nodes = std::min({most, args->sorted.shape[0], args->values.shape[0]});
    int levels = 0;
    while ((int64_t)2 << levels <= nodes)
        levels++;
    return levels;
}

/* Blocks that go on until all values are found: the tree is loaded once for each. */
void plan_shared(void *self, const void *arguments, fl_launch *launch)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const fl_search_sorted_args *args = static_cast<const fl_search_sorted_args *>(arguments);
    if (!hip_block(device, 512, launch))
        return;
    const int threads = threads_of(launch), levels = levels_of(args);
    const double bytes = size_of(args->values.dtype), count = (double)args->values.shape[0];
    const int64_t blocks = blocks_for(args->values.shape[0], (int64_t)threads * search_items),
                  resident = (int64_t)device->multiprocessors * std::max(1, device->resident_threads / threads);
    launch->grid[0] = hip_grid(device, 0, std::min(blocks, resident), launch->block[0]);
    launch->shared_bytes = (int64_t)bytes << levels;
    int steps = 2; /* the value itself, and the last comparison */
    for (int64_t left = blocks_for(std::max<int64_t>(args->sorted.shape[0], 1), (int64_t)1 << levels); left > 1;
         left -= left / 2)
        steps++;
    launch->bytes_requested = (steps * bytes + sizeof(int64_t)) * count +
                              (double)((int64_t)1 << levels) * bytes * (2 + (double)launch->grid[0]);
}

template <typename T>
fl_status search_shared(const fl_context *context, const fl_search_sorted_args *args, const fl_launch *launch)
{
    const int levels = levels_of(args), nodes = 1 << levels;
    const int64_t n = args->sorted.shape[0];
    void *tree;
    if (n == 0)
        return search<T>(context, args, launch);
    fl_status status = context->host->scratch(context, (size_t)nodes * sizeof(T), &tree);
    if (status != FL_OK)
        return status;
    const searching<T> s = {static_cast<const T *>(args->sorted.data),
                            n,
                            blocks_for(n, nodes),
                            levels,
                            nodes,
                            static_cast<const T *>(args->values.data),
                            args->values.shape[0],
                            static_cast<int64_t *>(args->out.data),
                            static_cast<T *>(tree)};
    const int64_t gathering =
        hip_grid(hip_device_of(context), 0, blocks_for(nodes, threads_of(launch)), launch->block[0]);
    status = hip_queue(context, tree_kernel<T>, dim3((unsigned)gathering), dim3_of(launch), 0, s);
    if (status != FL_OK)
        return status;
    return hip_queue(context, shared_search_kernel<T>, dim3((unsigned)launch->grid[0]), dim3_of(launch),
                     (size_t)launch->shared_bytes, s);
}

fl_status run_shared(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const fl_search_sorted_args *args = static_cast<const fl_search_sorted_args *>(arguments);
    switch (args->values.dtype) {
    case FL_F32: return search_shared<float>(context, args, launch);
    case FL_F64: return search_shared<double>(context, args, launch);
    case FL_I32: return search_shared<int32_t>(context, args, launch);
    default: return search_shared<int64_t>(context, args, launch);
    }
}

/* For few values a second launch takes longer than it saves. */
bool are_few(const fl_search_sorted_args *args)
{
    return args->values.shape[0] < 1 << 16;
}

void plan_auto(void *self, const void *arguments, fl_launch *launch)
{
    (are_few(static_cast<const fl_search_sorted_args *>(arguments)) ? plan_search : plan_shared)(self, arguments,
                                                                                                 launch);
}

fl_status run_auto(const fl_context *context, const void *arguments, const fl_launch *launch)
{
    const bool few = are_few(static_cast<const fl_search_sorted_args *>(arguments));
    return (few ? run_search : run_shared)(context, arguments, launch);
}

const char *chosen(const fl_context *, const void *arguments, fl_launch *)
{
    return are_few(static_cast<const fl_search_sorted_args *>(arguments)) ? "naive" : "shared";
}

constexpr uint32_t dtypes = 1u << FL_F32 | 1u << FL_F64 | 1u << FL_I32 | 1u << FL_I64;

const fl_row rows[] = {
    {FL_OP_MERGE, "naive", dtypes, "each block finds its part of the inputs, each thread its own in shared memory",
     plan_merge, run_merge, nullptr, false, nullptr, nullptr},
    {FL_OP_SEARCH_SORTED, "auto", dtypes, "naive for few values, else shared", plan_auto, run_auto, chosen, false,
     nullptr, nullptr},
    {FL_OP_SEARCH_SORTED, "shared", dtypes, "the first levels of the searches in shared memory, as a tree", plan_shared,
     run_shared, nullptr, false, nullptr, nullptr},
    {FL_OP_SEARCH_SORTED, "naive", dtypes, "a binary search for each value, a thread each", plan_search, run_search,
     nullptr, false, nullptr, nullptr},
};

} // namespace

hip_rows hip_merge_rows()
{
    return {rows, sizeof rows / sizeof rows[0]};
}
