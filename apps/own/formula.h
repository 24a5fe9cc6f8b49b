/* SPDX-License-Identifier: MIT
 *
 * formula.h - whole numbers from formulas such as 2*m*n*k: digits, names, + - * / % and brackets, computed as in C on
 * 64 bits. For --flops, --bytes and what stands in {} among the words of `flynn kernel`.
 */
#pragma once

#include "support/problem.h"

#include <stddef.h>
#include <stdint.h>

enum { MOST_FORMULA_NAMES = 128 };

/* The names that a formula may use, with their values. Of two equal names the first one counts. */
typedef struct formula_names {
    int count;
    struct {
        char name[72];
        int64_t value;
    } list[MOST_FORMULA_NAMES];
} formula_names;

void formula_name_add(formula_names *names, int64_t value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value of the first `length` characters of `text`. The problem starts with the formula in quotes. */
bool formula_value(const char *text, size_t length, const formula_names *names, int64_t *value, problem *why);

/* A copy of the text, to be freed, in which each {FORMULA} is its value. Braces stay whose content has a comma, or no
 * name: they are C's. NULL: a formula is wrong. */
char *formula_fill(const char *text, const formula_names *names, problem *why);
