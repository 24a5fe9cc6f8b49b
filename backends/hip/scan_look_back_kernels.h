/* SPDX-License-Identifier: MIT
 *
 * scan_look_back_kernels.h - the scan in one pass over memory, in which a tile waits for those before it: Merrill and
 * Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016. There a tile adds up whatever the earlier
 * ones have published so far, so that a sum of floats depends on the time. Here it adds up the same numbers in each
 * run:
 *
 *     what is before a tile = what is before its field, and the groups before its own in the field,
 *                             and the tiles before it in the group
 *
 * where 32 tiles are a group and 32 groups a field. A tile publishes what it gives before it waits for anything; the
 * last tile of a group what the group gives, once it has seen the 31 others; the last one of a field what is before the
 * next field. So a tile waits for three numbers after another at most, and only the fields are a chain.
 *
 * Tiles are taken in order, from an atomic counter: a tile waits only for tiles that other blocks have begun. A number
 * is published as words of 64 bits, 32 of it beside a flag, so that no fence is needed to see both.
 */
#ifndef FLYNN_HIP_SCAN_LOOK_BACK_KERNELS_H
#define FLYNN_HIP_SCAN_LOOK_BACK_KERNELS_H

#include "compact_kernels.h"
#include "gpu/gpu_shuffle.h"
#include "scan_kernels.h"

namespace
{

constexpr int scan_fan = 32; /* tiles of a group, groups of a field */

/* A thread has `packs` packs of neighbours. Those of a warp's lanes lie side by side, so that loads take whole lines.
 */
template <typename Value>
constexpr int scan_pack = sizeof(Value) == 1 ? 8 : 4;
template <typename Value>
constexpr int scan_packs = sizeof(Value) == 4 ? 4 : 2;
template <typename Value>
constexpr int scan_items = scan_pack<Value> *scan_packs<Value>;

/* Loaded and stored by 16 bytes where it has as many. */
template <typename T, int Size>
struct alignas(sizeof(T) * Size < 16 ? sizeof(T) * Size : 16) scan_neighbours {
    static constexpr int size = Size;
    T value[Size];
};

template <typename Op>
struct looking_back {
    const typename Op::from *in;
    typename Op::value *out;
    int64_t length, tiles;
    unsigned long long *taken;          /* tiles; NULL: there is one */
    uint64_t *tile, *group, *next;      /* published; next[f]: before the field f + 1 */
    int exclusive, in_packs, out_packs; /* whether arrays begin where a pack can */
};

/* ----------------------------------------------------------------------------------------- published numbers ---- */

template <typename Value>
constexpr int scan_words = sizeof(Value) > 4 ? 2 : 1;

template <typename Value>
__device__ void scan_publish(uint64_t *words, int64_t i, Value value)
{
    uint32_t half[scan_words<Value>] = {};
    memcpy(half, &value, sizeof value);
    for (int w = 0; w < scan_words<Value>; w++)
        gpu_store_word(&words[i * scan_words<Value> + w], UINT64_C(1) << 32 | half[w]);
}

template <typename Value>
__device__ Value scan_await(const uint64_t *words, int64_t i)
{
    uint32_t half[scan_words<Value>];
    Value value;
    for (int w = 0; w < scan_words<Value>; w++) {
        uint64_t word;
        while (((word = gpu_load_word(&words[i * scan_words<Value> + w])) >> 32) == 0)
            gpu_wait_a_moment();
        half[w] = (uint32_t)word;
    }
    memcpy(&value, half, sizeof value);
    return value;
}

/* Before the launch: nothing is published, no tile taken. */
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void clear_kernel(uint64_t *words, int64_t count)
{
    const int threads = gpu_block_threads();
    const int64_t next = (int64_t)gridDim.x * threads;
    for (int64_t i = (int64_t)blockIdx.x * threads + scan_thread(); i < count; i += next)
        words[i] = 0;
}

/* ---------------------------------------------------------------------------------------------- within a warp ---- */

/* Shuffles move 4 or 8 bytes: a byte travels as a word. */
template <typename Value>
using scan_moved = std::conditional_t<sizeof(Value) == 1, unsigned, Value>;

template <typename Value>
__device__ Value scan_lane(const block_place &p, Value value, int from)
{
    return (Value)gpu_shuffle(p.together, (scan_moved<Value>)value, from);
}

template <typename Value>
__device__ Value scan_lane_below(const block_place &p, Value value, int by)
{
    return (Value)gpu_shuffle_up(p.together, (scan_moved<Value>)value, by);
}

/* Returns the scan of the warp's values up to this lane. */
template <typename Op>
__device__ typename Op::value scan_lanes(const block_place &p, typename Op::value mine)
{
    int lane = p.lane;
    GPU_UNROLL
    for (int step = 1; step < 64; step *= 2) {
        gpu_forget(lane); /* which lanes are above each step would take scalar registers all the time */
        if (step >= p.here)
            continue;
        const typename Op::value below = scan_lane_below(p, mine, step);
        if (lane >= step)
            mine = Op::put(below, mine);
    }
    return mine;
}

/* Waits for `count` published values and returns, in every lane, their total in their order. */
template <typename Op>
__device__ typename Op::value scan_collect(const block_place &p, const uint64_t *words, int64_t first, int count)
{
    using value = typename Op::value;
    value all = Op::lowest();
    for (int base = 0; base < count; base += p.here) {
        const int k = base + p.lane;
        const value mine = k < count ? scan_await<value>(words, first + k) : Op::lowest();
        all = Op::put(all, scan_lane(p, scan_lanes<Op>(p, mine), p.here - 1));
    }
    return all;
}

/* By one warp: makes of each warp's number what those before it give, and returns what all give. Where warps are many
 * because they have few lanes, sums of 32 are added up, so that no chain is long. */
template <typename Op>
__device__ typename Op::value scan_warps(const block_place &p, typename Op::value *sums)
{
    using value = typename Op::value;
    value all = Op::lowest();
    for (int start = 0; start < p.warps; start += scan_fan) {
        const int end = start + scan_fan < p.warps ? start + scan_fan : p.warps;
        value some = Op::lowest();
        for (int base = start; base < end; base += p.here) {
            const int w = base + p.lane;
            const value mine = scan_lanes<Op>(p, w < end ? sums[w] : Op::lowest());
            const value below = scan_lane_below(p, mine, 1);
            if (w < end)
                sums[w] = Op::put(all, Op::put(some, p.lane > 0 ? below : Op::lowest()));
            some = Op::put(some, scan_lane(p, mine, p.here - 1));
        }
        all = Op::put(all, some);
    }
    return all;
}

/* ----------------------------------------------------------------------------------------------------- a tile ---- */

/* A block's shared memory. */
template <typename Op>
struct scan_shared {
    int64_t tile;
    typename Op::value all;                    /* what the tile gives */
    typename Op::value before_group, in_group; /* before the tile's group, and in it before the tile */
    typename Op::value sums[1];                /* a number a warp */
};

template <typename T>
__host__ __device__ constexpr size_t scan_shared_bytes(int warps)
{
    return sizeof(T) + (size_t)(warps - 1) * sizeof(T::sums);
}

/* `count` elements of the pack at `at`; those behind the end change nothing. */
template <typename Op, typename Value = typename Op::value>
__device__ void scan_load(const looking_back<Op> &a, int64_t at, bool whole, Value *x)
{
    using pack = scan_neighbours<typename Op::from, scan_pack<Value>>;
    if (whole && a.in_packs) {
        pack loaded;
        gpu_copy(*reinterpret_cast<const pack *>(a.in + at), loaded);
        GPU_UNROLL
        for (int j = 0; j < pack::size; j++)
            x[j] = (Value)loaded.value[j];
        return;
    }
    GPU_UNROLL
    for (int j = 0; j < pack::size; j++)
        x[j] = at + j < a.length ? (Value)a.in[at + j] : Op::lowest();
}

/* The pack's results, of which each is behind `before`. */
template <typename Op, typename Value = typename Op::value>
__device__ void scan_store(const looking_back<Op> &a, int64_t at, bool whole, const Value *x, Value before)
{
    using pack = scan_neighbours<Value, scan_pack<Value>>;
    pack result;
    GPU_UNROLL
    for (int j = 0; j < pack::size; j++) {
        /* Both are read: of a choice between two elements the compiler makes one between their addresses. */
        const Value own = x[j], earlier = x[j > 0 ? j - 1 : 0], shown = a.exclusive ? earlier : own;
        result.value[j] = a.exclusive && j == 0 ? before : Op::put(before, shown);
    }
    if (whole && a.out_packs) {
        gpu_copy(result, *reinterpret_cast<pack *>(a.out + at));
        return;
    }
    GPU_UNROLL
    for (int j = 0; j < pack::size; j++)
        if (at + j < a.length)
            a.out[at + j] = result.value[j];
}

/* By the first two warps: what is before the tile. The first publishes what others wait for as soon as it can. */
template <typename Op>
__device__ void scan_look_back(const looking_back<Op> &a, const block_place &p, scan_shared<Op> *shared)
{
    using value = typename Op::value;
    const int64_t tile = shared->tile, group = tile / scan_fan, field = group / scan_fan;
    if (p.warp == 0) {
        const value all = scan_warps<Op>(p, shared->sums);
        value before = Op::lowest();
        if (a.tiles > 1) {
            if (p.lane == 0)
                scan_publish(a.tile, tile, all);
            before = scan_collect<Op>(p, a.tile, group * scan_fan, (int)(tile % scan_fan));
            if (p.lane == 0 && tile % scan_fan == scan_fan - 1)
                scan_publish(a.group, group, Op::put(before, all));
        }
        if (p.lane == 0) {
            shared->all = all;
            shared->in_group = before;
        }
    }
    if (p.warp == (p.warps > 1 ? 1 : 0)) {
        const value groups = scan_collect<Op>(p, a.group, field * scan_fan, (int)(group % scan_fan));
        if (p.lane == 0)
            shared->before_group = field > 0 ? Op::put(scan_await<value>(a.next, field - 1), groups) : groups;
    }
}

template <typename Op>
__device__ void scan_tile(const looking_back<Op> &a, const block_place &p, scan_shared<Op> *shared)
{
    using value = typename Op::value;
    constexpr int pack = scan_pack<value>, packs = scan_packs<value>;
    int place = p.warp * p.lanes * scan_items<value> + p.lane * pack; /* of the thread's first pack in the tile */
    int64_t start = shared->tile * p.threads * scan_items<value>;
    const bool whole = start + p.threads * scan_items<value> <= a.length;
    value x[packs][pack], before[packs], here = Op::lowest();
    GPU_UNROLL
    for (int v = 0; v < packs; v++) /* all loads are on their way at a time */
        scan_load<Op>(a, start + place + v * p.here * pack, whole, x[v]);
    GPU_UNROLL
    for (int v = 0; v < packs; v++) {
        value running = x[v][0];
        GPU_UNROLL
        for (int j = 1; j < pack; j++)
            x[v][j] = running = Op::put(running, x[v][j]);
        const value mine = scan_lanes<Op>(p, running), below = scan_lane_below(p, mine, 1);
        before[v] = Op::put(here, p.lane > 0 ? below : Op::lowest());
        here = Op::put(here, scan_lane(p, mine, p.here - 1));
    }
    if (p.lane == 0)
        shared->sums[p.warp] = here;
    __syncthreads();
    scan_look_back(a, p, shared);
    __syncthreads();
    const value tile_before = Op::put(shared->before_group, shared->in_group);
    const value warp_before = Op::put(tile_before, shared->sums[p.warp]);
    constexpr int field = scan_fan * scan_fan;
    if (p.thread == 0 && shared->tile % field == field - 1)
        scan_publish(a.next, shared->tile / field, Op::put(tile_before, shared->all));
    start = shared->tile * p.threads * scan_items<value>;
    GPU_FORGET_IF_FEW(place); /* no addresses are kept over the barriers */
    GPU_UNROLL
    for (int v = 0; v < packs; v++)
        scan_store<Op>(a, start + place + v * p.here * pack, whole, x[v], Op::put(warp_before, before[v]));
}

template <typename Op>
__global__ GPU_LAUNCH_BOUNDS(1024, 1) void look_back_kernel(looking_back<Op> a)
{
    GPU_DYNAMIC_SHARED(memory);
    scan_shared<Op> *const shared = reinterpret_cast<scan_shared<Op> *>(memory);
    const block_place p;
    /* A block takes one tile, or, where the grid is limited, tiles until there are none. */
    do {
        if (p.thread == 0)
            shared->tile = a.taken ? (int64_t)atomicAdd(a.taken, 1ull) : 0;
        __syncthreads();
        if (shared->tile >= a.tiles)
            return;
        scan_tile(a, p, shared);
        __syncthreads(); /* before the next tile takes this one's place */
    } while (gridDim.x < a.tiles);
}

} // namespace

#endif
