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

char *memory_text(const char *text)
{
    return checked(strdup(text), 1, strlen(text) + 1);
}
