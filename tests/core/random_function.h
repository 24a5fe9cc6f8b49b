/* SPDX-License-Identifier: MIT
 *
 * random_function.h - texts of functions with a loop that ends, and of expressions, made of random numbers.
 */
#pragma once

#include <flynn/flynn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_TEXT = 1 << 14, MOST_NAMES = 16 };

/* A text that grows, and what it can name. */
struct maker {
    uint64_t seed;
    char text[MOST_TEXT];
    size_t length;
    bool wide;         /* with numbers of 8 bytes */
    bool any_type;     /* with all of C's types, and functions that the lanes do not have */
    bool of_inputs;    /* an expression of `flynn map`, which lacks some of C's names */
    int depth, number; /* of loops around; of names so far */
    struct {
        char name[12];
        bool is_real, is_fixed; /* of a floating-point type; not to be assigned to */
    } names[MOST_NAMES];
    int count;
};

/* The next random number, below `most`. */
unsigned below(struct maker *m, unsigned most);

/* Makes a function that is written over lanes, "float f(int n, float x, uint8_t c, short s)" or, if `wide`, "double f(long n, double x, bool c, float
 * s)", which depends on the seed alone. */
void make_function(struct maker *m, uint64_t seed);
/* Makes a function over any of C's integer types, with those functions of math.h that have one right result. */
void make_function_of_any_type(struct maker *m, uint64_t seed);
/* Makes an expression of `count` inputs, which are computed in this dtype. */
void make_expression(struct maker *m, uint64_t seed, fl_dtype dtype, int count);
