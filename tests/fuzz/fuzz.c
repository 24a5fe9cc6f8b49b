/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include "support/problem.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int printed = -1;             /* where stderr goes: a file in memory */
static FILE *messages;               /* the program's stderr */
static jmp_buf leave;                /* where fuzz_call goes on */
static volatile bool inside = false; /* the function that fuzz_call calls */
static volatile bool fresh = false;  /* it has not yet asked for a tree */

static void fail_here(const char *what)
{
    perror(what);
    _exit(1);
}

static int memory_file(const char *name)
{
    int file = memfd_create(name, 0);

    if (file < 0)
        fail_here("fuzz: memfd_create");
    return file;
}

void fuzz_demand(bool condition, const char *format, ...)
{
    va_list arguments;

    if (condition)
        return;
    va_start(arguments, format);
    vfprintf(messages ? messages : stderr, format, arguments);
    va_end(arguments);
    fputc('\n', messages ? messages : stderr);
    fflush(messages);
    abort();
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int file = -1;

    if (file < 0) {
        file = memory_file("fuzz");
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        fail_here("fuzz: the input's file");
    return path;
}

void fuzz_demand_problem(const problem *why, const char *path)
{
    fuzz_demand(why->exit_code == EXIT_BAD_INPUT || why->exit_code == EXIT_BROKEN, "a problem has exit code %d: %s",
                why->exit_code, why->text);
    fuzz_demand(strncmp(why->text, path, strlen(path)) == 0, "a problem does not name the file: %s", why->text);
    fuzz_demand(strchr(why->text, '\n') == NULL, "a problem is not one line: %s", why->text);
}

/* ------------------------------------------------------------------------------------------- memory held ---- */

/* What was allocated since fuzz_call began and is not freed: a command that ends leaves it, which is right for a
 * program and would fill the memory of one that goes on. Only a sanitizer's runtime reports it. */
enum { SLOTS = 1 << 14 };
static const volatile void *held[SLOTS];

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *)) __attribute__((weak));

static size_t slot_of(const volatile void *memory)
{
    size_t slot = (uintptr_t)memory / 16 * 0x9e3779b97f4a7c15 >> 50;

    for (int tries = 0; tries < 64 && held[slot] != memory && held[slot] != NULL; tries++)
        slot = (slot + 1) % SLOTS;
    return slot;
}

static void on_malloc(const volatile void *memory, size_t size)
{
    (void)size;
    if (inside && memory)
        held[slot_of(memory)] = memory;
}

static void on_free(const volatile void *memory)
{
    const size_t slot = slot_of(memory);

    if (inside && memory && held[slot] == memory)
        held[slot] = &held; /* not NULL, after which others may follow */
}

static void free_held(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (held[i] && held[i] != &held)
            free((void *)held[i]);
        held[i] = NULL;
    }
}

/* --------------------------------------------------------------------------------------------- the call ---- */

/* Before the first call, not in LLVMFuzzerInitialize: after that libFuzzer keeps a stderr for itself. */
static void take_stderr(void)
{
    int nowhere = open("/dev/null", O_WRONLY), kept = dup(STDERR_FILENO);

    printed = memory_file("stderr");
    messages = kept >= 0 ? fdopen(kept, "w") : NULL;
    if (!messages || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(printed, STDERR_FILENO) < 0)
        fail_here("fuzz: stderr");
    printf("\n");                  /* its buffer is made before the first call */
    setenv("COLUMNS", "10000", 1); /* no line ends within a message */
    if (__sanitizer_install_malloc_and_free_hooks)
        __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
}

void __real_exit(int code);
void __wrap_exit(int code);

void __wrap_exit(int code)
{
    if (inside)
        fuzz_leave(code);
    __real_exit(code);
}

/* The tree of the files that a command uses (support/paths.c) begins empty in each. */
void *__real_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));

void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
    if (fresh)
        *root = NULL;
    fresh = false;
    return __real_tsearch(key, root, compare);
}

_Noreturn void fuzz_leave(int code)
{
    longjmp(leave, code + 1);
}

static void demand_one_line(int code)
{
    char text[8192];
    const ssize_t length = pread(printed, text, sizeof text - 1, 0);
    const char *line = text;

    text[length > 0 ? length : 0] = '\0';
    if (code == EXIT_DONE || code == EXIT_WRONG_RESULT)
        return;
    fuzz_demand(code >= EXIT_DONE && code <= EXIT_BROKEN, "the exit code is %d: %s", code, text);
    fuzz_demand(strncmp(text, "flynn", 5) == 0, "exit code %d, and not a line of flynn: %s", code, text);
    line += strcspn(line, "\n");
    fuzz_demand(line[0] == '\n' && line[1] == '\0', "exit code %d, and not one line: %s", code, text);
    for (const char *c = text; c < line; c++)
        fuzz_demand((unsigned char)*c >= ' ' && *c != 0x7f, "a control character in: %s", text);
}

int fuzz_call(int (*function)(void *argument), void *argument)
{
    volatile int code;

    if (printed < 0)
        take_stderr();
    if (ftruncate(printed, 0) != 0 || lseek(printed, 0, SEEK_SET) != 0)
        fail_here("fuzz: stderr");
    code = setjmp(leave);
    if (code == 0) {
        inside = fresh = true;
        code = function(argument);
    } else {
        code--;
    }
    inside = false;
    fflush(stdout);
    free_held();
    demand_one_line(code);
    return code;
}
