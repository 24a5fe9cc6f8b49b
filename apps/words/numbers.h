/* SPDX-License-Identifier: MIT
 *
 * numbers.h - words that are numbers, and ranges of them.
 */
#pragma once

#include "made.h"

/* A number, or the range that starts at `first`: FIRST:END[:STEP], of `count` numbers as numpy.arange has them. */
typedef struct number_input {
    bool is_number, whole; /* whole: digits and signs alone */
    double first, step;
    int64_t count;
} number_input;

/* Reads the word; `is_number` is false where it is neither. false, with a problem: a range that is wrong. */
bool number_read(const char *word, number_input *number, problem *why);

/* Returns whether the word begins as a range does: with a number and a colon. */
bool number_is_range(const char *word);
