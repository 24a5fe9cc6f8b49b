/* SPDX-License-Identifier: MIT
 *
 * trace.c - records spans; reports them to the user when the trace stops.
 */
#include "trace.h"

#include "base/status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SPANS = 50000, MOST_DEVICES = 32, LONGEST_NAME = 64 };

/* One span of a thread, and one of a stream where `started` is not NULL. */
typedef struct record {
    core_span_kind kind;
    char name[LONGEST_NAME];
    int thread, stream;
    fl_device *device;
    void *started, *stopped; /* the plugin's events */
    double begin, end;       /* host: seconds since the start */
    double bytes;
} record;

/* Relates a device's clock to the host's: the event `zero` was reached `offset` seconds after the start. */
typedef struct clock_base {
    fl_device *device;
    void *zero;
    double offset;
} clock_base;

static struct {
    atomic_bool on;
    pthread_mutex_t lock; /* guards what follows */
    double start;
    record *records;
    int64_t count, lost;
    clock_base clocks[MOST_DEVICES];
    int clock_count, open_spans;
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER};

double core_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Threads are numbered in the order of their first span. */
static int thread_number(void)
{
    static atomic_int threads;
    static _Thread_local int number;

    if (number == 0)
        number = atomic_fetch_add(&threads, 1) + 1;
    return number;
}

/* ------------------------------------------------------------------------------------- profiler's ranges ---- */

/* An older plugin's table may end before these two functions. */
static bool has_ranges(const fl_stream *stream)
{
    const fl_device_api *api = stream ? stream->device->plugin.api : NULL;

    return api && api->range_push && api->range_pop;
}

/* ------------------------------------------------------------------------------------------------- spans ---- */

/* Reads the device's clock at its first span. The caller holds the trace's lock and the stream's. */
static bool know_clock(fl_stream *stream)
{
    fl_device *device = stream->device;
    const fl_device_api *api = device->plugin.api;
    void *self = device->plugin.self;
    clock_base *c = &trace.clocks[trace.clock_count];

    for (int i = 0; i < trace.clock_count; i++)
        if (trace.clocks[i].device == device)
            return true;
    if (trace.clock_count == MOST_DEVICES || api->event_create(self, &c->zero) != FL_OK)
        return false;
    if (api->event_record(self, c->zero, stream->handle) != FL_OK || api->event_wait(self, c->zero) != FL_OK) {
        api->event_free(self, c->zero);
        return false;
    }
    c->offset = core_now() - trace.start;
    c->device = core_device_keep(device);
    trace.clock_count++;
    return true;
}

/* Records an event before the stream's work. If that fails, the record keeps only the host's span. */
static void begin_in_stream(record *r, fl_stream *stream)
{
    const fl_device_api *api = stream->device->plugin.api;
    void *self = stream->device->plugin.self;

    if (!know_clock(stream) || api->event_create(self, &r->started) != FL_OK)
        return;
    if (api->event_create(self, &r->stopped) != FL_OK || api->event_record(self, r->started, stream->handle) != FL_OK) {
        api->event_free(self, r->started);
        r->started = NULL;
    }
}

core_span core_trace_begin(fl_stream *stream, core_span_kind kind, const char *name, const char *detail, double bytes)
{
    core_span span = {-1, false};
    record *r;

    if (stream && stream->recording) /* nothing is done yet */
        return span;
    span.ranged = has_ranges(stream);
    if (span.ranged)
        stream->device->plugin.api->range_push(stream->device->plugin.self, name, detail);
    if (!atomic_load_explicit(&trace.on, memory_order_relaxed))
        return span;
    pthread_mutex_lock(&trace.lock);
    if (!atomic_load(&trace.on) || trace.count == MOST_SPANS) {
        trace.lost += trace.count == MOST_SPANS;
        pthread_mutex_unlock(&trace.lock);
        return span;
    }
    span.index = trace.count++;
    trace.open_spans++;
    r = &trace.records[span.index];
    *r = (record){.kind = kind, .thread = thread_number(), .bytes = bytes, .end = -1};
    snprintf(r->name, sizeof r->name, "%s%s%s", name, detail ? " " : "", detail ? detail : "");
    if (stream) {
        r->device = core_device_keep(stream->device);
        r->stream = stream->number;
        if (kind != CORE_SPAN_HOST)
            begin_in_stream(r, stream);
    }
    r->begin = core_now() - trace.start;
    pthread_mutex_unlock(&trace.lock);
    return span;
}

void core_trace_end(fl_stream *stream, core_span span, const char *detail)
{
    record *r;

    if (span.ranged)
        stream->device->plugin.api->range_pop(stream->device->plugin.self);
    if (span.index < 0)
        return;
    pthread_mutex_lock(&trace.lock);
    r = &trace.records[span.index];
    r->end = core_now() - trace.start;
    if (detail)
        snprintf(strchr(r->name, ' '), sizeof r->name - (size_t)(strchr(r->name, ' ') - r->name), " %s", detail);
    if (stream && r->started)
        r->device->plugin.api->event_record(r->device->plugin.self, r->stopped, stream->handle);
    trace.open_spans--;
    pthread_mutex_unlock(&trace.lock);
}

/* ------------------------------------------------------------------------------------- the public calls ---- */

fl_status fl_trace_start(void)
{
    fl_status status = FL_OK;

    pthread_mutex_lock(&trace.lock);
    if (trace.records)
        status = core_fail(FL_E_ARGUMENT, "fl_trace_start: a trace is already running; call fl_trace_stop first");
    else if (!(trace.records = malloc(MOST_SPANS * sizeof *trace.records)))
        status = core_fail(FL_E_MEMORY, "out of host memory");
    if (status == FL_OK) {
        trace.count = trace.lost = 0;
        trace.clock_count = trace.open_spans = 0;
        trace.start = core_now();
        atomic_store(&trace.on, true);
    }
    pthread_mutex_unlock(&trace.lock);
    return status;
}

static const clock_base *clock_of(const fl_device *device)
{
    for (int i = 0; i < trace.clock_count; i++)
        if (trace.clocks[i].device == device)
            return &trace.clocks[i];
    return NULL;
}

/* Passes on the stream's span of a record; false if the device does not report its times. */
static bool report_stream(const record *r, fl_span *span, void (*take)(const fl_span *, void *), void *user)
{
    static const char *const lanes[] = {[CORE_SPAN_KERNEL] = "kernels",
                                        [CORE_SPAN_TO_DEVICE] = "copies to device",
                                        [CORE_SPAN_TO_HOST] = "copies to host",
                                        [CORE_SPAN_LINK] = "copies between ranks"};
    const clock_base *c = clock_of(r->device);
    const fl_device_api *api = r->device->plugin.api;
    void *self = r->device->plugin.self;
    char lane[128];
    double begin;

    if (!c || api->event_elapsed(self, c->zero, r->started, &begin) != FL_OK ||
        api->event_elapsed(self, r->started, r->stopped, &span->seconds) != FL_OK)
        return false;
    snprintf(lane, sizeof lane, "stream %d, %s", r->stream, lanes[r->kind]);
    span->process = r->device->plugin.info.resource;
    span->lane = lane;
    span->start_s = c->offset + begin;
    take(span, user);
    return true;
}

static void report(const record *r, void (*take)(const fl_span *, void *), void *user)
{
    char lane[32];
    fl_span span = {.process = "host", .lane = lane, .name = r->name, .start_s = r->begin, .bytes = r->bytes};

    span.seconds = r->end - r->begin;
    snprintf(lane, sizeof lane, "thread %d", r->thread);
    take(&span, user);
    if (r->started && !report_stream(r, &span, take, user))
        trace.lost++;
}

/* Frees the events of a record and drops its device. */
static void release(record *r)
{
    if (r->started) {
        r->device->plugin.api->event_free(r->device->plugin.self, r->started);
        r->device->plugin.api->event_free(r->device->plugin.self, r->stopped);
    }
    if (r->device)
        core_device_drop(r->device);
}

fl_status fl_trace_stop(void (*take)(const fl_span *span, void *user), void *user, int64_t *lost)
{
    fl_status status = FL_OK;

    pthread_mutex_lock(&trace.lock);
    if (!trace.records)
        status = core_fail(FL_E_ARGUMENT, "fl_trace_stop: no trace is running; call fl_trace_start first");
    else if (trace.open_spans > 0)
        status = core_fail(FL_E_ARGUMENT, "fl_trace_stop: another thread is inside a call; stop after it returns");
    if (status != FL_OK) {
        pthread_mutex_unlock(&trace.lock);
        return status;
    }
    atomic_store(&trace.on, false);
    for (int i = 0; i < trace.clock_count; i++) {
        fl_status waited = trace.clocks[i].device->plugin.api->synchronize(trace.clocks[i].device->plugin.self);
        status = status == FL_OK ? waited : status;
    }
    for (int64_t i = 0; i < trace.count && take && status == FL_OK; i++)
        report(&trace.records[i], take, user);
    for (int64_t i = 0; i < trace.count; i++)
        release(&trace.records[i]);
    for (int i = 0; i < trace.clock_count; i++) {
        clock_base *c = &trace.clocks[i];
        c->device->plugin.api->event_free(c->device->plugin.self, c->zero);
        core_device_drop(c->device);
    }
    free(trace.records);
    trace.records = NULL;
    if (lost)
        *lost = trace.lost;
    pthread_mutex_unlock(&trace.lock);
    return status;
}

/* ------------------------------------------------------------------------------------------- user's spans ---- */

fl_status fl_trace_begin(const char *name, fl_trace_mark *mark)
{
    if (!name || !mark)
        return core_fail(FL_E_ARGUMENT, "fl_trace_begin: %s is NULL", name ? "mark" : "name");
    mark->index = core_trace_begin(NULL, CORE_SPAN_HOST, name, NULL, 0).index;
    return FL_OK;
}

void fl_trace_end(fl_trace_mark mark)
{
    core_trace_end(NULL, (core_span){mark.index, false}, NULL);
}
