/* SPDX-License-Identifier: MIT
 *
 * cross_lane.cpp - instructions that move values between lanes. What a lane reads from one that is not active is 0, or
 * the lane is not written, as each says.
 */
#include "operands.h"
#include "table.h"

#include <algorithm>

static uint32_t scalar_or_constant(const wavefront &w, const operand &o)
{
    return o.kind == operand::CONSTANT ? o.bits32 : w.s[o.index];
}

/* With no lane active it reads lane 0. */
static void read_first_lane(wavefront &w, const instruction &i)
{
    const operand &from = i.operands[1];
    const int lane = w.exec() ? std::countr_zero(w.exec()) : 0;
    w.s[i.operands[0].index] = from.kind == operand::VGPR ? w.v[from.index][lane] : scalar_or_constant(w, from);
}

/* These two do not look at EXEC. */
static void read_lane(wavefront &w, const instruction &i)
{
    const uint32_t lane = scalar_or_constant(w, i.operands[2]) & (uint32_t)(w.lanes - 1);
    w.s[i.operands[0].index] = w.v[i.operands[1].index][lane];
}

static void write_lane(wavefront &w, const instruction &i)
{
    const uint32_t lane = scalar_or_constant(w, i.operands[2]) & (uint32_t)(w.lanes - 1);
    w.v[i.operands[0].index][lane] = scalar_or_constant(w, i.operands[1]);
}

/* V_PERMLANE16 (RDNA3): within rows of 16 lanes, by four bits a lane of two scalars; V_PERMLANEX16: from the
 * neighbouring row. OP_SEL 1: lanes that are not active can be read; 2: otherwise they give 0, and the lane is written.
 */
template <int OTHER_ROW>
static void permute_row(wavefront &w, const instruction &i)
{
    const uint64_t places = scalar_or_constant(w, i.operands[2]) | (uint64_t)scalar_or_constant(w, i.operands[3]) << 32;
    const uint32_t *from = w.v[i.operands[1].index];
    const bool fetch_inactive = i.op_sel & 1, bound_ctrl = i.op_sel & 2;
    vgpr result;
    w.active = lanes_where(w, [&](int lane) {
        const int other = ((lane & ~15) ^ OTHER_ROW) + (int)(places >> (4 * (lane & 15)) & 15);
        if (other >= w.lanes)
            return false;
        const bool can_read = fetch_inactive || (w.exec() >> other & 1);
        result[lane] = can_read ? from[other] : 0;
        return can_read || bound_ctrl;
    });
    uint32_t *to = w.v[i.operands[0].index];
    each_lane(w, [&](int lane) { to[lane] = result[lane]; });
}

static void swap_halves(wavefront &w, const instruction &i)
{
    const operand &from = i.operands[1];
    uint32_t *to = w.v[i.operands[0].index];
    vgpr result;
    const int half = w.lanes == 64 ? 32 : 0; /* of 32 lanes it is a move */
    for (int lane = 0; lane < w.lanes; lane++)
        result[lane] =
            from.kind == operand::VGPR ? w.v[from.index][(lane + half) % w.lanes] : scalar_or_constant(w, from);
    each_lane(w, [&](int lane) { to[lane] = result[lane]; });
}

/* DS_PERMUTE_B32 pushes to a lane, DS_BPERMUTE_B32 pulls from one (12.12.1); the lane is a byte address. */
static void pull(wavefront &w, const instruction &i)
{
    const uint32_t *address = w.v[i.operands[1].index], *data = w.v[i.operands[2].index];
    uint32_t *to = w.v[i.operands[0].index];
    const uint64_t exec = w.exec();
    vgpr result;
    each_lane(w, [&](int lane) {
        const int other = (int)((address[lane] + (uint32_t)i.offset) / 4 % (uint32_t)w.lanes);
        result[lane] = exec >> other & 1 ? data[other] : 0;
    });
    each_lane(w, [&](int lane) { to[lane] = result[lane]; });
}

static void push(wavefront &w, const instruction &i)
{
    const uint32_t *address = w.v[i.operands[1].index], *data = w.v[i.operands[2].index];
    uint32_t *to = w.v[i.operands[0].index];
    vgpr result = {};
    each_lane_in_order(
        w, [&](int lane) { result[(address[lane] + (uint32_t)i.offset) / 4 % (uint32_t)w.lanes] = data[lane]; });
    each_lane(w, [&](int lane) { to[lane] = result[lane]; });
}

/* DS_SWIZZLE_B32: bit 15 of the offset: four lanes by two bits each; otherwise masks and, or, xor of a lane's number
 * among 32. */
static int swizzled(uint32_t pattern, int lane)
{
    if (pattern & 0x8000)
        return (lane & ~3) + (int)(pattern >> (2 * (lane & 3)) & 3);
    const uint32_t place = lane & 31, and_mask = pattern & 31, or_mask = pattern >> 5 & 31,
                   xor_mask = pattern >> 10 & 31;
    return (lane & 32) + (int)(((place & and_mask) | or_mask) ^ xor_mask);
}

static void swizzle(wavefront &w, const instruction &i)
{
    const uint32_t *from = w.v[i.operands[1].index];
    uint32_t *to = w.v[i.operands[0].index];
    const uint64_t exec = w.exec();
    vgpr result;
    each_lane(w, [&](int lane) {
        const int other = swizzled((uint32_t)i.offset, lane);
        result[lane] = exec >> other & 1 ? from[other] : 0;
    });
    each_lane(w, [&](int lane) { to[lane] = result[lane]; });
}

void add_cross_lane(instruction_table &table)
{
    table["v_readfirstlane_b32"] = {read_first_lane, PLAIN};
    table["v_readlane_b32"] = {read_lane, PLAIN};
    table["v_writelane_b32"] = {write_lane, PLAIN};
    table["v_permlane16_b32"] = {permute_row<0>, OP_SEL};
    table["v_permlanex16_b32"] = {permute_row<16>, OP_SEL};
    table["v_permlane64_b32"] = {swap_halves, PLAIN};
    table["ds_bpermute_b32"] = {pull, PLAIN};
    table["ds_permute_b32"] = {push, PLAIN};
    table["ds_swizzle_b32"] = {swizzle, PLAIN};
}
