/* SPDX-License-Identifier: MIT
 *
 * vector_float.cpp - vector instructions on f32 and f64, of one lane each, and conversions. Compiled without
 * contraction of products and sums.
 *
 * A GPU's v_rcp, v_rsq, v_exp, v_log, v_sin and v_cos are approximations, of which the manuals give bounds; here they
 * are rounded correctly, or nearly so. Subnormal numbers are kept.
 */
#include "alu.h"

#include <algorithm>
#include <cmath>

/* IEEE 754-2008 minNum and maxNum: a number, if one of both is a NaN; -0 is below +0 (6.2.4). */
template <typename T>
static T minimum(T x, T y)
{
    if (x == 0 && y == 0)
        return std::signbit(x) ? x : y;
    return std::fmin(x, y);
}

template <typename T>
static T maximum(T x, T y)
{
    if (x == 0 && y == 0)
        return std::signbit(x) ? y : x;
    return std::fmax(x, y);
}

static float median(float x, float y, float z)
{
    if (std::isnan(x) || std::isnan(y) || std::isnan(z))
        return minimum(minimum(x, y), z);
    const float largest = std::max({x, y, z});
    return largest == x ? std::max(y, z) : largest == y ? std::max(x, z) : std::max(x, y);
}

template <typename T>
static T mantissa(T x)
{
    int exponent;
    return std::isfinite(x) ? std::frexp(x, &exponent) : x;
}

template <typename T>
static int32_t exponent_of(T x)
{
    int exponent = 0;
    if (std::isfinite(x))
        std::frexp(x, &exponent);
    return exponent;
}

/* To the nearest number of the type; 0 for a NaN. */
static int32_t to_i32(double x)
{
    if (std::isnan(x))
        return 0;
    return (int32_t)std::clamp(std::trunc(x), (double)INT32_MIN, (double)INT32_MAX);
}

static uint32_t to_u32(double x)
{
    return std::isnan(x) ? 0 : (uint32_t)std::clamp(std::trunc(x), 0.0, (double)UINT32_MAX);
}

static void add_f32(instruction_table &table)
{
    table["v_add_f32"] = vector([](float x, float y) { return x + y; });
    table["v_sub_f32"] = vector([](float x, float y) { return x - y; });
    table["v_subrev_f32"] = vector([](float x, float y) { return y - x; });
    table["v_mul_f32"] = vector([](float x, float y) { return x * y; });
    /* DirectX 9: zero times anything is zero. */
    table["v_mul_legacy_f32"] = table["v_mul_dx9_zero_f32"] =
        vector([](float x, float y) { return x == 0 || y == 0 ? 0 : x * y; });
    table["v_mad_f32"] = table["v_madak_f32"] = table["v_madmk_f32"] =
        vector([](float x, float y, float z) { return x * y + z; });
    table["v_mac_f32"] = accumulating([](float x, float y, float z) { return x * y + z; });
    /* AK and MK: a literal as the third or the second source; the text has it in its place. */
    table["v_fma_f32"] = table["v_fmaak_f32"] = table["v_fmamk_f32"] =
        vector([](float x, float y, float z) { return std::fma(x, y, z); });
    table["v_fmac_f32"] = accumulating([](float x, float y, float z) { return std::fma(x, y, z); });

    table["v_min_f32"] = vector([](float x, float y) { return minimum(x, y); });
    table["v_max_f32"] = vector([](float x, float y) { return maximum(x, y); });
    table["v_min3_f32"] = vector([](float x, float y, float z) { return minimum(x, minimum(y, z)); });
    table["v_max3_f32"] = vector([](float x, float y, float z) { return maximum(x, maximum(y, z)); });
    table["v_med3_f32"] = vector([](float x, float y, float z) { return median(x, y, z); });
    table["v_minmax_f32"] = vector([](float x, float y, float z) { return maximum(z, minimum(x, y)); });
    table["v_maxmin_f32"] = vector([](float x, float y, float z) { return minimum(z, maximum(x, y)); });

    table["v_trunc_f32"] = vector([](float x) { return std::trunc(x); });
    table["v_ceil_f32"] = vector([](float x) { return std::ceil(x); });
    table["v_rndne_f32"] = vector([](float x) { return std::rint(x); });
    table["v_floor_f32"] = vector([](float x) { return std::floor(x); });
    table["v_fract_f32"] = vector([](float x) { return x - std::floor(x); });
    table["v_rcp_f32"] = table["v_rcp_iflag_f32"] = vector([](float x) { return (float)(1 / (double)x); });
    table["v_rsq_f32"] = vector([](float x) { return (float)(1 / std::sqrt((double)x)); });
    table["v_sqrt_f32"] = vector([](float x) { return std::sqrt(x); });
    table["v_exp_f32"] = vector([](float x) { return (float)std::exp2((double)x); });
    table["v_log_f32"] = vector([](float x) { return (float)std::log2((double)x); });
    table["v_sin_f32"] = vector([](float x) { return (float)std::sin(2 * M_PI * x); });
    table["v_cos_f32"] = vector([](float x) { return (float)std::cos(2 * M_PI * x); });
    table["v_ldexp_f32"] = vector([](float x, int32_t exponent) { return std::ldexp(x, exponent); });
    table["v_frexp_mant_f32"] = vector([](float x) { return mantissa(x); });
    table["v_frexp_exp_i32_f32"] = vector([](float x) { return exponent_of(x); });

    for (const char *name : {"add_f32", "sub_f32", "subrev_f32", "mul_f32", "min_f32", "max_f32", "fmac_f32",
                             "fmaak_f32", "fmamk_f32", "mul_dx9_zero_f32"})
        table[std::string("v_dual_") + name] = table[std::string("v_") + name];
}

static void add_f64(instruction_table &table)
{
    table["v_add_f64"] = vector([](double x, double y) { return x + y; });
    table["v_mul_f64"] = vector([](double x, double y) { return x * y; });
    table["v_min_f64"] = vector([](double x, double y) { return minimum(x, y); });
    table["v_max_f64"] = vector([](double x, double y) { return maximum(x, y); });
    table["v_fma_f64"] = vector([](double x, double y, double z) { return std::fma(x, y, z); });
    table["v_fmac_f64"] = accumulating([](double x, double y, double z) { return std::fma(x, y, z); });
    table["v_trunc_f64"] = vector([](double x) { return std::trunc(x); });
    table["v_ceil_f64"] = vector([](double x) { return std::ceil(x); });
    table["v_rndne_f64"] = vector([](double x) { return std::rint(x); });
    table["v_floor_f64"] = vector([](double x) { return std::floor(x); });
    /* Below 1 also for the smallest negative numbers. */
    table["v_fract_f64"] = vector([](double x) { return std::min(x - std::floor(x), 0x1.fffffffffffffp-1); });
    table["v_rcp_f64"] = vector([](double x) { return 1 / x; });
    table["v_rsq_f64"] = vector([](double x) { return 1 / std::sqrt(x); });
    table["v_sqrt_f64"] = vector([](double x) { return std::sqrt(x); });
    table["v_ldexp_f64"] = vector([](double x, int32_t exponent) { return std::ldexp(x, exponent); });
    table["v_frexp_mant_f64"] = vector([](double x) { return mantissa(x); });
    table["v_frexp_exp_i32_f64"] = vector([](double x) { return exponent_of(x); });
}

/* A division is a sequence: DIV_SCALE brings both numbers into a range in which v_rcp and Newton's steps by v_fma do
 * not overflow, DIV_FMAS takes the last step and undoes the scaling (by VCC, from DIV_SCALE), and DIV_FIXUP returns the
 * quotient, or what it has to be for zeros, infinities and NaN. The result is the rounded quotient: DIV_FIXUP, which
 * has numerator and denominator as sources, computes it, and nothing is scaled. */
template <typename T>
static void add_division(instruction_table &table, const std::string &type)
{
    table["v_div_scale_" + type] = {[](wavefront &w, const instruction &i) {
                                        const source from = read(w, i, 2, 0, type_of<T>());
                                        store_each<T>(w, result_of(w, i),
                                                      [=](int lane) { return value<T>(from, lane); });
                                        write_mask(w, i.operands[1], 0);
                                    },
                                    INPUT_MODIFIERS};
    table["v_div_fmas_" + type] = vector([](T x, T y, T z) { return std::fma(x, y, z); });
    table["v_div_fixup_" + type] = vector([](T, T denominator, T numerator) { return numerator / denominator; });
}

static void add_conversions(instruction_table &table)
{
    table["v_cvt_f32_u32"] = vector([](uint32_t x) { return (float)x; });
    table["v_cvt_f32_i32"] = vector([](int32_t x) { return (float)x; });
    table["v_cvt_f32_ubyte0"] = vector([](uint32_t x) { return (float)(x & 0xff); });
    table["v_cvt_f32_ubyte1"] = vector([](uint32_t x) { return (float)(x >> 8 & 0xff); });
    table["v_cvt_f32_ubyte2"] = vector([](uint32_t x) { return (float)(x >> 16 & 0xff); });
    table["v_cvt_f32_ubyte3"] = vector([](uint32_t x) { return (float)(x >> 24); });
    table["v_cvt_u32_f32"] = vector([](float x) { return to_u32(x); });
    table["v_cvt_i32_f32"] = vector([](float x) { return to_i32(x); });
    table["v_cvt_flr_i32_f32"] = table["v_cvt_floor_i32_f32"] = vector([](float x) { return to_i32(std::floor(x)); });
    table["v_cvt_rpi_i32_f32"] = table["v_cvt_nearest_i32_f32"] =
        vector([](float x) { return to_i32(std::floor(x + 0.5)); });
    table["v_cvt_u32_f64"] = vector([](double x) { return to_u32(x); });
    table["v_cvt_i32_f64"] = vector([](double x) { return to_i32(x); });
    table["v_cvt_f32_f64"] = vector([](double x) { return (float)x; });
    table["v_cvt_f64_f32"] = vector([](float x) { return (double)x; });
    table["v_cvt_f64_i32"] = vector([](int32_t x) { return (double)x; });
    table["v_cvt_f64_u32"] = vector([](uint32_t x) { return (double)x; });
    /* A byte of the third source is replaced. */
    table["v_cvt_pk_u8_f32"] = vector([](float x, uint32_t place, uint32_t bytes) {
        const uint32_t shift = 8 * (place & 3);
        return (bytes & ~(0xffu << shift)) | (uint32_t)std::fmin(std::fmax(std::rint(x), 0.0f), 255.0f) << shift;
    });
}

void add_vector_float(instruction_table &table)
{
    add_f32(table);
    add_f64(table);
    add_division<float>(table, "f32");
    add_division<double>(table, "f64");
    add_conversions(table);
}
