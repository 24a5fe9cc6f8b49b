/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "fail.h"
#include "statistics.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_PASSES = 3, MOST_PASSES = 1000 };

/* A kernel shorter than SHORT_S is launch-bound: launches are then timed BATCH_S at a time. */
static const double SHORT_S = 50e-6, BATCH_S = 500e-6;

/* One exercise on one device, under way. */
typedef struct session {
    const exercise *exercise;
    fl_device *device;
    bool copies; /* arrays are not in host memory */
    void *host[MOST_INPUTS], *host_out;
    bool pinned;
    const host_array *result;
    fl_array *inputs[MOST_INPUTS], *out;
    fl_stream *stream;
    fl_event *event[4]; /* around the copies and the kernel */
    fl_run run;
} session;

/* ------------------------------------------------------------------------------------------------- host ---- */

static void *host_memory(const session *s, size_t bytes)
{
    void *memory = NULL;

    if (s->pinned) {
        must(fl_host_alloc(s->device, bytes, &memory));
    } else {
        memory = malloc(bytes ? bytes : 1);
        if (!memory)
            fail(EXIT_BROKEN, "out of host memory for %zu bytes", bytes);
    }
    return memory;
}

/* Host arrays in the memory that the plan asks for. */
static void prepare_host(session *s)
{
    const exercise *e = s->exercise;

    for (int i = 0; i < e->input_count; i++) {
        size_t bytes = host_array_bytes(&e->inputs[i]);
        s->host[i] = host_memory(s, bytes);
        memcpy(s->host[i], e->inputs[i].data, bytes);
    }
    s->host_out = host_memory(s, host_array_bytes(s->result));
}

static void release(session *s)
{
    const exercise *e = s->exercise;

    for (int i = 0; i <= e->input_count; i++) {
        void *memory = i < e->input_count ? s->host[i] : s->host_out;
        if (s->pinned)
            fl_host_free(s->device, memory);
        else
            free(memory);
    }
    for (int i = 0; i < e->input_count; i++)
        fl_array_free(s->inputs[i]);
    fl_array_free(s->out);
    for (int i = 0; i < 4; i++)
        fl_event_free(s->event[i]);
    fl_stream_free(s->stream);
}

/* ----------------------------------------------------------------------------------------------- passes ---- */

static void queue_inputs(session *s)
{
    for (int i = 0; i < s->exercise->input_count; i++)
        must(fl_array_write(s->inputs[i], s->host[i], s->stream));
}

static void queue_call(session *s, const fl_run *run)
{
    must(s->exercise->call(s->device, s->inputs, s->out, s->exercise->more, run));
}

/* The first pass, from nothing: arrays are created in it. */
static double cold_pass(session *s, fl_timing *timing)
{
    const exercise *e = s->exercise;
    double start = seconds_now();
    fl_run run = s->run;

    for (int i = 0; i < e->input_count; i++)
        must(fl_array_create(s->device, e->inputs[i].dtype, e->inputs[i].ndim, e->inputs[i].shape, &s->inputs[i]));
    must(fl_array_create(s->device, e->dtype, e->ndim, e->shape, &s->out));
    queue_inputs(s);
    run.timing = timing;
    queue_call(s, &run);
    must(fl_array_read(s->out, s->host_out, s->stream));
    must(fl_stream_wait(s->stream));
    return seconds_now() - start;
}

/* A result that is read from here on was computed from here on. */
static void poison(session *s)
{
    memset(s->host_out, 0xff, host_array_bytes(s->result));
    must(fl_array_write(s->out, s->host_out, s->stream));
    must(fl_stream_wait(s->stream));
}

static double total_pass(session *s)
{
    double start = seconds_now();

    if (s->copies)
        queue_inputs(s);
    queue_call(s, &s->run);
    if (s->copies)
        must(fl_array_read(s->out, s->host_out, s->stream));
    must(fl_stream_wait(s->stream));
    return seconds_now() - start;
}

/* One pass between events, the kernel `launches` times; seconds of the parts. */
static void event_pass(session *s, int launches, double *h2d, double *kernel, double *d2h)
{
    must(fl_event_record(s->event[0], s->stream));
    if (s->copies)
        queue_inputs(s);
    must(fl_event_record(s->event[1], s->stream));
    for (int i = 0; i < launches; i++)
        queue_call(s, &s->run);
    must(fl_event_record(s->event[2], s->stream));
    if (s->copies)
        must(fl_array_read(s->out, s->host_out, s->stream));
    must(fl_event_record(s->event[3], s->stream));
    must(fl_stream_wait(s->stream));
    must(fl_event_elapsed(s->event[0], s->event[1], h2d));
    must(fl_event_elapsed(s->event[1], s->event[2], kernel));
    must(fl_event_elapsed(s->event[2], s->event[3], d2h));
    *kernel /= launches;
    if (!s->copies)
        *h2d = *d2h = 0;
}

/* ---------------------------------------------------------------------------------------------- samples ---- */

static void add(samples *list, double seconds)
{
    double *grown = realloc(list->s, (size_t)(list->count + 1) * sizeof *grown);

    if (!grown)
        fail(EXIT_BROKEN, "out of host memory for %d samples", list->count + 1);
    list->s = grown;
    list->s[list->count++] = seconds;
}

/* Is another pass wanted after `count` passes that took `spent` seconds? */
static bool more(const measure_plan *plan, int count, double spent)
{
    if (plan->repeat > 0)
        return count < plan->repeat;
    return count < FEWEST_PASSES || (count < MOST_PASSES && spent < plan->min_time_s);
}

static void timed_passes(session *s, const measure_plan *plan, measurement *m)
{
    double start = seconds_now(), h2d, kernel, d2h;
    int launches = 1;

    for (int i = 0; i < plan->warmup; i++)
        total_pass(s);
    while (more(plan, m->total.count, seconds_now() - start))
        add(&m->total, total_pass(s));
    event_pass(s, 1, &h2d, &kernel, &d2h);
    if (kernel < SHORT_S)
        launches = kernel > BATCH_S / 1000 ? (int)(BATCH_S / kernel) : 1000;
    start = seconds_now();
    while (more(plan, m->kernel.count, seconds_now() - start)) {
        event_pass(s, launches, &h2d, &kernel, &d2h);
        add(&m->h2d, h2d);
        add(&m->kernel, kernel);
        add(&m->d2h, d2h);
    }
    m->timing.kernel_s = median(m->kernel.s, m->kernel.count);
}

measurement measure(const exercise *e, const measure_plan *plan, const char *requested, fl_device *device)
{
    measurement m = {.requested = requested, .device = *fl_device_describe(device)};
    session s = {.exercise = e,
                 .device = device,
                 .copies = !m.device.host_memory,
                 .pinned = !plan->pageable,
                 .result = &m.result};
    problem why;

    if (!host_array_create(&m.result, e->dtype, e->ndim, e->shape, "the result", &why))
        fail_problem(&why);
    prepare_host(&s);
    must(fl_stream_create(device, &s.stream));
    for (int i = 0; i < 4; i++)
        must(fl_event_create(device, &s.event[i]));
    s.run = (fl_run){.variant = plan->variant, .stream = s.stream};
    memcpy(s.run.block, plan->block, sizeof s.run.block);
    m.cold_s = cold_pass(&s, &m.timing);
    poison(&s);
    timed_passes(&s, plan, &m);
    must(fl_array_to_host(s.out, m.result.data));
    release(&s);
    return m;
}

void measurement_free(measurement *m)
{
    free(m->h2d.s);
    free(m->kernel.s);
    free(m->d2h.s);
    free(m->total.s);
    host_array_free(&m->result);
}
