/* SPDX-License-Identifier: MIT
 *
 * value.c - reads the expressions of a function that becomes one over lanes, with the types that C gives them.
 */
#include "lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const core_type_layout of_int = {.size = 4}, of_float = {.size = 4, .is_real = true},
                              of_double = {.size = 8, .is_real = true};

/* ------------------------------------------------------------------------------------------------ tokens ---- */

void lanes_refuse(lanes_reader *r, const core_token *at, const char *what)
{
    if (r->status != FL_OK)
        return;
    r->status = core_source_fail(r->why, at->line, at->column, "%s: '%s'", what,
                                 at->kind == CORE_TOKEN_END ? "the end" : core_token_show(at).text);
    r->token.kind = CORE_TOKEN_END;
}

void lanes_step(lanes_reader *r)
{
    if (r->status != FL_OK)
        return;
    r->before = r->token;
    r->status = core_token_next(&r->reader, &r->token, r->why);
    if (r->status != FL_OK)
        r->token.kind = CORE_TOKEN_END;
}

bool lanes_take(lanes_reader *r, const char *mark)
{
    const bool found = core_token_is(&r->token, mark);

    if (found)
        lanes_step(r);
    return found;
}

void lanes_demand(lanes_reader *r, const char *mark)
{
    if (!lanes_take(r, mark))
        lanes_refuse(r, &r->token, "not expected here");
}

bool lanes_enter(lanes_reader *r)
{
    if (++r->depth > LANES_DEEPEST)
        lanes_refuse(r, &r->token, "too deep within others");
    return r->status == FL_OK;
}

lanes_node *lanes_node_add(lanes_reader *r, lanes_kind kind)
{
    lanes_function *f = r->function;
    lanes_node *node;

    if (f->node_count == LANES_MOST_NODES) {
        lanes_refuse(r, &r->token, "the function is too long at");
        f->node_count--; /* it is not written any more */
    }
    node = &f->nodes[f->node_count++];
    *node = (lanes_node){.kind = kind, .token = r->token, .type = of_int, .common = of_int};
    return node;
}

lanes_variable *lanes_variable_find(lanes_reader *r, const core_token *name)
{
    for (int i = r->function->variable_count - 1; i >= 0; i--) {
        lanes_variable *v = &r->function->variables[i];
        if (v->visible && v->name.length == name->length && memcmp(v->name.at, name->at, name->length) == 0) {
            v->last = name->at;
            return v;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- types ---- */

/* A type that is computed with. */
static void note_type(lanes_reader *r, core_type_layout type)
{
    r->function->wide = r->function->wide || type.size == 8;
    r->function->long_whole = r->function->long_whole || (type.size == 8 && !type.is_real);
}

bool lanes_read_type(lanes_reader *r, core_type_layout *type)
{
    const core_token first = r->token;
    core_type read = {0};
    bool constant = false;

    while (core_type_add(&read, &r->token) || core_token_is(&r->token, "const")) {
        constant = true;
        lanes_step(r);
    }
    if (!constant)
        return false;
    if (!core_type_lies(&read, type)) {
        lanes_refuse(r, &first, "no type of the lanes");
        *type = of_int;
    }
    note_type(r, *type);
    return true;
}

static core_type_layout promoted(core_type_layout type)
{
    return type.size < 4 ? of_int : type;
}

/* C's usual arithmetic conversions, of promoted types. */
static core_type_layout common_type(core_type_layout a, core_type_layout b)
{
    if (a.is_real != b.is_real)
        return a.is_real ? a : b;
    if (a.size != b.size)
        return a.size > b.size ? a : b;
    return a.is_unsigned ? a : b;
}

bool lanes_is_condition(const lanes_node *n)
{
    return n->kind == LANES_COMPARE || n->kind == LANES_LOGIC ||
           (n->kind == LANES_UNARY && core_token_is(&n->token, "!")) ||
           (n->kind == LANES_CALL && n->function->kind == CORE_FUNCTION_TEST);
}

/* The node is complete: what it has below it, and the width of what it computes with. */
static lanes_node *finish(lanes_reader *r, lanes_node *n)
{
    const lanes_node *const below[] = {n->a, n->b, n->c};

    n->heavy = n->by_lanes;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++)
        n->heavy = n->heavy || (below[i] && below[i]->heavy);
    note_type(r, n->type);
    note_type(r, n->common);
    return n;
}

/* ------------------------------------------------------------------------------------------------ values ---- */

/* Constants that backends/shared/code_numbers.h defines, in addition to those of core_constants, which are double. */
static const struct {
    const char *name;
    core_type_layout type;
} constants[] = {
    {"true", {.size = 4}},
    {"false", {.size = 4}},
    {"INT_MAX", {.size = 4}},
    {"INT_MIN", {.size = 4}},
    {"UINT_MAX", {.size = 4, .is_unsigned = true}},
    {"LONG_MAX", {.size = 8}},
    {"LONG_MIN", {.size = 8}},
    {"FLT_MAX", {.size = 4, .is_real = true}},
    {"FLT_MIN", {.size = 4, .is_real = true}},
    {"FLT_EPSILON", {.size = 4, .is_real = true}},
    {"DBL_MAX", {.size = 8, .is_real = true}},
    {"DBL_MIN", {.size = 8, .is_real = true}},
    {"DBL_EPSILON", {.size = 8, .is_real = true}},
    {"INFINITY", {.size = 4, .is_real = true}},
    {"NAN", {.size = 4, .is_real = true}},
    {"HUGE_VAL", {.size = 8, .is_real = true}},
};

static bool constant_type(const core_token *name, core_type_layout *type)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        if (core_token_is(name, constants[i].name)) {
            *type = constants[i].type;
            return true;
        }
    }
    *type = of_double;
    for (size_t i = 0; i < core_constant_count; i++)
        if (core_token_is(name, core_constants[i].name))
            return true;
    return false;
}

/* The type of a literal; false: none that is computed with here. */
static bool literal_type(const core_token *token, core_type_layout *type)
{
    char text[64], *end;
    unsigned long long value;
    bool is_long, is_unsigned;

    if (token->length >= sizeof text)
        return false;
    memcpy(text, token->at, token->length);
    text[token->length] = '\0';
    if (core_token_is_floating(token)) {
        *type = strpbrk(text, "fF") && !strpbrk(text, "xX") ? of_float : of_double;
        return !strpbrk(text, "xXlL");
    }
    errno = 0;
    value = strtoull(text, &end, 0);
    if (errno != 0 || strspn(end, "uUlL") != strlen(end) || strlen(end) > 3)
        return false;
    is_unsigned = strpbrk(end, "uU") != NULL;
    is_long = strpbrk(end, "lL") || value > UINT32_MAX || (value > INT32_MAX && !is_unsigned && text[0] != '0');
    if (value > INT64_MAX && !is_unsigned)
        return false; /* unsigned if it is hexadecimal; else there is none */
    *type = (core_type_layout){.size = is_long ? 8 : 4, .is_unsigned = is_unsigned || (!is_long && value > INT32_MAX)};
    return true;
}

static lanes_node *read_number(lanes_reader *r)
{
    lanes_node *n = lanes_node_add(r, LANES_NUMBER);

    if (r->token.kind == CORE_TOKEN_NUMBER ? !literal_type(&r->token, &n->type) : !constant_type(&r->token, &n->type))
        lanes_refuse(r, &r->token, "not known to the lanes");
    lanes_step(r);
    return finish(r, n);
}

/* Returns whether the function is computed by operations of vectors. Others would be done lane by lane, which is slower
 * than the scalar loop. */
static bool is_of_vectors(const core_function *function)
{
    static const char *const names[] = {"sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(function->name, names[i]) == 0)
            return true;
    return function->kind == CORE_FUNCTION_TEST || function->kind == CORE_FUNCTION_ANY_TYPE;
}

/* The types of a call, by what the prelude's macros choose. */
static void type_call(lanes_reader *r, lanes_node *n)
{
    const core_function_kind kind = n->function->kind;
    core_type_layout type = n->a->type;

    type = n->b ? common_type(type, n->b->type) : type;
    if (kind == CORE_FUNCTION_REAL)
        type = n->is_float || (type.is_real && type.size == 4) ? of_float : of_double;
    if ((kind == CORE_FUNCTION_TEST && !type.is_real) || (strcmp(n->function->name, "abs") == 0 && type.is_unsigned))
        lanes_refuse(r, &n->token, "not known to the lanes");
    n->common = type;
    n->type = kind == CORE_FUNCTION_TEST ? of_int : type;
}

static lanes_node *read_call(lanes_reader *r)
{
    lanes_node *n = lanes_node_add(r, LANES_CALL);
    bool is_float;

    n->function = core_function_find(r->token.at, r->token.length, &is_float);
    n->is_float = is_float;
    if (!n->function || !is_of_vectors(n->function))
        lanes_refuse(r, &r->token, "not one of vectors");
    lanes_step(r);
    lanes_demand(r, "(");
    n->a = lanes_read_value(r);
    if (r->status == FL_OK && n->function->arguments == 2) {
        lanes_demand(r, ",");
        n->b = lanes_read_value(r);
    }
    lanes_demand(r, ")");
    if (r->status == FL_OK)
        type_call(r, n);
    return finish(r, n);
}

static lanes_node *read_unary(lanes_reader *r);

static lanes_node *read_name(lanes_reader *r)
{
    const core_reader here = r->reader;
    core_token behind;
    lanes_variable *variable = lanes_variable_find(r, &r->token);
    lanes_node *n;

    if (variable) {
        n = lanes_node_add(r, LANES_VARIABLE);
        n->variable = variable;
        n->type = promoted(variable->type);
        lanes_step(r);
        return n;
    }
    const bool calls = core_token_next(&r->reader, &behind, r->why) == FL_OK && core_token_is(&behind, "(");
    r->reader = here;
    return calls ? read_call(r) : read_number(r);
}

/* Reads what follows "(": a cast, or a value in brackets. */
static lanes_node *read_brackets(lanes_reader *r)
{
    core_type_layout type;
    lanes_node *n;

    if (!lanes_read_type(r, &type)) {
        n = lanes_read_value(r);
        lanes_demand(r, ")");
        return n;
    }
    n = lanes_node_add(r, LANES_CAST);
    lanes_demand(r, ")");
    n->common = type;
    n->type = promoted(type);
    n->a = read_unary(r);
    return finish(r, n);
}

static lanes_node *read_sign(lanes_reader *r)
{
    lanes_node *n = lanes_node_add(r, LANES_UNARY);

    lanes_step(r);
    n->a = read_unary(r);
    if (core_token_is(&n->token, "~") && n->a->type.is_real)
        lanes_refuse(r, &n->token, "not of reals");
    n->common = n->a->type;
    if (!core_token_is(&n->token, "!"))
        n->type = n->common;
    return finish(r, n);
}

static lanes_node *read_unary(lanes_reader *r)
{
    lanes_node *n;

    if (!lanes_enter(r))
        n = lanes_node_add(r, LANES_NUMBER);
    else if (core_token_is_one_of(&r->token, "+", "-", "~", "!", NULL))
        n = read_sign(r);
    else if (lanes_take(r, "("))
        n = read_brackets(r);
    else if (r->token.kind == CORE_TOKEN_NAME)
        n = read_name(r);
    else
        n = read_number(r);
    r->depth--;
    return n;
}

/* -------------------------------------------------------------------------------------------- operators ---- */

enum { OF_AND = 2, OF_COMPARISON = 7, OF_SHIFT = 8, OF_PRODUCT = 10 };

/* How strongly an operator binds; 0: the token is none. */
static int binding(const core_token *token)
{
    static const char *const marks[][5] = {
        {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};

    for (int level = 0; token->kind == CORE_TOKEN_MARK && level < OF_PRODUCT; level++)
        for (int i = 0; marks[level][i]; i++)
            if (core_token_is(token, marks[level][i]))
                return level + 1;
    return 0;
}

/* An integer's division by a literal other than 0 and -1 cannot fail; the compiler multiplies instead. */
static bool divides_by_lanes(const lanes_node *n)
{
    return core_token_is_one_of(&n->token, "/", "%", NULL) && !n->type.is_real &&
           (n->b->kind != LANES_NUMBER || n->b->token.kind != CORE_TOKEN_NUMBER ||
            strspn(n->b->token.at, "0xXuUlL") >= n->b->token.length);
}

lanes_node *lanes_binary(lanes_reader *r, lanes_node *a, const core_token *mark, lanes_node *b)
{
    const int level = binding(mark);
    lanes_node *n = lanes_node_add(r, level <= OF_AND                                        ? LANES_LOGIC
                                      : level == OF_COMPARISON || level == OF_COMPARISON - 1 ? LANES_COMPARE
                                                                                             : LANES_BINARY);

    n->token = *mark;
    n->a = a;
    n->b = b;
    n->common = level == OF_SHIFT ? a->type : common_type(a->type, b->type);
    if (n->kind == LANES_BINARY)
        n->type = n->common;
    if (n->kind == LANES_BINARY && (a->type.is_real || b->type.is_real) &&
        !core_token_is_one_of(mark, "+", "-", "*", "/", NULL))
        lanes_refuse(r, mark, "not of reals");
    n->by_lanes = n->kind == LANES_BINARY && divides_by_lanes(n);
    return finish(r, n);
}

static lanes_node *read_binary(lanes_reader *r, int weakest)
{
    lanes_node *a = read_unary(r);
    int level;

    while ((level = binding(&r->token)) >= weakest && level > 0) {
        const core_token mark = r->token;
        lanes_step(r);
        a = lanes_binary(r, a, &mark, read_binary(r, level + 1));
    }
    return a;
}

lanes_node *lanes_read_value(lanes_reader *r)
{
    lanes_node *n, *condition;

    if (!lanes_enter(r))
        return lanes_node_add(r, LANES_NUMBER);
    condition = read_binary(r, 1);
    n = condition;
    if (core_token_is(&r->token, "?")) {
        n = lanes_node_add(r, LANES_CHOICE);
        lanes_step(r);
        n->a = condition;
        n->b = lanes_read_value(r);
        lanes_demand(r, ":");
        n->c = lanes_read_value(r);
        n->common = n->type = common_type(n->b->type, n->c->type);
        finish(r, n);
    }
    r->depth--;
    return n;
}
