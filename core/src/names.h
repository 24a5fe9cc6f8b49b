/* SPDX-License-Identifier: MIT
 * Names of things in messages. */
#ifndef FLYNN_CORE_NAMES_H
#define FLYNN_CORE_NAMES_H

#include <stddef.h>

/* Writes "; did you mean 'x'? There are: a, b, c" (without the question when no name is near) and returns `text`. */
const char *core_suggest(char *text, size_t size, const char *wanted, const char *const *names, size_t count);

#endif
