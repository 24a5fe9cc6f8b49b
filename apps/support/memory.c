/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "fail.h"

#include <stdlib.h>
#include <string.h>

static void *checked(void *memory, size_t count, size_t size)
{
    if (!memory)
        fail(EXIT_BROKEN, "out of host memory for %.0f bytes", (double)count * (double)size);
    return memory;
}

void *memory_zeroed(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1), count, size);
}

void *memory_regrown(void *memory, size_t count, size_t size)
{
    return checked(reallocarray(memory, count ? count : 1, size ? size : 1), count, size);
}

/* Where a stream to memory writes. */
typedef struct growing {
    char *held, **text; /* the text, and where its address is stored */
    size_t *size, room;
    size_t lacked; /* bytes that there was no memory for */
} growing;

static ssize_t append(void *cookie, const char *part, size_t bytes)
{
    growing *g = cookie;
    const size_t size = *g->size;

    if (g->room - size <= bytes) {
        const size_t room = 2 * (size + bytes + 1);
        char *held = realloc(g->held, room);

        if (!held) { /* reported by end_stream: exit would write to the stream once more */
            g->lacked = room;
            return 0;
        }
        *g->text = g->held = held;
        g->room = room;
    }
    memcpy(g->held + size, part, bytes);
    g->held[size + bytes] = '\0';
    *g->size = size + bytes;
    return (ssize_t)bytes;
}

static int end_stream(void *cookie)
{
    growing *g = cookie;
    size_t lacked;

    append(g, "", 0);
    lacked = g->lacked;
    free(g);
    if (lacked)
        checked(NULL, lacked, 1);
    return 0;
}

FILE *memory_stream(char **text, size_t *size)
{
    growing *g = memory_zeroed(1, sizeof *g);

    *text = NULL;
    *size = 0;
    *g = (growing){.text = text, .size = size};
    return checked(fopencookie(g, "w", (cookie_io_functions_t){.write = append, .close = end_stream}), 1, sizeof(FILE));
}

char *memory_text(const char *text)
{
    return checked(strdup(text), 1, strlen(text) + 1);
}

char *memory_vprint(const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0)
        fail(EXIT_BROKEN, "out of host memory for a text");
    return text;
}

char *memory_print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = memory_vprint(format, arguments);
    va_end(arguments);
    return text;
}

/* Smaller data are not compared with what is free: finding that out takes longer than reading them. */
static const double small_bytes = 64 << 20;
static int64_t limit;

void memory_limit(int64_t bytes)
{
    limit = bytes;
}

bool memory_allows(const char *what, double bytes, problem *why)
{
    const double most = limit > 0 ? (double)limit : bytes > small_bytes ? (double)memory_free() : 0;

    if (most == 0 || bytes <= most)
        return true;
    if (limit > 0)
        return problem_set(why, EXIT_BROKEN, "%s: its data need %s; the limit is %s (--max-memory)", what,
                           format_amount(bytes).text, format_amount(most).text);
    return problem_set(why, EXIT_BROKEN, "%s: its data need %s, and %s are free; --max-memory=SIZE sets another limit",
                       what, format_amount(bytes).text, format_amount(most).text);
}
