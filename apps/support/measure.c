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
    bool pinned;
    void *host_in[MOST_INPUTS], *host_out[MOST_OUTPUTS];
    host_array *results;
    int64_t count; /* elements of a counted result */
    fl_array *inputs[MOST_INPUTS], *outputs[MOST_OUTPUTS];
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

static void free_host(const session *s, void *memory)
{
    if (s->pinned)
        fl_host_free(s->device, memory);
    else
        free(memory);
}

/* Host arrays in the memory that the plan asks for, and the results. */
static void prepare_host(session *s)
{
    const exercise *e = s->exercise;
    problem why;

    for (int i = 0; i < e->input_count; i++) {
        size_t bytes = host_array_bytes(&e->inputs[i]);
        s->host_in[i] = host_memory(s, bytes);
        memcpy(s->host_in[i], e->inputs[i].data, bytes);
    }
    for (int i = 0; i < e->output_count; i++) {
        const output_spec *o = &e->outputs[i];
        if (!host_array_create(&s->results[i], o->dtype, o->ndim, o->shape, "the result", &why))
            fail_problem(&why);
        s->host_out[i] = host_memory(s, host_array_bytes(&s->results[i]));
    }
}

static void release(session *s)
{
    for (int i = 0; i < s->exercise->input_count; i++) {
        free_host(s, s->host_in[i]);
        fl_array_free(s->inputs[i]);
    }
    for (int i = 0; i < s->exercise->output_count; i++) {
        free_host(s, s->host_out[i]);
        if (!(s->exercise->in_place && i == 0))
            fl_array_free(s->outputs[i]);
    }
    for (int i = 0; i < 4; i++)
        fl_event_free(s->event[i]);
    fl_stream_free(s->stream);
}

/* ----------------------------------------------------------------------------------------------- passes ---- */

static void create_arrays(session *s)
{
    const exercise *e = s->exercise;

    for (int i = 0; i < e->input_count; i++)
        must(fl_array_create(s->device, e->inputs[i].dtype, e->inputs[i].ndim, e->inputs[i].shape, &s->inputs[i]));
    for (int i = 0; i < e->output_count; i++) {
        const output_spec *o = &e->outputs[i];
        if (e->in_place && i == 0)
            s->outputs[0] = s->inputs[0];
        else
            must(fl_array_create(s->device, o->dtype, o->ndim, o->shape, &s->outputs[i]));
    }
}

static void queue_inputs(session *s)
{
    for (int i = 0; i < s->exercise->input_count; i++)
        must(fl_array_write(s->inputs[i], s->host_in[i], s->stream));
}

/* Where the inputs are not copied in every pass, what works in place would see its own output. */
static void restore(session *s)
{
    if (!s->exercise->in_place || s->copies)
        return;
    must(fl_array_write(s->inputs[0], s->host_in[0], s->stream));
    must(fl_stream_wait(s->stream));
}

static void queue_call(session *s, const fl_run *run)
{
    must(s->exercise->call(s->device, s->inputs, s->outputs, s->exercise->more, run));
}

/* Queues the copies of all outputs, of a counted one as much as counts. */
static void queue_outputs(session *s)
{
    const exercise *e = s->exercise;
    fl_array *part;

    for (int i = e->counted ? 1 : 0; i < e->output_count; i++)
        must(fl_array_read(s->outputs[i], s->host_out[i], s->stream));
    if (!e->counted)
        return;
    must(fl_array_view(s->outputs[0], (int64_t[]){0}, &s->count, &part));
    must(fl_array_read(part, s->host_out[0], s->stream));
    fl_array_free(part);
}

/* How many elements a counted result has is known once the work is done. */
static void read_count(session *s)
{
    int64_t most = s->exercise->outputs[0].shape[0];

    if (!s->exercise->counted)
        return;
    must(fl_array_read(s->outputs[1], s->host_out[1], s->stream));
    must(fl_stream_wait(s->stream));
    memcpy(&s->count, s->host_out[1], sizeof s->count);
    s->count = s->count < 0 ? 0 : s->count > most ? most : s->count; /* a wrong one is the check's to find */
}

/* The first pass, from nothing: arrays are created in it. */
static double cold_pass(session *s, fl_timing *timing)
{
    double start = seconds_now();
    fl_run run = s->run;
    fl_trace_mark mark;

    must(fl_trace_begin("cold pass", &mark));
    create_arrays(s);
    queue_inputs(s);
    run.timing = timing;
    queue_call(s, &run);
    read_count(s);
    queue_outputs(s);
    must(fl_stream_wait(s->stream));
    fl_trace_end(mark);
    return seconds_now() - start;
}

/* A result that is read from here on was computed from here on. */
static void poison(session *s)
{
    for (int i = 0; i < s->exercise->output_count; i++) {
        memset(s->host_out[i], 0xff, host_array_bytes(&s->results[i]));
        if (!(s->exercise->in_place && i == 0))
            must(fl_array_write(s->outputs[i], s->host_out[i], s->stream));
    }
    must(fl_stream_wait(s->stream));
}

static double total_pass(session *s)
{
    fl_trace_mark mark;
    double start;

    restore(s);
    must(fl_trace_begin("pass", &mark));
    start = seconds_now();
    if (s->copies)
        queue_inputs(s);
    queue_call(s, &s->run);
    if (s->copies) {
        read_count(s);
        queue_outputs(s);
    }
    must(fl_stream_wait(s->stream));
    start = seconds_now() - start;
    fl_trace_end(mark);
    return start;
}

/* One pass between events, the kernel `launches` times; seconds of the parts. */
static void event_pass(session *s, int launches, double *h2d, double *kernel, double *d2h)
{
    restore(s);
    must(fl_event_record(s->event[0], s->stream));
    if (s->copies)
        queue_inputs(s);
    must(fl_event_record(s->event[1], s->stream));
    for (int i = 0; i < launches; i++)
        queue_call(s, &s->run);
    must(fl_event_record(s->event[2], s->stream));
    if (s->copies)
        queue_outputs(s);
    must(fl_event_record(s->event[3], s->stream));
    must(fl_stream_wait(s->stream));
    must(fl_event_elapsed(s->event[0], s->event[1], h2d));
    must(fl_event_elapsed(s->event[1], s->event[2], kernel));
    must(fl_event_elapsed(s->event[2], s->event[3], d2h));
    *kernel /= launches;
    if (!s->copies)
        *h2d = *d2h = 0;
}

/* The mistake of timing a kernel without waiting for it: seconds until the call returned, its work under way. */
static double call_pass(session *s)
{
    double start;

    restore(s);
    start = seconds_now();
    queue_call(s, &s->run);
    start = seconds_now() - start;
    must(fl_stream_wait(s->stream));
    return start;
}

/* The outputs of the last pass. */
static void fetch_results(session *s)
{
    const exercise *e = s->exercise;

    read_count(s);
    for (int i = 0; i < e->output_count; i++)
        must(fl_array_to_host(s->outputs[i], s->results[i].data));
    if (e->counted)
        s->results[0].shape[0] = s->count;
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

/* As many launches as make a time that can be taken between events: one, unless the kernel is over at once. */
static int launches_for(const exercise *e, double kernel)
{
    if (kernel >= SHORT_S || (e->in_place && !e->steady))
        return 1;
    return kernel > BATCH_S / 1000 ? (int)(BATCH_S / kernel) : 1000;
}

/* The passes from host to host come last: the result of the last one is checked. */
static void timed_passes(session *s, const measure_plan *plan, measurement *m)
{
    double start, h2d, kernel, d2h;
    int launches;

    for (int i = 0; i < plan->warmup; i++)
        total_pass(s);
    event_pass(s, 1, &h2d, &kernel, &d2h);
    launches = launches_for(s->exercise, kernel);
    start = seconds_now();
    while (more(plan, m->kernel.count, seconds_now() - start)) {
        event_pass(s, launches, &h2d, &kernel, &d2h);
        add(&m->h2d, h2d);
        add(&m->kernel, kernel);
        add(&m->d2h, d2h);
    }
    m->timing.kernel_s = median(m->kernel.s, m->kernel.count);
    start = seconds_now();
    while (plan->wrong_timing && more(plan, m->call.count, seconds_now() - start))
        add(&m->call, call_pass(s));
    start = seconds_now();
    while (more(plan, m->total.count, seconds_now() - start))
        add(&m->total, total_pass(s));
}

measurement measure(const exercise *e, const measure_plan *plan, const char *requested, fl_device *device)
{
    measurement m = {.requested = requested, .device = *fl_device_describe(device)};
    session s = {.exercise = e,
                 .device = device,
                 .copies = !m.device.host_memory,
                 .pinned = !plan->pageable,
                 .results = m.results};

    prepare_host(&s);
    must(fl_stream_create(device, &s.stream));
    for (int i = 0; i < 4; i++)
        must(fl_event_create(device, &s.event[i]));
    s.run = (fl_run){.variant = plan->variant, .stream = s.stream};
    memcpy(s.run.block, plan->block, sizeof s.run.block);
    m.cold_s = cold_pass(&s, &m.timing);
    poison(&s);
    timed_passes(&s, plan, &m);
    fetch_results(&s);
    release(&s);
    return m;
}

void measurement_free(measurement *m)
{
    free(m->h2d.s);
    free(m->kernel.s);
    free(m->d2h.s);
    free(m->total.s);
    free(m->call.s);
    for (int i = 0; i < MOST_OUTPUTS; i++)
        host_array_free(&m->results[i]);
}
