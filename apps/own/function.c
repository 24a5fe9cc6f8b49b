/* SPDX-License-Identifier: MIT */
#include "function.h"

#include "files/file_bytes.h"
#include "files/files.h"
#include "files/output.h"
#include "run/inputs.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/text.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *user_text_read(const char *path, const char *what)
{
    file_bytes bytes;
    problem why;
    char *text;

    must_do(file_bytes_read(path, what, &bytes, &why), &why);
    if (memchr(bytes.data, '\0', bytes.size))
        fail(EXIT_BAD_INPUT, "%s: is not a text: it has a zero byte", path);
    group_same_file(path, bytes.data, bytes.size);
    text = memory_zeroed(bytes.size + 1, 1);
    memcpy(text, bytes.data, bytes.size);
    file_bytes_free(&bytes);
    return text;
}

user_function user_function_of(const char *word)
{
    user_function f = {.shown_as = word, .is_expression = !file_ends_in(word, ".c")};

    f.text = f.is_expression ? memory_text(word) : user_text_read(word, "a text in C");
    f.shown_as = f.is_expression ? "FUNCTION" : word;
    return f;
}

void user_text_refused(const char *message, const char *log)
{
    bool prints = fail_begin(EXIT_BAD_INPUT, "%s", message);

    for (const char *line = log; prints && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char text[USER_LOG];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        for (char *tab = text; (tab = strchr(tab, '\t')) != NULL;)
            *tab = ' '; /* in both lines, so that the caret stays below its place */
        fputs("    ", stderr);
        text_write(stderr, text);
        fputc('\n', stderr);
    }
    leave(EXIT_BAD_INPUT);
}

void user_text_must(fl_status status, const char *log)
{
    if (status == FL_E_SOURCE)
        user_text_refused(fl_last_error(), log);
    must(status);
}

fl_function_info user_function_read(const user_function *f)
{
    fl_function_info info;
    char log[USER_LOG];

    user_text_must(fl_function_read(f->text, f->shown_as, f->is_expression ? f->inputs : NULL,
                                    f->is_expression ? f->count : 0, log, sizeof log, &info),
                   log);
    return info;
}

void user_function_count_inputs(user_function *f, int most)
{
    fl_function_info info;

    for (f->count = 1; f->count < most; f->count++)
        if (fl_function_read(f->text, f->shown_as, f->inputs, f->count, NULL, 0, &info) == FL_OK)
            return;
    user_function_read(f);
}

bool user_expression_reads(const char *text)
{
    for (size_t length; *text; text += length ? length : 1) {
        length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
        if (length == 1 && strchr("xyzw", *text))
            return true;
    }
    return false;
}

void user_compiled(const char *shown_as)
{
    static bool told;
    char folder[1];
    int64_t entries, bytes;
    const char *kept = getenv("FLYNN_CACHE");

    progress("%s: running", shown_as);
    if (!told && !(kept && strcmp(kept, "off") == 0) &&
        fl_cache_describe(folder, sizeof folder, &entries, &bytes) != FL_OK)
        note("%s", fl_last_error());
    told = true;
}

fl_status user_function_on(user_function *f, fl_device *device, fl_function **function)
{
    fl_status status;
    char log[USER_LOG];
    int i = 0;

    while (i < MOST_FUNCTION_DEVICES - 1 && f->compiled[i].device && f->compiled[i].device != device)
        i++;
    if (f->compiled[i].device != device) {
        fl_function_free(f->compiled[i].function);
        f->compiled[i].device = NULL;
        progress("%s: compiling", f->shown_as);
        status = fl_function_create(device, f->text, f->shown_as, f->is_expression ? f->inputs : NULL,
                                    f->is_expression ? f->count : 0, log, sizeof log, &f->compiled[i].function);
        if (status == FL_E_SOURCE)
            user_text_must(status, log);
        if (status != FL_OK)
            return status;
        user_compiled(f->shown_as);
        f->compiled[i].device = device;
    }
    *function = f->compiled[i].function;
    return FL_OK;
}

void user_function_free(user_function *f)
{
    for (int i = 0; i < MOST_FUNCTION_DEVICES; i++)
        fl_function_free(f->compiled[i].function);
    free(f->text);
    *f = (user_function){0};
}

reference_bound user_bound(double relative, double absolute, fl_dtype result, const host_array *expected)
{
    const bool narrow = result == FL_F32;
    double largest = 0;

    if (!fl_dtype_is_float(result))
        return (reference_bound){0};
    for (int64_t i = 0, n = absolute < 0 ? host_array_size(expected) : 0; i < n; i++) {
        const double value = fabs(host_array_get(expected, i));
        largest = isfinite(value) && value > largest ? value : largest;
    }
    largest = group_most(largest);
    return (reference_bound){.relative = relative >= 0 ? relative
                                         : narrow      ? 1e-5
                                                       : 1e-12,
                             .absolute = absolute >= 0 ? absolute : (narrow ? 1e-6 : 1e-14) * largest};
}

/* ------------------------------------------------------------------------------------------------ faults ---- */

static const struct {
    int signal;
    const char *what;
} faults[] = {
    {SIGFPE, "divides an integer by zero, or the smallest one by -1"},
    {SIGILL, "divides by zero, or runs into what never returns"},
    {SIGSEGV, "reads or writes memory that is not its own, or calls itself too often"},
    {SIGBUS, "reads or writes memory that is not its own"},
    {SIGABRT, "ends by abort (its stack or its memory is damaged?)"},
};

static volatile sig_atomic_t inside;
static const char *of = "function";

/* A signal handler may call little: write, and what removes unfinished files. */
static void on_fault(int number)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *parts[] = {fail_command(), ": the ", of, " ", "", "\n"};

    while (inside && atomic_flag_test_and_set(&told)) /* another thread's fault ends the process */
        pause();
    if (!inside) { /* an error of this program */
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].signal == number)
            parts[4] = faults[i].what;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            break;
    output_end(EXIT_WRONG_RESULT);
}

/* Called once: a timed call does no work for it. */
static void catch_faults(void)
{
    static char stack[64 << 10]; /* for a function that has used up its own */
    static bool done;
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};

    if (done)
        return;
    done = true;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i].signal, &action, NULL);
}

void user_function_enter(const char *what, bool shown)
{
    of = what;
    fail_blame(what);
    catch_faults();
    output_hold_stdout(shown);
    inside = 1;
}

fl_status user_function_leave(fl_status status)
{
    inside = 0;
    if (status != FL_OK)
        fflush(stdout); /* before the error is printed */
    return status;
}
