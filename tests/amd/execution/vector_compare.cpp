/* SPDX-License-Identifier: MIT
 *
 * vector_compare.cpp - comparisons, whose result is a mask of lanes. Lanes that are not active get 0. V_CMPX writes
 * EXEC; on gfx9 also a mask, which is then its first operand (RDNA3: EXEC only).
 */
#include "alu.h"

#include <cmath>

template <typename F, typename T, typename U>
static void compare_into_exec(wavefront &w, const instruction &i, bool (F::*)(T, U) const)
{
    const int first = i.count == 3 ? 1 : 0;
    const source a = read(w, i, first, 0, type_of<T>()), b = read(w, i, first + 1, 1, type_of<U>());
    const uint64_t mask = lanes_where(w, [&](int lane) { return F{}(value<T>(a, lane), value<U>(b, lane)); });
    if (first == 1)
        write_mask(w, i.operands[0], mask);
    w.set_exec(mask);
}

template <typename F>
static void add(instruction_table &table, const std::string &name, F f)
{
    table["v_cmp_" + name] = vector(f);
    table["v_cmpx_" + name] = {[](wavefront &w, const instruction &i) { compare_into_exec<F>(w, i, &F::operator()); },
                               table["v_cmp_" + name].honours};
}

template <typename T>
static void add_comparisons(instruction_table &table, const std::string &type)
{
    add(table, "lt_" + type, [](T x, T y) { return x < y; });
    add(table, "eq_" + type, [](T x, T y) { return x == y; });
    add(table, "le_" + type, [](T x, T y) { return x <= y; });
    add(table, "gt_" + type, [](T x, T y) { return x > y; });
    add(table, "ge_" + type, [](T x, T y) { return x >= y; });
    add(table, "f_" + type, [](T, T) { return false; });
    if constexpr (std::is_floating_point_v<T>) {
        add(table, "lg_" + type, [](T x, T y) { return x < y || x > y; });
        add(table, "o_" + type, [](T x, T y) { return !std::isunordered(x, y); });
        add(table, "u_" + type, [](T x, T y) { return std::isunordered(x, y); });
        /* With an n: true also for a NaN. */
        add(table, "nge_" + type, [](T x, T y) { return !(x >= y); });
        add(table, "nlg_" + type, [](T x, T y) { return !(x < y || x > y); });
        add(table, "ngt_" + type, [](T x, T y) { return !(x > y); });
        add(table, "nle_" + type, [](T x, T y) { return !(x <= y); });
        add(table, "neq_" + type, [](T x, T y) { return !(x == y); });
        add(table, "nlt_" + type, [](T x, T y) { return !(x < y); });
        add(table, "tru_" + type, [](T, T) { return true; });
    } else {
        add(table, "ne_" + type, [](T x, T y) { return x != y; });
        add(table, "t_" + type, [](T, T) { return true; });
    }
}

/* The bit of V_CMP_CLASS that a number belongs to (12.10, V_CMP_CLASS_F32): signaling and quiet NaN, negative infinity,
 * normal, subnormal, zero, and the same backwards for positive numbers. */
template <typename T>
static int class_of(T x)
{
    if (std::isnan(x)) {
        if constexpr (sizeof(T) == 8)
            return std::bit_cast<uint64_t>(x) >> 51 & 1;
        else
            return std::bit_cast<uint32_t>(x) >> 22 & 1;
    }
    int positive = 6;
    switch (std::fpclassify(x)) {
    case FP_INFINITE: positive = 9; break;
    case FP_NORMAL: positive = 8; break;
    case FP_SUBNORMAL: positive = 7; break;
    default: break;
    }
    return std::signbit(x) ? 11 - positive : positive;
}

void add_vector_compare(instruction_table &table)
{
    add_comparisons<float>(table, "f32");
    add_comparisons<double>(table, "f64");
    add_comparisons<int16_t>(table, "i16");
    add_comparisons<uint16_t>(table, "u16");
    add_comparisons<int32_t>(table, "i32");
    add_comparisons<uint32_t>(table, "u32");
    add_comparisons<int64_t>(table, "i64");
    add_comparisons<uint64_t>(table, "u64");
    add(table, "class_f32", [](float x, uint32_t classes) -> bool { return classes >> class_of(x) & 1; });
    add(table, "class_f64", [](double x, uint32_t classes) -> bool { return classes >> class_of(x) & 1; });
}
