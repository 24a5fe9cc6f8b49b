/* SPDX-License-Identifier: MIT
 *
 * inner.h - what the files of libflynn-bench share. All of it uses the public interface of libflynn alone.
 */
#ifndef FLYNN_BENCH_INNER_H
#define FLYNN_BENCH_INNER_H

#include "clock.h"
#include "disturbance.h"
#include "gpu_clocks.h"
#include "profiler.h"

#include <flynn/bench.h>

enum { BENCH_QUANTITIES = 7, BENCH_EVENTS = 5 };

/* Returns the status of a call that failed to the caller. */
#define BENCH_TRY(call) \
    do { \
        const fl_status tried = (call); \
        if (tried != FL_OK) \
            return tried; \
    } while (0)

/* Samples of one quantity. There is room for as many as the plan can ask for before the first pass starts. */
typedef struct bench_samples {
    double *s;
    int count;
} bench_samples;

/* The memory that is walked to empty the last-level cache. */
typedef struct bench_flush {
    fl_array *array;       /* on the device; NULL: the host's memory is walked */
    unsigned char *memory; /* NULL: none */
    size_t bytes;
} bench_flush;

/* A case and what is known of it. */
typedef struct bench_work {
    fl_bench_case what;
    char *name;
    fl_device_info info;          /* of the device; of a function of the host only `resource` and host_memory count */
    void *own;                    /* of fl_bench_add_call */
    const fl_bench_array *arrays; /* in `own`; NULL: what the case works on is not known */
    int array_count;
    void (*free_own)(void *own);
    void (*release_own)(void *own); /* frees what it created on the device */
    fl_stream *stream;
    fl_event *event[BENCH_EVENTS]; /* around copies in, kernel, copies out; the fifth: inputs arrived, of a team */
    fl_timing first;
    char variant[64];
    bool began, ran, complete; /* the first pass was started; it ended well; all that was asked for was timed */
    bool apart;                /* a pass runs twice, by events and by the clock: some process has a GPU */
    bool first_counts, checked, right;
    int launches, most; /* the latter: room for samples */
    double first_s, spent;
    bench_samples samples[BENCH_QUANTITIES];
    double *room;   /* for the samples and `sorted`, of which it is the memory */
    double *sorted; /* room for the statistics of `precision` */
    int judged;     /* samples when precision was looked at */
    bool precise;
    bench_disturbance disturbed,
        first_disturbed; /* the timed passes; the first pass, which is the only sample of some */
    bench_gpu_clocks clocks;
    bench_flush flush;
    fl_status status;
    char message[800], why_disturbed[200];
} bench_work;

struct fl_bench {
    fl_bench_plan plan;
    fl_bench_team team;
    bool joined, ran, stopped;
    double start; /* of the run */
    bench_work **works;
    size_t count;
    bench_profiler profiler; /* of the whole run */
};

/* The times of one pass by quantity; NaN where there is none. */
typedef struct bench_times {
    double s[BENCH_QUANTITIES];
} bench_times;

/* plan.c */
fl_status bench_fail(fl_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A call of it as an expression, so that compilers and analyzers see which status comes back. */
#define bench_fail(status, ...) ((void)bench_fail(status, __VA_ARGS__), (status))
/* Copies `size` bytes of a program's struct into one of `known` bytes: missing members are 0, and bytes that this
 * library does not know must be 0. */
fl_status bench_copy_sized(void *to, size_t known, const void *from, size_t size, const char *what);
/* Adds a case; `work` is the new one, whose `own` members the caller may set. */
fl_status bench_add(fl_bench *bench, const fl_bench_case *what, bench_work **work);

/* statistics.c */
void bench_sort(double *values, int count);
fl_bench_statistics bench_statistics_of_sorted(const double *sorted, int count);
/* The median; NaN for an empty list. `room` has place for all values. */
fl_bench_statistics bench_statistics(const double *values, int count, double *room);

/* run.c: whose library reports on the device. */
bench_vendor bench_vendor_of(const fl_device_info *info);

/* flush.c */
fl_status bench_flush_create(bench_flush *flush, fl_device *device, const fl_device_info *info);
fl_status bench_flush_now(bench_flush *flush, fl_device *device, fl_stream *stream);
void bench_flush_free(bench_flush *flush);

/* pass.c. Each function ends its mark in the trace also where a callback fails. */
fl_status bench_first_pass(fl_bench *bench, bench_work *work);
/* One pass, which `launches` calls share: by events and by the clock as the case asks for. `timed`: it is a sample. */
fl_status bench_pass(fl_bench *bench, bench_work *work, int launches, bool timed, bench_times *times);
/* A pass that is not timed, such as one that warms up. */
fl_status bench_warm_up(fl_bench *bench, bench_work *work);

#endif
