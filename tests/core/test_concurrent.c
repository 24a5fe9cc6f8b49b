/* SPDX-License-Identifier: MIT
 *
 * test_concurrent.c - what flynn.h promises to programs with several threads: devices opened and closed, arrays and
 * streams made, shared and freed, and a trace started and stopped, all at once. ThreadSanitizer runs these too.
 */
#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPENING = 64, WORKING = 6, ROUNDS = 20, NUMBERS = 1000 };

/* One of the threads of a test. */
struct thread {
    pthread_t id;
    const char *resource;
    fl_device *device;
    fl_array *shared; /* read by all */
    fl_event *ready;  /* recorded when `shared` was written */
    pthread_barrier_t *start;
    int number;
    const char *failed; /* the call that did */
    char message[256];
};

#define TRY(thread, call) \
    do { \
        if (!(thread)->failed && (call) != FL_OK) { \
            (thread)->failed = #call; \
            snprintf((thread)->message, sizeof(thread)->message, "%s", fl_last_error()); \
        } \
    } while (0)

static void run_threads(struct thread *threads, int count, void *(*work)(void *))
{
    pthread_barrier_t start;

    cr_assert(pthread_barrier_init(&start, NULL, (unsigned)count) == 0);
    for (int i = 0; i < count; i++) {
        threads[i].start = &start;
        threads[i].number = i;
        cr_assert(pthread_create(&threads[i].id, NULL, work, &threads[i]) == 0);
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i].id, NULL);
    pthread_barrier_destroy(&start);
    for (int i = 0; i < count; i++)
        cr_expect(!threads[i].failed, "thread %d: %s: %s", i, threads[i].failed, threads[i].message);
}

/* A thread: sorts its own numbers on the device and stores the first failure. */
static void sort_some(struct thread *t, fl_device *device, fl_stream *stream)
{
    int32_t numbers[NUMBERS], sorted[NUMBERS];
    int64_t length = NUMBERS;
    fl_array *in = NULL, *out = NULL;

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (i * 7919 + t->number) % NUMBERS;
    TRY(t, fl_array_create(device, FL_I32, 1, &length, &in));
    TRY(t, fl_array_create(device, FL_I32, 1, &length, &out));
    TRY(t, fl_array_write(in, numbers, stream));
    TRY(t, fl_sort(device, in, out, &(fl_run){.stream = stream}));
    TRY(t, fl_array_read(out, sorted, stream));
    TRY(t, stream ? fl_stream_wait(stream) : fl_device_wait(device));
    for (int i = 0; i < NUMBERS && !t->failed; i++)
        if (sorted[i] != i)
            t->failed = "a sorted number is wrong";
    free_arrays(in, out);
}

static void *open_use_and_close(void *thread)
{
    struct thread *t = thread;
    fl_device *device = NULL;
    fl_stream *stream = NULL;

    pthread_barrier_wait(t->start);
    TRY(t, fl_device_open(t->resource, &device));
    if (!device)
        return NULL;
    TRY(t, fl_stream_create(device, &stream));
    sort_some(t, device, stream);
    fl_stream_free(stream);
    fl_device_close(device);
    return NULL;
}

/* The first calls of a process: the plugins are found and loaded by many threads at once. */
Test(concurrent, many_open_at_once)
{
    static const char *const names[] = {"serial", "simd", "serial:1", "simd:1"};
    struct thread threads[OPENING] = {0};

    for (int i = 0; i < OPENING; i++)
        threads[i].resource = names[i % 4];
    run_threads(threads, OPENING, open_use_and_close);
}

ON_EVERY_BACKEND(concurrent, many_open_the_same)
{
    struct thread threads[WORKING] = {0};

    for (int i = 0; i < WORKING; i++)
        threads[i].resource = on->resource;
    run_threads(threads, WORKING, open_use_and_close);
}

static void *use_own_stream(void *thread)
{
    struct thread *t = thread;
    const int64_t zero = 0, one = 1;
    int32_t first = -1;
    fl_stream *stream = NULL;
    fl_event *event = NULL;

    pthread_barrier_wait(t->start);
    TRY(t, fl_stream_create(t->device, &stream));
    TRY(t, fl_event_create(t->device, &event));
    TRY(t, fl_stream_wait_event(stream, t->ready));
    for (int round = 0; round < ROUNDS && !t->failed; round++) {
        sort_some(t, t->device, stream);
        TRY(t, fl_event_record(event, stream));
        TRY(t, fl_event_wait(event));
    }
    fl_array *view = NULL;
    TRY(t, fl_array_view(t->shared, &zero, &one, &view));
    TRY(t, fl_array_read(view, &first, stream));
    TRY(t, fl_stream_wait(stream));
    if (!t->failed && first != 42)
        t->failed = "the shared array is another";
    fl_array_free(view);
    fl_event_free(event);
    fl_stream_free(stream);
    return NULL;
}

/* Streams of one device, an array and an event that all of them use. */
ON_EVERY_BACKEND(concurrent, streams_of_one_device)
{
    fl_device *device = open_device(on->resource);
    struct thread threads[WORKING] = {0};
    fl_array *shared;
    fl_event *ready;

    must(fl_array_create(device, FL_I32, 1, (int64_t[]){1}, &shared));
    must(fl_event_create(device, &ready));
    must(fl_array_write(shared, &(int32_t){42}, NULL));
    must(fl_event_record(ready, NULL));
    for (int i = 0; i < WORKING; i++)
        threads[i] = (struct thread){.device = device, .shared = shared, .ready = ready};
    run_threads(threads, WORKING, use_own_stream);
    fl_event_free(ready);
    fl_array_free(shared);
    fl_device_close(device);
}

static void *trace_or_work(void *thread)
{
    struct thread *t = thread;
    fl_trace_mark mark;

    pthread_barrier_wait(t->start);
    for (int round = 0; round < ROUNDS && !t->failed; round++) {
        if (t->number > 0) {
            TRY(t, fl_trace_begin("round", &mark));
            sort_some(t, t->device, NULL);
            fl_trace_end(mark);
            continue;
        }
        TRY(t, fl_trace_start());
        sort_some(t, t->device, NULL);
        while (fl_trace_stop(NULL, NULL, NULL) != FL_OK) /* refused while a thread is inside a call */
            continue;
    }
    return NULL;
}

/* One thread starts and stops a trace while others compute on devices of their own. */
ON_EVERY_BACKEND(concurrent, traced)
{
    struct thread threads[WORKING] = {0};

    for (int i = 0; i < WORKING; i++)
        threads[i].device = open_device(on->resource);
    run_threads(threads, WORKING, trace_or_work);
    for (int i = 0; i < WORKING; i++)
        fl_device_close(threads[i].device);
}

static void *free_last(void *thread)
{
    struct thread *t = thread;

    pthread_barrier_wait(t->start);
    fl_array_free(t->shared);
    return NULL;
}

/* A device lives until the last of its arrays is freed, by whichever thread. */
ON_EVERY_BACKEND(concurrent, freed_by_other_threads)
{
    for (int round = 0; round < ROUNDS; round++) {
        fl_device *device = open_device(on->resource);
        struct thread threads[WORKING] = {0};
        for (int i = 0; i < WORKING; i++)
            must(fl_array_create(device, FL_F32, 1, (int64_t[]){NUMBERS}, &threads[i].shared));
        fl_device_close(device);
        run_threads(threads, WORKING, free_last);
    }
}
