/* SPDX-License-Identifier: MIT
 *
 * alu.h - handlers of vector instructions from the function of one lane. The function's types say how operands are read
 * and where the result goes: float and double are f32 and f64 with their modifiers, uint64_t and double take two
 * registers, uint16_t is the lower half of one, and bool is a bit in a mask:
 *
 *     table["v_add_f32"] = vector([](float x, float y) { return x + y; });
 *     table["v_cmp_lt_i32"] = vector([](int32_t x, int32_t y) { return x < y; });
 */
#ifndef FLYNN_AMD_ALU_H
#define FLYNN_AMD_ALU_H

#include "operands.h"
#include "table.h"

#include <utility>

namespace alu
{
/* Operands: a destination, then the sources; of a multiply-accumulate the last source is the destination. */
enum form { SOURCES, ACCUMULATE };

template <form FORM, size_t COUNT>
constexpr int operand_of(size_t position)
{
    return FORM == ACCUMULATE && position + 1 == COUNT ? 0 : (int)position + 1;
}

template <form FORM, typename F, typename R, typename... A, size_t... N>
void execute(wavefront &w, const instruction &i, std::index_sequence<N...>)
{
    const source from[] = {read(w, i, operand_of<FORM, sizeof...(A)>(N), (int)N, type_of<A>())...};
    if constexpr (std::is_same_v<R, bool>) {
        write_mask(w, i.operands[0], lanes_where(w, [&](int lane) { return F{}(value<A>(from[N], lane)...); }));
    } else {
        const destination to = result_of(w, i);
        store_each<R>(w, to, [=](int lane) { return F{}(value<A>(from[N], lane)...); });
        finish<R>(w, i);
    }
}

template <form FORM, typename F, typename R, typename... A>
table_entry make(R (F::*)(A...) const)
{
    const bool floats = ((type_of<A>() == source_type::F32 || type_of<A>() == source_type::F64) || ...);
    return {
        [](wavefront &w, const instruction &i) { execute<FORM, F, R, A...>(w, i, std::index_sequence_for<A...>{}); },
        LANE_MODIFIERS | (floats ? INPUT_MODIFIERS : PLAIN) | (std::is_floating_point_v<R> ? OUTPUT_MODIFIERS : PLAIN)};
}
} // namespace alu

template <typename F>
table_entry vector(F)
{
    return alu::make<alu::SOURCES>(&F::operator());
}

/* The second function for CLAMP, which makes integers stay at the end of their range. */
template <typename F, typename G>
table_entry vector_or_clamped(F, G)
{
    return {[](wavefront &w, const instruction &i) {
                static const table_entry plain = vector(F{}), clamped = vector(G{});
                (i.clamp ? clamped : plain).execute(w, i);
            },
            vector(F{}).honours | OUTPUT_MODIFIERS};
}

/* D = f(S0, S1, D) */
template <typename F>
table_entry accumulating(F)
{
    return alu::make<alu::ACCUMULATE>(&F::operator());
}

#endif
