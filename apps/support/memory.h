/* SPDX-License-Identifier: MIT
 *
 * memory.h - host memory that is small beside the data: the command ends where there is none.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Zeros; `count` may be 0. */
void *memory_zeroed(size_t count, size_t size);
/* The same memory with room for `count` elements; new ones are undefined. */
void *memory_regrown(void *memory, size_t count, size_t size);
/* A copy of the text. */
char *memory_text(const char *text);
/* A stream to memory: once it is closed, *text (free) has *size bytes and a zero byte behind them. open_memstream's
 * would drop what it has no memory for, without an error. */
FILE *memory_stream(char **text, size_t *size);
