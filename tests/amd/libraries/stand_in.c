/* SPDX-License-Identifier: MIT */
#include "stand_in.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef STAND_IN_NAME
#error the build names the library
#endif

static int alive;

static void append(const char *function, const char *format, va_list arguments)
{
    const char *path = getenv("AMD_LIBRARIES_RECORD");
    FILE *file = path ? fopen(path, "a") : NULL;
    char words[400];

    if (!file)
        return;
    vsnprintf(words, sizeof words, format, arguments);
    fprintf(file, "%s%s%s\n", function, *words ? " " : "", words); /* one write: other libraries append, too */
    fclose(file);
}

int stand_in_call(const char *function, const char *format, ...)
{
    const char *failing = getenv("AMD_LIBRARIES_FAIL");
    size_t length = strlen(function);
    va_list arguments;

    va_start(arguments, format);
    append(function, format, arguments);
    va_end(arguments);
    return failing && strncmp(failing, function, length) == 0 && failing[length] == '=' ? atoi(failing + length + 1)
                                                                                        : 0;
}

bool stand_in_skews(const char *function)
{
    const char *skewed = getenv("AMD_LIBRARIES_SKEW");

    return skewed && strstr(skewed, function);
}

void stand_in_mistake(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs(STAND_IN_NAME "'s stand-in: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

void stand_in_on_device(const char *what, const void *memory, size_t bytes)
{
    hipDeviceptr_t base;
    size_t size;

    if (hipMemGetAddressRange(&base, &size, (hipDeviceptr_t)memory) != hipSuccess ||
        (size_t)((const char *)memory - (const char *)base) + bytes > size)
        stand_in_mistake("%s: %zu bytes at %p are not all in one allocation of the device", what, bytes, memory);
}

size_t stand_in_extent(long long rows, long long columns, long long distance, long long step, long long batch,
                       size_t element)
{
    if (rows == 0 || columns == 0 || batch == 0)
        return 0;
    return (size_t)((batch - 1) * step + (columns - 1) * distance + rows) * element;
}

void stand_in_alive(int change)
{
    alive += change;
}

struct ticket {
    struct stand_in_owner *owner;
    unsigned long number;
    void (*work)(void *data);
    void *data;
};

static void run(hipStream_t stream, hipError_t status, void *data)
{
    struct ticket *t = data;

    (void)stream;
    (void)status;
    if (t->number != t->owner->ran)
        stand_in_mistake("a call runs before another one, which uses the same work memory, has ended");
    t->work(t->data);
    t->owner->ran++;
    free(t);
}

bool stand_in_queue(struct stand_in_owner *owner, void (*work)(void *data), void *data)
{
    struct ticket t = {owner, owner->queued, work, data}, *queued = stand_in_copy(&t, sizeof t);

    owner->queued++;
    if (hipStreamAddCallback(owner->stream, run, queued, 0) == hipSuccess)
        return true;
    owner->queued--;
    free(queued);
    free(data);
    return false;
}

void *stand_in_copy(const void *data, size_t bytes)
{
    void *copy = malloc(bytes);

    if (!copy)
        stand_in_mistake("out of memory");
    return memcpy(copy, data, bytes);
}

static void __attribute__((destructor)) end(void)
{
    stand_in_call(STAND_IN_NAME, "alive=%d", alive);
}
