/* SPDX-License-Identifier: MIT
 *
 * parse.h - what a line of LLVM's disassembly says.
 */
#ifndef FLYNN_AMD_PARSE_H
#define FLYNN_AMD_PARSE_H

#include "instruction.h"

/* Fills the operand from its text ("v[2:3]", "-|s4|", "0.5"). False: it is none that is known. */
bool parse_operand(std::string text, operand &operand);

/* Fills name, text, operands and modifiers from "v_add_f32_e32 v0, s1, v2". `problem` names what is not known. */
void parse_instruction(const std::string &text, instruction &instruction);

#endif
