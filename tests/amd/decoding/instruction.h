/* SPDX-License-Identifier: MIT
 *
 * instruction.h - one decoded instruction of an AMD GPU, in the terms of AMD's ISA manuals ("AMD Instinct MI200
 * Instruction Set Architecture", "RDNA3 Instruction Set Architecture"). Section numbers in comments are the MI200
 * manual's, unless RDNA3 is named.
 */
#ifndef FLYNN_AMD_INSTRUCTION_H
#define FLYNN_AMD_INSTRUCTION_H

#include <cstdint>
#include <string>

/* Places in the array of scalar registers. s0..s105 have their own numbers; the order of the others is ours: what the
 * manuals encode differs between GPUs (124 is M0 on gfx9 and NULL on gfx11). */
enum scalar_register {
    VCC = 106,
    NULL_REGISTER = 108,
    M0,
    EXEC = 110,
    FLAT_SCRATCH = 112,
    XNACK_MASK = 114,
    SCC = 116,
    SHARED_BASE = 118,
    SHARED_LIMIT = 120,
    PRIVATE_BASE = 122,
    PRIVATE_LIMIT = 124,
    TTMP = 126,
    SCALAR_REGISTERS = TTMP + 18
};

/* Places in the array of vector registers: v0..v255, a0..a255 (the accumulation registers of gfx90a), and copies of
 * what the second half of a dual instruction reads. */
enum vector_register { ACCUMULATION = 256, DUAL_COPY = 512, VECTOR_REGISTERS = 516 };

struct operand {
    enum kind_of : uint8_t { NONE, VGPR, SGPR, CONSTANT } kind = NONE;
    uint8_t registers = 1;
    uint16_t index = 0;                            /* of the first register */
    bool neg = false, abs = false, sext = false;   /* input modifiers; SEXT is of SDWA */
    bool is_plain = false;                         /* a VGPR that no modifier, DPP or SDWA changes; set by execution/ */
    uint32_t bits32 = 0;                           /* a constant in an operand of 32 bits, */
    uint64_t bits64_integer = 0, bits64_float = 0; /* of 64 bits, and of f64 */
};

/* Data-parallel primitives: where SRC0 of a lane comes from (12.9). */
enum class dpp {
    NONE,
    QUAD_PERM,
    ROW_SHL,
    ROW_SHR,
    ROW_ROR,
    ROW_MIRROR,
    ROW_HALF_MIRROR,
    ROW_BCAST,
    ROW_SHARE,
    ROW_XMASK,
    WAVE_SHL,
    WAVE_SHR,
    WAVE_ROL,
    WAVE_ROR,
    DPP8
};

/* Sub-dword addressing: the part of a register that is read or written (12.8). */
enum sdwa_select { BYTE_0, BYTE_1, BYTE_2, BYTE_3, WORD_0, WORD_1, DWORD };
enum sdwa_unused { UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE };

struct wavefront;
struct instruction;
using handler = void (*)(wavefront &, const instruction &);

/* What each execution reads comes first: it lies in two lines of the processor's cache, and one more for further
 * operands. */
struct alignas(64) instruction {
    handler execute = nullptr; /* set by execution/; NULL: not understood */
    dpp lanes = dpp::NONE;
    int omod = 0; /* VOP3: output modifiers. OMOD 1, 2, 3: times two, times four, half. */
    bool clamp = false;
    bool sdwa = false;
    bool dual = false; /* VOPD (RDNA3 7.6): the first half of two */
    int count = 0;     /* of operands */
    enum { MAX_OPERANDS = 7 };
    operand operands[MAX_OPERANDS];

    const instruction *target = nullptr; /* of a branch */
    uint64_t address = 0;
    int size = 4;          /* bytes */
    uint32_t encoding = 0; /* its first dword */
    /* Memory */
    int64_t offset = 0;
    int offset0 = 0, offset1 = 0;
    bool glc = false, offen = false;
    /* VOP3P: which half of each source. */
    bool has_op_sel = false;
    int op_sel = 0, op_sel_hi = 7, neg_lo = 0, neg_hi = 0;
    /* DPP */
    int dpp_count = 0, row_mask = 15, bank_mask = 15;
    bool bound_ctrl = false;
    int permutation[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    /* SDWA */
    int dst_sel = DWORD, dst_unused = UNUSED_PAD, src_sel[2] = {DWORD, DWORD};
    /* VOPD: the registers that the second half reads. */
    int dual_source[4] = {-1, -1, -1, -1};

    std::string name;    /* as RDNA3 has it: gfx9's s_load_dword is s_load_b32 */
    std::string text;    /* as the disassembler printed it */
    std::string problem; /* what of the text was not understood; empty: nothing */
};

#endif
