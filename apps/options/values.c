/* SPDX-License-Identifier: MIT */
#include "values.h"

#include "support/fail.h"
#include "support/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool from_variables;

void option_values_are_variables(bool are)
{
    from_variables = are;
}

bool option_is_variable(void)
{
    return from_variables;
}

void option_variable(const char *option, char *text, size_t size)
{
    snprintf(text, size, "FLYNN_%s", option);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

void option_shown(const char *option, bool variable, char *text, size_t size)
{
    if (variable)
        option_variable(option, text, size);
    else
        snprintf(text, size, "--%s", option);
}

noreturn void option_fail(const char *option, const char *format, ...)
{
    char name[64], text[1024];
    va_list arguments;

    option_shown(option, from_variables, name, sizeof name);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail(EXIT_BAD_INPUT, "%s: %s", name, text);
}

typedef enum reading { READ, NO_NUMBER, NOT_WHOLE, TOO_LARGE } reading;

/* Reads the digits at *text; moves it past them. */
static reading read_digits(const char **text, int64_t *value)
{
    const size_t digits = strspn(*text, "0123456789");
    bool too_large = false;

    *value = 0;
    for (size_t i = 0; i < digits; i++)
        too_large = too_large || __builtin_mul_overflow(*value, 10, value) ||
                    __builtin_add_overflow(*value, (*text)[i] - '0', value);
    *text += digits;
    return !digits ? NO_NUMBER : too_large ? TOO_LARGE : READ;
}

/* value * 10^power */
static reading scale(int64_t *value, int64_t power)
{
    for (; power > 0 && *value; power--)
        if (__builtin_mul_overflow(*value, 10, value))
            return TOO_LARGE;
    for (; power < 0 && *value; power++, *value /= 10)
        if (*value % 10)
            return NOT_WHOLE;
    return READ;
}

/* Reads what follows a number's digits: "^20", or a power of ten and a unit. `decimals` of the digits stand after a
 * point. */
static reading read_power(const char **text, int64_t decimals, int64_t *value)
{
    static const char units[] = "kKMGT";
    const int64_t base = *value;
    int64_t power = 0;
    reading how = READ;

    if (**text == '^' && !decimals) {
        ++*text;
        how = read_digits(text, &power);
        for (*value = 1; how == READ && power > 0 && (base > 1 || *value != base); power--)
            how = __builtin_mul_overflow(*value, base, value) ? TOO_LARGE : READ;
        return how;
    }
    if (**text == 'e' || **text == 'E') {
        const bool negative = *++*text == '-';
        *text += negative || **text == '+';
        how = read_digits(text, &power);
        power = power > 99 ? 99 : power; /* more than any int64_t has */
        power = negative ? -power : power;
    }
    const char *unit = how == READ && **text ? strchr(units, **text) : NULL;
    if (unit) {
        const int thousands = unit > units ? (int)(unit - units) : 1;
        *text += 1 + ((*text)[1] == 'i');
        if ((*text)[-1] != 'i')
            power += 3 * thousands;
        else if (__builtin_mul_overflow(*value, INT64_C(1) << 10 * thousands, value))
            how = TOO_LARGE;
    }
    return how == READ ? scale(value, power - decimals) : how;
}

/* Reads a whole number at *text, as values.h says; moves *text past it. */
static reading read_number(const char **text, int64_t *value)
{
    const size_t whole = strspn(*text, "0123456789");
    const size_t decimals = whole && (*text)[whole] == '.' ? strspn(*text + whole + 1, "0123456789") : 0;
    char digits[64];
    const char *at = digits;
    reading how;

    if (!decimals)
        how = read_digits(text, value);
    else if (whole + decimals < sizeof digits) {
        snprintf(digits, sizeof digits, "%.*s%.*s", (int)whole, *text, (int)decimals, *text + whole + 1);
        how = read_digits(&at, value);
        *text += whole + 1 + decimals;
    } else
        how = TOO_LARGE;
    return how == READ ? read_power(text, (int64_t)decimals, value) : how;
}

bool option_whole(const char **text, int64_t *value)
{
    return read_number(text, value) == READ;
}

int64_t option_integer(const char *option, const char *value, int64_t least, int64_t most)
{
    const char *end = value + (*value == '-');
    const bool negative = end > value;
    const int64_t example = least > 16 ? least : most < 16 ? most : 16;
    int64_t number;
    const reading how = read_number(&end, &number);

    if (how == READ && !*end && !negative && number >= least && number <= most)
        return number;
    if (how == NO_NUMBER || how == NOT_WHOLE || (how == READ && *end))
        option_fail(option, "'%s' is not a whole number (example: --%s=%" PRId64 ")", value, option, example);
    if (most == INT64_MAX)
        option_fail(option, "'%s' is out of range; expected a whole number from %" PRId64, value, least);
    option_fail(option, "'%s' is out of range; expected a whole number from %" PRId64 " to %" PRId64, value, least,
                most);
}

void option_integers(const char *option, const char *value, int64_t least, int64_t most, integer_list *list)
{
    char *copy = memory_text(value), *rest = copy, *word;

    for (list->count = 0; (word = strsep(&rest, ",")) != NULL; list->count++) {
        if (!*word)
            option_fail(option, "'%s' has an empty value; expected one, or several with a comma between them", value);
        if (list->count == MOST_INTEGERS)
            option_fail(option, "'%s' has too many values; expected at most %d", value, MOST_INTEGERS);
        list->value[list->count] = option_integer(option, word, least, most);
    }
    free(copy);
}

int64_t option_bytes(const char *option, const char *value)
{
    const char *end = value;
    int64_t number;

    if (read_number(&end, &number) == READ && !*end && number > 0)
        return number;
    option_fail(option, "'%s' is not a number of bytes; expected one of at least 1, such as 512M or 8Gi", value);
}

void option_numbers(const char *option, const char *value, int64_t least, int64_t most, const char *expected,
                    int64_t rest, int64_t *numbers)
{
    const char *at = value;
    int64_t count = 0;
    bool ok;

    do
        ok = count < most && read_number(&at, &numbers[count]) == READ && numbers[count++] >= 1;
    while (ok && *at == 'x' && at++);
    if (!ok || *at != '\0' || count < least)
        option_fail(option, "'%s' is not %s", value, expected);
    for (; count < most; count++)
        numbers[count] = rest;
}

int option_choice(const char *option, const char *value, const char *const *names)
{
    const char *nearest;
    char list[512] = "";
    size_t count = 0;

    for (; names[count]; count++) {
        if (strcmp(value, names[count]) == 0)
            return (int)count;
        const char *between = !count ? "" : names[count + 1] ? ", " : " or ";
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", between, names[count]);
    }
    nearest = fl_nearest_name(value, names, count);
    if (nearest)
        option_fail(option, "'%s' is unknown; expected %s (the nearest is %s)", value, list, nearest);
    option_fail(option, "'%s' is unknown; expected %s", value, list);
}

double option_real(const char *option, const char *value, int64_t most)
{
    char *end;
    double number = strtod(value, &end);

    if (end != value && *end == '\0' && !isspace((unsigned char)*value) && number >= 0 &&
        (most == 0 || number <= (double)most))
        return number;
    if (most)
        option_fail(option, "'%s' is not a number from 0 to %" PRId64, value, most);
    option_fail(option, "'%s' is not a number of at least 0 (example: --%s=1e-5)", value, option);
}

double option_percentage(const char *option, const char *value)
{
    char *end;
    const double number = strtod(value, &end);

    if (end != value && strcmp(end, "%") == 0 && !isspace((unsigned char)*value) && number > 0 && number <= 100)
        return number / 100;
    option_fail(option, "'%s' is not a percentage above 0 %% and at most 100 %% (example: --%s=2%%)", value, option);
}

void option_block(const char *option, const char *value, int *block)
{
    int64_t edges[3];

    option_numbers(option, value, 1, 3, "a block; expected X, XxY or XxYxZ with each at least 1, such as 16x16", 1,
                   edges);
    for (int d = 0; d < 3; d++) {
        if (edges[d] > INT_MAX)
            option_fail(option, "'%s' is too large; expected edges of at most %d", value, INT_MAX);
        block[d] = (int)edges[d];
    }
}

fl_dtype option_dtype(const char *option, const char *value)
{
    static const struct {
        const char *name;
        fl_dtype dtype;
    } others[] = {{"float", FL_F32}, {"float32", FL_F32}, {"single", FL_F32}, {"double", FL_F64}, {"float64", FL_F64},
                  {"int", FL_I32},   {"int32", FL_I32},   {"int64", FL_I64},  {"uint8", FL_U8}};
    const char *names[FL_DTYPE_COUNT + 1] = {NULL};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(value, others[i].name) == 0)
            return others[i].dtype;
    for (int i = 0; i < FL_DTYPE_COUNT; i++)
        names[i] = fl_dtype_name((fl_dtype)i);
    return (fl_dtype)option_choice(option, value, names);
}

const char *option_text(const char *option, const char *value)
{
    if (value && !*value)
        option_fail(option, "the value is empty; expected --%s=VALUE", option);
    return value;
}
