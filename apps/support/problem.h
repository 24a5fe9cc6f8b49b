/* SPDX-License-Identifier: MIT
 *
 * problem.h - why something could not be done, as a value: what readers and writers return instead of exiting.
 */
#ifndef FLYNN_APPS_SUPPORT_PROBLEM_H
#define FLYNN_APPS_SUPPORT_PROBLEM_H

#include <stdbool.h>

/* The exit codes of every command. */
enum {
    EXIT_DONE = 0,         /* done, and the results are right */
    EXIT_WRONG_RESULT = 1, /* a result failed its check */
    EXIT_BAD_INPUT = 2,    /* wrong usage or bad input */
    EXIT_CANNOT_RUN = 3,   /* the backend asked for cannot run here */
    EXIT_BROKEN = 4,       /* out of memory, device or I/O failure */
};

typedef struct problem {
    int exit_code;   /* what the command ends with if nothing can be done about it */
    char text[5120]; /* one line, "FILE: what is wrong; what was expected": the longest path and words for it */
} problem;

/* Fills `why` and returns false, so that a function can end with `return problem_set(why, ...)`. */
bool problem_set(problem *why, int exit_code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Replaces control characters: a file's name or header may hold a line end or a terminal's escape sequence. */
void make_one_line(char *text);

/* problem_set for memory that was not to be had. */
bool problem_no_memory(problem *why, const char *what, double bytes);

#endif
