/* SPDX-License-Identifier: MIT
 *
 *     test_<name> [WORDS...]    runs the tests that have one of the words in "suite/name"; a word that begins with a
 *                               minus leaves out those that have the rest of it
 */
#include <criterion/criterion.h>

#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77 };

static plain_test *tests;
static int failures;

void plain_add(plain_test *test)
{
    test->next = tests;
    tests = test;
}

void plain_fail(bool end, const char *file, int line, const char *condition, ...)
{
    va_list arguments;

    failures++;
    fprintf(stderr, "%s:%d: not so: %s", file, line, condition);
    va_start(arguments, condition);
    const char *format = va_arg(arguments, const char *);
    fprintf(stderr, *format ? ": " : "");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    if (end)
        _exit(1);
}

void plain_skip(const char *why, ...)
{
    va_list arguments;

    va_start(arguments, why);
    vfprintf(stderr, why, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    _exit(failures ? 1 : SKIPPED);
}

static const plain_options *options_of_suite(const char *suite)
{
    static const plain_options none;

    for (const plain_test *t = tests; t; t = t->next)
        if (!t->name && strcmp(t->suite, suite) == 0)
            return &t->options;
    return &none;
}

static bool is_asked_for(const plain_test *test, char **words)
{
    char name[256];
    bool asked = false, any = false;

    snprintf(name, sizeof name, "%s/%s", test->suite, test->name);
    for (; *words; words++) {
        if (**words == '-' && strstr(name, *words + 1))
            return false;
        any = any || **words != '-';
        asked = asked || strstr(name, *words);
    }
    return asked || !any;
}

static void run(const plain_test *test)
{
    const plain_options *suite = options_of_suite(test->suite);
    void (*const init)(void) = test->options.init ? test->options.init : suite->init;
    void (*const fini)(void) = test->options.fini ? test->options.fini : suite->fini;

    alarm(test->options.timeout > 0 ? (unsigned)test->options.timeout : 300);
    if (init)
        init();
    test->run();
    if (fini)
        fini();
    exit(failures ? 1 : 0); /* after which a sanitizer may set another code */
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0, skipped = 0;

    (void)argc;
    for (const plain_test *t = tests; t; t = t->next) {
        int status = 0;
        if (!t->name || !is_asked_for(t, argv + 1))
            continue;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            run(t);
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 2;
        const bool passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        count++;
        skipped += WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
        if (!passed && !(WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)) {
            failed++;
            fprintf(stderr, "%s/%s failed (%s %d)\n", t->suite, t->name, WIFEXITED(status) ? "exit code" : "signal",
                    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        }
    }
    printf("%d tests, %d failed, %d skipped\n", count, failed, skipped);
    return count == 0 || failed > 0;
}
