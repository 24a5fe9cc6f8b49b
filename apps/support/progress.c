/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* Return to the first column and clear the line. */
#define ERASE_LINE "\r\033[K"

static bool be_quiet;
static atomic_bool is_shown;

void progress_set_quiet(bool quiet)
{
    be_quiet = quiet;
}

void progress(const char *format, ...)
{
    char text[80], line[sizeof text];
    va_list arguments;

    if (be_quiet || !isatty(STDERR_FILENO))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_show(line, sizeof line, text);
    atomic_store(&is_shown, true);
    fprintf(stderr, ERASE_LINE "%s ...", line);
}

void progress_end(void)
{
    if (atomic_exchange(&is_shown, false))
        fputs(ERASE_LINE, stderr);
}
