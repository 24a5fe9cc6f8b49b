/* SPDX-License-Identifier: MIT
 *
 * table.h - what executes an instruction, by its name.
 */
#ifndef FLYNN_AMD_TABLE_H
#define FLYNN_AMD_TABLE_H

#include "decoding/instruction.h"

#include <string>
#include <unordered_map>

/* The modifiers that a handler knows. An instruction with another one is not understood. */
enum honours : unsigned {
    PLAIN = 0,
    INPUT_MODIFIERS = 1,  /* neg, abs */
    OUTPUT_MODIFIERS = 2, /* clamp, omod */
    LANE_MODIFIERS = 4,   /* DPP, SDWA */
    OP_SEL = 8,
    ANY_TEXT = 16 /* operands do not matter */
};

struct table_entry {
    handler execute;
    unsigned honours;
};

using instruction_table = std::unordered_map<std::string, table_entry>;

/* Each file of this folder adds its instructions. */
void add_vector_integer(instruction_table &table);
void add_vector_float(instruction_table &table);
void add_vector_compare(instruction_table &table);
void add_vector_masks(instruction_table &table);
void add_packed(instruction_table &table);
void add_matrix(instruction_table &table);
void add_cross_lane(instruction_table &table);
void add_scalar(instruction_table &table);
void add_control(instruction_table &table);
void add_memory(instruction_table &table);
void add_lds(instruction_table &table);

/* Sets the handler; if there is none that honours all that the instruction says, `problem` says what. */
void bind(instruction &i);

#endif
