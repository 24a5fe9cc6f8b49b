/* SPDX-License-Identifier: MIT */
#include "parser.h"
#include "../language/math_functions.h"
#include "../language/c_types.h"

#include <stdlib.h>

enum { DEEPEST = 200 };

static fl_status advance(core_parser *p)
{
    p->before = p->token;
    return core_token_next(&p->reader, &p->token, p->error);
}

static bool next_is(const core_parser *p, const char *mark)
{
    return core_token_is(&p->token, mark);
}

static core_value wider(core_value a, core_value b)
{
    return a > b ? a : b;
}

static void add_suffix(core_parser *p, const core_token *token)
{
    p->suffixed[token->at + token->length - 1 - p->text] = 1;
}

/* ------------------------------------------------------------------------------------- numbers and names ---- */

static fl_status read_number(core_parser *p, core_value *of)
{
    bool suffixed;
    fl_status status = core_parser_check_number(p, &p->token, of, &suffixed);

    if (status != FL_OK)
        return status;
    if (suffixed)
        add_suffix(p, &p->token);
    return advance(p);
}

static const char only_between_arguments[] = "',' stands between the arguments of a function only";

static fl_status read_value(core_parser *p, core_value *of);
static fl_status read_expression(core_parser *p, core_value *of);

static fl_status close_bracket(core_parser *p, const core_token *opened)
{
    if (next_is(p, ")"))
        return advance(p);
    if (p->token.kind == CORE_TOKEN_END)
        return core_parser_fail(p, opened, "'(' is never closed");
    if (next_is(p, ","))
        return core_parser_fail(p, &p->token, only_between_arguments);
    return core_parser_fail_behind_value(p);
}

static fl_status read_arguments(core_parser *p, const core_token *name, const core_function *function,
                                core_value *widest)
{
    const core_token opened = p->token;
    core_value argument = CORE_INTEGER;
    int count = 0;
    fl_status status = advance(p);
    bool more = status == FL_OK && !next_is(p, ")");

    for (*widest = CORE_INTEGER; status == FL_OK && more; count++) {
        status = read_expression(p, &argument);
        *widest = status == FL_OK ? wider(*widest, argument) : *widest;
        more = next_is(p, ",");
        if (status == FL_OK && more)
            status = advance(p);
    }
    if (status == FL_OK)
        status = close_bracket(p, &opened);
    if (status == FL_OK && count != function->arguments)
        status = core_source_fail(p->error, name->line, name->column, "%s takes %d argument%s, not %d",
                                  core_token_show(name).text, function->arguments, function->arguments == 1 ? "" : "s",
                                  count);
    return status;
}

static fl_status read_call(core_parser *p, const core_token *name, const core_function *function, bool is_float,
                           core_value *of)
{
    core_value widest = CORE_INTEGER;
    fl_status status;

    if (!next_is(p, "("))
        return core_source_fail(p->error, name->line, name->column, "'%s' is a function: write %s(%s)",
                                core_token_show(name).text, core_token_show(name).text,
                                function->arguments == 1   ? "x"
                                : function->arguments == 2 ? "x, y"
                                                           : "x, y, z");
    status = read_arguments(p, name, function, &widest);
    if (status != FL_OK)
        return status;
    if (function->kind == CORE_FUNCTION_TEST && widest == CORE_INTEGER)
        return core_source_fail(p->error, name->line, name->column, "%s takes a real number, and this is an integer",
                                function->name);
    if (function->kind <= CORE_FUNCTION_TO_INT && p->single && widest != CORE_DOUBLE && !is_float) {
        add_suffix(p, name);
        is_float = true;
    }
    *of = function->kind == CORE_FUNCTION_REAL       ? (is_float ? CORE_SINGLE : CORE_DOUBLE)
          : function->kind == CORE_FUNCTION_ANY_TYPE ? widest
                                                     : CORE_INTEGER;
    return FL_OK;
}

const char *core_constant_value(const core_token *name)
{
    for (size_t i = 0; i < core_constant_count; i++)
        if (core_token_is(name, core_constants[i].name))
            return core_constants[i].value;
    return NULL;
}

static fl_status read_input(core_parser *p, const core_token *name, int index)
{
    if (index >= p->count)
        return core_source_fail(p->error, name->line, name->column, "'%c' is input %d, and there %s %d",
                                core_input_names[index], index + 1, p->count == 1 ? "is" : "are", p->count);
    if (next_is(p, "("))
        return core_source_fail(p->error, name->line, name->column,
                                "'%c' is an input, not a function: write '*' to multiply", core_input_names[index]);
    return FL_OK;
}

static fl_status read_name(core_parser *p, core_value *of)
{
    const core_token name = p->token;
    bool is_float;
    const core_function *function = core_function_find(name.at, name.length, &is_float);
    fl_status status = advance(p);

    if (status != FL_OK)
        return status;
    if (function)
        return read_call(p, &name, function, is_float, of);
    for (int i = 0; i < FL_MAX_EXPRESSION_INPUTS; i++) {
        if (name.length == 1 && *name.at == core_input_names[i]) {
            *of = p->inputs;
            return read_input(p, &name, i);
        }
    }
    if (core_constant_value(&name)) {
        *of = p->single ? CORE_SINGLE : CORE_DOUBLE;
        return FL_OK;
    }
    if (core_token_is(&name, "INFINITY") || core_token_is(&name, "NAN")) { /* floats in C */
        *of = CORE_SINGLE;
        return FL_OK;
    }
    return core_parser_fail_at_name(p, &name);
}

/* ----------------------------------------------------------------------------------------------- grammar ---- */

static core_value value_of(fl_dtype dtype)
{
    return dtype == FL_F64 ? CORE_DOUBLE : dtype == FL_F32 ? CORE_SINGLE : CORE_INTEGER;
}

/* Reads what follows "(": the words of a type, ")" and a value. */
static fl_status read_cast(core_parser *p, const core_token *opened, core_value *of)
{
    const core_token first = p->token;
    core_type type = {0};
    fl_dtype dtype = FL_I64;
    bool is_bool;
    core_value ignored = CORE_INTEGER;
    fl_status status = FL_OK;

    while (status == FL_OK && core_type_add(&type, &p->token))
        status = advance(p);
    if (status == FL_OK && (core_type_dtype(&type, &dtype, &is_bool) == CORE_TYPE_NONE ||
                            (core_type_dtype(&type, &dtype, &is_bool) == CORE_TYPE_NO_ARRAY && dtype == FL_F64)))
        status = core_source_fail(p->error, first.line, first.column,
                                  "no number is cast to this type; the types are %s", core_type_names);
    if (status == FL_OK && next_is(p, "*"))
        status = core_parser_fail(p, &p->token, "a number cannot be cast to a pointer");
    if (status == FL_OK)
        status = close_bracket(p, opened);
    if (status == FL_OK)
        status = read_value(p, &ignored);
    *of = value_of(dtype);
    return status;
}

static fl_status read_bracket(core_parser *p, core_value *of)
{
    const core_token opened = p->token;
    fl_status status = advance(p);
    core_type type = {0};

    if (status != FL_OK)
        return status;
    if (core_type_add(&type, &p->token))
        return read_cast(p, &opened, of);
    status = read_expression(p, of);
    return status == FL_OK ? close_bracket(p, &opened) : status;
}

/* A value with what stands before it: signs, casts. */
static fl_status read_value(core_parser *p, core_value *of)
{
    const core_token sign = p->token;
    fl_status status;

    if (++p->depth > DEEPEST)
        return core_parser_fail(p, &p->token, "more than 200 brackets or signs within each other");
    if (core_token_is_one_of(&p->token, "+", "-", "!", "~", NULL)) {
        status = advance(p);
        if (status == FL_OK)
            status = read_value(p, of);
        if (status == FL_OK && core_token_is(&sign, "~") && *of != CORE_INTEGER)
            status = core_parser_fail_of_reals(p, &sign);
        if (core_token_is(&sign, "!"))
            *of = CORE_INTEGER;
    } else if (p->token.kind == CORE_TOKEN_NUMBER) {
        status = read_number(p, of);
    } else if (p->token.kind == CORE_TOKEN_NAME) {
        status = read_name(p, of);
    } else if (next_is(p, "(")) {
        status = read_bracket(p, of);
    } else {
        status = core_parser_fail_at_value(p);
    }
    p->depth--;
    return status;
}

typedef struct operator_kind {
    const char *mark;
    int level; /* a higher one binds more tightly */
    enum { COMPUTES, COMPARES, OF_INTEGERS } kind;
} operator_kind;

static const operator_kind *next_operator(const core_parser *p)
{
    static const operator_kind operators[] = {
        {"||", 1, COMPARES},    {"&&", 2, COMPARES},    {"|", 3, OF_INTEGERS}, {"^", 4, OF_INTEGERS},
        {"&", 5, OF_INTEGERS},  {"==", 6, COMPARES},    {"!=", 6, COMPARES},   {"<", 7, COMPARES},
        {">", 7, COMPARES},     {"<=", 7, COMPARES},    {">=", 7, COMPARES},   {"<<", 8, OF_INTEGERS},
        {">>", 8, OF_INTEGERS}, {"+", 9, COMPUTES},     {"-", 9, COMPUTES},    {"*", 10, COMPUTES},
        {"/", 10, COMPUTES},    {"%", 10, OF_INTEGERS},
    };

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (next_is(p, operators[i].mark))
            return &operators[i];
    return NULL;
}

enum { LEAST_LEVEL = 1, ORDER_LEVEL = 7 };

/* A whole number other than 0. */
static bool is_whole_number(const core_token *token, unsigned long long *number)
{
    *number = token->kind == CORE_TOKEN_NUMBER && !core_token_is_floating(token) ? strtoull(token->at, NULL, 0) : 0;
    return *number > 0;
}

/* Refuses what C reads otherwise than it was meant: a quotient of two whole numbers, and an order of three values. */
static fl_status check_meaning(core_parser *p, const core_token *first, const core_token *mark,
                               const core_token *second, bool of_order)
{
    unsigned long long a, b;

    if (of_order)
        return core_parser_fail(p, mark, "C does not compare three: write x < y && y < z");
    if (core_token_is(mark, "/") && is_whole_number(first, &a) && is_whole_number(second, &b) && a % b != 0)
        return core_source_fail(p->error, first->line, first->column, "%llu / %llu is %llu in C: write %llu.0 / %llu",
                                a, b, a / b, a, b);
    return FL_OK;
}

/* Values with operators of `least` or a higher level between them. */
static fl_status read_operators(core_parser *p, int least, core_value *of)
{
    const operator_kind *between;
    int level = 0; /* of the operator before */
    core_token left = p->token;
    fl_status status = read_value(p, of);

    while (status == FL_OK && (between = next_operator(p)) && between->level >= least) {
        const core_token mark = p->token;
        const bool of_order = level == ORDER_LEVEL && between->level == ORDER_LEVEL;
        core_value right_value = CORE_INTEGER;
        if (p->before.at != left.at) /* more than one token */
            left.kind = CORE_TOKEN_END;
        status = advance(p);
        const core_token right = p->token;
        if (status == FL_OK)
            status = read_operators(p, between->level + 1, &right_value);
        if (status == FL_OK)
            status = check_meaning(p, &left, &mark, &right, of_order);
        if (status == FL_OK && between->kind == OF_INTEGERS && (*of != CORE_INTEGER || right_value != CORE_INTEGER))
            status = core_parser_fail_of_reals(p, &mark);
        *of = between->kind == COMPARES ? CORE_INTEGER : wider(*of, right_value);
        level = between->level;
    }
    return status;
}

static fl_status read_expression(core_parser *p, core_value *of)
{
    core_token question;
    core_value no = CORE_INTEGER;
    fl_status status;

    if (++p->depth > DEEPEST)
        return core_parser_fail(p, &p->token, "more than 200 brackets or conditions within each other");
    status = read_operators(p, LEAST_LEVEL, of);
    if (status == FL_OK && next_is(p, "?")) {
        question = p->token;
        status = advance(p);
        if (status == FL_OK)
            status = read_expression(p, of);
        if (status == FL_OK && !next_is(p, ":"))
            status =
                p->token.kind == CORE_TOKEN_END || next_is(p, ")") || next_is(p, ",")
                    ? core_parser_fail(p, &question, "'?' has no ':' after it: write condition ? value : other value")
                    : core_parser_fail_behind_value(p);
        if (status == FL_OK)
            status = advance(p);
        if (status == FL_OK)
            status = read_expression(p, &no);
        if (status == FL_OK)
            *of = wider(*of, no);
    }
    p->depth--;
    return status;
}

fl_status core_parser_read(core_parser *p)
{
    core_value of = CORE_INTEGER;
    fl_status status = advance(p);

    if (status == FL_OK && p->token.kind == CORE_TOKEN_END)
        return core_source_fail(p->error, 1, 1, "an empty expression");
    if (status == FL_OK)
        status = read_expression(p, &of);
    if (status == FL_OK && next_is(p, ","))
        return core_parser_fail(p, &p->token, only_between_arguments);
    return status == FL_OK && p->token.kind != CORE_TOKEN_END ? core_parser_fail_behind_value(p) : status;
}
