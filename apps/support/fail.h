/* SPDX-License-Identifier: MIT
 *
 * fail.h - errors and notes of a command: each prints one line on stderr, and an error ends the command.
 *
 * The room support/ has what every command needs and no other room provides: errors, options, arrays, numbers.
 */
#pragma once

#include "problem.h"

#include <flynn/flynn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdnoreturn.h>

/* Sets the name with which every message starts, such as "flynn convolve" (initially "flynn"). `name` must stay
 * valid. */
void fail_set_command(const char *name);
const char *fail_command(void);
/* true: note() and progress() print nothing. */
void fail_set_quiet(bool quiet);

/* Prints "flynn convolve: <message>" and exits. Unfinished output files are removed (output.h). */
noreturn void fail(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like fail(), without exiting, for messages of several lines. Returns whether this process prints them. */
bool fail_begin(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For a process that is one of a group: `shares` lets the others know of a failure before its line is printed, may
 * change the text, and says whether this process prints it; `leaves` is called at the end and returns the exit code. */
void fail_set_group(bool (*shares)(int exit_code, char *text, size_t size), int (*leaves)(int exit_code));
/* true: this process prints no notes and no progress, since another one of its group does. */
void fail_set_quiet_part(bool quiet);
/* Returns whether one of the two was set. */
bool fail_is_quiet(void);

/* `before` is called before each line on stderr, to clear what is on the terminal's line. */
void fail_before(void (*before)(void));

/* Ends the process. Libraries that end it themselves where memory or threads are short (libgomp, libgfortran) do so
 * with exit code 1 or 2, which have other meanings here: after fail_start that becomes EXIT_BROKEN. */
void fail_start(void);
noreturn void leave(int exit_code);
/* Returns the exit code for the parent process: EXIT_WRONG_ON_RANKS in place of EXIT_WRONG_RESULT if a launcher started
 * this process, else `exit_code`. */
int exit_code_told(int exit_code);
/* Returns whether the command is ending with a failure whose line was printed. */
bool fail_is_told(void);

/* fail() with a problem's exit code and text; must_do: unless `done`. */
noreturn void fail_problem(const problem *why);
void must_do(bool done, const problem *why);

/* The exit code for a status of the library: 0 for FL_OK. */
int exit_code_of(fl_status status);

/* Unless `status` is FL_OK: fails with fl_last_error() and the status's exit code. */
void must(fl_status status);
/* Like must(), with a message of the caller's in place of fl_last_error(). */
void must_say(fl_status status, const char *message);

/* From now on an error of the device is one of the user's code, the `what`: must() and must_say() end with exit code 1.
 */
void fail_blame(const char *what);

/* Prints "flynn convolve: <message>" unless --quiet. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the line of fail() without exiting. */
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
