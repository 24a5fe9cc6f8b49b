/* SPDX-License-Identifier: MIT
 *
 * vector_masks.cpp - vector instructions that have a mask of lanes as a source or as a second result: selection,
 * carries, and counts of lanes below.
 */
#include "alu.h"

/* D = mask ? S1 : S0; the mask is VCC if none is given. */
static void select(wavefront &w, const instruction &i)
{
    const source otherwise = read(w, i, 1, 0, source_type::F32), chosen = read(w, i, 2, 1, source_type::F32);
    const uint64_t mask = i.count > 3 ? read_mask(w, i.operands[3]) : w.mask(VCC);
    const destination to = result_of(w, i);
    alignas(REGISTER_ALIGNMENT) vgpr is_chosen;
    spread(w, mask, is_chosen);
    store_each<uint32_t>(w, to, [=, &is_chosen](int lane) {
        const uint32_t yes = chosen.low[lane], no = otherwise.low[lane];
        return is_chosen[lane] ? yes : no;
    });
    finish<uint32_t>(w, i);
}

enum carry_operation { ADD, SUB, SUBREV };

/* Operands: D, the carries out, S0, S1 and, of the _CI_ forms, the carries in. */
template <carry_operation OPERATION, bool CARRY_IN>
static void with_carry(wavefront &w, const instruction &i)
{
    const source a = read(w, i, 2, 0, source_type::B32), b = read(w, i, 3, 1, source_type::B32);
    const uint64_t carry_in = CARRY_IN ? read_mask(w, i.operands[4]) : 0;
    const source x = OPERATION == SUBREV ? b : a, y = OPERATION == SUBREV ? a : b;
    if (has_few_lanes(w)) {
        const destination to = result_of(w, i);
        uint64_t carries = 0;
        for (uint64_t rest = w.active; rest; rest &= rest - 1) {
            const int lane = std::countr_zero(rest);
            const uint64_t before = x.low[lane], other = y.low[lane], in = carry_in >> lane & 1;
            const uint64_t after = OPERATION == ADD ? before + other + in : before - other - in;
            to.low[lane] = (uint32_t)after;
            carries |= (after >> 32 & 1) << lane;
        }
        write_mask(w, i.operands[1], carries);
        return;
    }
    alignas(REGISTER_ALIGNMENT) vgpr carry;
    if (CARRY_IN)
        spread(w, carry_in, carry);
    const auto result = [=, &carry](int lane) {
        const uint32_t in = CARRY_IN ? carry[lane] : 0;
        return OPERATION == ADD ? x.low[lane] + y.low[lane] + in : x.low[lane] - y.low[lane] - in;
    };
    /* A sum that is below x, or a difference above it, went past the end of the range; one that is x did so if it took
     * a carry in. */
    const uint64_t carries = lanes_where(w, [&](int lane) {
        const uint32_t before = x.low[lane], after = result(lane), in = CARRY_IN ? carry[lane] : 0;
        return (OPERATION == ADD ? after < before : after > before) | (in & (after == before));
    });
    store_each<uint32_t>(w, result_of(w, i), result);
    write_mask(w, i.operands[1], carries);
}

/* D = S0 * S1 + S2 with 64 bits; the mask has the overflows. */
template <typename FACTOR, typename SUM>
static void multiply_add_64(wavefront &w, const instruction &i)
{
    const source a = read(w, i, 2, 0, source_type::B32), b = read(w, i, 3, 1, source_type::B32);
    const source c = read(w, i, 4, 2, source_type::B64);
    const auto product = [=](int lane) { return (SUM)value<FACTOR>(a, lane) * value<FACTOR>(b, lane); };
    const uint64_t overflows = lanes_where(w, [&](int lane) {
        SUM sum;
        return __builtin_add_overflow(product(lane), value<SUM>(c, lane), &sum);
    });
    store_each<uint64_t>(w, result_of(w, i),
                         [=](int lane) { return (uint64_t)product(lane) + value<uint64_t>(c, lane); });
    write_mask(w, i.operands[1], overflows);
}

/* How many lanes before this one are in the mask S0, whose lower or upper half this is; added to S1. */
template <int FIRST>
static void count_below(wavefront &w, const instruction &i)
{
    const source mask = read(w, i, 1, 0, source_type::B32), sum = read(w, i, 2, 1, source_type::B32);
    const destination to = result_of(w, i);
    store_each<uint32_t>(w, to, [=](int lane) {
        const int below = lane - FIRST;
        const uint32_t lanes = below >= 32 ? ~0u : below <= 0 ? 0 : (1u << below) - 1;
        return (uint32_t)std::popcount(mask.low[lane] & lanes) + sum.low[lane];
    });
}

void add_vector_masks(instruction_table &table)
{
    table["v_cndmask_b32"] = table["v_dual_cndmask_b32"] = {select, INPUT_MODIFIERS | LANE_MODIFIERS};
    table["v_add_co_u32"] = {with_carry<ADD, false>, PLAIN};
    table["v_sub_co_u32"] = {with_carry<SUB, false>, PLAIN};
    table["v_subrev_co_u32"] = {with_carry<SUBREV, false>, PLAIN};
    table["v_add_co_ci_u32"] = {with_carry<ADD, true>, PLAIN};
    table["v_sub_co_ci_u32"] = {with_carry<SUB, true>, PLAIN};
    table["v_subrev_co_ci_u32"] = {with_carry<SUBREV, true>, PLAIN};
    table["v_mad_u64_u32"] = {multiply_add_64<uint32_t, uint64_t>, PLAIN};
    table["v_mad_i64_i32"] = {multiply_add_64<int32_t, int64_t>, PLAIN};
    table["v_mbcnt_lo_u32_b32"] = {count_below<0>, PLAIN};
    table["v_mbcnt_hi_u32_b32"] = {count_below<32>, PLAIN};
}
