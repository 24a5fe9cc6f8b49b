/* SPDX-License-Identifier: MIT
 *
 * fail.c - keeps the message of a failure for fl_last_error.
 */
#include "inner.h"

#include <stdarg.h>
#include <stdio.h>

fl_status(bench_fail)(fl_status status, const char *format, ...)
{
    char message[800];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return fl_set_error(status, message);
}
