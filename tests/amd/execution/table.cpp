/* SPDX-License-Identifier: MIT */
#include "table.h"

static instruction_table make_table()
{
    instruction_table table;
    for (auto *add : {add_vector_integer, add_vector_float, add_vector_compare, add_vector_masks, add_packed,
                      add_matrix, add_cross_lane, add_scalar, add_control, add_memory, add_lds})
        add(table);
    return table;
}

static bool has_input_modifiers(const instruction &i)
{
    for (int k = 0; k < i.count; k++)
        if (i.operands[k].neg || i.operands[k].abs)
            return true;
    return false;
}

/* The first modifier that is not honoured, or NULL. */
static const char *not_honoured(const instruction &i, unsigned honoured)
{
    const struct {
        unsigned bit;
        bool is_there;
        const char *name;
    } modifiers[] = {
        {INPUT_MODIFIERS, has_input_modifiers(i), "neg, abs"},
        {OUTPUT_MODIFIERS, i.clamp || i.omod, "clamp, omod"},
        {LANE_MODIFIERS, i.sdwa || i.lanes != dpp::NONE, "DPP, SDWA"},
        {OP_SEL, i.has_op_sel, "op_sel"},
    };
    for (const auto &modifier : modifiers)
        if (modifier.is_there && !(honoured & modifier.bit))
            return modifier.name;
    return nullptr;
}

void bind(instruction &i)
{
    static const instruction_table table = make_table();
    const auto found = table.find(i.name);
    if (found == table.end()) {
        if (i.problem.empty())
            i.problem = "unknown instruction";
        return;
    }
    const table_entry &entry = found->second;
    if (entry.honours & ANY_TEXT)
        i.problem.clear();
    if (!i.problem.empty())
        return;
    if (const char *modifier = not_honoured(i, entry.honours))
        i.problem = std::string("modifiers not emulated here: ") + modifier;
    else
        i.execute = entry.execute;
    for (operand &o : i.operands)
        o.is_plain = o.kind == operand::VGPR && !o.neg && !o.abs && !i.sdwa && i.lanes == dpp::NONE;
}
