/* SPDX-License-Identifier: MIT
 *
 * walk_loops.h - what the walk of walk.h does with elements.
 */
#ifndef FLYNN_CPU_WALK_LOOPS_H
#define FLYNN_CPU_WALK_LOOPS_H

#include "cpu.h"

/* The loops over the elements at these addresses, one of each operand: `row` for neighbours; `column` for elements that
 * lie step[k] apart, in elements of operand k. */
typedef struct walk_loops {
    void (*row)(char *const *at, int64_t count);
    void (*column)(char *const *at, const int64_t *step, int64_t count);
} walk_loops;

#endif
