/* SPDX-License-Identifier: MIT
 *
 * formula.c - reads a formula by recursive descent and computes it at the same time.
 */
#include "formula.h"

#include "support/memory.h"

#include <flynn/flynn.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64 };

typedef struct reader {
    const char *start, *at, *end;
    const formula_names *names;
    int depth; /* brackets and signs that are open */
    problem *why;
} reader;

void formula_name_add(formula_names *names, int64_t value, const char *format, ...)
{
    va_list arguments;

    if (names->count == MOST_FORMULA_NAMES)
        return;
    va_start(arguments, format);
    vsnprintf(names->list[names->count].name, sizeof names->list[0].name, format, arguments);
    va_end(arguments);
    names->list[names->count++].value = value;
}

/* Fills the problem with "'2*n': " and the text. Returns false. */
static bool wrong(const reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(const reader *r, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return problem_set(r->why, EXIT_BAD_INPUT, "'%.*s': %s", (int)(r->end - r->start), r->start, text);
}

/* The next character after blanks; '\0' at the end. */
static char next(reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char mark)
{
    const bool found = next(r) == mark;

    r->at += found;
    return found;
}

static bool is_name_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* "m", "block.x", "y.shape[0]" */
static size_t name_length(const reader *r)
{
    const char *at = r->at;

    while (at < r->end && is_name_letter(*at))
        at++;
    if (at < r->end && *at == '[') {
        const char *digits = at + 1, *end = digits;
        while (end < r->end && isdigit((unsigned char)*end))
            end++;
        at = end > digits && end < r->end && *end == ']' ? end + 1 : at;
    }
    return (size_t)(at - r->at);
}

static bool unknown_name(const reader *r, size_t length)
{
    const char *list[MOST_FORMULA_NAMES], *nearest;
    char name[128], known[768] = "";

    snprintf(name, sizeof name, "%.*s", (int)length, r->at);
    for (int i = 0; i < r->names->count; i++) {
        list[i] = r->names->list[i].name;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", list[i]);
    }
    nearest = fl_nearest_name(name, list, (size_t)r->names->count);
    if (nearest)
        return wrong(r, "%s is not known; did you mean %s?", name, nearest);
    return wrong(r, "%s is not known; expected %s%s", name, r->names->count ? "a number or one of " : "a number",
                 known);
}

static bool read_name(reader *r, int64_t *value)
{
    const size_t length = name_length(r);

    for (int i = 0; i < r->names->count; i++) {
        const char *known = r->names->list[i].name;
        if (strlen(known) != length || strncmp(known, r->at, length) != 0)
            continue;
        r->at += length;
        *value = r->names->list[i].value;
        return true;
    }
    return unknown_name(r, length);
}

static bool too_large(const reader *r)
{
    return wrong(r, "the value is too large for 64 bits");
}

static bool read_digits(reader *r, int64_t *value)
{
    const char *start = r->at;

    for (*value = 0; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *r->at - '0', value))
            return too_large(r);
    if (r->at < r->end && is_name_letter(*r->at))
        return wrong(r, "'%.*s' is not a number; expected digits, and * between a number and a name",
                     (int)(r->at - start) + 1, start);
    return true;
}

static bool read_sum(reader *r, int64_t *value);

/* A number, a name, brackets, or one of these after a sign. */
static bool read_operand(reader *r, int64_t *value)
{
    const char c = next(r);
    bool read;

    if (isdigit((unsigned char)c))
        return read_digits(r, value);
    if (isalpha((unsigned char)c) || c == '_')
        return read_name(r, value);
    if (c != '(' && c != '-')
        return c ? wrong(r, "'%c' where a number, a name or ( is expected", c)
                 : wrong(r, "it ends where a number, a name or ( is expected");
    if (r->depth++ == MOST_DEPTH)
        return wrong(r, "more than %d brackets and signs within each other", MOST_DEPTH);
    r->at++;
    read = c == '-' ? read_operand(r, value) : read_sum(r, value);
    r->depth--;
    if (read && c == '-')
        return !__builtin_sub_overflow(0, *value, value) || too_large(r);
    return read && (take(r, ')') || wrong(r, "a ) is missing"));
}

static bool divide(const reader *r, char mark, int64_t by, int64_t *value)
{
    if (by == 0)
        return wrong(r, "a division by zero");
    if (by == -1)
        return mark == '%' ? (*value = 0, true) : !__builtin_sub_overflow(0, *value, value) || too_large(r);
    *value = mark == '/' ? *value / by : *value % by;
    return true;
}

static bool read_product(reader *r, int64_t *value)
{
    int64_t by = 0;

    if (!read_operand(r, value))
        return false;
    for (char mark = next(r); mark == '*' || mark == '/' || mark == '%'; mark = next(r)) {
        r->at++;
        if (!read_operand(r, &by))
            return false;
        if (mark == '*' ? __builtin_mul_overflow(*value, by, value) && !too_large(r) : !divide(r, mark, by, value))
            return false;
    }
    return true;
}

static bool read_sum(reader *r, int64_t *value)
{
    int64_t more = 0;

    if (!read_product(r, value))
        return false;
    for (char mark = next(r); mark == '+' || mark == '-'; mark = next(r)) {
        r->at++;
        if (!read_product(r, &more))
            return false;
        if (mark == '+' ? __builtin_add_overflow(*value, more, value) : __builtin_sub_overflow(*value, more, value))
            return too_large(r);
    }
    return true;
}

bool formula_value(const char *text, size_t length, const formula_names *names, int64_t *value, problem *why)
{
    reader r = {text, text, text + length, names, 0, why};

    if (!read_sum(&r, value))
        return false;
    return !next(&r) || wrong(&r, "'%c' where an operator is expected", *r.at);
}

/* Returns whether braces with this content are a formula's: it has a name and no comma. */
static bool is_formula(const char *text, size_t length)
{
    bool name = false;

    for (size_t i = 0; i < length; i++) {
        if (strchr(",;\"'{", text[i]))
            return false;
        name = name || isalpha((unsigned char)text[i]) || text[i] == '_';
    }
    return name;
}

char *formula_fill(const char *text, const formula_names *names, problem *why)
{
    char *filled;
    size_t size;
    FILE *to = memory_stream(&filled, &size);
    bool right = true;

    while (*text && right) {
        const char *end = *text == '{' ? strchr(text, '}') : NULL;
        const size_t length = end ? (size_t)(end - text) - 1 : 0;
        int64_t value = 0;
        if (!end || !is_formula(text + 1, length)) {
            fputc(*text++, to);
            continue;
        }
        right = formula_value(text + 1, length, names, &value, why);
        fprintf(to, "%lld", (long long)value);
        text = end + 1;
    }
    fclose(to);
    if (right)
        return filled;
    free(filled);
    return NULL;
}
