/* SPDX-License-Identifier: MIT
 *
 * disturbance.h - whether other programs disturbed a measurement: what the kernel counts while it runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What was counted, since the system began. */
typedef struct disturbance_counts {
    double at_s;
    long switches;        /* a thread of this process had to leave its processor */
    double stolen, ticks; /* of all processors, by other virtual machines; in all */
} disturbance_counts;

disturbance_counts disturbance_count(void);

/* What happened between the two. */
typedef struct disturbance {
    double switches_per_s; /* of this process */
    double stolen;         /* part of the processors' time */
    double load;           /* threads that want to run, over all processors of the machine */
} disturbance;

disturbance disturbance_between(disturbance_counts before, disturbance_counts after);

/* Why times that spread by `spread` (of their median) cannot be trusted: "they vary by 240 %, and 1200 times a second
 * another program took the processor"; "" where they can. `kernel_s` and `total_s` are of processors, whose total
 * contains the kernel; 0 where it does not. */
void disturbance_say(char *text, size_t size, disturbance d, double spread, double kernel_s, double total_s);
