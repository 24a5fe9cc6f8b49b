/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Bytes of the UTF-8 letter at the start of the text; 0 for a byte that is not UTF-8. */
static int letter(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    const int bytes = *c == 0 ? 0 : *c < 0x80 ? 1 : *c < 0xC2 ? 0 : *c < 0xE0 ? 2 : *c < 0xF0 ? 3 : *c < 0xF5 ? 4 : 0;

    for (int i = 1; i < bytes; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    /* Longer than need be, surrogates, and beyond U+10FFFF. */
    if ((*c == 0xE0 && c[1] < 0xA0) || (*c == 0xED && c[1] > 0x9F) || (*c == 0xF0 && c[1] < 0x90) ||
        (*c == 0xF4 && c[1] > 0x8F))
        return 0;
    return bytes;
}

static bool is_control(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    return *c < ' ' || *c == 0x7F || (*c == 0xC2 && c[1] < 0xA0);
}

int text_next(const char **text, char *shown)
{
    const int bytes = letter(*text), step = bytes > 0 ? bytes : 1;
    const char *at = *text;

    *text += step;
    if (bytes == 2 && is_control(at))
        return sprintf(shown, "\\u%04x", (unsigned char)at[1]);
    if (bytes == 0 || is_control(at))
        return *at == '\n' ? sprintf(shown, "\\n") : sprintf(shown, "\\x%02x", (unsigned char)*at);
    memcpy(shown, at, (size_t)bytes);
    return bytes;
}

void text_show(char *shown, size_t size, const char *text)
{
    size_t used = 0, bytes;
    char one[LONGEST_SHOWN];

    while (*text != '\0' && used + (bytes = (size_t)text_next(&text, one)) < size) {
        memcpy(shown + used, one, bytes);
        used += bytes;
    }
    shown[used] = '\0';
}

void text_write(FILE *stream, const char *text)
{
    char one[LONGEST_SHOWN];

    while (*text != '\0')
        fwrite(one, 1, (size_t)text_next(&text, one), stream);
}

int text_width(FILE *stream)
{
    const char *named = getenv("COLUMNS");
    struct winsize size;

    if (named && atoi(named) > 0)
        return atoi(named);
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void text_error_wrapped(const char *text, int used)
{
    const int width = text_width(stderr), indent = 4;

    for (int word; *text; text += word) {
        const int spaces = (int)strspn(text, " ");
        word = spaces + (int)strcspn(text + spaces, " ");
        if (used > indent && used + word > width) {
            fprintf(stderr, "\n%*s", indent, "");
            used = indent;
            text += spaces;
            word -= spaces;
        }
        used += fprintf(stderr, "%.*s", word, text);
    }
}

bool text_has_colour(FILE *stream)
{
    const char *forbidden = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(fileno(stream)) && !(forbidden && *forbidden) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *text_after(const char *text, char mark)
{
    const char *const at = strchr(text, mark);

    return at ? at + 1 : NULL;
}
