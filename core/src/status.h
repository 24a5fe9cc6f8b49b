/* SPDX-License-Identifier: MIT
 * How the library's own functions fail: a status to return and a message for fl_last_error. */
#ifndef FLYNN_CORE_STATUS_H
#define FLYNN_CORE_STATUS_H

#include <flynn/flynn.h>

/* Keeps the message for this thread's fl_last_error and returns `status`. */
fl_status core_fail(fl_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A call of it as an expression, so that compilers and analyzers see which status comes back. */
#define core_fail(status, ...) ((void)core_fail(status, __VA_ARGS__), (status))

#endif
