/* SPDX-License-Identifier: MIT */
#include "print.h"

#include "memory.h"
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes words, and starts a new line before one that would reach over the edge. */
static void write_wrapped(const char *text, bool ends)
{
    static int at; /* the column that the present line has reached */
    const int width = text_width(stdout), indent = 4;

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

void text_print(const char *format, ...)
{
    const size_t length = strlen(format);
    const bool ends = length > 0 && format[length - 1] == '\n';
    va_list arguments;

    va_start(arguments, format);
    char *text = memory_vprint(format, arguments);
    va_end(arguments);
    if (ends)
        text[strlen(text) - 1] = '\0';
    write_wrapped(text, ends);
    free(text);
}
