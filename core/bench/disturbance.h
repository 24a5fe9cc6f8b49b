/* SPDX-License-Identifier: MIT
 *
 * disturbance.h - counts what other programs and other virtual machines did to the processors during timed passes.
 */
#ifndef FLYNN_BENCH_DISTURBANCE_H
#define FLYNN_BENCH_DISTURBANCE_H

#include <stdbool.h>
#include <stddef.h>

/* Counters of the system, since it started. */
typedef struct bench_counts {
    double at_s;
    double switches;      /* how often a thread of this process had to leave its processor */
    double ran_s;         /* time that all threads of this process ran */
    double stolen, ticks; /* time of all processors: that other virtual machines had; in all */
    double waited_s;      /* time that this process's threads were ready and had no processor */
    double turns;         /* how often a thread of this process got a processor; 0: the system counts no waiting */
} bench_counts;

/* Sums over the timed passes of a case. */
typedef struct bench_disturbance {
    double seconds, switches, ran_s, stolen, ticks, waited_s, turns;
    double load;         /* programs that want to run, over the number of processors, at the end */
    bool counts_waiting; /* else `waited_s` and `turns` say nothing */
} bench_disturbance;

/* Allocates nothing. Counters that cannot be read are 0. */
bench_counts bench_counts_now(void);
/* Adds what happened between the two moments. */
void bench_disturbance_add(bench_disturbance *d, const bench_counts *from, const bench_counts *to);

/* For each thread that ran: a quiet machine, too, takes the processor away from each of many threads some ten times a
 * second. */
double bench_switches_per_s(const bench_disturbance *d);
double bench_stolen_part(const bench_disturbance *d);

/* Writes the cause that disturbed the passes, "other programs or threads took the processor 1200 times a second", or ""
 * if no counter is above its limit. `throttled`: 1 if the GPU lowered its clock. */
void bench_disturbance_say(const bench_disturbance *d, double throttled, char *text, size_t size);

#endif
