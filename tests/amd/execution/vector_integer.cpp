/* SPDX-License-Identifier: MIT
 *
 * vector_integer.cpp - vector instructions on integers and bits, of one lane each.
 */
#include "alu.h"
#include "bits.h"

#include <algorithm>
#include <cmath>

using std::max;
using std::min;

template <typename T>
static T median(T x, T y, T z)
{
    return max(min(x, y), min(max(x, y), z));
}

/* V_PERM_B32: each byte of the selector picks one of eight bytes, the sign of a word, 0 or 0xff. */
static uint32_t permuted_bytes(uint64_t bytes, uint32_t selector)
{
    uint32_t result = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t select = selector >> (8 * k) & 0xff;
        uint32_t byte = 0xff;
        if (select < 8)
            byte = bytes >> (8 * select) & 0xff;
        else if (select < 12) /* 8: the sign of bits 15..0, 9: of 31..16, 10: of 47..32, 11: of 63..48 */
            byte = bytes >> (16 * (select - 8) + 15) & 1 ? 0xff : 0;
        else if (select == 12)
            byte = 0;
        result |= byte << (8 * k);
    }
    return result;
}

static void add_moves(instruction_table &table)
{
    const table_entry move = vector([](f32_bits x) { return x.bits; });
    for (const char *name :
         {"v_mov_b32", "v_dual_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
        table[name] = move;
    table["v_mov_b64"] = vector([](uint64_t x) { return x; });
    table["v_nop"] = {[](wavefront &, const instruction &) {}, PLAIN};
    table["v_swap_b32"] = {[](wavefront &w, const instruction &i) {
                               uint32_t *a = w.v[i.operands[0].index], *b = w.v[i.operands[1].index];
                               each_lane(w, [=](int lane) { std::swap(a[lane], b[lane]); });
                           },
                           PLAIN};
}

static void add_arithmetic(instruction_table &table)
{
    table["v_add_nc_u32"] = table["v_add_nc_i32"] = vector([](uint32_t x, uint32_t y) { return x + y; });
    table["v_sub_nc_i32"] = vector([](uint32_t x, uint32_t y) { return x - y; });
    table["v_sub_nc_u32"] = vector_or_clamped([](uint32_t x, uint32_t y) { return x - y; },
                                              [](uint32_t x, uint32_t y) { return x > y ? x - y : 0; });
    table["v_subrev_nc_u32"] = vector([](uint32_t x, uint32_t y) { return y - x; });
    table["v_dual_add_nc_u32"] = table["v_add_nc_u32"];
    table["v_add3_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return x + y + z; });
    table["v_sad_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return max(x, y) - min(x, y) + z; });

    table["v_mul_lo_u32"] = vector([](uint32_t x, uint32_t y) { return x * y; });
    table["v_mul_hi_u32"] = vector([](uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); });
    table["v_mul_hi_i32"] = vector([](int32_t x, int32_t y) { return (uint32_t)((int64_t)x * y >> 32); });
    table["v_mul_u32_u24"] = vector([](uint32_t x, uint32_t y) { return unsigned24(x) * unsigned24(y); });
    table["v_mul_i32_i24"] =
        vector([](uint32_t x, uint32_t y) { return (uint32_t)signed24(x) * (uint32_t)signed24(y); });
    table["v_mul_hi_u32_u24"] =
        vector([](uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)unsigned24(x) * unsigned24(y) >> 32); });
    table["v_mul_hi_i32_i24"] =
        vector([](uint32_t x, uint32_t y) { return (uint32_t)((int64_t)signed24(x) * signed24(y) >> 32); });
    table["v_mad_u32_u24"] =
        vector([](uint32_t x, uint32_t y, uint32_t z) { return unsigned24(x) * unsigned24(y) + z; });
    table["v_mad_i32_i24"] =
        vector([](uint32_t x, uint32_t y, uint32_t z) { return (uint32_t)signed24(x) * (uint32_t)signed24(y) + z; });

    table["v_min_u32"] = vector([](uint32_t x, uint32_t y) { return min(x, y); });
    table["v_max_u32"] = vector([](uint32_t x, uint32_t y) { return max(x, y); });
    table["v_min_i32"] = vector([](int32_t x, int32_t y) { return min(x, y); });
    table["v_max_i32"] = vector([](int32_t x, int32_t y) { return max(x, y); });
    table["v_min3_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return min({x, y, z}); });
    table["v_max3_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return max({x, y, z}); });
    table["v_med3_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return median(x, y, z); });
    table["v_min3_i32"] = vector([](int32_t x, int32_t y, int32_t z) { return min({x, y, z}); });
    table["v_max3_i32"] = vector([](int32_t x, int32_t y, int32_t z) { return max({x, y, z}); });
    table["v_med3_i32"] = vector([](int32_t x, int32_t y, int32_t z) { return median(x, y, z); });
    table["v_minmax_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return max(min(x, y), z); });
    table["v_maxmin_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return min(max(x, y), z); });
    table["v_minmax_i32"] = vector([](int32_t x, int32_t y, int32_t z) { return max(min(x, y), z); });
    table["v_maxmin_i32"] = vector([](int32_t x, int32_t y, int32_t z) { return min(max(x, y), z); });
}

static void add_bits(instruction_table &table)
{
    table["v_and_b32"] = vector([](uint32_t x, uint32_t y) { return x & y; });
    table["v_or_b32"] = vector([](uint32_t x, uint32_t y) { return x | y; });
    table["v_xor_b32"] = vector([](uint32_t x, uint32_t y) { return x ^ y; });
    table["v_xnor_b32"] = vector([](uint32_t x, uint32_t y) { return ~(x ^ y); });
    table["v_not_b32"] = vector([](uint32_t x) { return ~x; });
    table["v_dual_and_b32"] = table["v_and_b32"];

    /* "rev": the count is the first source. Counts are taken modulo the width. */
    table["v_lshlrev_b32"] = vector([](uint32_t count, uint32_t y) { return y << (count & 31); });
    table["v_lshrrev_b32"] = vector([](uint32_t count, uint32_t y) { return y >> (count & 31); });
    table["v_ashrrev_i32"] = vector([](uint32_t count, int32_t y) { return y >> (count & 31); });
    table["v_dual_lshlrev_b32"] = table["v_lshlrev_b32"];
    table["v_lshlrev_b64"] = vector([](uint32_t count, uint64_t y) { return y << (count & 63); });
    table["v_lshrrev_b64"] = vector([](uint32_t count, uint64_t y) { return y >> (count & 63); });
    table["v_ashrrev_i64"] = vector([](uint32_t count, int64_t y) { return y >> (count & 63); });
    table["v_lshl_add_u64"] = vector([](uint64_t x, uint32_t count, uint64_t z) { return (x << (count & 7)) + z; });

    table["v_bfe_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return bit_field(x, y & 31, z & 31); });
    table["v_bfe_i32"] = vector([](int32_t x, uint32_t y, uint32_t z) { return bit_field(x, y & 31, z & 31); });
    table["v_bfi_b32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return (x & y) | (~x & z); });
    table["v_bfm_b32"] = vector([](uint32_t x, uint32_t y) { return bit_mask<uint32_t>(x & 31, y & 31); });
    table["v_alignbit_b32"] =
        vector([](uint32_t x, uint32_t y, uint32_t z) { return (uint32_t)(((uint64_t)x << 32 | y) >> (z & 31)); });
    table["v_alignbyte_b32"] =
        vector([](uint32_t x, uint32_t y, uint32_t z) { return (uint32_t)(((uint64_t)x << 32 | y) >> (8 * (z & 3))); });
    table["v_perm_b32"] =
        vector([](uint32_t x, uint32_t y, uint32_t z) { return permuted_bytes((uint64_t)x << 32 | y, z); });

    table["v_lshl_add_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return (x << (y & 31)) + z; });
    table["v_add_lshl_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return (x + y) << (z & 31); });
    table["v_lshl_or_b32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return (x << (y & 31)) | z; });
    table["v_and_or_b32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return (x & y) | z; });
    table["v_or3_b32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return x | y | z; });
    table["v_xor3_b32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return x ^ y ^ z; });
    table["v_xad_u32"] = vector([](uint32_t x, uint32_t y, uint32_t z) { return (x ^ y) + z; });

    table["v_bfrev_b32"] = vector([](uint32_t x) { return reversed(x); });
    table["v_clz_i32_u32"] = vector([](uint32_t x) { return leading_zeros(x); });
    table["v_ctz_i32_b32"] = vector([](uint32_t x) { return trailing_zeros(x); });
    table["v_cls_i32"] = vector([](uint32_t x) { return leading_signs(x); });
    table["v_bcnt_u32_b32"] = vector([](uint32_t x, uint32_t y) { return (uint32_t)std::popcount(x) + y; });
}

/* Results have zeros in the upper half. */
static void add_16_bits(instruction_table &table)
{
    using u16 = uint16_t;
    using i16 = int16_t;
    table["v_add_nc_u16"] = table["v_add_u16"] = vector([](u16 x, u16 y) { return (u16)(x + y); });
    table["v_sub_nc_u16"] = table["v_sub_u16"] = vector([](u16 x, u16 y) { return (u16)(x - y); });
    table["v_subrev_u16"] = vector([](u16 x, u16 y) { return (u16)(y - x); });
    table["v_mul_lo_u16"] = vector([](u16 x, u16 y) { return (u16)((uint32_t)x * y); });
    table["v_mad_u16"] = table["v_mad_legacy_u16"] =
        vector([](u16 x, u16 y, u16 z) { return (u16)((uint32_t)x * y + z); });
    table["v_max_u16"] = vector([](u16 x, u16 y) { return max(x, y); });
    table["v_min_u16"] = vector([](u16 x, u16 y) { return min(x, y); });
    table["v_max3_u16"] = vector([](u16 x, u16 y, u16 z) { return max({x, y, z}); });
    table["v_min3_u16"] = vector([](u16 x, u16 y, u16 z) { return min({x, y, z}); });
    table["v_max_i16"] = vector([](i16 x, i16 y) { return (u16)max(x, y); });
    table["v_min_i16"] = vector([](i16 x, i16 y) { return (u16)min(x, y); });
    table["v_lshlrev_b16"] = vector([](u16 count, u16 y) { return (u16)(y << (count & 15)); });
    table["v_lshrrev_b16"] = vector([](u16 count, u16 y) { return (u16)(y >> (count & 15)); });
    table["v_ashrrev_i16"] = vector([](u16 count, i16 y) { return (u16)(y >> (count & 15)); });
    table["v_and_b16"] = vector([](u16 x, u16 y) { return (u16)(x & y); });
    table["v_or_b16"] = vector([](u16 x, u16 y) { return (u16)(x | y); });
    table["v_xor_b16"] = vector([](u16 x, u16 y) { return (u16)(x ^ y); });
    table["v_not_b16"] = vector([](u16 x) { return (u16)~x; });
}

void add_vector_integer(instruction_table &table)
{
    add_moves(table);
    add_arithmetic(table);
    add_bits(table);
    add_16_bits(table);
}
