/* SPDX-License-Identifier: MIT
 *
 * The part of Criterion that most tests use, for builds in which Criterion does not start: it maps memory where
 * ThreadSanitizer keeps its own, and starts programs again, which qemu-user cannot. Each test is a child process, as in Criterion.
 */
#ifndef FLYNN_TESTS_PLAIN_CRITERION_H
#define FLYNN_TESTS_PLAIN_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct plain_options {
    int unused; /* so that a test without options has an initializer too */
    double timeout;
    void (*init)(void), (*fini)(void);
} plain_options;

typedef struct plain_test {
    const char *suite, *name; /* name NULL: the options of the whole suite */
    void (*run)(void);
    plain_options options;
    struct plain_test *next;
} plain_test;

void plain_add(plain_test *test);
/* Counts a failure; `end`: ends the test. Prints the condition, and format and arguments if there are any. */
void plain_fail(bool end, const char *file, int line, const char *condition, ...);
void plain_skip(const char *why, ...);

#define PLAIN_ADD(id, suite, name, run, ...) \
    static plain_test id = {suite, name, run, {.unused = 0, __VA_ARGS__}, NULL}; \
    __attribute__((constructor)) static void id##_add(void) \
    { \
        plain_add(&id); \
    }

#define Test(suite, name, ...) \
    static void plain_run_##suite##_##name(void); \
    PLAIN_ADD(plain_test_##suite##_##name, #suite, #name, plain_run_##suite##_##name, __VA_ARGS__) \
    static void plain_run_##suite##_##name(void)

#define TestSuite(suite, ...) PLAIN_ADD(plain_suite_##suite, #suite, NULL, NULL, __VA_ARGS__) struct plain_test

/* The last argument ends the list where no message is given. */
#define PLAIN_CHECK(end, condition, ...) \
    ((condition) ? (void)0 : plain_fail((end), __FILE__, __LINE__, #condition, __VA_ARGS__))
#define cr_assert(...) PLAIN_CHECK(true, __VA_ARGS__, "")
#define cr_expect(...) PLAIN_CHECK(false, __VA_ARGS__, "")
#define cr_assert_eq(a, b) PLAIN_CHECK(true, (a) == (b), "")
#define cr_expect_eq(a, b) PLAIN_CHECK(false, (a) == (b), "")
#define PLAIN_EQUAL(ends, a, b, ...) PLAIN_CHECK(ends, strcmp((a), (b)) == 0, __VA_ARGS__)
#define cr_assert_str_eq(...) PLAIN_EQUAL(true, __VA_ARGS__, "")
#define cr_expect_str_eq(...) PLAIN_EQUAL(false, __VA_ARGS__, "")
#define cr_skip(...) plain_skip(__VA_ARGS__)
#define cr_skip_test(...) plain_skip(__VA_ARGS__)
#define cr_log_info(...) (void)0

#endif
