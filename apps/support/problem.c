/* SPDX-License-Identifier: MIT */
#include "problem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

bool problem_set(problem *why, int exit_code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    make_one_line(why->text);
    why->exit_code = exit_code;
    return false;
}

void make_one_line(char *text)
{
    for (; *text != '\0'; text++)
        if (iscntrl((unsigned char)*text))
            *text = '?';
}

bool problem_no_memory(problem *why, const char *what, double bytes)
{
    if (bytes == 0)
        return problem_set(why, EXIT_BROKEN, "%s: out of memory", what);
    return problem_set(why, EXIT_BROKEN, "%s: out of memory; %.3g MB are needed", what, bytes / 1e6);
}
