/* SPDX-License-Identifier: MIT
 * Suggestions of names in error messages. */
#ifndef FLYNN_CORE_NAMES_H
#define FLYNN_CORE_NAMES_H

#include <stddef.h>

/* Writes "; did you mean 'x'? Available: a, b, c" (without the question if no name is close) and returns `text`. */
const char *core_suggest(char *text, size_t size, const char *wanted, const char *const *names, size_t count);

#endif
