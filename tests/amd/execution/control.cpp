/* SPDX-License-Identifier: MIT
 *
 * control.cpp - branches, barriers, the end of a program, and what has no effect here: waiting for memory (every access
 * is complete when the next instruction begins), caches, priorities.
 */
#include "decoding/code_object.h"
#include "table.h"
#include "wavefront.h"

template <typename F>
static table_entry branch_if(F)
{
    return {[](wavefront &w, const instruction &i) {
                if (!F{}(w))
                    return;
                if (i.target)
                    w.next = i.target;
                else
                    w.fail("a branch to no instruction");
            },
            ANY_TEXT};
}

static void jump(wavefront &w, uint64_t address)
{
    if (const instruction *target = w.code->at(address))
        w.next = target;
    else
        w.fail("a jump to no instruction", address);
}

static uint64_t address_after(const wavefront &w, const instruction &i)
{
    return w.code->address_of(i) + (uint64_t)i.size;
}

static void call(wavefront &w, const instruction &i)
{
    const uint64_t target = w.pair(i.operands[1].index);
    w.set_pair(i.operands[0].index, address_after(w, i));
    jump(w, target);
}

/* A clock, which only has to go on. */
static void read_time(wavefront &w, const instruction &i)
{
    static uint64_t time;
    w.set_pair(i.operands[0].index, time += 100);
}

static void zero(wavefront &w, const instruction &i)
{
    w.s[i.operands[0].index] = 0;
}

void add_control(instruction_table &table)
{
    table["s_branch"] = branch_if([](const wavefront &) { return true; });
    table["s_cbranch_scc0"] = branch_if([](const wavefront &w) { return !w.s[SCC]; });
    table["s_cbranch_scc1"] = branch_if([](const wavefront &w) { return w.s[SCC] != 0; });
    table["s_cbranch_vccz"] = branch_if([](const wavefront &w) { return w.mask(VCC) == 0; });
    table["s_cbranch_vccnz"] = branch_if([](const wavefront &w) { return w.mask(VCC) != 0; });
    table["s_cbranch_execz"] = branch_if([](const wavefront &w) { return w.exec() == 0; });
    table["s_cbranch_execnz"] = branch_if([](const wavefront &w) { return w.exec() != 0; });
    table["s_getpc_b64"] = {
        [](wavefront &w, const instruction &i) { w.set_pair(i.operands[0].index, address_after(w, i)); }, PLAIN};
    table["s_setpc_b64"] = {[](wavefront &w, const instruction &i) { jump(w, w.pair(i.operands[0].index)); }, PLAIN};
    table["s_swappc_b64"] = {call, PLAIN};
    table["s_endpgm"] = {[](wavefront &w, const instruction &) { w.state = wavefront::ENDED; }, ANY_TEXT};
    table["s_barrier"] = {[](wavefront &w, const instruction &) { w.state = wavefront::AT_BARRIER; }, ANY_TEXT};
    table["s_trap"] = {[](wavefront &w, const instruction &) { w.fail("a trap"); }, ANY_TEXT};
    table["s_memtime"] = table["s_memrealtime"] = {read_time, PLAIN};
    table["s_getreg_b32"] = table["s_sendmsg_rtn_b32"] = {zero, ANY_TEXT};
    table["s_sendmsg_rtn_b64"] = {[](wavefront &w, const instruction &i) { w.set_pair(i.operands[0].index, 0); },
                                  ANY_TEXT};

    for (const char *name : {"s_nop",
                             "s_sleep",
                             "s_wakeup",
                             "s_waitcnt",
                             "s_waitcnt_vscnt",
                             "s_waitcnt_vmcnt",
                             "s_waitcnt_expcnt",
                             "s_waitcnt_lgkmcnt",
                             "s_waitcnt_depctr",
                             "s_wait_idle",
                             "s_delay_alu",
                             "s_sendmsg",
                             "s_clause",
                             "s_inst_prefetch",
                             "s_set_inst_prefetch_distance",
                             "s_setprio",
                             "s_setreg_b32",
                             "s_setreg_imm32_b32",
                             "s_denorm_mode",
                             "s_round_mode",
                             "s_code_end",
                             "s_version",
                             "s_icache_inv",
                             "s_dcache_inv",
                             "s_dcache_wb",
                             "buffer_gl0_inv",
                             "buffer_gl1_inv",
                             "buffer_wbinvl1",
                             "buffer_wbinvl1_vol",
                             "buffer_wbl2",
                             "buffer_invl2",
                             "buffer_inv",
                             "s_ttracedata",
                             "s_ttracedata_imm"})
        table[name] = {[](wavefront &, const instruction &) {}, ANY_TEXT};
}
