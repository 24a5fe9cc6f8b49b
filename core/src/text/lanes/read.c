/* SPDX-License-Identifier: MIT
 *
 * read.c - reads the statements of a function that becomes one over lanes: a text with one function, of numbers,
 * without goto, switch, arrays, pointers, and assignments within expressions.
 */
#include "lanes.h"

/* A row of statements that grows. */
typedef struct statements {
    lanes_node **end;
} statements;

static lanes_node *add(lanes_reader *r, statements *to, lanes_kind kind)
{
    lanes_node *n = lanes_node_add(r, kind);

    *to->end = n;
    to->end = &n->next;
    return n;
}

static void read_statement(lanes_reader *r, statements *to);

/* Reads a statement as a part of the row; a block's variables end with it. Returns whether one of its statements is
 * heavy. */
static bool read_part(lanes_reader *r, lanes_node **row)
{
    const int before = r->function->variable_count;
    statements to = {row};
    bool heavy = false;

    read_statement(r, &to);
    for (int i = before; i < r->function->variable_count; i++)
        r->function->variables[i].visible = false;
    for (const lanes_node *n = *row; n && r->status == FL_OK; n = n->next)
        heavy = heavy || n->heavy;
    return heavy;
}

static lanes_variable *declare(lanes_reader *r, core_type_layout type)
{
    lanes_function *f = r->function;
    lanes_variable *v;

    if (r->token.kind != CORE_TOKEN_NAME)
        lanes_refuse(r, &r->token, "not the name of a number");
    if (f->variable_count == LANES_MOST_VARIABLES) {
        lanes_refuse(r, &r->token, "one variable too many");
        f->variable_count--;
    }
    v = &f->variables[f->variable_count++];
    *v = (lanes_variable){.name = r->token, .type = type, .last = r->token.at};
    lanes_step(r);
    return v;
}

/* Reads what follows the type: "a, b = 1". */
static void read_declarations(lanes_reader *r, statements *to, core_type_layout type)
{
    do {
        lanes_variable *variable = declare(r, type);
        lanes_node *n;

        variable->visible = true; /* as in C, in its own value, too */
        n = add(r, to, LANES_ASSIGN);
        n->variable = variable;
        n->declares = true;
        n->a = lanes_take(r, "=") ? lanes_read_value(r) : NULL;
        n->heavy = n->a && n->a->heavy;
    } while (lanes_take(r, ","));
}

/* The operator of "+=" without the "=": part of the token. */
static core_token operator_of(const core_token *mark)
{
    core_token operator= * mark;

    operator.length--;
    return operator;
}

/* "x = 1", "x += 1", "x++", "++x". */
static void read_assignment(lanes_reader *r, statements *to)
{
    static const core_token one = {.kind = CORE_TOKEN_NUMBER, .at = "1", .length = 1};
    const core_token first = r->token;
    const bool leads = core_token_is_one_of(&first, "++", "--", NULL);
    core_token mark = first;
    lanes_node *old, *n;
    lanes_variable *variable;

    if (leads)
        lanes_step(r);
    variable = r->token.kind == CORE_TOKEN_NAME ? lanes_variable_find(r, &r->token) : NULL;
    if (!variable) {
        lanes_refuse(r, &first, "not of the statements that the lanes have");
        return;
    }
    old = lanes_node_add(r, LANES_VARIABLE);
    old->variable = variable;
    old->type = variable->type.size < 4 ? old->type : variable->type;
    lanes_step(r);
    if (!leads) {
        mark = r->token;
        lanes_step(r);
    }
    n = add(r, to, LANES_ASSIGN);
    n->variable = variable;
    if (core_token_is_one_of(&mark, "++", "--", NULL)) {
        const core_token sign = operator_of(&mark);
        n->a = lanes_node_add(r, LANES_NUMBER);
        n->a->token = one;
        n->a = lanes_binary(r, old, &sign, n->a);
    } else if (core_token_is(&mark, "=")) {
        n->a = lanes_read_value(r);
    } else if (core_token_is_one_of(&mark, "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL)) {
        const core_token sign = operator_of(&mark);
        n->a = lanes_binary(r, old, &sign, lanes_read_value(r));
    } else {
        lanes_refuse(r, &mark, "not an assignment");
        return;
    }
    n->heavy = n->a->heavy;
}

/* A declaration or assignments with commas, to before the ";" or ")". */
static void read_simple(lanes_reader *r, statements *to)
{
    core_type_layout type;

    if (core_token_is_one_of(&r->token, ";", ")", NULL))
        return;
    if (lanes_read_type(r, &type)) {
        read_declarations(r, to, type);
        return;
    }
    do
        read_assignment(r, to);
    while (lanes_take(r, ","));
}

static void read_if(lanes_reader *r, statements *to)
{
    lanes_node *n = add(r, to, LANES_IF);
    bool heavy;

    lanes_step(r);
    lanes_demand(r, "(");
    n->a = lanes_read_value(r);
    lanes_demand(r, ")");
    heavy = read_part(r, &n->first);
    if (lanes_take(r, "else"))
        heavy = read_part(r, &n->other) || heavy;
    n->heavy = heavy || n->a->heavy;
}

/* The body, with the loop around it known. */
static void read_body(lanes_reader *r, lanes_node *loop)
{
    lanes_node *outer = r->loop;

    r->loop = loop;
    read_part(r, &loop->first);
    r->loop = outer;
    if (outer && loop->leaves)
        outer->leaves = true; /* by a return; by a break alone this says too much, which costs little */
}

static lanes_node *add_loop(lanes_reader *r, statements *to)
{
    lanes_node *loop = add(r, to, LANES_LOOP);

    loop->heavy = true;
    return loop;
}

static void read_while(lanes_reader *r, statements *to)
{
    lanes_node *loop = add_loop(r, to);

    lanes_step(r);
    lanes_demand(r, "(");
    loop->a = lanes_read_value(r);
    lanes_demand(r, ")");
    read_body(r, loop);
    loop->end = r->before.at;
}

static void read_do(lanes_reader *r, statements *to)
{
    lanes_node *loop = add_loop(r, to);

    loop->test_last = true;
    lanes_step(r);
    read_body(r, loop);
    lanes_demand(r, "while");
    lanes_demand(r, "(");
    loop->a = lanes_read_value(r);
    lanes_demand(r, ")");
    lanes_demand(r, ";");
    loop->end = r->before.at;
}

static void read_for(lanes_reader *r, statements *to)
{
    const int before = r->function->variable_count;
    statements step;
    lanes_node *loop;

    lanes_step(r);
    lanes_demand(r, "(");
    read_simple(r, to);
    lanes_demand(r, ";");
    loop = add_loop(r, to);
    loop->a = core_token_is(&r->token, ";") ? NULL : lanes_read_value(r);
    lanes_demand(r, ";");
    step.end = &loop->other;
    read_simple(r, &step);
    lanes_demand(r, ")");
    read_body(r, loop);
    loop->end = r->before.at;
    for (int i = before; i < r->function->variable_count; i++)
        r->function->variables[i].visible = false;
}

static void read_jump(lanes_reader *r, statements *to)
{
    lanes_node *n = add(r, to,
                        core_token_is(&r->token, "return")  ? LANES_RETURN
                        : core_token_is(&r->token, "break") ? LANES_BREAK
                                                            : LANES_CONTINUE);

    if (n->kind != LANES_RETURN && !r->loop)
        lanes_refuse(r, &r->token, "outside of a loop");
    if (r->loop && n->kind == LANES_CONTINUE)
        r->loop->continues = true;
    else if (r->loop)
        r->loop->leaves = true;
    lanes_step(r);
    if (n->kind == LANES_RETURN)
        n->a = lanes_read_value(r);
    n->heavy = n->a && n->a->heavy;
    lanes_demand(r, ";");
}

/* Reads the statements after "{", and the "}". */
static void read_block(lanes_reader *r, statements *to)
{
    const int before = r->function->variable_count;

    while (r->status == FL_OK && r->token.kind != CORE_TOKEN_END && !core_token_is(&r->token, "}"))
        read_statement(r, to);
    lanes_demand(r, "}");
    for (int i = before; i < r->function->variable_count; i++)
        r->function->variables[i].visible = false;
}

static void read_statement(lanes_reader *r, statements *to)
{
    if (!lanes_enter(r))
        return;
    if (lanes_take(r, "{")) {
        read_block(r, to);
    } else if (core_token_is(&r->token, "if")) {
        read_if(r, to);
    } else if (core_token_is(&r->token, "while")) {
        read_while(r, to);
    } else if (core_token_is(&r->token, "do")) {
        read_do(r, to);
    } else if (core_token_is(&r->token, "for")) {
        read_for(r, to);
    } else if (core_token_is_one_of(&r->token, "return", "break", "continue", NULL)) {
        read_jump(r, to);
    } else {
        read_simple(r, to);
        lanes_demand(r, ";");
    }
    r->depth--;
}

static void read_function(lanes_reader *r)
{
    lanes_function *f = r->function;
    core_type_layout type;
    statements body = {&f->body};

    while (core_token_is_one_of(&r->token, "static", "inline", "__device__", "__host__", "__forceinline__", NULL))
        lanes_step(r);
    if (!lanes_read_type(r, &f->result))
        lanes_refuse(r, &r->token, "not the type of a function");
    f->name = r->token;
    lanes_step(r);
    lanes_demand(r, "(");
    do {
        if (!lanes_read_type(r, &type))
            lanes_refuse(r, &r->token, "not the type of a number");
        else
            declare(r, type)->visible = true;
    } while (lanes_take(r, ","));
    f->parameters = f->variable_count;
    lanes_demand(r, ")");
    lanes_demand(r, "{");
    read_block(r, &body);
    if (r->token.kind != CORE_TOKEN_END)
        lanes_refuse(r, &r->token, "follows the one function");
}

fl_status lanes_read(const char *clean, lanes_function *function, core_text_error *why)
{
    lanes_reader r = {.why = why, .function = function};

    core_reader_start(&r.reader, clean);
    lanes_step(&r);
    read_function(&r);
    return r.status;
}
