/* SPDX-License-Identifier: MIT */
#include "measure.h"
#include "distributed.h"
#include "host_memory.h"
#include "shape.h"

#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/statistics.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_PASSES = 3, MOST_PASSES = 1000 };

/* What is recorded around a kernel takes 2 to 3 us on a GPU: kernels shorter than SHORT_S are timed several in a row,
 * BATCH_S at a time. */
static const double SHORT_S = 200e-6, BATCH_S = 1e-3;

/* A pass longer than LONG_S is timed once, after the first one; of one longer than VERY_LONG_S the first one counts. */
static const double LONG_S = 1, VERY_LONG_S = 10;

struct measuring {
    const exercise *exercise;
    const measure_plan *plan;
    measurement found;
    bool slow;                 /* a pass takes so long that it is timed once */
    bool unable;               /* the plan is optional, and this device or input is not for it */
    int launches;              /* between two events */
    double spent;              /* seconds, in timed passes */
    disturbance_counts before; /* the first timed pass */
    double shown;              /* when a pass was shown; 0: the next one is */
    fl_device *device;
    bool copies; /* arrays are not in host memory */
    bool pinned;
    void *host_in[MOST_INPUTS], *host_out[MOST_OUTPUTS];
    host_array *results;
    int64_t count; /* elements of a counted result */
    fl_array *inputs[MOST_INPUTS], *outputs[MOST_OUTPUTS];
    fl_array *whole[MOST_OUTPUTS];          /* of guarded outputs: with their guards */
    host_array first_results[MOST_OUTPUTS]; /* of the first pass, to compare others with */
    fl_stream *stream;
    fl_event *event[4]; /* around the copies and the kernel */
    fl_run run;
};

/* Host arrays in the memory that the plan asks for, and the results. */
static void prepare_host(measuring *s)
{
    const exercise *e = s->exercise;
    problem why;

    for (int i = 0; i < e->input_count; i++) {
        size_t bytes = host_array_bytes(&e->inputs[i]);
        must(host_memory_create(s->device, s->pinned, bytes, &s->host_in[i]));
        memcpy(s->host_in[i], e->inputs[i].data, bytes);
    }
    for (int i = 0; i < e->output_count; i++) {
        const output_spec *o = &e->outputs[i];
        must_do(host_array_create(&s->results[i], o->dtype, o->ndim, o->shape, "the result", &why), &why);
        must(host_memory_create(s->device, s->pinned, host_array_bytes(&s->results[i]), &s->host_out[i]));
    }
}

static void release(measuring *s)
{
    for (int i = 0; i < s->exercise->input_count; i++) {
        host_memory_free(s->device, s->pinned, s->host_in[i]);
        fl_array_free(s->inputs[i]);
    }
    for (int i = 0; i < s->exercise->output_count; i++) {
        host_memory_free(s->device, s->pinned, s->host_out[i]);
        if (!(s->exercise->in_place && i == 0))
            fl_array_free(s->outputs[i]);
        fl_array_free(s->whole[i]);
        host_array_free(&s->first_results[i]);
    }
    for (int i = 0; i < 4; i++)
        fl_event_free(s->event[i]);
    fl_stream_free(s->stream);
}

static void create_arrays(measuring *s)
{
    const exercise *e = s->exercise;

    for (int i = 0; i < e->input_count; i++)
        must(fl_array_create(s->device, e->inputs[i].dtype, e->inputs[i].ndim, e->inputs[i].shape, &s->inputs[i]));
    for (int i = 0; i < e->output_count; i++) {
        const output_spec *o = &e->outputs[i];
        if (e->in_place && i == 0)
            s->outputs[0] = s->inputs[0];
        else if (e->guarded)
            must(watch_create(s->device, o->dtype, output_size(o), &s->whole[i], &s->outputs[i]));
        else
            must(fl_array_create(s->device, o->dtype, o->ndim, o->shape, &s->outputs[i]));
    }
}

static void queue_inputs(measuring *s)
{
    for (int i = 0; i < s->exercise->input_count; i++)
        must(fl_array_write(s->inputs[i], s->host_in[i], s->stream));
}

/* What outputs begin with. */
static void queue_begins(measuring *s)
{
    for (int i = 0; s->exercise->begins && i < s->exercise->output_count; i++)
        must(fl_array_write(s->outputs[i], s->exercise->begins[i].data, s->stream));
}

/* Where the inputs are not copied in every pass, what works in place would see its own output. */
static void restore(measuring *s)
{
    const bool in_place = s->exercise->in_place && !s->copies;

    if (!in_place && !s->exercise->begins)
        return;
    if (in_place)
        must(fl_array_write(s->inputs[0], s->host_in[0], s->stream));
    queue_begins(s);
    must(fl_stream_wait(s->stream));
}

/* After a pass: has it other bits than the first one? Some passes are enough to know. */
static void watch(measuring *s)
{
    enum { COMPARED = 16 };

    for (int i = 0; s->exercise->begins && i < s->exercise->output_count && s->found.total.count < COMPARED; i++)
        must(watch_pass(s->outputs[i], i, &s->first_results[i], &s->found.watched));
}

static fl_status call(measuring *s, const fl_run *run)
{
    return s->exercise->kind->steps.call(s->exercise, s->device, s->inputs, s->outputs, run);
}

static void queue_call(measuring *s, const fl_run *run)
{
    must(call(s, run));
}

/* The first call of all. A block that was the best for one input may be more than the device has room for with another
 * of the same size. */
static void queue_first_call(measuring *s, fl_timing *timing)
{
    fl_run run = s->run;
    fl_status status;

    run.timing = timing;
    status = call(s, &run);
    if (s->found.tuned && (status == FL_E_LIMIT || status == FL_E_UNSUPPORTED)) {
        note("the saved sweep's choice cannot run, auto does: %s", fl_last_error());
        s->found.tuned = false;
        s->run = (fl_run){.stream = s->stream};
        run = s->run;
        run.timing = timing;
        status = call(s, &run);
    }
    s->unable = s->plan->optional && status != FL_OK && status != FL_E_MEMORY && status != FL_E_DEVICE;
    if (!s->unable)
        must(status);
}

/* Queues the copies of all outputs, of a counted one as much as counts. */
static void queue_outputs(measuring *s)
{
    const exercise *e = s->exercise;
    fl_array *part;

    for (int i = e->kind->counted ? 1 : 0; i < e->output_count; i++)
        must(fl_array_read(s->outputs[i], s->host_out[i], s->stream));
    if (!e->kind->counted)
        return;
    must(fl_array_view(s->outputs[0], (int64_t[]){0}, &s->count, &part));
    must(fl_array_read(part, s->host_out[0], s->stream));
    fl_array_free(part);
}

/* How many elements a counted result has is known once the work is done. */
static void read_count(measuring *s)
{
    int64_t most = s->exercise->outputs[0].shape[0];

    if (!s->exercise->kind->counted)
        return;
    must(fl_array_read(s->outputs[1], s->host_out[1], s->stream));
    must(fl_stream_wait(s->stream));
    memcpy(&s->count, s->host_out[1], sizeof s->count);
    s->count = s->count < 0 ? 0 : s->count > most ? most : s->count; /* a wrong one is the check's to find */
}

/* The first pass, from nothing: arrays are created in it. */
static double cold_pass(measuring *s, fl_timing *timing)
{
    double start = seconds_now();
    fl_trace_mark mark;

    must(fl_trace_begin("cold pass", &mark));
    create_arrays(s);
    queue_inputs(s);
    queue_begins(s);
    queue_first_call(s, timing);
    if (!s->unable) {
        read_count(s);
        queue_outputs(s);
    }
    must(fl_stream_wait(s->stream));
    fl_trace_end(mark);
    return group_most(seconds_now() - start);
}

/* A result that is read from here on was computed from here on. */
static void poison(measuring *s)
{
    for (int i = 0; i < s->exercise->output_count; i++) {
        memset(s->host_out[i], 0xff, host_array_bytes(&s->results[i]));
        if (!(s->exercise->in_place && i == 0))
            must(fl_array_write(s->outputs[i], s->host_out[i], s->stream));
    }
    must(fl_stream_wait(s->stream));
}

static double total_pass(measuring *s)
{
    fl_trace_mark mark;
    double start;

    restore(s);
    group_wait();
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
    watch(s);
    return group_most(start);
}

/* One pass between events, the kernel `launches` times; seconds of the parts, of this rank. */
static void event_pass(measuring *s, int launches, double *h2d, double *kernel, double *d2h)
{
    restore(s);
    group_wait();
    (void)group_take_cost();
    must(fl_event_record(s->event[0], s->stream));
    if (s->copies)
        queue_inputs(s);
    distributed_settle(s->stream);
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
static double call_pass(measuring *s)
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
static void fetch_results(measuring *s)
{
    const exercise *e = s->exercise;

    read_count(s);
    for (int i = 0; i < e->output_count; i++)
        must(fl_array_to_host(s->outputs[i], s->results[i].data));
    if (e->kind->counted)
        s->results[0].shape[0] = s->count;
    for (int i = 0; i < e->output_count && e->guarded; i++)
        must(watch_guards(s->whole[i], i, &s->found.watched));
}

/* Shows that passes go on, unless that was shown a moment ago. */
static void show_pass(measuring *s, bool timed)
{
    const double now = seconds_now(), moment = 0.2;
    const int pass = s->found.total.count + 1;

    if (now - s->shown < moment)
        return;
    s->shown = now;
    progress_part(s->plan->repeat > 0       ? (double)(pass - 1) / s->plan->repeat
                  : s->plan->min_time_s > 0 ? s->spent / s->plan->min_time_s
                                            : 0);
    if (!timed)
        progress("%s: warming up", s->found.requested);
    else if (s->plan->repeat > 0)
        progress("%s: pass %d of %d", s->found.requested, pass, s->plan->repeat);
    else
        progress("%s: pass %d", s->found.requested, pass);
}

bool measure_more(const measure_plan *plan, int count, double spent)
{
    bool more;

    if (count > 0 && progress_is_late())
        more = false;
    else if (plan->repeat > 0)
        more = count < plan->repeat;
    else
        more = count < FEWEST_PASSES || (count < MOST_PASSES && spent < plan->min_time_s);
    return group_decides(more);
}

/* As many launches as make a time that can be taken between events: one, unless the kernel is short. */
static int launches_for(const exercise *e, double kernel)
{
    if (kernel >= SHORT_S || (e->in_place && !e->kind->steady) || e->begins)
        return 1;
    return kernel > BATCH_S / 1000 ? (int)(BATCH_S / kernel) : 1000;
}

/* One sample of each quantity; the pass from host to host comes last, so that its result is what is checked. */
static void take_samples(measuring *s)
{
    measurement *m = &s->found;
    double h2d, kernel, d2h;

    event_pass(s, s->launches, &h2d, &kernel, &d2h);
    samples_add(&m->h2d, group_most(h2d));
    samples_add(&m->kernel, group_most(kernel));
    samples_add(&m->d2h, group_most(d2h));
    if (group_is_distributed())
        distributed_take(m, kernel, s->launches);
    if (s->plan->wrong_timing)
        samples_add(&m->call, call_pass(s));
    samples_add(&m->total, total_pass(s));
}

/* The first pass is all that is timed: what its copies took is not known. */
static void take_first_pass(measuring *s)
{
    samples_add(&s->found.kernel, s->found.timing.kernel_s);
    samples_add(&s->found.total, s->found.cold_s);
    s->found.first_counts = true;
}

measuring *measure_start(const exercise *e, const measure_plan *plan, const char *requested, fl_device *device)
{
    measuring *s = memory_zeroed(1, sizeof *s);
    double h2d, kernel, d2h;

    s->exercise = e;
    s->plan = plan;
    s->device = device;
    s->found.requested = requested;
    s->found.device = *fl_device_describe(device);
    s->copies = !s->found.device.host_memory;
    s->pinned = !plan->pageable;
    s->results = s->found.results;
    prepare_host(s);
    must(fl_stream_create(device, &s->stream));
    for (int i = 0; i < 4; i++)
        must(fl_event_create(device, &s->event[i]));
    s->run = (fl_run){.variant = plan->variant, .stream = s->stream};
    memcpy(s->run.block, plan->block, sizeof s->run.block);
    s->found.tuned = plan->tuned;
    progress("%s: first pass", requested);
    s->shown = seconds_now();
    s->found.cold_s = cold_pass(s, &s->found.timing);
    progress_has_result();
    if (s->unable) {
        note("%s: %s is left out: %s", requested, plan->variant, fl_last_error());
        release(s);
        measurement_free(&s->found);
        free(s);
        progress_end();
        return NULL;
    }
    watch(s);
    s->before = disturbance_count();
    s->slow = plan->repeat == 0 && s->found.cold_s > LONG_S;
    if (group_decides(progress_is_late()) || (s->slow && s->found.cold_s > VERY_LONG_S)) {
        take_first_pass(s);
        return s;
    }
    poison(s);
    s->launches = 1;
    if (s->slow) {
        take_samples(s);
        return s;
    }
    for (int i = 0; i < plan->warmup && !group_decides(progress_is_late()); i++) {
        show_pass(s, false);
        total_pass(s);
    }
    event_pass(s, 1, &h2d, &kernel, &d2h);
    s->launches = launches_for(e, group_most(kernel));
    s->shown = 0;
    return s;
}

bool measure_round(measuring *s, int rounds)
{
    const measure_plan *plan = s->plan;
    int repeat = (plan->repeat + rounds - 1) / rounds, taken = 0;
    double start = seconds_now(), enough = plan->min_time_s / rounds;

    if (s->slow || s->found.first_counts || !measure_more(plan, s->found.total.count, s->spent))
        return false;
    if (s->found.total.count > 0)
        total_pass(s); /* what ran in between has emptied the caches */
    do {
        show_pass(s, true);
        take_samples(s);
        taken++;
    } while (measure_more(plan, s->found.total.count, s->spent + seconds_now() - start) &&
             (plan->repeat > 0 ? taken < repeat : seconds_now() - start < enough));
    s->spent += seconds_now() - start;
    return measure_more(plan, s->found.total.count, s->spent);
}

measurement measure_end(measuring *s)
{
    measurement m;

    s->found.disturbed = disturbance_between(s->before, disturbance_count());
    fetch_results(s);
    progress_end();
    s->found.timing.kernel_s = median(s->found.kernel.s, s->found.kernel.count);
    if (group_is_distributed())
        distributed_gather(&s->found);
    release(s);
    m = s->found;
    free(s);
    return m;
}

void measurement_free(measurement *m)
{
    free(m->h2d.s);
    free(m->kernel.s);
    free(m->d2h.s);
    free(m->total.s);
    free(m->call.s);
    distributed_free(m);
    for (int i = 0; i < MOST_OUTPUTS; i++)
        host_array_free(&m->results[i]);
    watched_free(&m->watched);
}
