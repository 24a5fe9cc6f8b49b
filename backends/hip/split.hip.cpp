/* SPDX-License-Identifier: MIT
 *
 * split.hip.cpp - queues the kernels of split_kernels.h. Compiled for sm_90a alone, and only into hip-nvidia.
 */
#include "split.hpp"
#include "split_kernels.h"

#include <climits>
#include <cstdio>
#include <cstring>

namespace
{

int64_t tiles_of(const factors<float> &m)
{
    return blocks_of(m.rows, split::height) * blocks_of(m.columns, split::width);
}

bool fits(const hip_device *device)
{
    return std::strcmp(device->architecture, gpu_tensor_architecture) == 0;
}

template <product_form form>
fl_status queue(const fl_context *context, const factors<float> &m, int64_t count, const fl_launch *launch)
{
    const int down = (int)blocks_of(m.rows, split::height), across = (int)blocks_of(m.columns, split::width);
    return hip_queue(context, are_aligned(m) ? split::split_kernel<form, true> : split::split_kernel<form, false>,
                     dim3((unsigned)(count * down * across)), dim3(split::threads), (size_t)launch->shared_bytes, m,
                     down, across);
}

} // namespace

fl_status hip_split_ready(void *device, char *why, size_t size)
{
    const hip_device *own = static_cast<hip_device *>(device);
    if (fits(own))
        return FL_OK;
    std::snprintf(why, size, "it needs the tensor cores of %s, and this GPU is %s; use another variant",
                  gpu_tensor_architecture, own->architecture);
    return FL_E_UNAVAILABLE;
}

bool hip_split_takes(const factors<float> &m)
{
    return m.terms >= split_least_terms && !m.turned_a && !m.turned_b && tiles_of(m) <= INT_MAX;
}

/* With fewer tiles than a third of the multiprocessors `register` is as fast, whose tiles are smaller. */
bool hip_split_worth(const hip_device *device, const factors<float> &m)
{
    return fits(device) && hip_split_takes(m) && 3 * m.batch * tiles_of(m) >= device->multiprocessors && are_aligned(m);
}

void hip_split_plan(const factors<float> &m, fl_launch *launch)
{
    const int64_t tiles = tiles_of(m);
    launch->block[0] = split::threads;
    launch->block[1] = launch->block[2] = 1;
    launch->grid[0] = std::min<int64_t>(INT_MAX / tiles, m.batch) * tiles;
    launch->grid[1] = launch->grid[2] = 1;
    launch->shared_bytes = split::shared_bytes;
    count_tiles({m.batch, m.rows, m.columns, m.terms, sizeof(float), m.s != nullptr}, split::width, split::height,
                launch);
}

/* No other kernel has so much shared memory. */
bool hip_split_planned(const fl_launch *launch)
{
    return launch->shared_bytes == split::shared_bytes;
}

/* One launch, unless its blocks are more than a grid may have. */
fl_status hip_split_multiply(const fl_context *context, const factors<float> &m, const fl_launch *launch)
{
    const int64_t each = launch->grid[0] / tiles_of(m);
    fl_status status = FL_OK;
    for (int64_t first = 0; first < m.batch && status == FL_OK; first += each) {
        factors<float> rest = m;
        rest.a += first * m.a_step;
        rest.b += first * m.b_step;
        rest.c += first * m.c_step;
        if (m.s)
            rest.s += first * m.s_step;
        status = (m.s ? queue<product_form::scaled>
                      : queue<product_form::plain>)(context, rest, std::min(each, m.batch - first), launch);
    }
    return status;
}
