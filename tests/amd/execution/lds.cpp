/* SPDX-License-Identifier: MIT
 *
 * lds.cpp - accesses to LDS, the memory that a workgroup shares. Each must lie in what the workgroup has.
 */
#include "atomics.h"
#include "table.h"
#include "transfer.h"

static uint8_t *lds_at(wavefront &w, uint32_t address, int bytes, int lane)
{
    if ((uint64_t)address + (unsigned)bytes > w.group->lds.size()) {
        w.fail("an access beyond the workgroup's LDS", address, lane);
        return nullptr;
    }
    return &w.group->lds[address];
}

/* Operands of loads: data, address; of stores: address, data. */
template <int BYTES, load HOW>
static void load_from(wavefront &w, const instruction &i)
{
    const uint32_t *address = w.v[i.operands[1].index];
    vgpr *to = &w.v[i.operands[0].index];
    each_lane_in_order(w, [&](int lane) {
        if (const uint8_t *from = lds_at(w, address[lane] + (uint32_t)i.offset, BYTES, lane))
            load_lane<BYTES, HOW>(to, lane, from);
    });
}

template <int BYTES, store HOW>
static void store_to(wavefront &w, const instruction &i)
{
    const uint32_t *address = w.v[i.operands[0].index];
    const vgpr *from = &w.v[i.operands[1].index];
    each_lane_in_order(w, [&](int lane) {
        if (uint8_t *to = lds_at(w, address[lane] + (uint32_t)i.offset, BYTES, lane))
            store_lane<BYTES, HOW>(from, lane, to);
    });
}

/* Two elements of BYTES: their offsets count elements, or (ST64) 64 of them (12.13). */
template <int BYTES, int UNIT>
static void load_two(wavefront &w, const instruction &i)
{
    const uint32_t *address = w.v[i.operands[1].index];
    vgpr *to = &w.v[i.operands[0].index];
    each_lane_in_order(w, [&](int lane) {
        const uint8_t *first = lds_at(w, address[lane] + (uint32_t)(i.offset0 * UNIT), BYTES, lane);
        const uint8_t *second = lds_at(w, address[lane] + (uint32_t)(i.offset1 * UNIT), BYTES, lane);
        if (!first || !second)
            return;
        load_lane<BYTES, load::WHOLE>(to, lane, first); /* the address may be among the destinations: it was read */
        load_lane<BYTES, load::WHOLE>(to + BYTES / 4, lane, second);
    });
}

template <int BYTES, int UNIT>
static void store_two(wavefront &w, const instruction &i)
{
    const uint32_t *address = w.v[i.operands[0].index];
    const vgpr *first = &w.v[i.operands[1].index], *second = &w.v[i.operands[2].index];
    each_lane_in_order(w, [&](int lane) {
        uint8_t *to = lds_at(w, address[lane] + (uint32_t)(i.offset0 * UNIT), BYTES, lane);
        uint8_t *also = lds_at(w, address[lane] + (uint32_t)(i.offset1 * UNIT), BYTES, lane);
        if (!to || !also)
            return;
        store_lane<BYTES, store::LOW>(first, lane, to);
        store_lane<BYTES, store::LOW>(second, lane, also);
    });
}

/* Operands: of the _RTN_ forms the value before; address, data, and of a comparison a second one. gfx9's DS_CMPST has
 * the compared value first, RDNA3's DS_CMPSTORE the new one. */
enum compared { NOTHING, FIRST, SECOND };

template <typename T, typename F, bool RETURNS, compared COMPARED>
static void atomic(wavefront &w, const instruction &i)
{
    const int first = RETURNS ? 1 : 0;
    const uint32_t *address = w.v[i.operands[first].index];
    const vgpr *data[2] = {&w.v[i.operands[first + 1].index], &w.v[i.operands[first + 2].index]};
    vgpr *to = &w.v[i.operands[0].index];
    each_lane_in_order(w, [&](int lane) {
        uint8_t *memory = lds_at(w, address[lane] + (uint32_t)i.offset, sizeof(T), lane);
        if (!memory)
            return;
        const T value = number_from<T>(data[COMPARED == FIRST ? 1 : 0], lane);
        const T other = COMPARED == NOTHING ? 0 : number_from<T>(data[COMPARED == FIRST ? 0 : 1], lane);
        const T before = exchange<T, F>(memory, value, other);
        if (RETURNS)
            load_lane<sizeof(T), load::WHOLE>(to, lane, (const uint8_t *)&before);
    });
}

template <typename T, typename F, compared COMPARED>
static void add_atomic(instruction_table &table, const std::string &name, const std::string &type)
{
    table["ds_" + name + "_" + type] = {atomic<T, F, false, COMPARED>, PLAIN};
    table["ds_" + name + "_rtn_" + type] = {atomic<T, F, true, COMPARED>, PLAIN};
}

static void add_atomics(instruction_table &table)
{
    each_atomic([&]<typename F>(const std::string &name, const std::string &type, F) {
        using T = decltype(F{}(0, 0, 0));
        if (name == "cmpswap") {
            add_atomic<T, F, FIRST>(table, "cmpst", type);
            add_atomic<T, F, SECOND>(table, "cmpstore", type);
        } else
            add_atomic<T, F, NOTHING>(table, name == "swap" ? "storexchg" : name, type);
    });
}

void add_lds(instruction_table &table)
{
    table["ds_load_b32"] = {load_from<4, load::WHOLE>, PLAIN};
    table["ds_load_b64"] = {load_from<8, load::WHOLE>, PLAIN};
    table["ds_load_b96"] = {load_from<12, load::WHOLE>, PLAIN};
    table["ds_load_b128"] = {load_from<16, load::WHOLE>, PLAIN};
    table["ds_load_u8"] = {load_from<1, load::UNSIGNED>, PLAIN};
    table["ds_load_i8"] = {load_from<1, load::SIGNED>, PLAIN};
    table["ds_load_u16"] = {load_from<2, load::UNSIGNED>, PLAIN};
    table["ds_load_i16"] = {load_from<2, load::SIGNED>, PLAIN};
    table["ds_load_u16_d16"] = {load_from<2, load::D16_LOW>, PLAIN};
    table["ds_load_u16_d16_hi"] = {load_from<2, load::D16_HIGH>, PLAIN};
    table["ds_load_u8_d16"] = {load_from<1, load::D16_LOW>, PLAIN};
    table["ds_load_u8_d16_hi"] = {load_from<1, load::D16_HIGH>, PLAIN};
    table["ds_store_b32"] = {store_to<4, store::LOW>, PLAIN};
    table["ds_store_b64"] = {store_to<8, store::LOW>, PLAIN};
    table["ds_store_b96"] = {store_to<12, store::LOW>, PLAIN};
    table["ds_store_b128"] = {store_to<16, store::LOW>, PLAIN};
    table["ds_store_b8"] = {store_to<1, store::LOW>, PLAIN};
    table["ds_store_b16"] = {store_to<2, store::LOW>, PLAIN};
    table["ds_store_b8_d16_hi"] = {store_to<1, store::HIGH>, PLAIN};
    table["ds_store_b16_d16_hi"] = {store_to<2, store::HIGH>, PLAIN};
    table["ds_load_2addr_b32"] = {load_two<4, 4>, PLAIN};
    table["ds_load_2addr_b64"] = {load_two<8, 8>, PLAIN};
    table["ds_load_2addr_stride64_b32"] = {load_two<4, 4 * 64>, PLAIN};
    table["ds_load_2addr_stride64_b64"] = {load_two<8, 8 * 64>, PLAIN};
    table["ds_store_2addr_b32"] = {store_two<4, 4>, PLAIN};
    table["ds_store_2addr_b64"] = {store_two<8, 8>, PLAIN};
    table["ds_store_2addr_stride64_b32"] = {store_two<4, 4 * 64>, PLAIN};
    table["ds_store_2addr_stride64_b64"] = {store_two<8, 8 * 64>, PLAIN};
    add_atomics(table);
}
