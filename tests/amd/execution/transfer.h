/* SPDX-License-Identifier: MIT
 *
 * transfer.h - between registers and memory: what loads and stores of global memory, scratch and LDS have in common.
 */
#ifndef FLYNN_AMD_TRANSFER_H
#define FLYNN_AMD_TRANSFER_H

#include "wavefront.h"

#include <cstring>

/* What a load does with less than a register. D16: into the lower or the upper half, the other one is kept. */
enum class load { WHOLE, UNSIGNED, SIGNED, D16_LOW, D16_HIGH, D16_LOW_SIGNED, D16_HIGH_SIGNED };

template <int BYTES, load HOW>
inline void load_lane(vgpr *to, int lane, const uint8_t *from)
{
    if constexpr (HOW == load::WHOLE) {
        uint32_t words[BYTES / 4];
        memcpy(words, from, BYTES);
        for (int k = 0; k < BYTES / 4; k++)
            to[k][lane] = words[k];
        return;
    } else {
        uint32_t bits = 0;
        memcpy(&bits, from, BYTES);
        if (HOW == load::SIGNED || HOW == load::D16_LOW_SIGNED || HOW == load::D16_HIGH_SIGNED)
            bits = BYTES == 1 ? (uint32_t)(int8_t)bits : (uint32_t)(int16_t)bits;
        if (HOW == load::UNSIGNED || HOW == load::SIGNED)
            to[0][lane] = bits;
        else if (HOW == load::D16_LOW || HOW == load::D16_LOW_SIGNED)
            to[0][lane] = (to[0][lane] & 0xffff0000) | (bits & 0xffff);
        else
            to[0][lane] = (to[0][lane] & 0xffff) | bits << 16;
    }
}

/* What a store takes of a register: its lower bytes, or (D16_HI) those of its upper half. */
enum class store { LOW, HIGH };

template <int BYTES, store HOW>
inline void store_lane(const vgpr *from, int lane, uint8_t *to)
{
    uint32_t words[(BYTES + 3) / 4];
    for (int k = 0; k < (BYTES + 3) / 4; k++)
        words[k] = from[k][lane];
    if (HOW == store::HIGH)
        words[0] >>= 16;
    memcpy(to, words, BYTES);
}

/* A number in one or two registers. */
template <typename T>
inline T number_from(const vgpr *registers, int lane)
{
    uint32_t words[sizeof(T) / 4];
    for (size_t k = 0; k < sizeof(T) / 4; k++)
        words[k] = registers[k][lane];
    T number;
    memcpy(&number, words, sizeof number);
    return number;
}

/* Replaces the number in memory by f(it, data, compared), and returns what it was. */
template <typename T, typename F>
inline T exchange(uint8_t *memory, T data, T compared)
{
    T before;
    memcpy(&before, memory, sizeof before);
    const T after = F{}(before, data, compared);
    memcpy(memory, &after, sizeof after);
    return before;
}

#endif
