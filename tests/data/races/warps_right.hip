/* SPDX-License-Identifier: MIT
 * Kernels with warp functions, without a mistake, for tests/cli/warps.sh. As right.hip. */
//: warp_sum | 0:1000 out=1 1000 --grid=4 | fill:1,value=499500,dtype=i32
__global__ void warp_sum(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? a[i] : 0;
    for (int by = warpSize / 2; by > 0; by /= 2)
        v += __shfl_down_sync(0xffffffff, v, by);
    if (threadIdx.x % warpSize == 0)
        atomicAdd(out, v);
}
//: block_sum_of_warps | 0:1000 out=1 1000 --grid=4 | fill:1,value=499500,dtype=i32
__inline__ __device__ int sum_of_warp(int v)
{
    for (int by = 16; by > 0; by /= 2)
        v += __shfl_down_sync(0xffffffff, v, by);
    return v;
}
__global__ void block_sum_of_warps(const int *a, int *out, int n)
{
    __shared__ int s[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int v = sum_of_warp(i < n ? a[i] : 0);
    if (lane == 0)
        s[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
    if (warp == 0)
        v = sum_of_warp(v);
    if (threadIdx.x == 0)
        atomicAdd(out, v);
}
//: warp_scan | 0:256 out | (x * (x + 1) - x / 32 * 32 * (x / 32 * 32 - 1)) / 2
__global__ void warp_scan(const int *a, int *out)
{
    int lane = threadIdx.x & 31, v = a[threadIdx.x];
    for (int by = 1; by < 32; by *= 2) {
        int below = __shfl_up_sync(0xffffffff, v, by);
        if (lane >= by)
            v += below;
    }
    out[threadIdx.x] = v;
}
//: butterfly | 0:256 out --dtype=f64 | 1024 * floor(x / 32) + 496
__global__ void butterfly(const double *a, double *out)
{
    double v = a[threadIdx.x];
    for (int mask = 16; mask > 0; mask /= 2)
        v += __shfl_xor_sync(0xffffffff, v, mask);
    out[threadIdx.x] = v;
}
//: compaction | 0:256 out=128 | range:128,by=2,dtype=i32
__global__ void compaction(const int *a, int *out)
{
    int v = a[threadIdx.x], lane = threadIdx.x % 32;
    unsigned kept = __ballot_sync(0xffffffff, v % 2 == 0);
    if (v % 2 == 0)
        out[threadIdx.x / 32 * 16 + __popc(kept & ((1u << lane) - 1))] = v;
}
//: broadcasts | 0:256 out | x / 8 * 8 + 3
__global__ void broadcasts(const int *a, int *out)
{
    out[threadIdx.x] = __shfl_sync(0xffffffff, a[threadIdx.x], 11, 8);
}
//: edges_of_groups | 0:256 out | (x % 8 < 2 ? x : x - 2) + (x % 8 > 4 ? x : x + 3)
__global__ void edges_of_groups(const int *a, int *out)
{
    int v = a[threadIdx.x];
    out[threadIdx.x] = __shfl_up_sync(0xffffffff, v, 2, 8) + __shfl_down_sync(0xffffffff, v, 3, 8);
}
//: half_warps | 0:256 out | x / 32 * 32 + (x % 32 < 16 ? 3 : 20)
__global__ void half_warps(const int *a, int *out)
{
    int v = a[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v = __shfl_sync(0x0000ffff, v, 3);
    else
        v = __shfl_sync(0xffff0000, v, 20);
    out[threadIdx.x] = v;
}
//: partial_warp | 0:40 out --block=40 | x < 32 ? 32 : 8
__global__ void partial_warp(const int *a, int *out)
{
    out[threadIdx.x] = __popc(__ballot_sync(0xffffffff, a[threadIdx.x] >= 0));
}
//: in_three_dimensions | 0:128 out=128 --block=8x4x2 --grid=2 | x / 32 * 32 + 5
__global__ void in_three_dimensions(const int *a, int *out)
{
    int i = threadIdx.x + 8 * (threadIdx.y + 4 * (threadIdx.z + 2 * blockIdx.x));
    out[i] = __shfl_sync(0xffffffff, a[i], 5);
}
//: in_two_dimensions | 0:96 out=96 --block=3x32 --grid=1 | x / 32 * 32 + 31
__global__ void in_two_dimensions(const int *a, int *out)
{
    int i = threadIdx.x + 3 * threadIdx.y;
    out[i] = __shfl_sync(0xffffffff, a[i], 31);
}
//: lanes_that_have_ended | 0:100 out 100 --grid=1 | x < 96 ? 16 : 2
__global__ void lanes_that_have_ended(const int *a, int *out, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    out[i] = __popc(__ballot_sync(0xffffffff, a[i] & 1));
}
//: mask_of_a_branch | 0:100 out=1 100 --grid=1 | fill:1,value=4950,dtype=i32
__global__ void mask_of_a_branch(const int *a, int *out, int n)
{
    int i = threadIdx.x, lane = i % 32;
    unsigned mask = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
        int v = a[i];
        for (int by = 16; by > 0; by /= 2) {
            int other = __shfl_sync(mask, v, min(lane + by, __popc(mask) - 1));
            if (lane + by < __popc(mask))
                v += other;
        }
        if (lane == 0)
            atomicAdd(out, v);
    }
}
//: tree_of_a_warp | 0:256 out=8 | range:8,from=496,by=1024,dtype=i32
__global__ void tree_of_a_warp(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x, lane = t % 32;
    s[t] = a[t];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (lane < half)
            s[t] += s[t + half];
        __syncwarp();
    }
    if (lane == 0)
        out[t / 32] = s[t];
}
//: syncwarp_in_two_places | 0:256 out | x / 32 * 32 + 31 - x % 32
__global__ void syncwarp_in_two_places(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    if (t % 32 < 16) {
        s[t] = a[t];
        __syncwarp();
    } else {
        s[t] = a[t];
        __syncwarp();
    }
    out[t] = s[t / 32 * 32 + 31 - t % 32];
}
//: half_warps_in_step | 0:256 out | x ^ 1
__global__ void half_warps_in_step(const int *a, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    unsigned mask = 0xffffu << (t & 16);
    s[t] = a[t];
    __syncwarp(mask);
    out[t] = s[t ^ 1];
}
//: warp_publishes | 0:32 out=32 out=1 --block=32 --grid=2 | x + 1
__global__ void warp_publishes(const int *a, int *out, int *flag)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        out[t] = a[t];
        __syncwarp();
        if (t == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (t == 0)
            while (atomicAdd(flag, 0) == 0)
                continue;
        __syncwarp();
        out[31 - t]++;
    }
}
//: without_a_mask | 0:256 out=1 | fill:1,value=32640,dtype=i32
__global__ void without_a_mask(const int *a, int *out)
{
    int v = a[threadIdx.x];
    for (int by = warpSize / 2; by > 0; by /= 2)
        v += __shfl_down(v, by);
    if (__lane_id() == 0)
        atomicAdd(out, v);
}
//: votes_of_a_branch | 0:256 out | x % 4 == 1 ? 8 : x % 4 == 3 ? 24 : 0
__global__ void votes_of_a_branch(const int *a, int *out)
{
    int v = a[threadIdx.x], count = 0;
    if (v % 2 == 1) {
        if (v % 4 == 1)
            count = __popcll(__ballot(1));
        else
            count = 3 * __popc(__activemask());
        if (!__all(v % 2) || __any(v % 2 == 0) || __popcll(__ballot(1)) != 16)
            count = -1;
    }
    out[threadIdx.x] = count;
}
//: one_call_remains_one | 0:256 out | 320 + (x % 2 == 1 ? 7 : 9)
__global__ void one_call_remains_one(const int *a, int *out)
{
    int v = a[threadIdx.x], c;
    if (v % 2 == 1)
        c = 1;
    else
        c = 2;
    unsigned long long n = __ballot(1);
    if (c == 1)
        v = 7;
    else
        v = 9;
    out[threadIdx.x] = __popcll(n) * 10 + v;
}
//: two_calls_remain_two | 0:256 out | x % 2 == 1 ? 8 : 4
__global__ void two_calls_remain_two(const int *a, int *out)
{
    int v = a[threadIdx.x], n;
    if (v % 2 == 1)
        n = __popcll(__ballot(v % 4 == 1));
    else
        n = __popcll(__ballot(v % 8 == 0));
    out[threadIdx.x] = n;
}
//: loop_of_different_lengths | 0:256 out | x % 32 * (x % 32 + 1) / 2 + x % 32 * (31 - x % 32)
__global__ void loop_of_different_lengths(const int *a, int *out)
{
    int lane = threadIdx.x % 32, sum = 0;
    for (int i = 0; i < lane; i++)
        sum += __popcll(__ballot(a[threadIdx.x] >= 0));
    out[threadIdx.x] = sum;
}
//: one_atomic_for_a_warp | 0:256 out=1 | fill:1,value=86,dtype=i32
__global__ void one_atomic_for_a_warp(const int *a, int *out)
{
    if (a[threadIdx.x] % 3 == 0) {
        unsigned mask = __activemask();
        int leader = __ffs(mask) - 1, lane = threadIdx.x % 32, first = 0;
        if (lane == leader)
            first = atomicAdd(out, __popc(mask));
        first = __shfl_sync(mask, first, leader);
        if (first < 0)
            out[0] = 0;
    }
}
//: waits_for_another_lane | out=1 --block=32 | 1
__global__ void waits_for_another_lane(int *out)
{
    if (threadIdx.x == 0)
        while (atomicAdd(out, 0) == 0)
            continue;
    else if (__popc(__activemask()) > 0)
        atomicExch(out, 1);
}
//: votes | 0:256 out | 7
__global__ void votes(const int *a, int *out)
{
    int v = a[threadIdx.x], first = threadIdx.x / 32 * 32;
    out[threadIdx.x] = __any_sync(0xffffffff, v == first + 9) + 2 * __all_sync(-1, v >= first) +
                       4 * !__all_sync(0xffffffff, v > first);
}
//: matches_and_reductions | 0:256 out | 127
__global__ void matches_and_reductions(const int *a, int *out)
{
    int v = a[threadIdx.x], first = threadIdx.x / 32 * 32, lane = v - first, all, none;
    unsigned same = __match_any_sync(0xffffffff, v % 4);
    unsigned equal = __match_all_sync(0xffffffff, first, &all), unequal = __match_all_sync(0xffffffff, v, &none);
    out[threadIdx.x] = (same == 0x11111111u << lane % 4) + 2 * (all && !none && equal == 0xffffffff && unequal == 0) +
                       4 * (__reduce_add_sync(0xffffffff, v) == 32 * first + 496) +
                       8 * (__reduce_min_sync(0xffffffff, -v) == -first - 31) +
                       16 * (__reduce_max_sync(0xffffffff, (unsigned)v) == first + 31u) +
                       32 * (__reduce_or_sync(0xffffffff, 1u << lane) == 0xffffffff) +
                       64 * (__reduce_xor_sync(0xffffffff, (unsigned)lane) == 0 &&
                             __reduce_and_sync(0xffffffff, lane | 64u) == 64);
}
//: groups | 0:1000 out=1 1000 --grid=2 | fill:1,value=499500,dtype=i32
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void groups(const int *a, int *out, int n)
{
    __shared__ int s[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int v = 0;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size())
        v += a[i];
    v = cg::reduce(tile, v, cg::plus<int>());
    if (tile.thread_rank() == 0)
        s[tile.meta_group_rank()] = v;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        v = tile.thread_rank() < tile.meta_group_size() ? s[tile.thread_rank()] : 0;
        for (int by = tile.size() / 2; by > 0; by /= 2)
            v += tile.shfl_down(v, by);
        if (tile.thread_rank() == 0)
            atomicAdd(out, v);
    }
}
//: groups_of_eight | 0:256 out | x / 8 * 8 + 7 + 100 * (x / 8) + 10000
#include <cooperative_groups.h>
using namespace cooperative_groups;
__device__ int last_of(thread_group g, int *s, int v)
{
    g.sync();
    if (g.thread_rank() == g.size() - 1)
        *s = v;
    g.sync();
    return *s;
}
__global__ void groups_of_eight(const int *a, int *out)
{
    __shared__ int s[32];
    auto tile = tiled_partition<8>(tiled_partition<16>(this_thread_block()));
    int t = threadIdx.x, number = t / 8, v = a[t];
    bool right = tile.meta_group_rank() == t / 8 % 2 && tile.meta_group_size() == 2 && tile.all(v / 8 == number) &&
                 tile.any(v == 8 * number) && tile.ballot(v % 2) == 0xaa && tile.match_any(v / 4) == 15u << t / 4 % 2 * 4 &&
                 tile.shfl(v, 2) == 8 * number + 2 && tile.shfl_xor(v, 7) == 8 * number + 7 - t % 8 &&
                 tile.shfl_up(v, 8) == v;
    out[t] = last_of(tiled_partition(this_thread_block(), 8), &s[number], v) + 100 * number + 10000 * right;
}
//: warps_of_64 | 0:1024 out=16 --warp=64 --grid=4 | range:16,from=2016,by=4096,dtype=i32
__global__ void warps_of_64(const int *a, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = a[i];
    unsigned long long all = __ballot(1);
    for (int by = warpSize / 2; by > 0; by /= 2)
        v += __shfl_xor_sync(all, v, by);
    if (threadIdx.x % warpSize == 63)
        out[i / warpSize] = v;
}
