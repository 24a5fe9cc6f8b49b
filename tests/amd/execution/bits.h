/* SPDX-License-Identifier: MIT
 *
 * bits.h - functions of bits that vector and scalar instructions share.
 */
#ifndef FLYNN_AMD_BITS_H
#define FLYNN_AMD_BITS_H

#include <bit>
#include <cstdint>
#include <type_traits>

/* Zeros before the first and after the last one; -1 if there is none. */
template <typename T>
inline uint32_t leading_zeros(T x)
{
    return x ? (uint32_t)std::countl_zero(x) : ~0u;
}

template <typename T>
inline uint32_t trailing_zeros(T x)
{
    return x ? (uint32_t)std::countr_zero(x) : ~0u;
}

/* How many bits at the front are the sign; -1 if all are. */
inline uint32_t leading_signs(uint32_t x)
{
    return leading_zeros((int32_t)x < 0 ? ~x : x);
}

inline uint32_t reversed(uint32_t x)
{
    uint32_t result = 0;
    for (int k = 0; k < 32; k++)
        result |= (x >> k & 1) << (31 - k);
    return result;
}

/* T's width bits from `first` on: T is signed if the field is. */
template <typename T>
inline T bit_field(T x, unsigned first, unsigned width)
{
    const unsigned all = 8 * sizeof(T);
    if (width == 0)
        return 0;
    const T shifted = x >> first;
    if (width >= all)
        return shifted;
    return (T)((std::make_unsigned_t<T>)shifted << (all - width)) >> (all - width);
}

/* `width` ones from `first` on. */
template <typename T>
inline T bit_mask(unsigned width, unsigned first)
{
    return (((T)1 << width) - 1) << first;
}

/* The lower 24 bits, with their sign. */
inline int32_t signed24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}

inline uint32_t unsigned24(uint32_t x)
{
    return x & 0xffffff;
}

#endif
