/* SPDX-License-Identifier: MIT
 *
 * pass.c - single passes: the first one, those between events, and those by the host's clock.
 */
#include "inner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef fl_status callback(void *user, fl_stream *stream);

/* Calls it, if the case has it. */
static fl_status maybe(const bench_work *w, callback *f)
{
    return f ? f(w->what.user, w->stream) : FL_OK;
}

/* A function of the host has no stream. */
static fl_status wait_for(const bench_work *w)
{
    return w->stream ? fl_stream_wait(w->stream) : FL_OK;
}

static fl_status call(const bench_work *w, int launches, fl_timing *timing)
{
    fl_run run = {.variant = w->what.variant, .stream = w->stream, .timing = timing};

    memcpy(run.block, w->what.block, sizeof run.block);
    for (int i = 0; i < launches; i++)
        BENCH_TRY(w->what.call(w->what.user, &run));
    return FL_OK;
}

static fl_status team_wait(const fl_bench *b)
{
    return b->joined ? b->team.wait(b->team.user) : FL_OK;
}

static fl_status team_most(const fl_bench *b, double *seconds)
{
    return b->joined ? b->team.most(b->team.user, seconds) : FL_OK;
}

/* Untimed: what comes before each pass but the first. */
static fl_status before_pass(const fl_bench *b, bench_work *w)
{
    BENCH_TRY(maybe(w, w->what.restore));
    BENCH_TRY(wait_for(w));
    if (b->plan.flush)
        BENCH_TRY(bench_flush_now(&w->flush, w->what.device, w->stream));
    return team_wait(b);
}

/* Reads the clock after a callback; without one the moment `before` it is the same, and a reading takes some 30 ns. */
static double after(bool callback, double before)
{
    return callback ? bench_now() : before;
}

/* Waits until an emulation has done what was queued, so that the clock has each part of a pass by itself. */
static fl_status wait_for_part(const bench_work *w)
{
    return w->info.emulation && !w->apart ? wait_for(w) : FL_OK;
}

/* A pass by the host's clock, in host memory or not; times are this process's. */
static fl_status clock_pass(bench_work *w, int launches, bench_times *t)
{
    double start = bench_now(), called, returned, known, copied, done, end;

    BENCH_TRY(maybe(w, w->what.copy_in));
    BENCH_TRY(wait_for_part(w));
    called = after(w->what.copy_in != NULL, start);
    BENCH_TRY(call(w, launches, NULL));
    BENCH_TRY(wait_for_part(w));
    returned = bench_now();
    BENCH_TRY(maybe(w, w->what.between));
    known = after(w->what.between != NULL, returned);
    BENCH_TRY(maybe(w, w->what.copy_out));
    copied = after(w->what.copy_out != NULL, known);
    BENCH_TRY(wait_for(w));
    done = after(w->stream != NULL, copied);
    BENCH_TRY(maybe(w, w->what.finish));
    end = after(w->what.finish != NULL, done);
    if (w->what.finish)
        t->s[FL_BENCH_FINISH] = end - done;
    if (w->what.between)
        t->s[FL_BENCH_BETWEEN] = known - returned;
    if (!w->apart) {
        t->s[FL_BENCH_KERNEL] = (returned - called) / launches;
        t->s[FL_BENCH_COPY_IN] = w->what.copy_in ? called - start : 0;
        t->s[FL_BENCH_COPY_OUT] = w->what.copy_out ? copied - known : 0;
    }
    /* Calls are counted once. A sum of the parts, so that rounding never makes the kernel longer than the total. */
    t->s[FL_BENCH_TOTAL] = (returned - called) / launches + (called - start) + (end - returned);
    return FL_OK;
}

/* A pass between events of the device. A team's transfers differ: its kernels start together once all inputs arrived.
 */
static fl_status event_pass(const fl_bench *b, bench_work *w, int launches, bench_times *t)
{
    fl_event *const *e = w->event;

    BENCH_TRY(fl_event_record(e[0], w->stream));
    BENCH_TRY(maybe(w, w->what.copy_in));
    BENCH_TRY(fl_event_record(e[1], w->stream));
    if (b->joined) {
        BENCH_TRY(fl_stream_wait(w->stream));
        BENCH_TRY(team_wait(b));
    }
    BENCH_TRY(fl_event_record(e[2], w->stream));
    BENCH_TRY(call(w, launches, NULL));
    BENCH_TRY(fl_event_record(e[3], w->stream));
    BENCH_TRY(maybe(w, w->what.copy_out));
    BENCH_TRY(fl_event_record(e[4], w->stream));
    BENCH_TRY(fl_stream_wait(w->stream));
    BENCH_TRY(fl_event_elapsed(e[0], e[1], &t->s[FL_BENCH_COPY_IN]));
    BENCH_TRY(fl_event_elapsed(e[2], e[3], &t->s[FL_BENCH_KERNEL]));
    BENCH_TRY(fl_event_elapsed(e[3], e[4], &t->s[FL_BENCH_COPY_OUT]));
    t->s[FL_BENCH_KERNEL] /= launches;
    if (!w->what.copy_in)
        t->s[FL_BENCH_COPY_IN] = 0;
    if (!w->what.copy_out)
        t->s[FL_BENCH_COPY_OUT] = 0;
    return FL_OK;
}

/* A clock that stops when the call returns, while the device works on: the mistake that time_call shows. */
static fl_status call_pass(bench_work *w, bench_times *t)
{
    const double start = bench_now();

    BENCH_TRY(call(w, 1, NULL));
    t->s[FL_BENCH_CALL] = bench_now() - start;
    return wait_for(w);
}

/* The parts of bench_pass, within a mark of the trace. */
static fl_status marked_clock_pass(fl_bench *b, bench_work *w, int launches, bench_times *t)
{
    fl_trace_mark mark;
    fl_status status;

    BENCH_TRY(before_pass(b, w));
    BENCH_TRY(fl_trace_begin("pass", &mark));
    status = clock_pass(w, launches, t);
    fl_trace_end(mark);
    BENCH_TRY(status);
    return maybe(w, w->what.after_pass);
}

static fl_status all_parts(fl_bench *b, bench_work *w, int launches, bool timed, bench_times *t)
{
    const bool host = !w->apart;
    fl_status (*const took)(void *, double, int) = timed ? w->what.took : NULL;
    fl_trace_mark mark;
    fl_status status;

    if (!host && w->what.by != FL_BENCH_HOST) {
        BENCH_TRY(before_pass(b, w));
        BENCH_TRY(fl_trace_begin("pass between events", &mark));
        status = event_pass(b, w, launches, t);
        fl_trace_end(mark);
        BENCH_TRY(status);
        if (took)
            BENCH_TRY(took(w->what.user, t->s[FL_BENCH_KERNEL], launches));
    }
    if (b->plan.time_call && !host) {
        BENCH_TRY(before_pass(b, w));
        BENCH_TRY(call_pass(w, t));
    }
    /* Comes last, so that its result is what is checked. */
    if (host || w->what.by != FL_BENCH_EVENTS)
        BENCH_TRY(marked_clock_pass(b, w, host ? launches : 1, t));
    if (host && b->plan.time_call)
        t->s[FL_BENCH_CALL] = t->s[FL_BENCH_KERNEL]; /* the call returns when its work is done */
    if (host && took)
        BENCH_TRY(took(w->what.user, t->s[FL_BENCH_KERNEL], launches));
    return FL_OK;
}

fl_status bench_pass(fl_bench *bench, bench_work *work, int launches, bool timed, bench_times *times)
{
    for (int i = 0; i < BENCH_QUANTITIES; i++)
        times->s[i] = NAN;
    BENCH_TRY(all_parts(bench, work, launches, timed, times));
    for (int i = 0; i < BENCH_QUANTITIES; i++)
        if (!isnan(times->s[i]))
            BENCH_TRY(team_most(bench, &times->s[i]));
    return FL_OK;
}

fl_status bench_warm_up(fl_bench *bench, bench_work *work)
{
    bench_times unused;

    return marked_clock_pass(bench, work, 1, &unused);
}

static fl_status first_pass(bench_work *w)
{
    double start;

    BENCH_TRY(maybe(w, w->what.begin));
    BENCH_TRY(maybe(w, w->what.copy_in));
    w->first.kernel_s = NAN;
    start = bench_now();
    BENCH_TRY(call(w, 1, &w->first));
    if (isnan(w->first.kernel_s) && w->info.host_memory)
        w->first.kernel_s = bench_now() - start;
    BENCH_TRY(maybe(w, w->what.between));
    BENCH_TRY(maybe(w, w->what.copy_out));
    BENCH_TRY(wait_for(w));
    return maybe(w, w->what.finish);
}

fl_status bench_first_pass(fl_bench *bench, bench_work *work)
{
    fl_trace_mark mark;
    fl_status status;
    double start;

    BENCH_TRY(team_wait(bench));
    BENCH_TRY(fl_trace_begin("first pass", &mark));
    start = bench_now();
    status = first_pass(work);
    work->first_s = bench_now() - start;
    fl_trace_end(mark);
    BENCH_TRY(status);
    /* The variant's name is the device's, which may be closed before the results are read. */
    if (work->first.variant != work->variant)
        snprintf(work->variant, sizeof work->variant, "%s", work->first.variant ? work->first.variant : "");
    work->first.variant = work->variant;
    if (!(work->first.bytes > 0))
        work->first.bytes = work->what.bytes;
    if (!(work->first.flops > 0))
        work->first.flops = work->what.flops;
    BENCH_TRY(team_most(bench, &work->first_s));
    return maybe(work, work->what.after_pass);
}
