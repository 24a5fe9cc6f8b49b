/* SPDX-License-Identifier: MIT
 *
 * scan_look_back_kernels.h - a scan in one pass over memory, in which a tile waits for those before it: Merrill and
 * Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016. There a tile adds up whatever the earlier
 * ones have published so far, so that a sum of floats depends on the time. Here it adds up the same numbers in each
 * run:
 *
 *     what is before a tile = what is before its field, and the tiles before it in the field
 *
 * where a field is 256 tiles. A tile publishes what it gives before it waits for anything, and each thread of a block
 * waits for one of the earlier tiles. The last tile of a field publishes what is before the next field. So a tile waits
 * for two numbers after another at most, and only the fields are a chain.
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

/* Tiles of a field. Small tiles have larger fields, so that the chain of fields is short enough for the bound of sums.
 */
__host__ __device__ inline int scan_field(int threads)
{
    return threads < 64 ? 1024 : 256;
}

constexpr int scan_usual_threads = 256; /* of a block */

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
    uint64_t *tile, *next;              /* published; next[f]: before the field f + 1 */
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

/* By one warp: makes of each warp's number what those before it give, and returns what all give. Where warps are many
 * because they have few lanes, sums of 32 are added up, so that no chain is long. */
template <typename Op>
__device__ typename Op::value scan_warps(const block_place &p, typename Op::value *sums)
{
    using value = typename Op::value;
    constexpr int together = 32;
    value all = Op::lowest();
    for (int start = 0; start < p.warps; start += together) {
        const int end = start + together < p.warps ? start + together : p.warps;
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
    typename Op::value all;                  /* what the tile gives */
    typename Op::value before_field, before; /* what is before the tile's field, and before the tile */
    typename Op::value sums[2];              /* two numbers a warp: what it gives; what the tiles it waits for give */
};

template <typename T>
__host__ __device__ constexpr size_t scan_shared_bytes(int warps)
{
    return sizeof(T) + (size_t)(warps - 1) * sizeof(T::sums);
}

/* The place of a thread's first pack in a tile; those of a warp's lanes lie side by side. */
template <typename Value>
__device__ int scan_place(const block_place &p)
{
    return p.warp * p.lanes * scan_items<Value> + p.lane * scan_pack<Value>;
}

template <typename Op>
__device__ bool scan_is_whole(const looking_back<Op> &a, const block_place &p, int64_t tile)
{
    return (tile + 1) * p.threads * scan_items<typename Op::value> <= a.length;
}

/* Loads the thread's elements of a tile; those behind the end change nothing. In a whole tile there is no branch
 * between the loads, so that all are on their way at a time. */
template <typename Op, typename Value, int Packs, int Pack>
__device__ void scan_load(const looking_back<Op> &a, const block_place &p, int64_t tile, Value (&x)[Packs][Pack])
{
    using pack = scan_neighbours<typename Op::from, Pack>;
    const int64_t start = tile * p.threads * scan_items<Value> + scan_place<Value>(p);
    if (scan_is_whole(a, p, tile) && a.in_packs) {
        pack loaded[Packs];
        GPU_UNROLL
        for (int v = 0; v < Packs; v++)
            gpu_copy(*reinterpret_cast<const pack *>(a.in + start + v * p.here * Pack), loaded[v]);
        GPU_UNROLL
        for (int v = 0; v < Packs; v++)
            GPU_UNROLL
        for (int j = 0; j < Pack; j++)
            x[v][j] = (Value)loaded[v].value[j];
        return;
    }
    GPU_UNROLL
    for (int v = 0; v < Packs; v++) {
        int offset = v * p.here * Pack;
        GPU_FORGET_IF_FEW(offset); /* else the addresses of all elements are there at a time */
        GPU_UNROLL
        for (int j = 0; j < Pack; j++) {
            const int64_t at = start + offset + j;
            x[v][j] = at < a.length ? (Value)a.in[at] : Op::lowest();
        }
    }
}

/* Stores the thread's results of a tile, of which each is behind `before`. */
template <typename Op, typename Value, int Packs, int Pack>
__device__ void scan_store(const looking_back<Op> &a, const block_place &p, int64_t tile, const Value (&x)[Packs][Pack],
                           Value before)
{
    using pack = scan_neighbours<Value, Pack>;
    int place = scan_place<Value>(p);
    GPU_FORGET_IF_FEW(place); /* no addresses are kept over the barriers */
    const int64_t start = tile * p.threads * scan_items<Value> + place;
    const bool by_packs = scan_is_whole(a, p, tile) && a.out_packs;
    GPU_UNROLL
    for (int v = 0; v < Packs; v++) {
        int offset = v * p.here * Pack;
        GPU_FORGET_IF_FEW(offset);
        const int64_t at = start + offset;
        pack result;
        GPU_UNROLL
        for (int j = 0; j < Pack; j++)
            result.value[j] = Op::put(before, x[v][j]);
        if (by_packs) {
            gpu_copy(result, *reinterpret_cast<pack *>(a.out + at));
            continue;
        }
        GPU_UNROLL
        for (int j = 0; j < Pack; j++)
            if (at + j < a.length)
                a.out[at + j] = result.value[j];
    }
}

/* Makes of each element of the pack what the warp's elements up to it give, or, if exclusive, those before it. `here`:
 * what the warp's earlier packs give; this one is added to it. */
template <typename Op, typename Value = typename Op::value>
__device__ void scan_pack_of_warp(const block_place &p, bool exclusive, Value *x, Value *here)
{
    constexpr int pack = scan_pack<Value>;
    GPU_UNROLL
    for (int j = 1; j < pack; j++)
        x[j] = Op::put(x[j - 1], x[j]);
    const Value mine = scan_lanes<Op>(p, x[pack - 1]), below = scan_lane_below(p, mine, 1);
    const Value before = Op::put(*here, p.lane > 0 ? below : Op::lowest());
    *here = Op::put(*here, scan_lane(p, mine, p.here - 1));
    GPU_UNROLL
    for (int j = pack - 1; j >= 0; j--) {
        /* Both are read: of a choice between two elements the compiler makes one between their addresses. */
        const Value own = x[j], earlier = x[j > 0 ? j - 1 : 0];
        x[j] = exclusive && j == 0 ? before : Op::put(before, exclusive ? earlier : own);
    }
}

/* By all threads: publishes what the tile gives, and finds what is before it. The result is there after a barrier. */
template <typename Op>
__device__ void scan_look_back(const looking_back<Op> &a, const block_place &p, scan_shared<Op> *shared)
{
    using value = typename Op::value;
    const int64_t tile = shared->tile;
    if (p.warp == 0) {
        const value all = scan_warps<Op>(p, shared->sums);
        if (p.lane == 0) {
            shared->all = all;
            if (a.tiles > 1)
                scan_publish(a.tile, tile, all);
        }
    }
    const int tiles = scan_field(p.threads), each = (tiles + p.threads - 1) / p.threads;
    const int64_t field = tile / tiles;
    const int count = (int)(tile % tiles), first = p.thread * each;
    value *const earlier = shared->sums + p.warps;
    value mine = Op::lowest();
    for (int i = first; i < first + each && i < count; i++)
        mine = Op::put(mine, scan_await<value>(a.tile, tile - count + i));
    mine = scan_lanes<Op>(p, mine);
    if (p.lane == p.here - 1)
        earlier[p.warp] = mine;
    if (p.thread == p.threads - 1)
        shared->before_field = field > 0 ? scan_await<value>(a.next, field - 1) : Op::lowest();
    __syncthreads();
    if (p.warp == 0) {
        const value before = Op::put(shared->before_field, scan_warps<Op>(p, earlier));
        if (p.lane == 0) {
            shared->before = before;
            if (a.tiles > 1 && count == tiles - 1)
                scan_publish(a.next, field, Op::put(before, shared->all));
        }
    }
}

template <typename Op>
__device__ void scan_tile(const looking_back<Op> &a, const block_place &p, scan_shared<Op> *shared)
{
    using value = typename Op::value;
    constexpr int pack = scan_pack<value>, packs = scan_packs<value>;
    value x[packs][pack], here = Op::lowest();
    scan_load(a, p, shared->tile, x);
    GPU_UNROLL
    for (int v = 0; v < packs; v++)
        scan_pack_of_warp<Op>(p, a.exclusive, x[v], &here);
    if (p.lane == 0)
        shared->sums[p.warp] = here;
    __syncthreads();
    scan_look_back(a, p, shared);
    __syncthreads();
    scan_store(a, p, shared->tile, x, Op::put(shared->before, shared->sums[p.warp]));
}

/* For blocks of at most `Threads`: where they are small, six run at once on a multiprocessor, with 40 registers a
 * thread.
 */
template <typename Op, int Threads>
__global__ GPU_LAUNCH_BOUNDS(Threads, Threads == scan_usual_threads ? 6 : 1) void look_back_kernel(looking_back<Op> a)
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
