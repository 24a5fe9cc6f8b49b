/* SPDX-License-Identifier: MIT
 *
 * scratch.h - a folder of its own for each test, files to put there, and functions run in a process of their own.
 */
#ifndef FLYNN_TESTS_SCRATCH_H
#define FLYNN_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* For .init and .fini: makes an empty folder and goes there; removes it with all that is in it. */
void scratch_start(void);
void scratch_end(void);

/* Writes a file into it. */
void scratch_write(const char *name, const void *data, size_t bytes);
/* Files in the current folder. */
int scratch_count(void);

/* How a process ended, and what it printed. */
typedef struct ended {
    int exit_code; /* -1: by a signal */
    int signal;    /* 0: by itself */
    char out[4096], err[4096];
} ended;

/* Runs `body` in a child process that then exits with 0. */
ended run_apart(void (*body)(void *argument), void *argument);

/* Whether the text is one line with an end, and no more. */
bool is_one_line(const char *text);

#endif
