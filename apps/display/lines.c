/* SPDX-License-Identifier: MIT
 *
 * Lines that fit a width.
 */
#include "lines.h"

#include "support/memory.h"
#include "support/text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { HANGING = 2 };

int lines_width(void)
{
    const int width = text_width(stdout);

    return width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

bool lines_are_utf8(void)
{
    const locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool is;

    if (user == (locale_t)0)
        return false;
    is = strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
    freelocale(user);
    return is;
}

/* Columns of what text_next wrote: its letters, not their bytes. */
static int columns_of(const char *shown, int bytes)
{
    int columns = 0;

    for (int i = 0; i < bytes; i++)
        columns += ((unsigned char)shown[i] & 0xC0) != 0x80;
    return columns;
}

int lines_length(const char *text)
{
    char shown[LONGEST_SHOWN];
    int length = 0;

    while (*text) {
        const int bytes = text_next(&text, shown);
        length += columns_of(shown, bytes);
    }
    return length;
}

/* Prints a word of `bytes` bytes from column *at on, and goes to new lines within it if no line holds it. */
static void print_word(FILE *stream, int width, int indent, const char *word, size_t bytes, int *at)
{
    const char *const end = word + bytes;
    char shown[LONGEST_SHOWN];

    while (word < end) {
        const int length = text_next(&word, shown), columns = columns_of(shown, length);
        if (*at + columns > width && *at > indent) {
            fprintf(stream, "\n%*s", indent, "");
            *at = indent;
        }
        fwrite(shown, 1, (size_t)length, stream);
        *at += columns;
    }
}

void lines_print(FILE *stream, int width, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *const text = memory_vprint(format, arguments);
    va_end(arguments);
    const int indent = (int)strspn(text, " ") + HANGING;
    int at = 0;
    for (const char *word = text; *word;) {
        const size_t blanks = strspn(word, " "), bytes = strcspn(word + blanks, " ");
        char *one = memory_print("%.*s", (int)bytes, word + blanks);
        const int columns = lines_length(one);
        if (at > indent && at + (int)blanks + columns > width && columns <= width - indent) {
            fprintf(stream, "\n%*s", indent, "");
            at = indent;
        } else {
            fprintf(stream, "%*s", (int)blanks, "");
            at += (int)blanks;
        }
        print_word(stream, width, indent, one, bytes, &at);
        free(one);
        word += blanks + bytes;
    }
    fputc('\n', stream);
    free(text);
}
