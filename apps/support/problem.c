/* SPDX-License-Identifier: MIT */
#include "problem.h"

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int exit_code_of_errno(int error)
{
    static const int machine[] = {ENOMEM, EAGAIN, EIO,   EMFILE, ENFILE, ENOSPC, EDQUOT,
                                  EFBIG,  EROFS,  EINTR, EBUSY,  ENXIO,  ENODEV, ESTALE};

    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        if (error == machine[i])
            return EXIT_BROKEN;
    return EXIT_BAD_INPUT;
}

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

amount_text format_amount(double bytes)
{
    static const struct {
        double by;
        const char *unit;
    } units[] = {{1e18, "EB"}, {1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
    amount_text out;
    int u = 0;

    while (units[u].by > 1 && bytes < 0.9995 * units[u].by)
        u++;
    snprintf(out.text, sizeof out.text, "%.3g %s", bytes / units[u].by, units[u].unit);
    return out;
}

bool problem_no_memory(problem *why, const char *what, double bytes)
{
    if (bytes == 0)
        return problem_set(why, EXIT_BROKEN, "%s: out of memory", what);
    return problem_set(why, EXIT_BROKEN, "%s: out of memory; %s are needed", what, format_amount(bytes).text);
}
