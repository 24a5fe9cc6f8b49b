/* SPDX-License-Identifier: MIT */
#include "source_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 100, ELLIPSIS = 3 };

/* Cuts a text there, or before the character of UTF-8 that this would cut, and marks it. */
static void end_at_character(char *text, size_t length)
{
    while (length > 0 && (text[length] & 0xc0) == 0x80)
        length--;
    strcpy(text + length, "...");
}

fl_status core_source_fail(core_text_error *error, int line, int column, const char *format, ...)
{
    va_list arguments;
    int length;

    error->line = line;
    error->column = column;
    va_start(arguments, format);
    length = vsnprintf(error->what, sizeof error->what, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof error->what)
        end_at_character(error->what, sizeof error->what - ELLIPSIS - 1);
    for (char *c = error->what; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return FL_E_SOURCE;
}

/* ------------------------------------------------------------------------------------------------- caret ---- */

/* The bytes of the character of UTF-8 that starts here; 0: none does. */
static int character_length(const char *at, const char *end)
{
    const unsigned char first = (unsigned char)*at;
    const int length = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;

    if (first >= 0xf5 || length > end - at)
        return 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return first == 0xc2 && (unsigned char)at[1] < 0xa0 ? 0 : length; /* control characters, too */
}

static const char *next_character(const char *at, const char *end)
{
    const int length = character_length(at, end);
    return at + (length > 0 ? length : 1);
}

typedef struct writer {
    char *at, *end; /* the last byte is the final '\0''s */
} writer;

static void put(writer *w, const char *bytes, size_t length)
{
    if (length <= (size_t)(w->end - w->at)) {
        memcpy(w->at, bytes, length);
        w->at += length;
    } else {
        w->end = w->at; /* what follows would stand in another place */
    }
}

static void put_character(writer *w, const char *at, const char *end)
{
    const int length = character_length(at, end);

    if (length == 0 || (*at != '\t' && (unsigned char)*at < ' ') || *at == 0x7f)
        put(w, "?", 1);
    else
        put(w, at, (size_t)length);
}

void core_caret(const char *text, int line, int column, char *out, size_t size)
{
    const char *begin = text, *end, *from, *last;
    int before = 0, count = 0, left = 0, shown = 0;

    if (size == 0)
        return;
    *out = '\0';
    for (int i = 1; i < line && begin; i++)
        begin = (begin = strchr(begin, '\n')) ? begin + 1 : NULL;
    if (!begin || line < 1 || column < 1)
        return;
    end = begin + strcspn(begin, "\n");
    if (end > begin && end[-1] == '\r')
        end--;
    for (const char *at = begin; at < end; at = next_character(at, end), count++)
        before += next_character(at, end) - begin < column; /* characters that end before the column */
    if (count > WIDTH) {
        left = before - WIDTH / 2;
        left = left < 0 ? 0 : left > count - WIDTH ? count - WIDTH : left;
    }
    from = begin;
    for (int i = 0; i < left; i++)
        from = next_character(from, end);

    writer w = {out, out + size - 1};
    if (left > 0)
        put(&w, "...", ELLIPSIS);
    for (last = from; last < end && shown < WIDTH; shown++) {
        put_character(&w, last, end);
        last = next_character(last, end);
    }
    if (last < end)
        put(&w, "...", ELLIPSIS);
    put(&w, "\n", 1);
    if (left > 0)
        put(&w, "   ", ELLIPSIS);
    for (int i = left; i < before; i++) {
        put(&w, from < end && *from == '\t' ? "\t" : " ", 1);
        from = from < end ? next_character(from, end) : from;
    }
    put(&w, "^", 1);
    *w.at = '\0';
}
