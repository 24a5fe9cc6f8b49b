/* SPDX-License-Identifier: MIT */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];

fl_status(core_fail)(fl_status status, const char *format, ...)
{
    char text[sizeof message]; /* an argument may be the old message */
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < sizeof text && (message[i] = text[i] == '\n' ? ' ' : text[i]) != '\0'; i++)
        continue;
    return status;
}

fl_status core_give(void *to, size_t size, const void *from, size_t own)
{
    memcpy(to, from, size < own ? size : own);
    if (size > own)
        memset((char *)to + own, 0, size - own);
    return FL_OK;
}

fl_status fl_set_error(fl_status status, const char *text)
{
    return core_fail(status, "%s", text);
}

const char *fl_last_error(void)
{
    return message;
}

const char *fl_status_name(fl_status status)
{
    switch (status) {
    case FL_OK: return "FL_OK";
    case FL_E_ARGUMENT: return "FL_E_ARGUMENT";
    case FL_E_UNKNOWN: return "FL_E_UNKNOWN";
    case FL_E_WRONG_DEVICE: return "FL_E_WRONG_DEVICE";
    case FL_E_UNSUPPORTED: return "FL_E_UNSUPPORTED";
    case FL_E_UNAVAILABLE: return "FL_E_UNAVAILABLE";
    case FL_E_LIMIT: return "FL_E_LIMIT";
    case FL_E_MEMORY: return "FL_E_MEMORY";
    case FL_E_DEVICE: return "FL_E_DEVICE";
    case FL_E_SOURCE: return "FL_E_SOURCE";
    }
    return "unknown status";
}

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *fl_version(void)
{
    return VERSION_TEXT(FL_VERSION_MAJOR, FL_VERSION_MINOR, FL_VERSION_PATCH);
}
