/* SPDX-License-Identifier: MIT
 *
 * Numbers as text.
 */
#include "numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 17 };

static bool reads_back(const char *text, double value, bool is_float)
{
    return is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Adds one to the last digit of "d.ddde+xx", unless that is a 9. */
static void add_to_last_digit(char *text)
{
    char *last = text + strcspn(text, "e") - 1;

    if (*last < '9')
        ++*last;
}

/* Writes |value| as "d.ddde+xx" with the fewest digits that read back. Below a power of two numbers lie closer than
 * above, so that the rounded digits may belong to the number below, and the next ones above read back. */
static void shortest(char text[32], double value, bool is_float)
{
    int exponent;
    const bool is_power = frexp(value, &exponent) == 0.5;

    for (int digits = 1; digits <= MOST_DIGITS; digits++) {
        snprintf(text, 32, "%.*e", digits - 1, value);
        if (reads_back(text, value, is_float))
            return;
        if (!is_power)
            continue;
        add_to_last_digit(text);
        if (reads_back(text, value, is_float))
            return;
    }
}

/* Turns "d.ddde+xx" into digits alone and returns their exponent. */
static int take_digits(const char *text, char digits[32])
{
    int count = 0;

    for (; *text != 'e'; text++)
        if (*text != '.')
            digits[count++] = *text;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return atoi(text + 1);
}

/* NumPy's rule: digits and a point from 1e-4 up to 1e16, else a power of ten. */
static number_text real_text(double value, bool is_float)
{
    const char *sign = signbit(value) ? "-" : "";
    char scientific[32], digits[32];
    number_text out;

    if (isnan(value) || isinf(value) || value == 0) {
        snprintf(out.text, sizeof out.text, "%s", isnan(value) ? "nan" : value == 0 ? "0" : "inf");
        if (*sign && !isnan(value))
            snprintf(out.text, sizeof out.text, "-%s", value == 0 ? "0" : "inf");
        return out;
    }
    shortest(scientific, fabs(value), is_float);
    const int exponent = take_digits(scientific, digits), count = (int)strlen(digits);
    if (fabs(value) >= 1e16 || fabs(value) < 1e-4)
        snprintf(out.text, sizeof out.text, "%s%c%s%.17se%+03d", sign, digits[0], count > 1 ? "." : "", digits + 1,
                 exponent);
    else if (exponent < 0)
        snprintf(out.text, sizeof out.text, "%s0.%.*s%.17s", sign, -exponent - 1, "000", digits);
    else if (exponent >= count - 1)
        snprintf(out.text, sizeof out.text, "%s%.17s%.*s", sign, digits, exponent - count + 1, "0000000000000000");
    else
        snprintf(out.text, sizeof out.text, "%s%.*s.%.17s", sign, exponent + 1, digits, digits + exponent + 1);
    return out;
}

static number_text whole_text(int64_t value)
{
    number_text out;

    snprintf(out.text, sizeof out.text, "%" PRId64, value);
    return out;
}

number_text number_of_element(const host_array *array, int64_t i)
{
    switch (array->dtype) {
    case FL_U8: return whole_text(((const uint8_t *)array->data)[i]);
    case FL_I32: return whole_text(((const int32_t *)array->data)[i]);
    case FL_I64: return whole_text(((const int64_t *)array->data)[i]);
    case FL_F32: return real_text((double)((const float *)array->data)[i], true);
    case FL_F64: return real_text(((const double *)array->data)[i], false);
    }
    return whole_text(0);
}

number_text number_in(fl_dtype dtype, double value)
{
    return real_text(value, dtype == FL_F32 && (double)(float)value == value);
}

number_text number_grouped(int64_t count)
{
    const number_text plain = whole_text(count);
    const size_t length = strlen(plain.text);
    number_text out = {""};
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && plain.text[i - 1] != '-')
            out.text[used++] = ',';
        out.text[used++] = plain.text[i];
    }
    return out;
}
