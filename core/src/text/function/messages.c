/* SPDX-License-Identifier: MIT
 *
 * messages.c - what is said of an expression that cannot be read.
 */
#include "parser.h"
#include "../language/math_functions.h"

#include <string.h>

fl_status core_parser_fail(core_parser *p, const core_token *token, const char *what)
{
    return core_source_fail(p->error, token->line, token->column, "%s", what);
}

static const char *cause_of(const core_token *token)
{
    static const struct {
        const char *mark, *cause;
    } causes[] = {
        {";", "';' ends a statement: an expression has none"},
        {"{", "'{' starts statements: an expression has none; a function in C goes into a file"},
        {"}", "'}' ends statements: an expression has none"},
        {"=", "'=' assigns, an expression only computes: '==' compares"},
        {"++", "'++' changes a value, an expression only computes: write x + 1"},
        {"--", "'--' changes a value, an expression only computes: write x - 1, or - -x"},
        {"#", "'#' starts a directive: an expression has none"},
        {"[", "'[' takes an element of an array: x is a number, one element of the input"},
        {")", "')' closes nothing"},
        {"]", "']' closes nothing"},
        {":", "':' has no '?' before it"},
    };

    if (token->kind == CORE_TOKEN_TEXT)
        return "a text or character in quotes cannot stand in an expression";
    if (token->kind == CORE_TOKEN_DIRECTIVE)
        return "'#' starts a directive: an expression has none";
    if (token->kind == CORE_TOKEN_MARK && token->length > 1 && token->at[token->length - 1] == '=' &&
        !strchr("=!<>", *token->at))
        return "this assigns, an expression only computes: write the value alone";
    if (core_token_is(token, "<<=") || core_token_is(token, ">>="))
        return "this assigns, an expression only computes: write the value alone";
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (core_token_is(token, causes[i].mark))
            return causes[i].cause;
    return NULL;
}

/* Words of other languages, and of C that stand in no expression. */
static const char *meant(const core_token *name)
{
    static const char *const others[][2] = {
        {"and", "&&"},  {"or", "||"},  {"not", "!"},   {"pi", "M_PI"}, {"PI", "M_PI"}, {"inf", "INFINITY"},
        {"nan", "NAN"}, {"True", "1"}, {"False", "0"}, {"true", "1"},  {"false", "0"}, {"X", "x"},
        {"Y", "y"},     {"Z", "z"},    {"W", "w"},     {"math", ""},   {"np", ""},     {"numpy", ""},
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (core_token_is(name, others[i][0]))
            return others[i][1];
    return NULL;
}

fl_status core_parser_fail_behind_value(core_parser *p)
{
    const core_token *token = &p->token;
    const char *cause = cause_of(token), *operator= meant(token);

    if (cause)
        return core_parser_fail(p, token, cause);
    if (core_token_is(token, "if"))
        return core_parser_fail(p, token, "C has no 'x if c else y': write c ? x : y");
    if (operator&&(*operator== '&' || * operator== '|'))
        return core_source_fail(p->error, token->line, token->column, "'%s' is not known; did you mean '%s'?",
                                core_token_show(token).text, operator);
    return core_source_fail(p->error, token->line, token->column, "an operator is missing before '%s'",
                            core_token_show(token).text);
}

fl_status core_parser_fail_at_value(core_parser *p)
{
    const core_token *token = &p->token;
    const char *cause = cause_of(token);
    const bool closes = token->kind == CORE_TOKEN_END || core_token_is(token, ")") || core_token_is(token, ":");

    if (core_token_is(token, "*") && core_token_is(&p->before, "*") && token->at == p->before.at + 1)
        return core_parser_fail(p, &p->before, "C has no '**': write pow(x, y)");
    if (closes && p->before.length > 0)
        return core_source_fail(p->error, p->before.line, p->before.column, "a value is missing after '%s'",
                                core_token_show(&p->before).text);
    if (cause)
        return core_parser_fail(p, token, cause);
    return core_source_fail(p->error, token->line, token->column, "a value is missing before '%s'",
                            core_token_show(token).text);
}

fl_status core_parser_fail_at_name(core_parser *p, const core_token *name)
{
    const core_token_text shown = core_token_show(name);
    const char *instead = meant(name);
    const bool called = core_token_is(&p->token, "(");
    char known[sizeof "x, y, z, w"] = "", names[2] = "";

    if (instead && *instead == '\0')
        return core_source_fail(p->error, name->line, name->column,
                                "'%s' is not known: write a function's name alone, as in log(x)", shown.text);
    if (!instead)
        instead = core_nearest_function(shown.text);
    if (*instead && (called || meant(name)))
        return core_source_fail(p->error, name->line, name->column, "'%s' is not known; did you mean '%s'?", shown.text,
                                instead);
    for (int i = 0; i < p->count; i++) {
        names[0] = core_input_names[i];
        strcat(strcat(known, i ? ", " : ""), names);
    }
    return core_source_fail(p->error, name->line, name->column,
                            called          ? "'%s' is not a function that flynn has; see math.h's, max, min and abs%s"
                            : p->count == 1 ? "'%s' is not known; the input is %s"
                                            : "'%s' is not known; the inputs are %s",
                            shown.text, called ? "" : known);
}

fl_status core_parser_fail_of_reals(core_parser *p, const core_token *mark)
{
    return core_source_fail(p->error, mark->line, mark->column,
                            core_token_is(mark, "^") ? "'%s' takes integers, and this is real: pow(x, y) is a power"
                            : core_token_is(mark, "%")
                                ? "'%s' takes integers, and this is real: write fmod(x, y), or (long)x"
                                : "'%s' takes integers, and this is real: write (long)x",
                            core_token_show(mark).text);
}
