/* SPDX-License-Identifier: MIT
 *
 * number.c - the numbers of an expression: which type a literal has, as in C.
 */
#include "parser.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether the text is the suffix of an integer: u, l or ll, in either order, or nothing. */
static bool is_integer_suffix(const char *at, size_t length)
{
    static const char *const suffixes[] = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"};
    char lower[4] = "";

    if (length > 3)
        return false;
    for (size_t i = 0; i < length; i++)
        lower[i] = at[i] == 'U' ? 'u' : at[i] == 'L' ? 'l' : at[i];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(lower, suffixes[i]) == 0)
            return true;
    return false;
}

/* Reads as strtod in the locale "C", whatever the program's is. false: it is too large for an f64, or for an f32. */
static bool read_floating(const char *number, bool single, char **end)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
    const double read = c ? strtod_l(number, end, c) : strtod(number, end);

    if (c)
        freelocale(c);
    return single ? read <= (double)FLT_MAX : read <= DBL_MAX;
}

static bool read_whole(const char *number, char **end)
{
    errno = 0;
    return strtoull(number, end, 0) <= INT64_MAX && errno == 0;
}

fl_status core_parser_check_number(core_parser *p, const core_token *token, core_value *of, bool *suffixed)
{
    const bool floating = core_token_is_floating(token);
    char number[64], *end;

    if (token->length >= sizeof number)
        return core_parser_fail(p, token, "a number of more than 63 characters");
    memcpy(number, token->at, token->length);
    number[token->length] = '\0';
    const bool has_f = floating && strchr("fF", number[token->length - 1]);
    const bool single = has_f || p->single;
    const bool fits = floating ? read_floating(number, single, &end) : read_whole(number, &end);
    const size_t suffix = token->length - (size_t)(end - number);
    if (floating && suffix == 1 && strchr("lL", *end))
        return core_parser_fail(p, token, "no long double is computed with: leave the L out");
    if (suffix == 1 && strchr("xyzw", *end))
        return core_source_fail(p->error, token->line, token->column,
                                "'%s' is not a number: write '*' between a number and an input", number);
    if (!(floating ? suffix == has_f : is_integer_suffix(end, suffix)) ||
        (floating && core_token_is_hexadecimal(token) && !strpbrk(number, "pP")))
        return core_source_fail(p->error, token->line, token->column, "'%s' is not a number", number);
    if (!fits)
        return core_source_fail(p->error, token->line, token->column, "'%s' is larger than the largest %s", number,
                                !floating ? "i64"
                                : single  ? "f32"
                                          : "f64");
    *of = !floating ? CORE_INTEGER : single ? CORE_SINGLE : CORE_DOUBLE;
    *suffixed = floating && single && !has_f;
    return FL_OK;
}
