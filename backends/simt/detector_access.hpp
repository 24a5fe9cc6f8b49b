/* SPDX-License-Identifier: MIT
 *
 * detector_access.hpp - how the detector packs an access into 64 bits.
 */
#ifndef FLYNN_SIMT_DETECTOR_ACCESS_HPP
#define FLYNN_SIMT_DETECTOR_ACCESS_HPP

#include <cstdint>

namespace simt
{

/* An access: its segment in the upper half; below it its place in the text, the thread, whether it is atomic, and which
 * of the cell's four bytes. 0: none. */
typedef uint64_t access;

constexpr access all_bytes = 0xf, atomic_bit = 0x10;
constexpr int thread_shift = 5, site_shift = 15;
constexpr uint32_t sites = 1 << 17; /* places in the text, bytes of its code; those beyond have the number 0 */

constexpr access make_access(uint32_t segment, uint32_t site, uint32_t thread, bool is_atomic)
{
    return (access)segment << 32 | site << site_shift | thread << thread_shift | (is_atomic ? atomic_bit : 0);
}
constexpr uint32_t segment_of(access a)
{
    return (uint32_t)(a >> 32);
}
constexpr uint32_t site_of(access a)
{
    return (uint32_t)a >> site_shift;
}
constexpr uint32_t thread_of(access a)
{
    return (uint32_t)a >> thread_shift & 0x3ff;
}
/* Returns whether both differ at most in the place in the text. */
constexpr bool is_same(access a, access b)
{
    return ((a ^ b) & ~(((access)sites - 1) << site_shift)) == 0;
}

} // namespace simt

#endif
