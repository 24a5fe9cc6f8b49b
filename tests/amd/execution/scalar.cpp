/* SPDX-License-Identifier: MIT
 *
 * scalar.cpp - scalar instructions that compute. As in alu.h the types of a function say how operands are read:
 * uint32_t and int32_t are registers, uint64_t and int64_t pairs. A function with a last argument `bool &scc` reads and
 * writes SCC itself; a result of type bool is SCC.
 */
#include "bits.h"
#include "table.h"
#include "wavefront.h"

#include <algorithm>
#include <utility>

namespace
{
template <typename T>
T read(wavefront &w, const operand &o)
{
    if (o.kind == operand::CONSTANT)
        return (T)(sizeof(T) == 8 ? o.bits64_integer : o.bits32);
    if (o.kind != operand::SGPR) {
        w.fail("an operand of a scalar instruction is not a scalar register");
        return 0;
    }
    if constexpr (sizeof(T) == 8)
        return (T)w.pair(o.index);
    else
        return (T)(o.index == NULL_REGISTER ? 0 : w.s[o.index]);
}

template <typename R>
void write(wavefront &w, const operand &o, R result)
{
    if constexpr (sizeof(R) == 8)
        w.set_pair(o.index, (uint64_t)result);
    else if (o.index != NULL_REGISTER)
        w.s[o.index] = (uint32_t)result;
}

enum scc { KEEPS_SCC, SCC_IF_NOT_ZERO };

template <scc SCC_IS, typename F, typename R, typename... A, size_t... N>
void execute(wavefront &w, const instruction &i, std::index_sequence<N...>)
{
    if constexpr (std::is_same_v<R, bool>)
        w.s[SCC] = F{}(read<A>(w, i.operands[N])...);
    else {
        const R result = F{}(read<A>(w, i.operands[N + 1])...);
        write(w, i.operands[0], result);
        if (SCC_IS == SCC_IF_NOT_ZERO)
            w.s[SCC] = result != 0;
    }
}

template <scc SCC_IS, typename F, typename R, typename... A>
table_entry make(R (F::*)(A...) const)
{
    return {
        [](wavefront &w, const instruction &i) { execute<SCC_IS, F, R, A...>(w, i, std::index_sequence_for<A...>{}); },
        PLAIN};
}

template <scc SCC_IS, typename F>
table_entry make(uint32_t (F::*)(uint32_t, uint32_t, bool &) const)
{
    return {[](wavefront &w, const instruction &i) {
                bool scc = w.s[SCC];
                const uint32_t result = F{}(read<uint32_t>(w, i.operands[1]), read<uint32_t>(w, i.operands[2]), scc);
                write(w, i.operands[0], result);
                w.s[SCC] = scc;
            },
            PLAIN};
}

template <typename F>
table_entry scalar(F)
{
    return make<KEEPS_SCC>(&F::operator());
}

/* SCC = D != 0 */
template <typename F>
table_entry tested(F)
{
    return make<SCC_IF_NOT_ZERO>(&F::operator());
}
} // namespace

static void add_moves(instruction_table &table)
{
    table["s_mov_b32"] = scalar([](uint32_t x) { return x; });
    table["s_mov_b64"] = scalar([](uint64_t x) { return x; });
    table["s_movk_i32"] = scalar([](uint32_t x) { return (uint32_t)(int16_t)x; });
    table["s_cmov_b32"] = {[](wavefront &w, const instruction &i) {
                               if (w.s[SCC])
                                   write(w, i.operands[0], read<uint32_t>(w, i.operands[1]));
                           },
                           PLAIN};
    table["s_cmov_b64"] = {[](wavefront &w, const instruction &i) {
                               if (w.s[SCC])
                                   write(w, i.operands[0], read<uint64_t>(w, i.operands[1]));
                           },
                           PLAIN};
    table["s_cmovk_i32"] = {[](wavefront &w, const instruction &i) {
                                if (w.s[SCC])
                                    write(w, i.operands[0], (int32_t)(int16_t)i.operands[1].bits32);
                            },
                            PLAIN};
    table["s_cselect_b32"] = {[](wavefront &w, const instruction &i) {
                                  write(w, i.operands[0], read<uint32_t>(w, i.operands[w.s[SCC] ? 1 : 2]));
                              },
                              PLAIN};
    table["s_cselect_b64"] = {[](wavefront &w, const instruction &i) {
                                  write(w, i.operands[0], read<uint64_t>(w, i.operands[w.s[SCC] ? 1 : 2]));
                              },
                              PLAIN};
}

/* SCC: the carry of unsigned, the overflow of signed sums; of a minimum whether it is the first source. */
static void add_arithmetic(instruction_table &table)
{
    table["s_add_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        uint32_t sum;
        scc = __builtin_add_overflow(x, y, &sum);
        return sum;
    });
    table["s_sub_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        scc = y > x;
        return x - y;
    });
    table["s_addc_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        const uint64_t sum = (uint64_t)x + y + scc;
        scc = sum >> 32;
        return (uint32_t)sum;
    });
    table["s_subb_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        const uint32_t difference = x - y - scc;
        scc = (uint64_t)y + scc > x;
        return difference;
    });
    table["s_add_i32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        int32_t sum;
        scc = __builtin_add_overflow((int32_t)x, (int32_t)y, &sum);
        return (uint32_t)sum;
    });
    table["s_sub_i32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        int32_t difference;
        scc = __builtin_sub_overflow((int32_t)x, (int32_t)y, &difference);
        return (uint32_t)difference;
    });
    /* The destination is the first source, and the other a constant of 16 bits. */
    table["s_addk_i32"] = {[](wavefront &w, const instruction &i) {
                               int32_t sum;
                               const int32_t x = read<int32_t>(w, i.operands[0]), y = (int16_t)i.operands[1].bits32;
                               w.s[SCC] = __builtin_add_overflow(x, y, &sum);
                               write(w, i.operands[0], sum);
                           },
                           PLAIN};
    table["s_mulk_i32"] = {[](wavefront &w, const instruction &i) {
                               const uint32_t y = (uint32_t)(int16_t)i.operands[1].bits32;
                               write(w, i.operands[0], read<uint32_t>(w, i.operands[0]) * y);
                           },
                           PLAIN};
    table["s_absdiff_i32"] =
        tested([](int32_t x, int32_t y) { return (uint32_t)(std::max<int64_t>(x, y) - std::min<int64_t>(x, y)); });
    table["s_abs_i32"] = tested([](uint32_t x) { return (int32_t)x < 0 ? -x : x; });
    table["s_mul_i32"] = scalar([](uint32_t x, uint32_t y) { return x * y; });
    table["s_mul_hi_u32"] = scalar([](uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); });
    table["s_mul_hi_i32"] = scalar([](int32_t x, int32_t y) { return (uint32_t)((int64_t)x * y >> 32); });

    table["s_min_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) { return (scc = x < y) ? x : y; });
    table["s_max_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) { return (scc = x > y) ? x : y; });
    table["s_min_i32"] =
        scalar([](uint32_t x, uint32_t y, bool &scc) { return (scc = (int32_t)x < (int32_t)y) ? x : y; });
    table["s_max_i32"] =
        scalar([](uint32_t x, uint32_t y, bool &scc) { return (scc = (int32_t)x > (int32_t)y) ? x : y; });

    table["s_lshl1_add_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        scc = (((uint64_t)x << 1) + y) >> 32 != 0;
        return (x << 1) + y;
    });
    table["s_lshl2_add_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        scc = (((uint64_t)x << 2) + y) >> 32 != 0;
        return (x << 2) + y;
    });
    table["s_lshl3_add_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        scc = (((uint64_t)x << 3) + y) >> 32 != 0;
        return (x << 3) + y;
    });
    table["s_lshl4_add_u32"] = scalar([](uint32_t x, uint32_t y, bool &scc) {
        scc = (((uint64_t)x << 4) + y) >> 32 != 0;
        return (x << 4) + y;
    });
}

/* T is uint32_t for the names with _b32, uint64_t for those with _b64. */
template <typename T>
static void add_logic(instruction_table &table, const std::string &type)
{
    table["s_and_" + type] = tested([](T x, T y) { return x & y; });
    table["s_or_" + type] = tested([](T x, T y) { return x | y; });
    table["s_xor_" + type] = tested([](T x, T y) { return x ^ y; });
    table["s_and_not1_" + type] = tested([](T x, T y) { return x & ~y; });
    table["s_or_not1_" + type] = tested([](T x, T y) { return x | ~y; });
    table["s_nand_" + type] = tested([](T x, T y) { return ~(x & y); });
    table["s_nor_" + type] = tested([](T x, T y) { return ~(x | y); });
    table["s_xnor_" + type] = tested([](T x, T y) { return ~(x ^ y); });
    table["s_not_" + type] = tested([](T x) { return ~x; });
    const unsigned modulo = 8 * sizeof(T) - 1;
    table["s_lshl_" + type] = tested([](T x, uint32_t count) { return x << (count & modulo); });
    table["s_lshr_" + type] = tested([](T x, uint32_t count) { return x >> (count & modulo); });
    table["s_bfm_" + type] =
        scalar([](uint32_t width, uint32_t first) { return bit_mask<T>(width & modulo, first & modulo); });
    table["s_bitset0_" + type] = {[](wavefront &w, const instruction &i) {
                                      const T bit = (T)1 << (read<uint32_t>(w, i.operands[1]) & modulo);
                                      write(w, i.operands[0], read<T>(w, i.operands[0]) & ~bit);
                                  },
                                  PLAIN};
    table["s_bitset1_" + type] = {[](wavefront &w, const instruction &i) {
                                      const T bit = (T)1 << (read<uint32_t>(w, i.operands[1]) & modulo);
                                      write(w, i.operands[0], read<T>(w, i.operands[0]) | bit);
                                  },
                                  PLAIN};
    table["s_bitcmp0_" + type] = scalar([](T x, uint32_t bit) -> bool { return !(x >> (bit & modulo) & 1); });
    table["s_bitcmp1_" + type] = scalar([](T x, uint32_t bit) -> bool { return x >> (bit & modulo) & 1; });
    table["s_bcnt1_i32_" + type] = tested([](T x) { return (uint32_t)std::popcount(x); });
    table["s_bcnt0_i32_" + type] = tested([](T x) { return (uint32_t)std::popcount((T)~x); });
    table["s_ctz_i32_" + type] = scalar([](T x) { return trailing_zeros(x); });
}

static void add_bits(instruction_table &table)
{
    add_logic<uint32_t>(table, "b32");
    add_logic<uint64_t>(table, "b64");
    table["s_ashr_i32"] = tested([](int32_t x, uint32_t count) { return x >> (count & 31); });
    table["s_ashr_i64"] = tested([](int64_t x, uint32_t count) { return x >> (count & 63); });
    /* The field: its first bit in bits 5..0, its width in 22..16. */
    table["s_bfe_u32"] = tested([](uint32_t x, uint32_t f) { return bit_field(x, f & 31, f >> 16 & 127); });
    table["s_bfe_i32"] = tested([](int32_t x, uint32_t f) { return bit_field(x, f & 31, f >> 16 & 127); });
    table["s_bfe_u64"] = tested([](uint64_t x, uint32_t f) { return bit_field(x, f & 63, f >> 16 & 127); });
    table["s_bfe_i64"] = tested([](int64_t x, uint32_t f) { return bit_field(x, f & 63, f >> 16 & 127); });
    table["s_brev_b32"] = scalar([](uint32_t x) { return reversed(x); });
    table["s_brev_b64"] =
        scalar([](uint64_t x) { return (uint64_t)reversed((uint32_t)x) << 32 | reversed((uint32_t)(x >> 32)); });
    table["s_clz_i32_u32"] = scalar([](uint32_t x) { return leading_zeros(x); });
    table["s_clz_i32_u64"] = scalar([](uint64_t x) { return leading_zeros(x); });
    table["s_cls_i32"] = scalar([](uint32_t x) { return leading_signs(x); });
    table["s_sext_i32_i8"] = scalar([](uint32_t x) { return (uint32_t)(int8_t)x; });
    table["s_sext_i32_i16"] = scalar([](uint32_t x) { return (uint32_t)(int16_t)x; });
    table["s_pack_ll_b32_b16"] = scalar([](uint32_t x, uint32_t y) { return (x & 0xffff) | y << 16; });
    table["s_pack_lh_b32_b16"] = scalar([](uint32_t x, uint32_t y) { return (x & 0xffff) | (y & 0xffff0000); });
    table["s_pack_hh_b32_b16"] = scalar([](uint32_t x, uint32_t y) { return x >> 16 | (y & 0xffff0000); });
    table["s_pack_hl_b32_b16"] = scalar([](uint32_t x, uint32_t y) { return x >> 16 | y << 16; });
    /* Whole quads: four ones where one of four is set. */
    table["s_wqm_b32"] = tested([](uint32_t x) {
        const uint32_t any = (x | x >> 1 | x >> 2 | x >> 3) & 0x11111111;
        return any * 15;
    });
}

static void add_comparisons(instruction_table &table)
{
    table["s_cmp_eq_i32"] = scalar([](int32_t x, int32_t y) { return x == y; });
    table["s_cmp_lg_i32"] = scalar([](int32_t x, int32_t y) { return x != y; });
    table["s_cmp_gt_i32"] = scalar([](int32_t x, int32_t y) { return x > y; });
    table["s_cmp_ge_i32"] = scalar([](int32_t x, int32_t y) { return x >= y; });
    table["s_cmp_lt_i32"] = scalar([](int32_t x, int32_t y) { return x < y; });
    table["s_cmp_le_i32"] = scalar([](int32_t x, int32_t y) { return x <= y; });
    table["s_cmp_eq_u32"] = scalar([](uint32_t x, uint32_t y) { return x == y; });
    table["s_cmp_lg_u32"] = scalar([](uint32_t x, uint32_t y) { return x != y; });
    table["s_cmp_gt_u32"] = scalar([](uint32_t x, uint32_t y) { return x > y; });
    table["s_cmp_ge_u32"] = scalar([](uint32_t x, uint32_t y) { return x >= y; });
    table["s_cmp_lt_u32"] = scalar([](uint32_t x, uint32_t y) { return x < y; });
    table["s_cmp_le_u32"] = scalar([](uint32_t x, uint32_t y) { return x <= y; });
    table["s_cmp_eq_u64"] = scalar([](uint64_t x, uint64_t y) { return x == y; });
    table["s_cmp_lg_u64"] = scalar([](uint64_t x, uint64_t y) { return x != y; });
    /* With a constant of 16 bits, which the disassembler prints extended as the type says. */
    for (const char *relation : {"eq", "lg", "gt", "ge", "lt", "le"})
        for (const char *type : {"_i32", "_u32"})
            table[std::string("s_cmpk_") + relation + type] = table[std::string("s_cmp_") + relation + type];
}

/* s_<name>_saveexec: D = EXEC, EXEC = f(S0, EXEC); s_<name>_wrexec: D = EXEC = f(S0, EXEC). SCC = EXEC != 0. */
template <typename T, bool SAVE, typename F>
static void change_exec(wavefront &w, const instruction &i)
{
    const T before = (T)w.exec(), after = F{}(read<T>(w, i.operands[1]), before);
    write(w, i.operands[0], SAVE ? before : after);
    w.set_exec(after);
    w.s[SCC] = after != 0;
}

template <typename F>
static void add_exec(instruction_table &table, const std::string &name, F)
{
    table["s_" + name + "_saveexec_b32"] = {change_exec<uint32_t, true, F>, PLAIN};
    table["s_" + name + "_saveexec_b64"] = {change_exec<uint64_t, true, F>, PLAIN};
    table["s_" + name + "_wrexec_b32"] = {change_exec<uint32_t, false, F>, PLAIN};
    table["s_" + name + "_wrexec_b64"] = {change_exec<uint64_t, false, F>, PLAIN};
}

static void add_exec_masks(instruction_table &table)
{
    add_exec(table, "and", [](uint64_t s, uint64_t exec) { return s & exec; });
    add_exec(table, "or", [](uint64_t s, uint64_t exec) { return s | exec; });
    add_exec(table, "xor", [](uint64_t s, uint64_t exec) { return s ^ exec; });
    add_exec(table, "nand", [](uint64_t s, uint64_t exec) { return ~(s & exec); });
    add_exec(table, "nor", [](uint64_t s, uint64_t exec) { return ~(s | exec); });
    add_exec(table, "xnor", [](uint64_t s, uint64_t exec) { return ~(s ^ exec); });
    for (const char *name : {"and_not1", "andn2"}) /* RDNA3's name, gfx9's */
        add_exec(table, name, [](uint64_t s, uint64_t exec) { return s & ~exec; });
    for (const char *name : {"and_not0", "andn1"})
        add_exec(table, name, [](uint64_t s, uint64_t exec) { return ~s & exec; });
    for (const char *name : {"or_not1", "orn2"})
        add_exec(table, name, [](uint64_t s, uint64_t exec) { return s | ~exec; });
    for (const char *name : {"or_not0", "orn1"})
        add_exec(table, name, [](uint64_t s, uint64_t exec) { return ~s | exec; });
}

void add_scalar(instruction_table &table)
{
    add_moves(table);
    add_arithmetic(table);
    add_bits(table);
    add_comparisons(table);
    add_exec_masks(table);
}
