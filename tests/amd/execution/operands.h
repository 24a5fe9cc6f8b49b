/* SPDX-License-Identifier: MIT
 *
 * operands.h - sources and destinations of vector instructions as arrays with an element for each lane.
 */
#ifndef FLYNN_AMD_OPERANDS_H
#define FLYNN_AMD_OPERANDS_H

#include "wavefront.h"

#include <type_traits>

/* The lower and the upper 32 bits of a source; the upper ones only if the type has 64. */
struct source {
    const uint32_t *low, *high;
};

enum class source_type { B32, F32, B64, F64 };

/* The bits of a value, after neg and abs as of an f32: v_mov_b32 has them. */
struct f32_bits {
    uint32_t bits;
};

template <typename T>
constexpr source_type type_of()
{
    if constexpr (sizeof(T) == 8)
        return std::is_floating_point_v<T> ? source_type::F64 : source_type::B64;
    else
        return std::is_same_v<T, float> || std::is_same_v<T, f32_bits> ? source_type::F32 : source_type::B32;
}

/* The operand number k of the instruction as its source SRC0, SRC1 or SRC2 (position 0, 1, 2). DPP applies to SRC0, and
 * may take lanes out of `active`; SDWA applies to SRC0 and SRC1. */
source prepare(wavefront &w, const instruction &i, int k, int position, source_type type);

inline source read(wavefront &w, const instruction &i, int k, int position, source_type type)
{
    const operand &o = i.operands[k];
    if (!o.is_plain)
        return prepare(w, i, k, position, type);
    return {w.v[o.index], w.v[o.index + 1]};
}

inline uint64_t bits64(const source &from, int lane)
{
    return from.low[lane] | (uint64_t)from.high[lane] << 32;
}

/* The value of a lane as a T: 16-bit types are the lower half of a register. */
template <typename T>
inline T value(const source &from, int lane)
{
    if constexpr (sizeof(T) == 8)
        return std::bit_cast<T>(bits64(from, lane));
    else if constexpr (type_of<T>() == source_type::F32)
        return std::bit_cast<T>(from.low[lane]);
    else
        return (T)from.low[lane];
}

/* Where results go: the registers of operand 0, or what SDWA merges into it (see finish). */
struct destination {
    uint32_t *low, *high;
};

inline destination result_of(wavefront &w, const instruction &i)
{
    const int index = i.operands[0].index;
    return {i.sdwa ? w.sdwa_result : w.v[index], w.v[index + 1]};
}

template <typename R>
inline void store(const destination &to, int lane, R result)
{
    if constexpr (sizeof(R) == 8) {
        const uint64_t bits = std::bit_cast<uint64_t>(result);
        to.low[lane] = (uint32_t)bits;
        to.high[lane] = (uint32_t)(bits >> 32);
    } else if constexpr (std::is_same_v<R, float>)
        to.low[lane] = std::bit_cast<uint32_t>(result);
    else
        to.low[lane] = (uint32_t)result;
}

/* Stores the result `f(lane)`, an R, of each active lane. If many lanes are active, but not all, vectors compute the
 * results of all lanes, and those of the active ones are copied to the destination: `f` must not change anything. */
template <typename R, typename F>
inline void store_each(const wavefront &w, const destination &to, F f)
{
    if (w.active == w.all_lanes())
        every_lane(w, [=](int lane) { store<R>(to, lane, f(lane)); });
    else if (has_few_lanes(w))
        for (uint64_t rest = w.active; rest; rest &= rest - 1)
            store<R>(to, std::countr_zero(rest), f(std::countr_zero(rest)));
    else {
        alignas(REGISTER_ALIGNMENT) vgpr low, high;
        every_lane(w, [&](int lane) { store<R>({low, high}, lane, f(lane)); });
        copy_active(w, low, to.low);
        if (sizeof(R) == 8)
            copy_active(w, high, to.high);
    }
}

/* OMOD, then CLAMP to 0..1 (6.2.3), on results that were stored; then SDWA's destination. */
void finish_f32(wavefront &w, const instruction &i);
void finish_f64(wavefront &w, const instruction &i);
void finish_sdwa(wavefront &w, const instruction &i);

template <typename R>
inline void finish(wavefront &w, const instruction &i)
{
    if constexpr (std::is_floating_point_v<R>)
        if (i.clamp || i.omod)
            (sizeof(R) == 8 ? finish_f64 : finish_f32)(w, i);
    if (i.sdwa)
        finish_sdwa(w, i);
}

/* A mask operand: a register or pair, or a constant. */
inline uint64_t read_mask(const wavefront &w, const operand &o)
{
    return o.kind == operand::CONSTANT ? o.bits64_integer : w.mask(o.index);
}

inline void write_mask(wavefront &w, const operand &o, uint64_t mask)
{
    if (o.kind != operand::SGPR)
        w.fail("a mask goes to no scalar register");
    else
        w.set_mask(o.index, mask);
}

#endif
