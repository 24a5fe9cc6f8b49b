/* SPDX-License-Identifier: MIT
 *
 * lanes.h - the user's function over the lanes of a vector: each lane computes another element, and a mask says which
 * lanes a statement is for. It is what a GPU does with the threads of a warp; see docs/exercises/map.md. Only functions
 * with loops are written so: a compiler makes vectors of the others by itself.
 *
 * References: Allen, Kennedy, Porterfield and Warren 1983 (branches become masks); Pharr and Mark 2012 (ispc).
 */
#ifndef FLYNN_CORE_LANES_H
#define FLYNN_CORE_LANES_H

#include "../language/math_functions.h"
#include "../language/c_types.h"

/* A function over lanes, and what a vector must be for it: see fl_source. */
typedef struct core_lanes {
    char *text; /* to free(); NULL: none */
    int bytes, least;
} core_lanes;

/* Writes the text in C of flynn_lanes, in terms of backends/cpu/lanes_prelude.h, from one of core_signature_read's
 * `clean`. FL_E_SOURCE: the text is not of the part of C that is understood here, or would gain nothing; `why` says
 * where and what. FL_E_MEMORY. */
fl_status core_lanes_write(const char *clean, core_lanes *lanes, core_text_error *why);

/* ---------------------------------------------------------------------------- what its two halves share ---- */

typedef struct lanes_variable {
    core_token name;
    core_type_layout type;
    const char *last; /* where the text names it for the last time */
    bool visible;
    int depth; /* the writer's: how many constructs stand around it */
} lanes_variable;

typedef enum lanes_kind {
    /* Values. */
    LANES_NUMBER,   /* token: a literal, or the name of a constant */
    LANES_VARIABLE, /* variable */
    LANES_UNARY,    /* token + - ~ ! of a */
    LANES_BINARY,   /* a token b: arithmetic and bits; both are of the node's type, but a shift's b */
    LANES_COMPARE,  /* a token b, both of type `common` */
    LANES_LOGIC,    /* a token b: && and || */
    LANES_CHOICE,   /* a ? b : c */
    LANES_CAST,     /* of a to `common`, which may be narrower than int */
    LANES_CALL,     /* function of a, or of a and b, each of type `common` */
    /* Statements; `next` is the one after it. */
    LANES_ASSIGN, /* variable = a; without a: a declaration */
    LANES_IF,     /* a, first, other */
    LANES_LOOP,   /* a or NULL: for ever, first: the body, other: the step */
    LANES_BREAK,
    LANES_CONTINUE,
    LANES_RETURN, /* a */
} lanes_kind;

typedef struct lanes_node {
    lanes_kind kind;
    core_token token;
    core_type_layout type, common; /* type: of a value in C, not narrower than int */
    const core_function *function;
    bool declares, is_float; /* an assignment that is a declaration's; the function is float's ("sqrtf") */
    bool test_last;          /* a loop whose condition stands after its body */
    bool continues;          /* a loop whose body has `continue` */
    bool leaves;             /* ... `break` or `return` */
    bool by_lanes;           /* an integer's division, which fails for the lanes of the mask alone */
    bool heavy;              /* it is a loop or such a division, or has one as a part */
    const char *end;         /* of a loop */
    int number;              /* the writer's: of a loop; of the mask of a value's second half, or 0 */
    lanes_variable *variable;
    struct lanes_node *a, *b, *c, *first, *other, *next;
} lanes_node;

enum { LANES_MOST_NODES = 2048, LANES_MOST_VARIABLES = 64, LANES_DEEPEST = 64 };

typedef struct lanes_function {
    core_token name;
    core_type_layout result;
    int parameters; /* the first variables */
    int variable_count, node_count;
    bool wide, long_whole; /* it has a type of 8 bytes; an integer's */
    lanes_node *body;
    lanes_variable variables[LANES_MOST_VARIABLES];
    lanes_node nodes[LANES_MOST_NODES];
} lanes_function;

/* The reader's state. */
typedef struct lanes_reader {
    core_reader reader;
    core_token token, before; /* the next one, and the last one that was read */
    core_text_error *why;
    fl_status status; /* of the first failure: nothing is read any more */
    lanes_function *function;
    lanes_node *loop; /* around the statement; NULL: none */
    int depth;
} lanes_reader;

fl_status lanes_read(const char *clean, lanes_function *function, core_text_error *why);

/* lanes_value.c. After a failure the tokens are an endless row of ends, and nodes are never written. */
void lanes_step(lanes_reader *r);                   /* reads the next token */
bool lanes_take(lanes_reader *r, const char *mark); /* reads the token if it is this */
void lanes_demand(lanes_reader *r, const char *mark);
void lanes_refuse(lanes_reader *r, const core_token *at, const char *what);
bool lanes_enter(lanes_reader *r); /* one level deeper; false: too deep, which is refused. Pair it with r->depth-- */
lanes_node *lanes_node_add(lanes_reader *r, lanes_kind kind);
lanes_variable *lanes_variable_find(lanes_reader *r, const core_token *name);
bool lanes_read_type(lanes_reader *r, core_type_layout *type); /* false: the token is no type, and is not read */
lanes_node *lanes_read_value(lanes_reader *r);
lanes_node *lanes_binary(lanes_reader *r, lanes_node *a, const core_token *mark, lanes_node *b);

/* 0, 1 or -1 of its lanes: a mask in the text, and 0 or 1 in C. */
bool lanes_is_condition(const lanes_node *n);

#endif
