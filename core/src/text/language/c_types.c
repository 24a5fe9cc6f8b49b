/* SPDX-License-Identifier: MIT */
#include "c_types.h"

const char core_type_names[] = "float, double, int, long, int8_t, int16_t, int32_t, int64_t, uint8_t, bool";

/* A type is the sum of its words: four bits count each. */
#define SIGNED UINT64_C(0x1)
#define UNSIGNED UINT64_C(0x10)
#define CHAR UINT64_C(0x100)
#define SHORT UINT64_C(0x1000)
#define INT UINT64_C(0x10000)
#define LONG UINT64_C(0x100000)
#define FLOAT UINT64_C(0x1000000)
#define DOUBLE UINT64_C(0x10000000)
#define BOOL UINT64_C(0x100000000)
#define OF_ALL UINT64_C(0x111111111)

static const struct {
    const char *word;
    uint64_t words;
} known[] = {
    {"signed", SIGNED},
    {"unsigned", UNSIGNED},
    {"char", CHAR},
    {"short", SHORT},
    {"int", INT},
    {"long", LONG},
    {"float", FLOAT},
    {"double", DOUBLE},
    {"bool", BOOL},
    {"_Bool", BOOL},
    {"int8_t", SIGNED + CHAR},
    {"int16_t", SHORT},
    {"int32_t", INT},
    {"int64_t", LONG},
    {"uint8_t", UNSIGNED + CHAR},
    {"uint16_t", UNSIGNED + SHORT},
    {"uint32_t", UNSIGNED + INT},
    {"uint64_t", UNSIGNED + LONG},
    {"size_t", UNSIGNED + LONG},
    {"ptrdiff_t", LONG},
};

bool core_type_add(core_type *type, const core_token *word)
{
    for (size_t i = 0; word->kind == CORE_TOKEN_NAME && i < sizeof known / sizeof *known; i++) {
        if (!core_token_is(word, known[i].word))
            continue;
        if ((type->words & 8 * OF_ALL) == 0) /* no count runs into the next one */
            type->words += known[i].words;
        return true;
    }
    return false;
}

static const struct {
    uint64_t words;
    fl_dtype dtype;
    bool held;
    int size;
} types[] = {
    {BOOL, FL_U8, true, 1},
    {UNSIGNED + CHAR, FL_U8, true, 1},
    {CHAR, FL_I32, true, 1},
    {SHORT, FL_I32, true, 2},
    {UNSIGNED + SHORT, FL_I32, true, 2},
    {INT, FL_I32, true, 4},
    {UNSIGNED, FL_I64, true, 4},
    {LONG, FL_I64, true, 8},
    {2 * LONG, FL_I64, true, 8},
    {FLOAT, FL_F32, true, 4},
    {DOUBLE, FL_F64, true, 8},
    {UNSIGNED + LONG, FL_I64, false, 8},
    {UNSIGNED + 2 * LONG, FL_I64, false, 8},
    {DOUBLE + LONG, FL_F64, false, 0},
};

/* The words of a type without those that change nothing: short int, signed long. */
static uint64_t plain_words(uint64_t words)
{
    if ((words & 15 * INT) == INT && words != INT && !(words & ~(15 * (SIGNED + UNSIGNED + SHORT + INT + LONG))))
        words -= INT;
    if ((words & 15 * SIGNED) == SIGNED && !(words & ~(15 * (SIGNED + CHAR + SHORT + INT + LONG))))
        words = words == SIGNED ? INT : words - SIGNED;
    return words;
}

core_type_status core_type_dtype(const core_type *type, fl_dtype *dtype, bool *is_bool)
{
    const uint64_t words = plain_words(type->words);

    *is_bool = words == BOOL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].words == words) {
            *dtype = types[i].dtype;
            return types[i].held ? CORE_TYPE_FINE : CORE_TYPE_NO_ARRAY;
        }
    }
    return CORE_TYPE_NONE;
}

bool core_type_lies(const core_type *type, core_type_layout *layout)
{
    const uint64_t words = plain_words(type->words);

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].words == words && types[i].size > 0) {
            *layout = (core_type_layout){.size = types[i].size,
                                         .is_real = fl_dtype_is_float(types[i].dtype),
                                         .is_unsigned = words & UNSIGNED || words == BOOL,
                                         .is_bool = words == BOOL};
            return true;
        }
    }
    return false;
}
