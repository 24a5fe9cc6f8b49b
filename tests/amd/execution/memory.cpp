/* SPDX-License-Identifier: MIT
 *
 * memory.cpp - scalar loads, and vector accesses to global memory, by flat addresses, and to scratch, which also buffer
 * instructions reach. Each access is checked: it must lie in one allocation.
 */
#include "atomics.h"
#include "checks/memory_map.h"
#include "table.h"
#include "transfer.h"

/* --------------------------------------------------------------------------------------------------- addresses ---- */

static uint8_t *scratch_at(wavefront &w, int64_t offset, int bytes, int lane)
{
    if (offset < 0 || offset + bytes > w.scratch_bytes) {
        w.fail("an access beyond the lane's scratch", (uint64_t)offset, lane);
        return nullptr;
    }
    return &w.scratch[(size_t)lane * w.scratch_bytes + (size_t)offset];
}

/* A flat address is one of LDS or scratch if its upper half is that of an aperture (10.3). */
static uint8_t *flat_at(wavefront &w, uint64_t address, int bytes, int lane)
{
    const uint32_t offset = (uint32_t)address;
    if (address >> 32 == SHARED_APERTURE) {
        if ((uint64_t)offset + (unsigned)bytes > w.group->lds.size()) {
            w.fail("an access beyond the workgroup's LDS", address, lane);
            return nullptr;
        }
        return &w.group->lds[offset];
    }
    if (address >> 32 == PRIVATE_APERTURE)
        return scratch_at(w, offset, bytes, lane);
    if (!memory_map.contains(address, (size_t)bytes)) {
        w.fail("an access to memory that is not the device's", address, lane);
        return nullptr;
    }
    return (uint8_t *)address;
}

enum segment { GLOBAL, FLAT, SCRATCH, BUFFER };

/* The memory of one lane. `vaddr` and `saddr` are operand numbers; an operand "off" has the kind NONE. */
template <segment SEGMENT>
static uint8_t *locate(wavefront &w, const instruction &i, int vaddr, int saddr, int bytes, int lane)
{
    const operand &v = i.operands[vaddr], &s = i.operands[saddr];
    const uint32_t *low = w.v[v.index], *high = w.v[v.index + 1];
    if constexpr (SEGMENT == FLAT)
        return flat_at(w, (low[lane] | (uint64_t)high[lane] << 32) + (uint64_t)i.offset, bytes, lane);
    if constexpr (SEGMENT == GLOBAL) {
        const uint64_t base =
            s.kind == operand::NONE ? low[lane] | (uint64_t)high[lane] << 32 : w.pair(s.index) + low[lane];
        return flat_at(w, base + (uint64_t)i.offset, bytes, lane);
    }
    int64_t offset = i.offset;
    if constexpr (SEGMENT == SCRATCH) {
        offset += v.kind == operand::VGPR ? low[lane] : 0;
        offset += s.kind == operand::SGPR && s.index != NULL_REGISTER ? w.s[s.index] : 0;
    } else {
        /* Compilers use buffers for scratch: its elements are interleaved, so that the scalar offset counts the bytes
         * of all lanes (9.1.5.2). */
        offset += i.offen ? low[lane] : 0;
        const uint32_t scalar = s.kind == operand::CONSTANT ? s.bits32 : w.s[s.index];
        offset += scalar / (uint32_t)w.lanes;
    }
    return scratch_at(w, offset, bytes, lane);
}

/* ------------------------------------------------------------------------------------------- loads and stores ---- */

/* Operands of loads: data, vaddr, saddr; of stores: vaddr, data, saddr; of buffers: data, vaddr, resource, soffset. */
template <segment SEGMENT, int BYTES, load HOW>
static void load_from(wavefront &w, const instruction &i)
{
    vgpr *to = &w.v[i.operands[0].index];
    each_lane_in_order(w, [&](int lane) {
        if (const uint8_t *from = locate<SEGMENT>(w, i, 1, SEGMENT == BUFFER ? 3 : 2, BYTES, lane))
            load_lane<BYTES, HOW>(to, lane, from);
    });
}

template <segment SEGMENT, int BYTES, store HOW>
static void store_to(wavefront &w, const instruction &i)
{
    const bool is_buffer = SEGMENT == BUFFER;
    const vgpr *from = &w.v[i.operands[is_buffer ? 0 : 1].index];
    each_lane_in_order(w, [&](int lane) {
        if (uint8_t *to = locate<SEGMENT>(w, i, is_buffer ? 1 : 0, is_buffer ? 3 : 2, BYTES, lane))
            store_lane<BYTES, HOW>(from, lane, to);
    });
}

template <int BYTES, load HOW>
static void add_load(instruction_table &table, const std::string &type)
{
    table["global_load_" + type] = {load_from<GLOBAL, BYTES, HOW>, PLAIN};
    table["flat_load_" + type] = {load_from<FLAT, BYTES, HOW>, PLAIN};
    table["scratch_load_" + type] = {load_from<SCRATCH, BYTES, HOW>, PLAIN};
    table["buffer_load_" + type] = {load_from<BUFFER, BYTES, HOW>, PLAIN};
}

template <int BYTES, store HOW>
static void add_store(instruction_table &table, const std::string &type)
{
    table["global_store_" + type] = {store_to<GLOBAL, BYTES, HOW>, PLAIN};
    table["flat_store_" + type] = {store_to<FLAT, BYTES, HOW>, PLAIN};
    table["scratch_store_" + type] = {store_to<SCRATCH, BYTES, HOW>, PLAIN};
    table["buffer_store_" + type] = {store_to<BUFFER, BYTES, HOW>, PLAIN};
}

/* Operands: with GLC the value before; vaddr, data, saddr. Of a comparison the data are the new value and the compared.
 */
template <segment SEGMENT, typename T, typename F>
static void atomic(wavefront &w, const instruction &i)
{
    const int vaddr = i.glc ? 1 : 0;
    const vgpr *data = &w.v[i.operands[vaddr + 1].index];
    vgpr *to = &w.v[i.operands[0].index];
    each_lane_in_order(w, [&](int lane) {
        uint8_t *memory = locate<SEGMENT>(w, i, vaddr, vaddr + 2, sizeof(T), lane);
        if (!memory)
            return;
        const T compared = number_from<T>(data + sizeof(T) / 4, lane);
        const T before = exchange<T, F>(memory, number_from<T>(data, lane), compared);
        if (i.glc)
            load_lane<sizeof(T), load::WHOLE>(to, lane, (const uint8_t *)&before);
    });
}

/* ------------------------------------------------------------------------------------------------ scalar loads ---- */

template <int DWORDS>
static void scalar_load(wavefront &w, const instruction &i)
{
    const operand &offset = i.operands[2];
    uint64_t address = w.pair(i.operands[1].index) + (uint64_t)i.offset;
    if (offset.kind == operand::SGPR)
        address += offset.index == NULL_REGISTER ? 0 : w.s[offset.index];
    else
        address += (uint64_t)(int32_t)offset.bits32;
    address &= ~UINT64_C(3);
    if (!memory_map.contains(address, 4 * DWORDS)) {
        w.fail("a scalar load from memory that is not the device's", address);
        return;
    }
    if (i.operands[0].index != NULL_REGISTER)
        memcpy(&w.s[i.operands[0].index], (const void *)address, 4 * DWORDS);
}

void add_memory(instruction_table &table)
{
    table["s_load_b32"] = {scalar_load<1>, PLAIN};
    table["s_load_b64"] = {scalar_load<2>, PLAIN};
    table["s_load_b128"] = {scalar_load<4>, PLAIN};
    table["s_load_b256"] = {scalar_load<8>, PLAIN};
    table["s_load_b512"] = {scalar_load<16>, PLAIN};

    add_load<4, load::WHOLE>(table, "b32");
    add_load<8, load::WHOLE>(table, "b64");
    add_load<12, load::WHOLE>(table, "b96");
    add_load<16, load::WHOLE>(table, "b128");
    add_load<1, load::UNSIGNED>(table, "u8");
    add_load<1, load::SIGNED>(table, "i8");
    add_load<2, load::UNSIGNED>(table, "u16");
    add_load<2, load::SIGNED>(table, "i16");
    add_load<2, load::D16_LOW>(table, "d16_b16");
    add_load<2, load::D16_HIGH>(table, "d16_hi_b16");
    add_load<1, load::D16_LOW>(table, "d16_u8");
    add_load<1, load::D16_HIGH>(table, "d16_hi_u8");
    add_load<1, load::D16_LOW_SIGNED>(table, "d16_i8");
    add_load<1, load::D16_HIGH_SIGNED>(table, "d16_hi_i8");
    add_store<4, store::LOW>(table, "b32");
    add_store<8, store::LOW>(table, "b64");
    add_store<12, store::LOW>(table, "b96");
    add_store<16, store::LOW>(table, "b128");
    add_store<1, store::LOW>(table, "b8");
    add_store<2, store::LOW>(table, "b16");
    add_store<1, store::HIGH>(table, "d16_hi_b8");
    add_store<2, store::HIGH>(table, "d16_hi_b16");

    each_atomic([&]<typename F>(const std::string &name, const std::string &type, F) {
        using T = decltype(F{}(0, 0, 0));
        table["global_atomic_" + name + "_" + type] = {atomic<GLOBAL, T, F>, PLAIN};
        table["flat_atomic_" + name + "_" + type] = {atomic<FLAT, T, F>, PLAIN};
    });
}
