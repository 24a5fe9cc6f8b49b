/* SPDX-License-Identifier: MIT
 *
 * scan_look_back_kernels.h - a scan in one pass over memory, in which a tile waits for those before it: Merrill and
 * Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016. There a tile adds up whatever the earlier
 * ones have published so far, so that a sum of floats depends on the time. Here it adds up the same numbers in each
 * run:
 *
 *     what is before a tile = what is before its field, and the tiles before it in the field
 *
 * where a field is 256 tiles. A block publishes what a tile gives before it waits for anything; the last tile of a
 * field publishes what is before the next field. Then the block keeps the scanned tile in shared memory, and takes
 * another one; when this one is on its way from memory, the numbers that the kept tile waits for have been published,
 * as a rule. So a block's loads do not wait for other blocks.
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
/* Blocks of as many threads that run at once on a multiprocessor: a thread has 48 or 64 registers. */
template <typename Value>
constexpr int scan_usual_blocks = sizeof(Value) == 8 ? 4 : 5;

/* A thread has `packs` packs of neighbours. Those of a warp's lanes lie side by side, so that loads take whole lines.
 * In larger blocks it has half as many: a tile is kept in shared memory, of which there is enough for blocks of any
 * size.
 */
template <typename Value>
constexpr int scan_pack = sizeof(Value) == 1 ? 8 : 4;
template <typename Value, bool Large>
constexpr int scan_packs = (sizeof(Value) == 4 ? 4 : 2) / (Large ? 2 : 1);
template <typename Value, bool Large>
constexpr int scan_items = scan_pack<Value> *scan_packs<Value, Large>;

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

/* A block's shared memory. After it: numbers of its warps, and the kept tile. */
template <typename Value>
struct scan_shared {
    int64_t next;       /* tile that the block takes */
    Value before_field; /* before the kept tile's field */
    Value before;       /* before the kept tile */
};

/* Numbers of warps: of the tile taken now and of the one before, in turn, and of the tiles that the kept one waits for.
 */
constexpr int scan_sums = 3;

template <typename Value>
__host__ __device__ constexpr size_t scan_kept_offset(int warps)
{
    return (sizeof(scan_shared<Value>) + (size_t)(scan_sums * warps) * sizeof(Value) + 15) / 16 * 16;
}

/* A tile, as a block has it. */
template <typename Op, bool Large>
struct scan_block {
    using value = typename Op::value;
    static constexpr int pack = scan_pack<value>, packs = scan_packs<value, Large>, items = pack * packs;
    using scanned = value[packs][pack];

    const looking_back<Op> &a;
    block_place p;
    scan_shared<value> *shared;
    value *sums;
    scan_neighbours<value, pack> *kept;

    __device__ scan_block(const looking_back<Op> &of, unsigned char *memory) : a(of)
    {
        shared = reinterpret_cast<scan_shared<value> *>(memory);
        sums = reinterpret_cast<value *>(shared + 1);
        kept = reinterpret_cast<scan_neighbours<value, pack> *>(memory + scan_kept_offset<value>(p.warps)) + p.thread;
    }
    __device__ bool is_whole(int64_t tile) const
    {
        return (tile + 1) * p.threads * items <= a.length;
    }
    /* The place of a thread's first pack in a tile; those of a warp's lanes lie side by side. */
    __device__ int place() const
    {
        return p.warp * p.lanes * items + p.lane * pack;
    }
    __device__ void load(int64_t tile, scanned &x) const;
    __device__ void scan_in_warp(scanned &x, value *all) const;
    __device__ value tiles_before(int64_t tile, int count) const;
    __device__ void end_field(int64_t tile, value *of_warps) const;
    __device__ void keep(const scanned &x, value before) const;
    __device__ void store_kept(int64_t tile) const;
    __device__ void run() const;
};

/* Loads the thread's elements of a tile; those behind the end change nothing. In a whole tile there is no branch
 * between the loads, so that all are on their way at a time. */
template <typename Op, bool Large>
__device__ void scan_block<Op, Large>::load(int64_t tile, scanned &x) const
{
    using neighbours = scan_neighbours<typename Op::from, pack>;
    const int64_t start = tile * p.threads * items + place();
    if (is_whole(tile) && a.in_packs) {
        neighbours loaded[packs];
        GPU_UNROLL
        for (int v = 0; v < packs; v++)
            gpu_copy(*reinterpret_cast<const neighbours *>(a.in + start + v * p.here * pack), loaded[v]);
        GPU_UNROLL
        for (int v = 0; v < packs; v++)
            GPU_UNROLL
        for (int j = 0; j < pack; j++)
            x[v][j] = (value)loaded[v].value[j];
        return;
    }
    GPU_UNROLL
    for (int v = 0; v < packs; v++) {
        int offset = v * p.here * pack;
        GPU_FORGET_IF_FEW(offset); /* else the addresses of all elements are there at a time */
        GPU_UNROLL
        for (int j = 0; j < pack; j++) {
            const int64_t at = start + offset + j;
            x[v][j] = at < a.length ? (value)a.in[at] : Op::lowest();
        }
    }
}

/* Makes of each element what the warp's elements up to it give, or, if exclusive, those before it; `all`: what the
 * warp's elements give. */
template <typename Op, bool Large>
__device__ void scan_block<Op, Large>::scan_in_warp(scanned &x, value *all) const
{
    *all = Op::lowest();
    GPU_UNROLL
    for (int v = 0; v < packs; v++) {
        GPU_UNROLL
        for (int j = 1; j < pack; j++)
            x[v][j] = Op::put(x[v][j - 1], x[v][j]);
        const value mine = scan_lanes<Op>(p, x[v][pack - 1]), below = scan_lane_below(p, mine, 1);
        const value before = Op::put(*all, p.lane > 0 ? below : Op::lowest());
        *all = Op::put(*all, scan_lane(p, mine, p.here - 1));
        GPU_UNROLL
        for (int j = pack - 1; j >= 0; j--) {
            /* Both are read: of a choice between two elements the compiler makes one between their addresses. */
            const value own = x[v][j], earlier = x[v][j > 0 ? j - 1 : 0];
            x[v][j] = a.exclusive && j == 0 ? before : Op::put(before, a.exclusive ? earlier : own);
        }
    }
}

/* By all threads: what the `count` tiles before a tile give, of which a thread waits for some: those of the lanes up to
 * this one. */
template <typename Op, bool Large>
__device__ typename Op::value scan_block<Op, Large>::tiles_before(int64_t tile, int count) const
{
    const int each = (scan_field(p.threads) + p.threads - 1) / p.threads, first = p.thread * each;
    value mine = Op::lowest();
    for (int i = first; i < first + each && i < count; i++)
        mine = Op::put(mine, scan_await<value>(a.tile, tile - count + i));
    return scan_lanes<Op>(p, mine);
}

/* By all threads: publishes what is before the field behind a tile. */
template <typename Op, bool Large>
__device__ void scan_block<Op, Large>::end_field(int64_t tile, value *of_warps) const
{
    const int64_t field = tile / scan_field(p.threads);
    const value mine = tiles_before(tile + 1, scan_field(p.threads));
    __syncthreads(); /* of_warps was read */
    if (p.lane == p.here - 1)
        of_warps[p.warp] = mine;
    __syncthreads();
    if (p.warp == 0) {
        const value all = scan_warps<Op>(p, of_warps);
        if (p.lane == 0)
            scan_publish(a.next, field, Op::put(field > 0 ? scan_await<value>(a.next, field - 1) : Op::lowest(), all));
    }
}

/* A thread keeps its own results, behind `before`: it alone reads them. */
template <typename Op, bool Large>
__device__ void scan_block<Op, Large>::keep(const scanned &x, value before) const
{
    GPU_UNROLL
    for (int v = 0; v < packs; v++) {
        scan_neighbours<value, pack> result;
        GPU_UNROLL
        for (int j = 0; j < pack; j++)
            result.value[j] = Op::put(before, x[v][j]);
        gpu_copy(result, kept[v * p.threads]);
    }
}

template <typename Op, bool Large>
__device__ void scan_block<Op, Large>::store_kept(int64_t tile) const
{
    using neighbours = scan_neighbours<value, pack>;
    const value before = shared->before;
    const int64_t start = tile * p.threads * items + place();
    const bool by_packs = is_whole(tile) && a.out_packs;
    GPU_UNROLL
    for (int v = 0; v < packs; v++) {
        int offset = v * p.here * pack;
        GPU_FORGET_IF_FEW(offset);
        const int64_t at = start + offset;
        neighbours result;
        gpu_copy(kept[v * p.threads], result);
        GPU_UNROLL
        for (int j = 0; j < pack; j++)
            result.value[j] = Op::put(before, result.value[j]);
        if (by_packs) {
            gpu_store_last(result, *reinterpret_cast<neighbours *>(a.out + at));
            continue;
        }
        GPU_UNROLL
        for (int j = 0; j < pack; j++)
            if (at + j < a.length)
                a.out[at + j] = result.value[j];
    }
}

/* In each round a block takes a tile, if there is one, and ends the one that it kept. */
template <typename Op, bool Large>
__device__ void scan_block<Op, Large>::run() const
{
    const int field = scan_field(p.threads);
    int64_t tile, last = -1; /* taken now, and kept */
    if (p.thread == 0)
        shared->next = a.taken ? (int64_t)atomicAdd(a.taken, 1ull) : 0;
    __syncthreads();
    for (bool odd = false; (tile = shared->next) < a.tiles || last >= 0; odd = !odd) {
        const bool takes = tile < a.tiles, ends = last >= 0;
        value *const of_tile = sums + (odd ? p.warps : 0), *const of_earlier = sums + 2 * p.warps;
        int64_t next = a.tiles; /* is asked for at once: the answer takes as long as a load */
        scanned x = {};
        if (takes) {
            if (p.thread == 0 && a.taken)
                next = (int64_t)atomicAdd(a.taken, 1ull);
            load(tile, x);
        }
        if (ends) {
            const value mine = tiles_before(last, (int)(last % field));
            if (p.lane == p.here - 1)
                of_earlier[p.warp] = mine;
            if (p.thread == 0)
                shared->before_field = last >= field ? scan_await<value>(a.next, last / field - 1) : Op::lowest();
        }
        if (takes) {
            value all;
            scan_in_warp(x, &all);
            if (p.lane == 0)
                of_tile[p.warp] = all;
        }
        __syncthreads();
        if (p.warp == 0) {
            if (takes) {
                const value all = scan_warps<Op>(p, of_tile);
                if (p.lane == 0 && a.tiles > 1)
                    scan_publish(a.tile, tile, all);
            }
            if (ends) {
                const value earlier = scan_warps<Op>(p, of_earlier);
                if (p.lane == 0)
                    shared->before = Op::put(shared->before_field, earlier);
            }
            if (p.lane == 0)
                shared->next = next;
        }
        if (takes && tile % field == field - 1)
            end_field(tile, of_earlier);
        __syncthreads();
        if (ends)
            store_kept(last);
        if (takes)
            keep(x, of_tile[p.warp]);
        last = takes ? tile : -1;
    }
}

/* The kernel for blocks of at most `Threads` threads. */
template <typename Op, int Threads>
__global__ GPU_LAUNCH_BOUNDS(Threads, Threads == scan_usual_threads ? scan_usual_blocks<typename Op::value>
                                                                    : 1) void look_back_kernel(looking_back<Op> a)
{
    GPU_DYNAMIC_SHARED(memory);
    looking_back<Op> of = a; /* addresses go to vector registers, because AMD's GPUs have too few scalar ones */
    gpu_in_vector(of.in, of.out, of.tile, of.next);
    scan_block<Op, (Threads > scan_usual_threads)>(of, memory).run();
}

} // namespace

#endif
