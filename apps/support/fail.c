/* SPDX-License-Identifier: MIT */
#include "fail.h"
#include "text.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *command = "flynn";
static bool be_quiet, is_part;
static bool (*share)(int exit_code, char *text, size_t size);
static int (*leave_group)(int exit_code);
static void (*before_line)(void);

void fail_set_group(bool (*shares)(int exit_code, char *text, size_t size), int (*leaves)(int exit_code))
{
    share = shares;
    leave_group = leaves;
}

void fail_before(void (*before)(void))
{
    before_line = before;
}

void fail_set_quiet_part(bool quiet)
{
    is_part = quiet;
}

void fail_set_command(const char *name)
{
    command = name;
}

const char *fail_command(void)
{
    return command;
}

void fail_set_quiet(bool quiet)
{
    be_quiet = quiet;
}

bool fail_is_quiet(void)
{
    return be_quiet || is_part;
}

static void print_text(const char *text)
{
    char line[sizeof((problem *)0)->text];

    text_show(line, sizeof line, text);
    if (before_line)
        before_line();
    const bool colour = text_has_colour(stderr);
    const int used = fprintf(stderr, "%s%s: ", colour ? "\033[33m" : "", command) - (colour ? 5 : 0);
    text_error_wrapped(line, used);
    fputs(colour ? "\033[0m\n" : "\n", stderr);
}

static void print_line(const char *format, va_list arguments)
{
    char text[sizeof((problem *)0)->text];

    vsnprintf(text, sizeof text, format, arguments);
    print_text(text);
}

/* The exit code that the command chose; -1: none yet. */
static int chosen = -1;

static void on_end(int exit_code, void *unused)
{
    (void)unused;
    if (exit_code != EXIT_DONE && exit_code != chosen)
        _exit(EXIT_BROKEN);
}

void fail_start(void)
{
    on_exit(on_end, NULL);
}

static bool told;

bool fail_is_told(void)
{
    return told;
}

int exit_code_told(int exit_code)
{
    return exit_code == EXIT_WRONG_RESULT && getenv(EXIT_VARIABLE) ? EXIT_WRONG_ON_RANKS : exit_code;
}

noreturn void leave(int exit_code)
{
    chosen = exit_code_told(leave_group ? leave_group(exit_code) : exit_code);
    exit(chosen);
}

static bool begin(int exit_code, const char *format, va_list arguments)
{
    static atomic_flag ends = ATOMIC_FLAG_INIT;
    static _Thread_local bool here;
    char text[sizeof((problem *)0)->text];
    bool prints;

    if (here) /* within exit */
        _exit(exit_code);
    here = true;
    while (atomic_flag_test_and_set(&ends)) /* another thread ends the process: a second exit would cut that short */
        pause();
    vsnprintf(text, sizeof text, format, arguments);
    prints = !share || share(exit_code, text, sizeof text);
    if (prints)
        print_text(text);
    told = true;
    return prints;
}

bool fail_begin(int exit_code, const char *format, ...)
{
    va_list arguments;
    bool prints;

    va_start(arguments, format);
    prints = begin(exit_code, format, arguments);
    va_end(arguments);
    return prints;
}

noreturn void fail(int exit_code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    begin(exit_code, format, arguments);
    va_end(arguments);
    leave(exit_code);
}

noreturn void fail_problem(const problem *why)
{
    fail(why->exit_code, "%s", why->text);
}

void must_do(bool done, const problem *why)
{
    if (!done)
        fail_problem(why);
}

int exit_code_of(fl_status status)
{
    switch (status) {
    case FL_OK: return EXIT_DONE;
    case FL_E_ARGUMENT:
    case FL_E_UNKNOWN:
    case FL_E_WRONG_DEVICE:
    case FL_E_UNSUPPORTED:
    case FL_E_LIMIT:
    case FL_E_SOURCE: return EXIT_BAD_INPUT;
    case FL_E_UNAVAILABLE: return EXIT_CANNOT_RUN;
    case FL_E_MEMORY:
    case FL_E_DEVICE: return EXIT_BROKEN;
    }
    return EXIT_BROKEN;
}

static const char *blamed;

void fail_blame(const char *what)
{
    blamed = what;
}

void must(fl_status status)
{
    must_say(status, fl_last_error());
}

void must_say(fl_status status, const char *message)
{
    const char *word = strrchr(command, ' ');
    size_t length = word ? strlen(++word) : 0;

    if (status == FL_OK)
        return;
    /* Not "flynn convolve: convolve: ...". */
    if (word && strncmp(message, word, length) == 0 && strncmp(message + length, ": ", 2) == 0)
        message += length + 2;
    if (status == FL_E_DEVICE && blamed)
        fail(EXIT_WRONG_RESULT, "the %s fails: %s", blamed, message);
    fail(exit_code_of(status), "%s", message);
}

void note(const char *format, ...)
{
    if (fail_is_quiet())
        return;
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

void print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}
