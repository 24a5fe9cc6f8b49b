/* SPDX-License-Identifier: MIT
 * What a compiler of device code gets in other words, of the same length. */
#ifndef FLYNN_CORE_KERNEL_REWRITE_H
#define FLYNN_CORE_KERNEL_REWRITE_H

#include "file.h"

/* Returns whether the character is a newline, or the carriage return before one: what blanks a text leaves these. A
 * carriage return alone, which may stand in a raw string, ends no line. */
static inline bool core_ends_line(const char *c)
{
    return *c == '\n' || (*c == '\r' && c[1] == '\n');
}

/* Returns whether a device has std::NAME as NAME. */
bool core_std_has(const core_token *name);

/* Rewrites an item of a file in the text that it was read from: std::sqrt becomes sqrt, hipThreadIdx_x threadIdx.x, and
 * alignas goes before extern and __shared__. */
void core_kernel_rewrite(char *clean, const core_file *file, const core_item *item);

#endif
