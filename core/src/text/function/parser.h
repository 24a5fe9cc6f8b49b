/* SPDX-License-Identifier: MIT
 * How an expression is read: what its grammar and its messages share. */
#ifndef FLYNN_CORE_EXPRESSION_PARSER_H
#define FLYNN_CORE_EXPRESSION_PARSER_H

#include "signature.h"
#include "../language/token.h"

/* The names of the inputs, in their order. */
static const char core_input_names[FL_MAX_EXPRESSION_INPUTS] = {'x', 'y', 'z', 'w'};

/* The type in which a part of the expression is computed; a later one holds the values of those before it. */
typedef enum core_value { CORE_INTEGER, CORE_SINGLE, CORE_DOUBLE } core_value;

typedef struct core_parser {
    core_reader reader;
    core_token before, token; /* the last one that was read, and the next one */
    core_text_error *error;
    const char *text;
    char *suffixed;    /* one byte for each of the text: not 0 where an f follows */
    int depth;         /* brackets, signs and conditions within each other */
    int count;         /* of inputs */
    core_value inputs; /* of x, y, z, w */
    bool single;       /* all inputs are f32 */
} core_parser;

/* Reads the whole text. */
fl_status core_parser_read(core_parser *parser);

/* Checks a number: stores the type that it is computed in, and whether it needs a suffix for that. */
fl_status core_parser_check_number(core_parser *parser, const core_token *token, core_value *of, bool *suffixed);
/* The value of a constant of math.h; NULL: the name is none. */
const char *core_constant_value(const core_token *name);

/* Messages, each FL_E_SOURCE: for a token that cannot stand after a value; where a value should be; for a name that is
 * not known; for an operator of integers between reals. */
fl_status core_parser_fail(core_parser *parser, const core_token *token, const char *what);
fl_status core_parser_fail_behind_value(core_parser *parser);
fl_status core_parser_fail_at_value(core_parser *parser);
fl_status core_parser_fail_at_name(core_parser *parser, const core_token *name);
fl_status core_parser_fail_of_reals(core_parser *parser, const core_token *mark);

#endif
