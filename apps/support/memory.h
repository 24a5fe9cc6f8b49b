/* SPDX-License-Identifier: MIT
 *
 * memory.h - host memory that is small compared with the data: the command ends where there is none.
 */
#pragma once

#include "problem.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Zeros; `count` may be 0. */
void *memory_zeroed(size_t count, size_t size);
/* The memory with room for `count` elements; new ones are undefined. */
void *memory_regrown(void *memory, size_t count, size_t size);
/* A copy of the text; a printed text. */
char *memory_text(const char *text);
char *memory_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_vprint(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
/* A stream to memory: once it is closed, *text (free) has *size bytes and a zero byte after them. open_memstream's
 * would drop what it has no memory for, without an error. */
FILE *memory_stream(char **text, size_t *size);

/* The limit for the data of one input file: `bytes` (--max-memory), or, for 0 and before the first call, what is
 * free. */
void memory_limit(int64_t bytes);
/* Returns whether the data of the file `what` are within the limit: to be asked before memory is allocated. */
bool memory_allows(const char *what, double bytes, problem *why);

/* The bytes that are free for this process: of the machine, or of its cgroup where that has less; 0: unknown. */
int64_t memory_free(void);
