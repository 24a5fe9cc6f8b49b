/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <string_view>
#include <unordered_map>

using names = std::unordered_map<std::string_view, const char *>;

static const names whole_names = {
    /* gfx9 has a carry in its plain names' places: v_add_u32 writes none, v_add_co_u32 does. */
    {"v_add_u32", "v_add_nc_u32"},        {"v_sub_u32", "v_sub_nc_u32"},
    {"v_subrev_u32", "v_subrev_nc_u32"},  {"v_add_i32", "v_add_nc_i32"},
    {"v_sub_i32", "v_sub_nc_i32"},        {"v_addc_co_u32", "v_add_co_ci_u32"},
    {"v_subb_co_u32", "v_sub_co_ci_u32"}, {"v_subbrev_co_u32", "v_subrev_co_ci_u32"},
    {"v_ffbh_u32", "v_clz_i32_u32"},      {"v_ffbl_b32", "v_ctz_i32_b32"},
    {"v_ffbh_i32", "v_cls_i32"},          {"s_load_dword", "s_load_b32"},
    {"s_load_dwordx2", "s_load_b64"},     {"s_load_dwordx4", "s_load_b128"},
    {"s_load_dwordx8", "s_load_b256"},    {"s_load_dwordx16", "s_load_b512"},
    {"s_andn2_b32", "s_and_not1_b32"},    {"s_andn2_b64", "s_and_not1_b64"},
    {"s_orn2_b32", "s_or_not1_b32"},      {"s_orn2_b64", "s_or_not1_b64"},
    {"s_ff1_i32_b32", "s_ctz_i32_b32"},   {"s_ff1_i32_b64", "s_ctz_i32_b64"},
    {"s_flbit_i32_b32", "s_clz_i32_u32"}, {"s_flbit_i32_b64", "s_clz_i32_u64"},
    {"s_flbit_i32", "s_cls_i32"},
};

/* What follows global_, flat_, scratch_ or buffer_. */
static const names memory_names = {
    {"load_dword", "load_b32"},
    {"load_dwordx2", "load_b64"},
    {"load_dwordx3", "load_b96"},
    {"load_dwordx4", "load_b128"},
    {"load_ubyte", "load_u8"},
    {"load_sbyte", "load_i8"},
    {"load_ushort", "load_u16"},
    {"load_sshort", "load_i16"},
    {"load_short_d16", "load_d16_b16"},
    {"load_short_d16_hi", "load_d16_hi_b16"},
    {"load_ubyte_d16", "load_d16_u8"},
    {"load_ubyte_d16_hi", "load_d16_hi_u8"},
    {"load_sbyte_d16", "load_d16_i8"},
    {"load_sbyte_d16_hi", "load_d16_hi_i8"},
    {"store_dword", "store_b32"},
    {"store_dwordx2", "store_b64"},
    {"store_dwordx3", "store_b96"},
    {"store_dwordx4", "store_b128"},
    {"store_byte", "store_b8"},
    {"store_short", "store_b16"},
    {"store_byte_d16_hi", "store_d16_hi_b8"},
    {"store_short_d16_hi", "store_d16_hi_b16"},
    {"atomic_add", "atomic_add_u32"},
    {"atomic_sub", "atomic_sub_u32"},
    {"atomic_and", "atomic_and_b32"},
    {"atomic_or", "atomic_or_b32"},
    {"atomic_xor", "atomic_xor_b32"},
    {"atomic_swap", "atomic_swap_b32"},
    {"atomic_cmpswap", "atomic_cmpswap_b32"},
    {"atomic_umin", "atomic_min_u32"},
    {"atomic_umax", "atomic_max_u32"},
    {"atomic_smin", "atomic_min_i32"},
    {"atomic_smax", "atomic_max_i32"},
    {"atomic_inc", "atomic_inc_u32"},
    {"atomic_dec", "atomic_dec_u32"},
    {"atomic_add_x2", "atomic_add_u64"},
    {"atomic_sub_x2", "atomic_sub_u64"},
    {"atomic_and_x2", "atomic_and_b64"},
    {"atomic_or_x2", "atomic_or_b64"},
    {"atomic_xor_x2", "atomic_xor_b64"},
    {"atomic_swap_x2", "atomic_swap_b64"},
    {"atomic_cmpswap_x2", "atomic_cmpswap_b64"},
    {"atomic_umin_x2", "atomic_min_u64"},
    {"atomic_umax_x2", "atomic_max_u64"},
    {"atomic_smin_x2", "atomic_min_i64"},
    {"atomic_smax_x2", "atomic_max_i64"},
};

/* What names of LDS instructions begin with. */
static const struct {
    std::string_view gfx9, gfx11;
} lds_names[] = {
    {"ds_read2st64_", "ds_load_2addr_stride64_"},
    {"ds_read2_", "ds_load_2addr_"},
    {"ds_read_", "ds_load_"},
    {"ds_write2st64_", "ds_store_2addr_stride64_"},
    {"ds_write2_", "ds_store_2addr_"},
    {"ds_write_", "ds_store_"},
    {"ds_wrxchg_", "ds_storexchg_"},
};

static bool begins_with(const std::string &name, std::string_view prefix)
{
    return name.compare(0, prefix.size(), prefix) == 0;
}

static void drop_encoding(std::string &name)
{
    for (std::string_view suffix : {"_e64_dpp", "_dpp", "_sdwa", "_e32", "_e64"})
        if (name.size() > suffix.size() && name.ends_with(suffix)) {
            name.resize(name.size() - suffix.size());
            return;
        }
}

std::string instruction_name(std::string printed)
{
    drop_encoding(printed);
    if (const auto found = whole_names.find(printed); found != whole_names.end())
        return found->second;
    for (const auto &lds : lds_names)
        if (begins_with(printed, lds.gfx9))
            return std::string(lds.gfx11) + printed.substr(lds.gfx9.size());
    for (std::string_view segment : {"global_", "flat_", "scratch_", "buffer_"})
        if (begins_with(printed, segment)) {
            const auto found = memory_names.find(std::string_view(printed).substr(segment.size()));
            if (found != memory_names.end())
                return std::string(segment) + found->second;
        }
    return printed;
}
