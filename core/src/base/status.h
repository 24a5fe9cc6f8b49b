/* SPDX-License-Identifier: MIT
 * How the library's own functions fail: a status to return and a message for fl_last_error. */
#ifndef FLYNN_CORE_STATUS_H
#define FLYNN_CORE_STATUS_H

#include <flynn/flynn.h>

/* Keeps the message for this thread's fl_last_error and returns `status`. */
fl_status core_fail(fl_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A call of it as an expression, so that compilers and analyzers see which status comes back. */
#define core_fail(status, ...) ((void)core_fail(status, __VA_ARGS__), (status))

/* Gives the caller the struct `from` of `own` bytes, of which the program that called knows `size`: what it does not
 * know is left out, and members that this library does not know are 0. FL_OK. */
fl_status core_give(void *to, size_t size, const void *from, size_t own);

#endif
