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

static uint32_t half(const source &from, int lane, bool high)
{
    return high ? from.high[lane] : from.low[lane];
}

static float packed_value(const instruction &i, const source &from, int k, int lane, bool high)
{
    const int select = high ? i.op_sel_hi : i.op_sel, negate = high ? i.neg_hi : i.neg_lo;
    const float x = std::bit_cast<float>(half(from, lane, select >> k & 1));
    return negate >> k & 1 ? -x : x;
}

template <int SOURCES, typename F>
static void packed(wavefront &w, const instruction &i, F f)
{
    source from[3] = {};
    for (int k = 0; k < SOURCES; k++)
        from[k] = packed_source(w, i, k);
    uint32_t *low = w.v[i.operands[0].index], *high = w.v[i.operands[0].index + 1];
    each_lane(w, [&](int lane) {
        float result[2];
        for (int h = 0; h < 2; h++) {
            float x[3] = {};
            for (int k = 0; k < SOURCES; k++)
                x[k] = packed_value(i, from[k], k, lane, h == 1);
            result[h] = f(x[0], x[1], x[2]);
        }
        low[lane] = std::bit_cast<uint32_t>(result[0]);
        high[lane] = std::bit_cast<uint32_t>(result[1]);
    });
}

/* The low half comes from the first source, the high one from the second; OP_SEL names both. */
static void packed_move(wavefront &w, const instruction &i)
{
    const source a = packed_source(w, i, 0), b = packed_source(w, i, 1);
    uint32_t *low = w.v[i.operands[0].index], *high = w.v[i.operands[0].index + 1];
    each_lane(w, [&](int lane) {
        const uint32_t first = half(a, lane, i.op_sel & 1), second = half(b, lane, i.op_sel & 2);
        low[lane] = first;
        high[lane] = second;
    });
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
