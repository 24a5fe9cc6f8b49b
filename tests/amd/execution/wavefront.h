/* SPDX-License-Identifier: MIT
 *
 * wavefront.h - the state of one wavefront: 32 or 64 lanes that execute the same instruction.
 */
#ifndef FLYNN_AMD_WAVEFRONT_H
#define FLYNN_AMD_WAVEFRONT_H

#include "decoding/instruction.h"

#include <bit>
#include <cstring>
#include <vector>
#ifdef __AVX2__
#include <immintrin.h>
#endif

class code_object;
struct launch;

struct workgroup {
    std::vector<uint8_t> lds;
    uint32_t id[3];
};

/* Flat addresses of LDS and scratch (10.3): the upper 32 bits of the apertures; no allocation is there. */
enum : uint32_t { SHARED_APERTURE = 0x00010000, PRIVATE_APERTURE = 0x00020000 };

enum { MAX_LANES = 64 };
using vgpr = uint32_t[MAX_LANES]; /* aligned to REGISTER_ALIGNMENT, so that no vector lies in two lines of the cache */
enum { REGISTER_ALIGNMENT = 64 };

struct wavefront {
    vgpr *v; /* VECTOR_REGISTERS of them */
    uint32_t s[SCALAR_REGISTERS];
    int lanes;       /* 32 or 64 */
    uint64_t active; /* lanes that execute the current instruction: EXEC, minus the lanes that DPP disables */
    const instruction *pc, *next;
    enum { RUNS, AT_BARRIER, ENDED, FAILED } state;

    code_object *code;
    workgroup *group;
    const launch *launched;
    int number;             /* in its workgroup */
    uint32_t scratch_bytes; /* of a lane */
    std::vector<uint8_t> scratch;

    /* Sources that are not just registers: constants, scalars, modified or permuted ones, by position and half. */
    alignas(REGISTER_ALIGNMENT) vgpr prepared[3][2];
    vgpr sdwa_result;

    uint64_t all_lanes() const
    {
        return lanes == 64 ? ~UINT64_C(0) : UINT64_C(0xffffffff);
    }

    uint64_t pair(int first) const
    {
        return first == NULL_REGISTER ? 0 : s[first] | (uint64_t)s[first + 1] << 32;
    }

    void set_pair(int first, uint64_t value)
    {
        if (first != NULL_REGISTER)
            memcpy(&s[first], &value, sizeof value); /* the lower half first */
    }

    /* A mask of lanes: one register for 32 lanes, two for 64. */
    uint64_t mask(int first) const
    {
        return lanes == 64 ? pair(first) : first == NULL_REGISTER ? 0 : s[first];
    }

    void set_mask(int first, uint64_t value)
    {
        if (lanes == 64)
            set_pair(first, value);
        else if (first != NULL_REGISTER)
            s[first] = (uint32_t)value;
    }

    uint64_t exec() const
    {
        return mask(EXEC);
    }

    void set_exec(uint64_t value)
    {
        set_mask(EXEC, value);
    }

    /* Tells an error with its place, and stops the kernel. */
    void fail(const char *what, uint64_t value = 0, int lane = -1);
};

/* Calls `f(lane)` for each lane, active or not, in a loop that the compiler can vectorise: lanes do not depend on each
 * other, though a destination may be a source. */
template <typename F>
inline void every_lane(const wavefront &w, F f)
{
    for (int first = 0, lanes = w.lanes; first < lanes; first += 32) {
#pragma GCC ivdep
        for (int lane = first; lane < first + 32; lane++)
            f(lane);
    }
}

/* Calls `f(lane)` for each active lane, by vectors if all are. */
template <typename F>
inline void each_lane(const wavefront &w, F f)
{
    if (w.active == w.all_lanes())
        every_lane(w, f);
    else
        for (uint64_t rest = w.active; rest; rest &= rest - 1)
            f(std::countr_zero(rest));
}

/* The same in the order of the lanes, one after the other: for memory, in which lanes may meet. */
template <typename F>
inline void each_lane_in_order(const wavefront &w, F f)
{
    for (uint64_t rest = w.active; rest && w.state != wavefront::FAILED; rest &= rest - 1)
        f(std::countr_zero(rest));
}

/* Whether it costs less to execute the active lanes one after the other than all lanes by vectors. */
inline bool has_few_lanes(const wavefront &w)
{
    return std::popcount(w.active) <= 8;
}

/* Writes a mask as a register: 1 in each active lane that the mask has, 0 in the other active ones. Lanes that are not
 * active may get either, or nothing. */
inline void spread(const wavefront &w, uint64_t mask, uint32_t *to)
{
    if (has_few_lanes(w))
        for (uint64_t rest = w.active; rest; rest &= rest - 1)
            to[std::countr_zero(rest)] = mask >> std::countr_zero(rest) & 1;
    else
        for (int first = 0; first < w.lanes; first += 32) {
            const uint32_t half = (uint32_t)(mask >> first);
            for (int k = 0; k < 32; k++)
                to[first + k] = half >> k & 1;
        }
}

/* Copies the active lanes of a register: what was computed for the others is dropped. */
inline void copy_active(const wavefront &w, const uint32_t *from, uint32_t *to)
{
    alignas(REGISTER_ALIGNMENT) vgpr is_active;
    spread(w, w.active, is_active);
    every_lane(w, [=, &is_active](int lane) { to[lane] = is_active[lane] ? from[lane] : to[lane]; });
}

/* The upper bits of 32 bytes, each 0 or 0xff. Without an instruction for it a product brings those of eight together.
 */
inline uint32_t signs_of(const uint8_t *bytes)
{
#ifdef __AVX2__
    return (uint32_t)_mm256_movemask_epi8(_mm256_load_si256((const __m256i *)bytes));
#else
    uint32_t signs = 0;
    for (int first = 0; first < 32; first += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + first, sizeof eight);
        signs |= (uint32_t)((eight & 0x0101010101010101) * 0x0102040810204080 >> 56) << first;
    }
    return signs;
#endif
}

/* The active lanes for which `f(lane)` is true. It may be called for others, too, whose answers are dropped, so that
 * vectors can be used. */
template <typename F>
inline uint64_t lanes_where(const wavefront &w, F f)
{
    uint64_t found = 0;
    if (has_few_lanes(w)) {
        for (uint64_t rest = w.active; rest; rest &= rest - 1) {
            const int lane = std::countr_zero(rest);
            found |= (uint64_t)(f(lane) ? 1 : 0) << lane;
        }
        return found;
    }
    alignas(REGISTER_ALIGNMENT) uint8_t is_true[MAX_LANES];
    every_lane(w, [&](int lane) { is_true[lane] = f(lane) ? 0xff : 0; });
    for (int first = 0; first < w.lanes; first += 32)
        found |= (uint64_t)signs_of(is_true + first) << first;
    return found & w.active;
}

#endif
