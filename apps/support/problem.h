/* SPDX-License-Identifier: MIT
 *
 * problem.h - an error as a value, which readers and writers return instead of exiting.
 */
#pragma once

#include <stdbool.h>

/* The exit codes of every command. */
enum {
    EXIT_DONE = 0,         /* done, and all results are right */
    EXIT_WRONG_RESULT = 1, /* a result failed its check */
    EXIT_BAD_INPUT = 2,    /* wrong usage or bad input */
    EXIT_CANNOT_RUN = 3,   /* the backend asked for cannot run here */
    EXIT_BROKEN = 4,       /* out of memory, device or I/O failure */
    /* Replaces EXIT_WRONG_RESULT in a process that --ranks started, because a launcher that fails ends with 1. */
    EXIT_WRONG_ON_RANKS = 5,
};
/* The variable that --ranks sets in these processes. */
#define EXIT_VARIABLE "FLYNN_BEGUN_BY_RANKS"

typedef struct problem {
    int exit_code;   /* of a command that ends because of it */
    char text[5120]; /* one line, "FILE: what is wrong; what was expected"; long enough for the longest path */
} problem;

/* The exit code for a file or folder that cannot be used because of `error` (an errno): EXIT_BROKEN if the machine is
 * at fault (memory, descriptors, disk), EXIT_BAD_INPUT if the name is. */
int exit_code_of_errno(int error);

/* Fills `why`, with control characters shown (text.h), and returns false, so that a function can end with `return
 * problem_set(why, ...)`. */
bool problem_set(problem *why, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "240 B", "512 MB", "18 GB" */
typedef struct amount_text {
    char text[32];
} amount_text;
amount_text format_amount(double bytes);

/* "WHAT: out of memory", with the size if `bytes` is not 0. */
bool problem_no_memory(problem *why, const char *what, double bytes);
