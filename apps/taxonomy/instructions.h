/* SPDX-License-Identifier: MIT
 *
 * instructions.h - how many instructions this process retires: the processor's own counter, by Linux's perf_event_open.
 */
#pragma once

#include <stdint.h>

/* A counter of the instructions in user space of this thread and of all threads that are started after it is opened. */
typedef struct instruction_counter {
    int file;           /* -1: there is none */
    char reason[192];   /* why there is none; else "" */
    uint64_t before[3]; /* what it showed at the start */
} instruction_counter;

instruction_counter instructions_open(void);
void instructions_close(instruction_counter *counter);

/* Counts from here on. Does nothing without a counter. */
void instructions_start(instruction_counter *counter);
/* Instructions since then; -1 where they could not be counted. */
int64_t instructions_stop(instruction_counter *counter);
