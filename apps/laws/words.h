/* SPDX-License-Identifier: MIT
 *
 * words.h - what the points of `flynn laws` show, in words.
 */
#pragma once

#include "show.h"

extern const char *const laws_names[]; /* "Amdahl" */

/* Returns whether the law of these points does not describe the i-th one. */
bool laws_is_off(const laws_found *found, const law_points *points, int i);

/* Returns whether n is of that unit. */
bool laws_is_by(const laws_found *found, const char *unit);

/* The text that is being put together. */
typedef struct law_words {
    char text[1024];
} law_words;

/* Where the law fails to describe the points, or the points to show it; "" where neither does. */
law_words laws_failing(const laws_found *found, const law_points *points);
