/* SPDX-License-Identifier: MIT
 * Kernels with a mistake in warp functions each, for tests/cli/warps.sh. As wrong.hip. */
//: lane_missing | 0:256 out | lane 0 is in the mask 0xffffffff of __shfl_sync but never calls it
__global__ void lane_missing(const int *a, int *out)
{
    int v = a[threadIdx.x], first = 0;
    if (threadIdx.x % 32 > 0)
        first = __shfl_sync(0xffffffff, v, 1); // HERE
    out[threadIdx.x] = v - first;
}
//: full_mask_in_a_branch | 0:256 out | lanes 16 to 31 are in the mask 0xffffffff of __shfl_down_sync but never call it
__global__ void full_mask_in_a_branch(const int *a, int *out)
{
    int v = a[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v += __shfl_down_sync(0xffffffff, v, 8, 16); // HERE
    out[threadIdx.x] = v;
}
//: lane_at_a_barrier | 0:256 out | lane 3 is in the mask .* never calls it: it waits in line 5, in __syncthreads
__global__ void lane_at_a_barrier(const int *a, int *out)
{
    int v = a[threadIdx.x];
    if (threadIdx.x == 3)
        __syncthreads();
    else
        v = __shfl_sync(0xffffffff, v, 0); // HERE
    out[threadIdx.x] = v;
}
//: lanes_at_another_call | 0:256 out | lanes 16 to 31 are in the mask .* the first of them waits in line 7, in __any_sync
__global__ void lanes_at_another_call(const int *a, int *out)
{
    int v = a[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v = __shfl_sync(0xffffffff, v, 0); // HERE
    else
        v = __any_sync(0xffffffff, v);
    out[threadIdx.x] = v;
}
//: two_places | 0:256 out | the lanes of the mask 0xffffffff call __shfl_sync here and in line 7
__global__ void two_places(const int *a, int *out)
{
    int v = a[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v = __shfl_sync(0xffffffff, v, 0); // HERE
    else
        v = 1 + __shfl_sync(0xffffffff, v, 16);
    out[threadIdx.x] = v;
}
//: different_masks | 0:256 out | mask 0xffff.* mask 0xffffffff\|mask 0xffffffff.*mask 0xffff
__global__ void different_masks(const int *a, int *out)
{
    unsigned mask = threadIdx.x % 32 < 16 ? 0xffff : 0xffffffff;
    out[threadIdx.x] = __popc(__ballot_sync(mask, a[threadIdx.x] % 2)); // HERE
}
//: not_in_the_mask | 0:256 out | lane [0-9]* calls __syncwarp with the mask 0xff, which does not name it
__global__ void not_in_the_mask(const int *a, int *out)
{
    out[threadIdx.x] = a[threadIdx.x];
    __syncwarp(0xff); // HERE
    out[threadIdx.x]++;
}
//: width_of_24 | 0:256 out | the width 24 of __shfl_up_sync is not a power of 2 up to 32
__global__ void width_of_24(const int *a, int *out)
{
    out[threadIdx.x] = __shfl_up_sync(0xffffffff, a[threadIdx.x], 1, 24); // HERE
}
//: beyond_a_partial_warp | 0:40 out --block=40 | lane [0-9]* takes the value of lane [0-9]*, which takes no part in __shfl_down_sync
__global__ void beyond_a_partial_warp(const int *a, int *out)
{
    int v = a[threadIdx.x];
    for (int by = 16; by > 0; by /= 2)
        v += __shfl_down_sync(0xffffffff, v, by); // HERE
    out[threadIdx.x] = v;
}
//: from_a_lane_that_has_ended | 0:100 out 100 | takes the value of lane 31, which takes no part in __shfl_sync
__global__ void from_a_lane_that_has_ended(const int *a, int *out, int n)
{
    if (threadIdx.x >= n)
        return;
    out[threadIdx.x] = __shfl_sync(0xffffffff, a[threadIdx.x], 31); // HERE
}
//: tree_without_syncwarp | 0:256 out=8 | s, which thread [0-9]* [a-z]*s.*(is a __syncwarp missing?)
__global__ void tree_without_syncwarp(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x, lane = t % 32;
    s[t] = a[t];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2)
        if (lane < half)
            s[t] += s[t + half]; // HERE
    __syncwarp();
    if (lane == 0)
        out[t / 32] = s[t];
}
//: shuffles_order_nothing | 0:256 out | s, which thread [0-9]* [a-z]*s in line [0-9]* (is a __syncwarp missing?)
__global__ void shuffles_order_nothing(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    int v = __shfl_xor_sync(0xffffffff, t, 1);
    out[t] = s[v]; // HERE
}
//: syncwarp_between_warps | 0:256 out | s, which thread [0-9]* [a-z]*s in line [0-9]* (is a __syncthreads missing?)
__global__ void syncwarp_between_warps(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp();
    out[t] = s[255 - t]; // HERE
}
//: half_of_the_warp_in_step | 0:256 out | s, which thread [0-9]* [a-z]*s in line [0-9]* (is a __syncwarp missing?)
__global__ void half_of_the_warp_in_step(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp(0xffffu << (t & 16));
    out[t] = s[t ^ 16]; // HERE
}
//: tile_without_sync | 0:256 out | s, which thread [0-9]* [a-z]*s in line [0-9]* (is a __syncwarp missing?)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void tile_without_sync(const int *a, int *out)
{
    __shared__ int s[256];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, any = tile.any(1);
    s[t] = a[t];
    out[t] = s[t ^ any]; // HERE
}
//: mask_of_32_lanes | 0:256 out --warp=64 | lane [0-9]* calls __shfl_xor_sync with the mask 0xffffffff, which does not name it
__global__ void mask_of_32_lanes(const int *a, int *out)
{
    out[threadIdx.x] = __shfl_xor_sync(0xffffffff, a[threadIdx.x], 1); // HERE
}
