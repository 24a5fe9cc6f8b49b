/* SPDX-License-Identifier: MIT */
#include "operands.h"

#include <algorithm>

/* ---------------------------------------------------------------------------------------------------------- DPP ----
 */

/* The lane that SRC0 of a lane comes from (12.9.1); -1: none. Rows have 16 lanes. */
static int dpp_source(const instruction &i, int lane, int lanes)
{
    const int row = lane & ~15, place = lane & 15, count = i.dpp_count;
    switch (i.lanes) {
    case dpp::QUAD_PERM: return (lane & ~3) + i.permutation[lane & 3];
    case dpp::DPP8: return (lane & ~7) + i.permutation[lane & 7];
    case dpp::ROW_SHL: return place + count < 16 ? lane + count : -1;
    case dpp::ROW_SHR: return place >= count ? lane - count : -1;
    case dpp::ROW_ROR: return row + ((place - count) & 15);
    case dpp::ROW_MIRROR: return row + 15 - place;
    case dpp::ROW_HALF_MIRROR: return (lane & ~7) + 7 - (lane & 7);
    case dpp::ROW_SHARE: return row + count;
    case dpp::ROW_XMASK: return row + (place ^ count);
    /* The last lane of a row goes to the whole next row (15), or that of the first half to the second half (31). */
    case dpp::ROW_BCAST: return lane > count ? (count == 15 ? row - 1 : 31) : -1;
    case dpp::WAVE_SHL: return lane + 1 < lanes ? lane + 1 : -1;
    case dpp::WAVE_SHR: return lane - 1;
    case dpp::WAVE_ROL: return (lane + 1) % lanes;
    case dpp::WAVE_ROR: return (lane - 1 + lanes) % lanes;
    case dpp::NONE: break;
    }
    return lane;
}

/* A lane whose row or bank is masked is not written. One without a source, or whose source is not in EXEC, gets 0 if
 * BOUND_CTRL is set, and is not written otherwise. */
static uint64_t apply_dpp(const wavefront &w, const instruction &i, const uint32_t *from, uint32_t *to)
{
    const uint64_t exec = w.exec();
    uint64_t written = w.active;
    for (int lane = 0; lane < w.lanes; lane++) {
        const int other = dpp_source(i, lane, w.lanes);
        const bool has_source = other >= 0 && (exec >> other & 1);
        const bool is_enabled = (i.row_mask >> (lane >> 4) & 1) && (i.bank_mask >> ((lane >> 2) & 3) & 1);
        to[lane] = has_source ? from[other] : 0;
        if (!is_enabled || (!has_source && !i.bound_ctrl))
            written &= ~(UINT64_C(1) << lane);
    }
    return written;
}

/* --------------------------------------------------------------------------------------------------------- SDWA ----
 */

static uint32_t sdwa_part(uint32_t bits, int select, bool sign_extend)
{
    if (select <= BYTE_3) {
        bits = bits >> (8 * select) & 0xff;
        return sign_extend ? (uint32_t)(int8_t)bits : bits;
    }
    if (select <= WORD_1) {
        bits = bits >> (16 * (select - WORD_0)) & 0xffff;
        return sign_extend ? (uint32_t)(int16_t)bits : bits;
    }
    return bits;
}

void finish_sdwa(wavefront &w, const instruction &i)
{
    if (i.operands[0].kind != operand::VGPR)
        return; /* a comparison's mask */
    uint32_t *to = w.v[i.operands[0].index];
    const bool is_byte = i.dst_sel <= BYTE_3, is_whole = i.dst_sel == DWORD;
    const int bits = is_whole ? 32 : is_byte ? 8 : 16;
    const int shift = is_whole ? 0 : is_byte ? 8 * i.dst_sel : 16 * (i.dst_sel - WORD_0);
    const uint32_t part = (bits == 32 ? ~0u : (1u << bits) - 1) << shift;
    each_lane(w, [&](int lane) {
        const uint32_t result = w.sdwa_result[lane];
        if (is_whole)
            to[lane] = result;
        else if (i.dst_unused == UNUSED_PRESERVE)
            to[lane] = (to[lane] & ~part) | (result << shift & part);
        else if (i.dst_unused == UNUSED_SEXT)
            to[lane] = (uint32_t)((int32_t)(result << (32 - bits)) >> (32 - bits)) << shift;
        else
            to[lane] = result << shift & part;
    });
}

/* ------------------------------------------------------------------------------------------------------ sources ----
 */

/* A constant, or what stands in scalar registers. */
static uint64_t uniform(wavefront &w, const operand &o, source_type type)
{
    if (o.kind == operand::CONSTANT)
        return type == source_type::F64 ? o.bits64_float : type == source_type::B64 ? o.bits64_integer : o.bits32;
    if (o.kind != operand::SGPR)
        w.fail("a source is missing");
    else if (o.registers > 1)
        return w.pair(o.index);
    else if (o.index != NULL_REGISTER)
        return w.s[o.index];
    return 0;
}

static void apply_neg_abs(const operand &o, const uint32_t *from, uint32_t *to)
{
    const uint32_t keep = o.abs ? 0x7fffffff : ~0u, flip = o.neg ? 0x80000000 : 0;
    for (int lane = 0; lane < MAX_LANES; lane++)
        to[lane] = (from[lane] & keep) ^ flip;
}

static bool is_64(source_type type)
{
    return type == source_type::B64 || type == source_type::F64;
}

/* The source after SDWA, DPP, and neg and abs. By itself: few instructions have them, and its arrays are checked. */
[[gnu::noinline]] static source modify(wavefront &w, const instruction &i, const operand &o, int position,
                                       source_type type)
{
    vgpr *to = w.prepared[position];
    source from = {to[0], to[1]};
    if (o.kind == operand::VGPR)
        from = {w.v[o.index], w.v[o.index + 1]};
    else {
        const uint64_t bits = uniform(w, o, type);
        std::fill_n(to[0], MAX_LANES, (uint32_t)bits);
        std::fill_n(to[1], MAX_LANES, (uint32_t)(bits >> 32));
    }

    if (i.sdwa && position < 2) {
        for (int lane = 0; lane < w.lanes; lane++)
            to[0][lane] = sdwa_part(from.low[lane], i.src_sel[position], o.sext);
        from.low = to[0];
    }
    if (i.lanes != dpp::NONE && position == 0) {
        vgpr low;
        const uint64_t written = apply_dpp(w, i, from.low, low);
        if (is_64(type))
            apply_dpp(w, i, from.high, to[1]);
        std::copy_n(low, MAX_LANES, to[0]);
        from = {to[0], to[1]};
        w.active = written;
    }
    if (o.neg || o.abs) { /* the sign is in the upper half */
        if (is_64(type)) {
            apply_neg_abs(o, from.high, to[1]);
            from.high = to[1];
        } else {
            apply_neg_abs(o, from.low, to[0]);
            from.low = to[0];
        }
    }
    return from;
}

/* Writes the value into each lane, or, if few are active, into these: store_each and lanes_where read no others then.
 */
static void fill(const wavefront &w, uint32_t bits, uint32_t *to)
{
    if (has_few_lanes(w))
        for (uint64_t rest = w.active; rest; rest &= rest - 1)
            to[std::countr_zero(rest)] = bits;
    else
        std::fill_n(to, MAX_LANES, bits);
}

source prepare(wavefront &w, const instruction &i, int k, int position, source_type type)
{
    const operand &o = i.operands[k];
    if (o.kind == operand::VGPR || o.neg || o.abs || i.sdwa || i.lanes != dpp::NONE)
        return modify(w, i, o, position, type);
    vgpr *to = w.prepared[position];
    const uint64_t bits = uniform(w, o, type);
    fill(w, (uint32_t)bits, to[0]);
    if (is_64(type))
        fill(w, (uint32_t)(bits >> 32), to[1]);
    return {to[0], to[1]};
}

/* ------------------------------------------------------------------------------------------------------ results ----
 */

template <typename T>
static T modified(const instruction &i, T result)
{
    static const T factor[] = {1, 2, 4, (T)0.5};
    result *= factor[i.omod];
    if (i.clamp)
        result = result > 0 ? std::min(result, (T)1) : 0; /* a NaN becomes 0 */
    return result;
}

void finish_f32(wavefront &w, const instruction &i)
{
    const destination to = result_of(w, i);
    each_lane(w, [&](int lane) { store(to, lane, modified(i, std::bit_cast<float>(to.low[lane]))); });
}

void finish_f64(wavefront &w, const instruction &i)
{
    const destination to = result_of(w, i);
    each_lane(w, [&](int lane) {
        store(to, lane, modified(i, std::bit_cast<double>(bits64({to.low, to.high}, lane))));
    });
}
