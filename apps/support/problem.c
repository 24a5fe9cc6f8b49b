/* SPDX-License-Identifier: MIT */
#include "problem.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>

bool problem_set(problem *why, int exit_code, const char *format, ...)
{
    char text[sizeof why->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_show(why->text, sizeof why->text, text);
    why->exit_code = exit_code;
    return false;
}

bool problem_no_memory(problem *why, const char *what, double bytes)
{
    if (bytes == 0)
        return problem_set(why, EXIT_BROKEN, "%s: out of memory", what);
    return problem_set(why, EXIT_BROKEN, "%s: out of memory; %.3g MB are needed", what, bytes / 1e6);
}
