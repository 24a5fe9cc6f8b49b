/* SPDX-License-Identifier: MIT
 *
 * profiler.h - shows the timed passes to a vendor's profiler: as a range with the case's name (NVTX, rocTX), and as
 * what is captured (cuProfilerStart, roctxProfilerResume). Without a profiler nothing is loaded for it.
 */
#ifndef FLYNN_BENCH_PROFILER_H
#define FLYNN_BENCH_PROFILER_H

enum { BENCH_PROFILER_LIBRARIES = 6 };

typedef struct bench_profiler {
    void *library[BENCH_PROFILER_LIBRARIES]; /* by the table in profiler.c; NULL: not there */
} bench_profiler;

/* Opens the libraries that devices in use have loaded, and NVTX where a profiler has set its variable. */
bench_profiler bench_profiler_open(void);
void bench_profiler_close(bench_profiler *p);

/* The timed passes of a case start, and end. */
void bench_profiler_start(const bench_profiler *p, const char *name);
void bench_profiler_stop(const bench_profiler *p);

#endif
