/* SPDX-License-Identifier: MIT
 *
 * fail.h - how a command ends when it cannot go on, and what it says on the way: everything here goes to stderr, one
 * line each.
 */
#ifndef FLYNN_APPS_SUPPORT_FAIL_H
#define FLYNN_APPS_SUPPORT_FAIL_H

#include "problem.h"

#include <flynn/flynn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdnoreturn.h>

/* The name before every message, "flynn convolve"; must stay valid. "flynn" until it is set. */
void fail_set_command(const char *name);
/* The name that was set. */
const char *fail_command(void);
/* true: note() says nothing. */
void fail_set_quiet(bool quiet);

/* Prints "flynn convolve: <message>" and exits. Unfinished output files are removed on the way (output.h). */
noreturn void fail(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* fail() with a problem's exit code and text. */
noreturn void fail_problem(const problem *why);

/* The exit code for a status of the library: 0 for FL_OK. */
int exit_code_of(fl_status status);

/* Goes on if `status` is FL_OK, else fails with fl_last_error() and the exit code that fits. */
void must(fl_status status);

/* Zeroed memory for `count` times `size` bytes, and realloc; both fail() where there is none. */
void *allocate(size_t count, size_t size);
void *reallocate(void *memory, size_t count, size_t size);

/* A remark for the user, "flynn convolve: <message>", unless --quiet. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the line of fail() without exiting. */
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
