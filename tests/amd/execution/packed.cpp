/* SPDX-License-Identifier: MIT
 *
 * packed.cpp - VOP3P on pairs of f32 (gfx90a; 6.6): each half of the result takes from each source the half that OP_SEL
 * (for the low one) or OP_SEL_HI (for the high one) names, with its sign changed by NEG_LO or NEG_HI.
 */
#include "operands.h"
#include "table.h"

#include <cmath>

static source packed_source(wavefront &w, const instruction &i, int k)
{
    const operand &o = i.operands[k + 1];
    if (o.kind != operand::CONSTANT)
        return read(w, i, k + 1, k, source_type::B64);
    const source low = read(w, i, k + 1, k, source_type::B32); /* both halves of an f32 constant are the same */
    return {low.low, low.low};
}

/* What one half of the result reads of a source: a register, and the bit that changes the sign, or 0. */
struct half {
    const uint32_t *bits;
    uint32_t flip;

    float operator[](int lane) const
    {
        return std::bit_cast<float>(bits[lane] ^ flip);
    }
};

static half half_of(const source &from, int k, int select, int negate)
{
    return {select >> k & 1 ? from.high : from.low, negate >> k & 1 ? 0x80000000 : 0};
}

static uint64_t pair_of(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* Both halves of a lane are computed before either is stored: the destination may be a source. */
template <int SOURCES, typename F>
static void packed(wavefront &w, const instruction &i, F f)
{
    half low[3] = {}, high[3] = {};
    for (int k = 0; k < SOURCES; k++) {
        const source from = packed_source(w, i, k);
        low[k] = half_of(from, k, i.op_sel, i.neg_lo);
        high[k] = half_of(from, k, i.op_sel_hi, i.neg_hi);
    }
    if (SOURCES < 3) { /* f has three arguments; it does not look at the last one */
        low[2] = low[0];
        high[2] = high[0];
    }
    store_each<uint64_t>(w, result_of(w, i), [=](int lane) {
        const float first = f(low[0][lane], low[1][lane], low[2][lane]);
        const float second = f(high[0][lane], high[1][lane], high[2][lane]);
        return pair_of(std::bit_cast<uint32_t>(first), std::bit_cast<uint32_t>(second));
    });
}

/* The low half comes from the first source, the high one from the second; OP_SEL names both. */
static void packed_move(wavefront &w, const instruction &i)
{
    const source a = packed_source(w, i, 0), b = packed_source(w, i, 1);
    const uint32_t *low = i.op_sel & 1 ? a.high : a.low, *high = i.op_sel & 2 ? b.high : b.low;
    store_each<uint64_t>(w, result_of(w, i), [=](int lane) { return pair_of(low[lane], high[lane]); });
}

void add_packed(instruction_table &table)
{
    table["v_pk_fma_f32"] = {[](wavefront &w, const instruction &i) {
                                 packed<3>(w, i, [](float x, float y, float z) { return std::fma(x, y, z); });
                             },
                             OP_SEL};
    table["v_pk_mul_f32"] = {
        [](wavefront &w, const instruction &i) { packed<2>(w, i, [](float x, float y, float) { return x * y; }); },
        OP_SEL};
    table["v_pk_add_f32"] = {
        [](wavefront &w, const instruction &i) { packed<2>(w, i, [](float x, float y, float) { return x + y; }); },
        OP_SEL};
    table["v_pk_mov_b32"] = {packed_move, OP_SEL};
}
