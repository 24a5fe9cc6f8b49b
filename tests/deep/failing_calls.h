/* SPDX-License-Identifier: MIT
 *
 * failing_calls.h - makes the N-th allocation of a process and of its children fail. Linked into a program, or
 * preloaded into one (LD_PRELOAD), where the environment arms it.
 */
#ifndef FLYNN_TESTS_FAILING_CALLS_H
#define FLYNN_TESTS_FAILING_CALLS_H

#include <stdatomic.h>

enum { FAILING_STACKS = 1 << 16, FAILING_PROCESSES = 64 };

/* In a file that the driver, the process and its children share. every_failure.py reads it by these offsets. */
typedef struct failing_state {
    atomic_llong calls;   /* allocations since it was armed */
    atomic_llong fail_at; /* the call of this number fails, from 1; 0: none */
    atomic_llong failed;  /* calls that failed */
    atomic_llong record;  /* not 0: `stacks` is filled */
    char stack[3808];     /* of the first one that failed, else of abort(): "object+offset symbol", a line each */
    atomic_int started[FAILING_PROCESSES]; /* how many processes are about to call main, and their ids */
    unsigned stacks[FAILING_STACKS];       /* a hash of each call's stack: calls with equal ones are alike */
} failing_state;

/* In the linked program: the n-th allocation from now on fails; 0: none. */
void failing_arm(long long n);
/* Whether one failed since then; none fails any more. */
int failing_disarm(void);
/* Allocations by the libraries with `object` in their path do not count; NULL: all count. */
void failing_spare(const char *object);
/* The blocks that are allocated now: to find leaks. */
long long failing_live(void);

#endif
