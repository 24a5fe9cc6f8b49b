/* SPDX-License-Identifier: MIT */
#include "print.h"

#include "memory.h"
#include "text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes words, and starts a new line before one that would reach beyond column `width`. */
static void write_wrapped(const char *text, bool ends, int width)
{
    static int at; /* the column that the present line has reached */
    const int indent = 4;

    while (*text) {
        const int spaces = (int)strspn(text, " "), word = (int)strcspn(text + spaces, " ");
        if (at > indent && at + spaces + word > width) {
            printf("\n%*s", indent, "");
            at = indent;
        } else {
            printf("%*s", spaces, "");
            at += spaces;
        }
        char *one = memory_print("%.*s", word, text + spaces);
        text_write(stdout, one);
        free(one);
        at += word;
        text += spaces + word;
    }
    if (ends) {
        fputc('\n', stdout);
        at = 0;
    }
}

static void print_text(int width, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
static void print_text(int width, const char *format, va_list arguments)
{
    const size_t length = strlen(format);
    const bool ends = length > 0 && format[length - 1] == '\n';
    char *text = memory_vprint(format, arguments);

    if (ends)
        text[strlen(text) - 1] = '\0';
    write_wrapped(text, ends, width);
    free(text);
}

void text_print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_text(text_width(stdout), format, arguments);
    va_end(arguments);
}

void text_print_whole(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_text(INT_MAX, format, arguments);
    va_end(arguments);
}
