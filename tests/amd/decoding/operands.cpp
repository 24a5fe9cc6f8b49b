/* SPDX-License-Identifier: MIT */
#include "parse.h"

#include <bit>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

static bool begins_with(const std::string &text, std::string_view prefix)
{
    return text.compare(0, prefix.size(), prefix) == 0;
}

static void trim(std::string &text)
{
    const size_t first = text.find_first_not_of(' ');
    text = first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/* Takes "neg(" and ")" away from "neg(v0)". */
static bool take(std::string &text, std::string_view prefix)
{
    if (!begins_with(text, prefix) || text.size() <= prefix.size())
        return false;
    text = text.substr(prefix.size(), text.size() - prefix.size() - 1);
    return true;
}

static void parse_input_modifiers(std::string &text, operand &operand)
{
    operand.sext = take(text, "sext(");
    operand.neg = take(text, "neg(");
    if (text.size() > 1 && text[0] == '-' && !isdigit((unsigned char)text[1])) {
        operand.neg = true;
        text.erase(0, 1);
    }
    operand.abs = take(text, "|");
    take(text, "lit(");
}

static bool parse_special_register(const std::string &text, operand &operand)
{
    struct place {
        int index, registers;
    };
    static const std::unordered_map<std::string_view, place> places = {
        {"vcc", {VCC, 2}},
        {"vcc_lo", {VCC, 1}},
        {"vcc_hi", {VCC + 1, 1}},
        {"exec", {EXEC, 2}},
        {"exec_lo", {EXEC, 1}},
        {"exec_hi", {EXEC + 1, 1}},
        {"null", {NULL_REGISTER, 1}},
        {"m0", {M0, 1}},
        {"scc", {SCC, 1}},
        {"src_scc", {SCC, 1}},
        {"flat_scratch", {FLAT_SCRATCH, 2}},
        {"flat_scratch_lo", {FLAT_SCRATCH, 1}},
        {"flat_scratch_hi", {FLAT_SCRATCH + 1, 1}},
        {"xnack_mask", {XNACK_MASK, 2}},
        {"xnack_mask_lo", {XNACK_MASK, 1}},
        {"xnack_mask_hi", {XNACK_MASK + 1, 1}},
        {"src_shared_base", {SHARED_BASE, 2}},
        {"src_shared_limit", {SHARED_LIMIT, 2}},
        {"src_private_base", {PRIVATE_BASE, 2}},
        {"src_private_limit", {PRIVATE_LIMIT, 2}},
    };
    const auto found = places.find(text);
    if (found == places.end())
        return false;
    operand.kind = operand::SGPR;
    operand.index = (uint16_t)found->second.index;
    operand.registers = (uint8_t)found->second.registers;
    return true;
}

/* "v7", "s[4:7]", "a[0:1]", "ttmp9". */
static bool parse_register(const std::string &text, operand &operand)
{
    static const struct {
        std::string_view prefix;
        operand::kind_of kind;
        int base;
    } files[] = {{"ttmp", operand::SGPR, TTMP},
                 {"v", operand::VGPR, 0},
                 {"s", operand::SGPR, 0},
                 {"a", operand::VGPR, ACCUMULATION}};
    for (const auto &file : files) {
        if (!begins_with(text, file.prefix))
            continue;
        const char *rest = text.c_str() + file.prefix.size();
        int first, last;
        if (isdigit((unsigned char)*rest))
            first = last = atoi(rest);
        else if (sscanf(rest, "[%d:%d]", &first, &last) != 2) {
            if (sscanf(rest, "[%d]", &first) != 1)
                return false;
            last = first;
        }
        operand.kind = file.kind;
        operand.index = (uint16_t)(file.base + first);
        operand.registers = (uint8_t)(last - first + 1);
        return true;
    }
    return false;
}

/* Constants (5.1.1): an inline integer has its bits in every type; a float is converted to the operand's type; a
 * literal of 32 bits is the upper half of an f64. */
static bool parse_constant(const std::string &text, operand &operand)
{
    operand.kind = operand::CONSTANT;
    if (begins_with(text, "0x")) {
        const uint64_t bits = strtoull(text.c_str(), nullptr, 16);
        operand.bits32 = (uint32_t)bits;
        operand.bits64_integer = bits;
        operand.bits64_float = bits >> 32 ? bits : bits << 32;
        return true;
    }
    if (begins_with(text, "-0x")) { /* an offset */
        operand.bits64_integer = 0 - strtoull(text.c_str() + 1, nullptr, 16);
        operand.bits64_float = operand.bits64_integer;
        operand.bits32 = (uint32_t)operand.bits64_integer;
        return true;
    }
    if (begins_with(text, "0.15915494")) { /* 1/(2 pi), an inline constant: printed rounded */
        operand.bits32 = 0x3e22f983;
        operand.bits64_float = operand.bits64_integer = 0x3fc45f306dc9c882;
        return true;
    }
    if (text.find('.') != std::string::npos) {
        const double value = atof(text.c_str());
        operand.bits32 = std::bit_cast<uint32_t>((float)value);
        operand.bits64_integer = operand.bits64_float = std::bit_cast<uint64_t>(value);
        return true;
    }
    char *end = nullptr;
    const int64_t value = strtoll(text.c_str(), &end, 10);
    operand.bits32 = (uint32_t)value;
    operand.bits64_integer = operand.bits64_float = (uint64_t)value;
    return end != text.c_str() && *end == '\0';
}

bool parse_operand(std::string text, operand &operand)
{
    trim(text);
    parse_input_modifiers(text, operand);
    if (text == "off") /* of a memory instruction: none */
        return true;
    return parse_special_register(text, operand) || parse_register(text, operand) || parse_constant(text, operand);
}
