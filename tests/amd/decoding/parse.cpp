/* SPDX-License-Identifier: MIT */
#include "parse.h"
#include "names.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

/* --------------------------------------------------------------------------------------------------- modifiers ---- */

static int number(const char *text)
{
    return (int)strtol(text, nullptr, 0);
}

/* "1,0,1]": bit 0 first. */
static int bits_of_list(const char *text)
{
    int bits = 0;
    for (int k = 0; *text && *text != ']'; text++)
        if (*text == '0' || *text == '1')
            bits |= (*text - '0') << k++;
    return bits;
}

static int sdwa_select_of(const char *text)
{
    return strcmp(text, "DWORD") == 0 ? DWORD : (strncmp(text, "BYTE_", 5) == 0 ? BYTE_0 : WORD_0) + (text[5] - '0');
}

static void set_dpp(instruction &i, dpp lanes, const char *count)
{
    i.lanes = lanes;
    i.dpp_count = number(count);
}

static void set_permutation(instruction &i, dpp lanes, const char *list)
{
    i.lanes = lanes;
    int *p = i.permutation;
    sscanf(list, "%d,%d,%d,%d,%d,%d,%d,%d", p, p + 1, p + 2, p + 3, p + 4, p + 5, p + 6, p + 7);
}

/* A modifier is a whole word, or begins with a word and a colon; `value` is the rest. */
struct modifier {
    const char *text;
    void (*apply)(instruction &i, const char *value);
};

static const modifier modifiers[] = {
    {"offset0:", [](instruction &i, const char *value) { i.offset0 = number(value); }},
    {"offset1:", [](instruction &i, const char *value) { i.offset1 = number(value); }},
    {"offset:swizzle(", [](instruction &i, const char *) { i.offset = i.encoding & 0xffff; }},
    {"offset:", [](instruction &i, const char *value) { i.offset = number(value); }},
    {"offen", [](instruction &i, const char *) { i.offen = true; }},
    {"glc", [](instruction &i, const char *) { i.glc = true; }},
    {"sc0", [](instruction &i, const char *) { i.glc = true; }},
    /* Caches, which are not emulated. */
    {"slc", [](instruction &, const char *) {}},
    {"dlc", [](instruction &, const char *) {}},
    {"scc", [](instruction &, const char *) {}},
    {"sc1", [](instruction &, const char *) {}},
    {"nt", [](instruction &, const char *) {}},
    {"clamp", [](instruction &i, const char *) { i.clamp = true; }},
    {"mul:2", [](instruction &i, const char *) { i.omod = 1; }},
    {"mul:4", [](instruction &i, const char *) { i.omod = 2; }},
    {"div:2", [](instruction &i, const char *) { i.omod = 3; }},
    {"op_sel:[",
     [](instruction &i, const char *value) {
         i.op_sel = bits_of_list(value);
         i.has_op_sel = true;
     }},
    {"op_sel_hi:[", [](instruction &i, const char *value) { i.op_sel_hi = bits_of_list(value); }},
    {"neg_lo:[", [](instruction &i, const char *value) { i.neg_lo = bits_of_list(value); }},
    {"neg_hi:[", [](instruction &i, const char *value) { i.neg_hi = bits_of_list(value); }},
    {"row_mask:", [](instruction &i, const char *value) { i.row_mask = number(value); }},
    {"bank_mask:", [](instruction &i, const char *value) { i.bank_mask = number(value); }},
    {"bound_ctrl:", [](instruction &i, const char *) { i.bound_ctrl = true; }}, /* printed only if set, as :0 or :1 */
    {"quad_perm:[", [](instruction &i, const char *value) { set_permutation(i, dpp::QUAD_PERM, value); }},
    {"dpp8:[", [](instruction &i, const char *value) { set_permutation(i, dpp::DPP8, value); }},
    {"row_shl:", [](instruction &i, const char *value) { set_dpp(i, dpp::ROW_SHL, value); }},
    {"row_shr:", [](instruction &i, const char *value) { set_dpp(i, dpp::ROW_SHR, value); }},
    {"row_ror:", [](instruction &i, const char *value) { set_dpp(i, dpp::ROW_ROR, value); }},
    {"row_mirror", [](instruction &i, const char *) { i.lanes = dpp::ROW_MIRROR; }},
    {"row_half_mirror", [](instruction &i, const char *) { i.lanes = dpp::ROW_HALF_MIRROR; }},
    {"row_bcast:", [](instruction &i, const char *value) { set_dpp(i, dpp::ROW_BCAST, value); }},
    {"row_share:", [](instruction &i, const char *value) { set_dpp(i, dpp::ROW_SHARE, value); }},
    {"row_newbcast:", [](instruction &i, const char *value) { set_dpp(i, dpp::ROW_SHARE, value); }},
    {"row_xmask:", [](instruction &i, const char *value) { set_dpp(i, dpp::ROW_XMASK, value); }},
    {"wave_shl:", [](instruction &i, const char *) { i.lanes = dpp::WAVE_SHL; }},
    {"wave_shr:", [](instruction &i, const char *) { i.lanes = dpp::WAVE_SHR; }},
    {"wave_rol:", [](instruction &i, const char *) { i.lanes = dpp::WAVE_ROL; }},
    {"wave_ror:", [](instruction &i, const char *) { i.lanes = dpp::WAVE_ROR; }},
    {"dst_sel:", [](instruction &i, const char *value) { i.dst_sel = sdwa_select_of(value); }},
    {"src0_sel:", [](instruction &i, const char *value) { i.src_sel[0] = sdwa_select_of(value); }},
    {"src1_sel:", [](instruction &i, const char *value) { i.src_sel[1] = sdwa_select_of(value); }},
    {"dst_unused:UNUSED_PAD", [](instruction &i, const char *) { i.dst_unused = UNUSED_PAD; }},
    {"dst_unused:UNUSED_SEXT", [](instruction &i, const char *) { i.dst_unused = UNUSED_SEXT; }},
    {"dst_unused:UNUSED_PRESERVE", [](instruction &i, const char *) { i.dst_unused = UNUSED_PRESERVE; }},
};

static bool apply_modifier(const std::string &text, instruction &i)
{
    for (const modifier &modifier : modifiers) {
        const size_t length = strlen(modifier.text);
        const char last = modifier.text[length - 1];
        const bool has_value = last == ':' || last == '[' || last == '(';
        if (has_value ? text.compare(0, length, modifier.text) == 0 : text == modifier.text) {
            modifier.apply(i, text.c_str() + length);
            return true;
        }
    }
    return false;
}

static void parse_modifiers(const std::string &text, instruction &i)
{
    std::istringstream words(text);
    std::string word, more;
    while (words >> word) {
        while (word.find('[') != std::string::npos && word.find(']') == std::string::npos && words >> more)
            word += more; /* LLVM 17 puts blanks in lists */
        if (!apply_modifier(word, i))
            i.problem = "modifier " + word;
    }
}

/* ------------------------------------------------------------------------------------------------- instructions ----
 */

/* Where the first of these characters is outside of brackets, from `from` on; the text's length if nowhere. */
static size_t find_outside_brackets(const std::string &text, char wanted, size_t from)
{
    int depth = 0;
    for (size_t at = from; at < text.size(); at++) {
        if (text[at] == wanted && depth == 0)
            return at;
        depth += (text[at] == '[' || text[at] == '(') - (text[at] == ']' || text[at] == ')');
    }
    return text.size();
}

void parse_instruction(const std::string &text, instruction &i)
{
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string printed = text.substr(0, blank);
    i.text = text;
    i.name = instruction_name(printed);
    i.sdwa = printed.ends_with("_sdwa");

    /* Operands end with commas, the last one with a blank, after which modifiers follow. */
    size_t at = std::min(text.find_first_not_of(' ', blank), text.size());
    while (at < text.size()) {
        const size_t comma = find_outside_brackets(text, ',', at);
        const bool is_last = comma == text.size();
        at = std::min(text.find_first_not_of(' ', at), text.size());
        const size_t end = is_last ? find_outside_brackets(text, ' ', at) : comma;
        if (i.count == instruction::MAX_OPERANDS) {
            i.problem = "too many operands";
            return;
        }
        if (!parse_operand(text.substr(at, end - at), i.operands[i.count++]))
            i.problem = "operand " + text.substr(at, end - at);
        if (is_last) {
            parse_modifiers(text.substr(end), i);
            return;
        }
        at = comma + 1;
    }
}
