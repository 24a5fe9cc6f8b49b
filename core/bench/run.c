/* SPDX-License-Identifier: MIT
 *
 * run.c - runs the cases of a bench: first passes, warm-ups, rounds of timed passes, and what comes after them.
 */
#include "inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_PASSES = 3, MOST_PASSES = 1000, MOST_PRECISE_PASSES = 10000, MOST_LAUNCHES = 1000, MOST_TAKES = 4 };

/* Events around a kernel take 2 to 3 us on a GPU, and a reading of the host's clock 30 ns: kernels below these times
 * are queued several times. */
static const double short_s = 200e-6, short_for_clock_s = 10e-6;

/* After a first pass longer than long_s one timed pass follows; after one longer than very_long_s none. */
static const double long_s = 1, very_long_s = 10;

/* How often the GPU's clock is read; a reading takes some 10 us. */
static const double clocks_every_s = 0.02;

static const double to_precision = 100; /* times min_time_s are spent on precision at most */

/* ----------------------------------------------------------------------------------------------- decisions ---- */

/* The samples that count passes. */
static int passes_of(const bench_work *w)
{
    const int total = w->samples[FL_BENCH_TOTAL].count, kernel = w->samples[FL_BENCH_KERNEL].count;

    return total > kernel ? total : kernel;
}

static bool is_precise(const fl_bench *b, const bench_work *w, fl_bench_quantity quantity)
{
    const bench_samples *list = &w->samples[quantity];
    fl_bench_statistics s;

    if (list->count == 0)
        return true; /* the case has no such time */
    s = bench_statistics(list->s, list->count, w->sorted);
    return s.high - s.median <= b->plan.precision * s.median && s.median - s.low <= b->plan.precision * s.median;
}

/* Sorting after each pass would take longer than short passes: looks again when there are an eighth more samples. */
static bool reaches_precision(const fl_bench *b, bench_work *w)
{
    const int count = passes_of(w);

    if (!w->precise && count >= w->judged + (w->judged + 7) / 8) {
        w->precise = is_precise(b, w, FL_BENCH_KERNEL) && is_precise(b, w, FL_BENCH_TOTAL);
        w->judged = count;
    }
    return w->precise;
}

static bool wants_more(const fl_bench *b, bench_work *w, double spent)
{
    const fl_bench_plan *p = &b->plan;
    const int count = passes_of(w);

    if (!w->ran || w->complete || w->status != FL_OK || count >= w->most)
        return false;
    if (p->repeat > 0)
        return count < p->repeat;
    if (count < (p->fewest > 0 ? p->fewest : FEWEST_PASSES) || (count < MOST_PASSES && spent < p->min_time_s))
        return true;
    return p->precision > 0 && spent < to_precision * p->min_time_s && !reaches_precision(b, w);
}

/* Decides whether another pass follows: `more`, as far as this process knows, unless the caller or the time ends the
 * run. One process of a team decides for all. */
static fl_status decide(fl_bench *b, bench_work *w, fl_bench_phase phase, int pass, double spent, bool *more)
{
    const fl_bench_plan *p = &b->plan;
    const double done = p->repeat > 0 ? (pass - 1.0) / p->repeat : spent / p->min_time_s;
    const fl_bench_step step = {.name = w->name,
                                .resource = w->info.resource,
                                .phase = phase,
                                .pass = pass,
                                .passes = p->repeat,
                                .done = phase != FL_BENCH_TIMED ? 0
                                        : done < 1              ? done
                                                                : 1};
    bool stopped = b->stopped;

    if (*more && !stopped)
        stopped =
            (p->max_time_s > 0 && bench_now() - b->start > p->max_time_s) || (p->step && !p->step(p->user, &step));
    if (b->joined)
        BENCH_TRY(b->team.decides(b->team.user, &stopped));
    b->stopped = stopped;
    *more = *more && !stopped;
    return b->joined ? b->team.decides(b->team.user, more) : FL_OK;
}

/* ----------------------------------------------------------------------------------------------- one case ---- */

static fl_status make_room(const fl_bench *b, bench_work *w)
{
    const fl_bench_plan *p = &b->plan;
    const int free_running = p->precision > 0 ? MOST_PRECISE_PASSES : MOST_PASSES;
    const bool wanted[BENCH_QUANTITIES] = {[FL_BENCH_COPY_IN] = true,
                                           [FL_BENCH_KERNEL] = true,
                                           [FL_BENCH_COPY_OUT] = true,
                                           [FL_BENCH_TOTAL] = true,
                                           [FL_BENCH_FINISH] = w->what.finish != NULL,
                                           [FL_BENCH_CALL] = p->time_call,
                                           [FL_BENCH_BETWEEN] = w->what.between != NULL};
    double *room;

    w->most = p->repeat > 0 ? p->repeat : p->fewest > free_running ? p->fewest : free_running;
    room = w->room = calloc((size_t)w->most * (BENCH_QUANTITIES + 1), sizeof *room);
    if (!room)
        return bench_fail(FL_E_MEMORY, "fl_bench_run: out of host memory: %d samples of '%s'", w->most, w->name);
    w->sorted = room;
    for (int i = 0; i < BENCH_QUANTITIES; i++)
        if (wanted[i])
            w->samples[i].s = room += w->most;
    return FL_OK;
}

bench_vendor bench_vendor_of(const fl_device_info *info)
{
    return info->emulation                            ? BENCH_VENDOR_NONE
           : strcmp(info->backend, "hip-nvidia") == 0 ? BENCH_VENDOR_NVIDIA
           : strcmp(info->backend, "hip-amd") == 0    ? BENCH_VENDOR_AMD
                                                      : BENCH_VENDOR_NONE;
}

/* An emulation's work is the host's: one pass has all of its times. Processes of a team take the same passes, whatever
 * their devices are. */
static fl_status choose_passes(const fl_bench *b, bench_work *w)
{
    double apart = !w->info.host_memory && !w->info.emulation;

    if (b->joined && w->what.device)
        BENCH_TRY(b->team.most(b->team.user, &apart));
    w->apart = apart > 0;
    return FL_OK;
}

static fl_status prepare(const fl_bench *b, bench_work *w)
{
    BENCH_TRY(make_room(b, w));
    BENCH_TRY(choose_passes(b, w));
    if (w->what.device) {
        BENCH_TRY(fl_stream_create(w->what.device, &w->stream));
        for (int i = 0; i < BENCH_EVENTS && w->apart; i++)
            BENCH_TRY(fl_event_create(w->what.device, &w->event[i]));
    }
    if (b->plan.flush)
        BENCH_TRY(bench_flush_create(&w->flush, w->what.device, &w->info));
    w->clocks = bench_gpu_clocks_of(bench_vendor_of(&w->info), w->info.bus_id);
    return w->what.prepare ? w->what.prepare(w->what.user, w->stream) : FL_OK;
}

static void add_sample(bench_work *w, fl_bench_quantity quantity, double seconds)
{
    bench_samples *list = &w->samples[quantity];

    if (!isnan(seconds) && list->s && list->count < w->most)
        list->s[list->count++] = seconds;
}

/* A GPU's kernel and its whole pass are timed in two passes. Where a delay makes the kernel longer than the whole, both
 * are taken again, because no such times can be right. */
static fl_status timed_pass(fl_bench *b, bench_work *w)
{
    bench_times t;
    int takes = 0;

    do
        BENCH_TRY(bench_pass(b, w, w->launches, true, &t));
    while (w->apart && t.s[FL_BENCH_KERNEL] > t.s[FL_BENCH_TOTAL] && ++takes < MOST_TAKES);
    for (int i = 0; i < BENCH_QUANTITIES; i++)
        add_sample(w, (fl_bench_quantity)i, t.s[i]);
    return FL_OK;
}

static void count_first_pass(bench_work *w)
{
    w->disturbed = w->first_disturbed;
    add_sample(w, FL_BENCH_KERNEL, w->first.kernel_s);
    add_sample(w, FL_BENCH_TOTAL, w->first_s);
    w->first_counts = w->complete = true;
}

/* How many calls make a time that its clock can take: one, unless the kernel is short. */
static int launches_for(const fl_bench *b, const bench_work *w, double kernel)
{
    const double batch = b->plan.batch_s;

    if (!(kernel < (w->apart ? short_s : short_for_clock_s)) || kernel >= batch)
        return 1;
    return kernel > batch / MOST_LAUNCHES ? (int)(batch / kernel) : MOST_LAUNCHES;
}

/* The caller has decided that the first of these passes runs: where after_first overwrote the results, one must, since
 * any later decision may end the run. */
static fl_status warm_up(fl_bench *b, bench_work *w)
{
    const int given = w->what.alone || b->plan.flush ? 1 : w->what.launches;
    bench_times t;
    bool more = true;

    for (int i = 0; i < b->plan.warmup; i++) {
        if (i > 0)
            BENCH_TRY(decide(b, w, FL_BENCH_WARM_UP, i + 1, 0, &more));
        if (!more)
            return FL_OK;
        BENCH_TRY(bench_warm_up(b, w));
    }
    w->launches = given;
    if (given > 0 && (b->plan.warmup > 0 || !w->what.after_first))
        return FL_OK;
    BENCH_TRY(bench_pass(b, w, 1, false, &t));
    if (given == 0)
        w->launches = launches_for(b, w, t.s[FL_BENCH_KERNEL]);
    return FL_OK;
}

/* The only timed pass of a case that takes seconds. */
static fl_status one_long_pass(fl_bench *b, bench_work *w)
{
    const bench_counts before = bench_counts_now();

    fl_status status;

    w->complete = true;
    bench_profiler_start(&b->profiler, w->name);
    status = timed_pass(b, w);
    bench_profiler_stop(&b->profiler);
    BENCH_TRY(status);
    bench_gpu_clocks_sample(&w->clocks);
    const bench_counts after = bench_counts_now();
    bench_disturbance_add(&w->disturbed, &before, &after);
    return FL_OK;
}

/* Runs all of a case that comes before its rounds. */
static fl_status start(fl_bench *b, bench_work *w)
{
    const bool counted = b->plan.repeat > 0 || b->plan.fewest > 0;
    bool more = true, warms_up;
    bench_counts before, after;

    BENCH_TRY(decide(b, w, FL_BENCH_FIRST, 1, 0, &more));
    if (!more)
        return FL_OK;
    w->began = true;
    BENCH_TRY(prepare(b, w));
    before = bench_counts_now();
    BENCH_TRY(bench_first_pass(b, w));
    after = bench_counts_now();
    bench_disturbance_add(&w->first_disturbed, &before, &after);
    w->ran = true;
    if (!counted && w->first_s > very_long_s) {
        count_first_pass(w);
        return FL_OK;
    }
    warms_up = counted || w->first_s <= long_s;
    BENCH_TRY(decide(b, w, warms_up && b->plan.warmup > 0 ? FL_BENCH_WARM_UP : FL_BENCH_TIMED, 1, 0, &more));
    if (!more)
        return FL_OK; /* the first pass's results stay */
    if (w->what.after_first)
        BENCH_TRY(w->what.after_first(w->what.user, w->stream));
    return warms_up ? warm_up(b, w) : one_long_pass(b, w);
}

/* Times one part of the passes that a case wants. */
static fl_status timed_passes(fl_bench *b, bench_work *w, double start_s)
{
    const int rounds = b->plan.rounds, share = (b->plan.repeat + rounds - 1) / rounds;
    double now = start_s, sampled = 0;
    bool more = wants_more(b, w, w->spent);

    for (int taken = 0;;) {
        BENCH_TRY(decide(b, w, FL_BENCH_TIMED, passes_of(w) + 1, w->spent + now - start_s, &more));
        if (!more)
            return FL_OK;
        BENCH_TRY(timed_pass(b, w));
        now = bench_now();
        if (now - sampled > clocks_every_s) {
            bench_gpu_clocks_sample(&w->clocks);
            sampled = now;
        }
        taken++;
        more = wants_more(b, w, w->spent + now - start_s) &&
               (b->plan.repeat > 0 ? taken < share : now - start_s < b->plan.min_time_s / rounds);
    }
}

static fl_status run_round(fl_bench *b, bench_work *w)
{
    bool more = wants_more(b, w, w->spent);
    bench_counts before, after;
    fl_status status;
    double start_s;

    if (b->joined)
        BENCH_TRY(b->team.decides(b->team.user, &more));
    if (!more || b->stopped)
        return FL_OK;
    if (passes_of(w) > 0)
        BENCH_TRY(bench_warm_up(b, w)); /* other cases that ran meanwhile have emptied the caches */
    bench_profiler_start(&b->profiler, w->name);
    before = bench_counts_now();
    start_s = before.at_s;
    status = timed_passes(b, w, start_s);
    after = bench_counts_now();
    bench_profiler_stop(&b->profiler);
    w->spent += after.at_s - start_s;
    bench_disturbance_add(&w->disturbed, &before, &after);
    return status;
}

/* Fetches the results of the last pass, frees what the case has on its device, and checks. */
static fl_status finish(bench_work *w)
{
    fl_status status = FL_OK;

    if (w->ran && passes_of(w) == 0)
        count_first_pass(w);
    if (w->ran && w->what.end)
        status = w->what.end(w->what.user, w->stream);
    if (w->release_own)
        w->release_own(w->own);
    bench_flush_free(&w->flush);
    BENCH_TRY(status);
    if (w->ran && w->what.check) {
        BENCH_TRY(w->what.check(w->what.user, &w->right));
        w->checked = true;
    }
    return FL_OK;
}

/* ---------------------------------------------------------------------------------------------- all cases ---- */

/* Keeps why a case failed, and returns the status that ends the run: FL_OK where the case is merely left out. */
static fl_status keep_failure(bench_work *w, fl_status status)
{
    if (status == FL_OK)
        return FL_OK;
    w->status = status;
    snprintf(w->message, sizeof w->message, "%s", fl_last_error());
    return w->what.optional && !w->ran && status != FL_E_MEMORY && status != FL_E_DEVICE ? FL_OK : status;
}

/* Runs the cases from `first` to before `end` in turns. */
static fl_status run_group(fl_bench *b, size_t first, size_t end)
{
    bool more = true;

    for (size_t i = first; i < end; i++)
        BENCH_TRY(keep_failure(b->works[i], start(b, b->works[i])));
    while (more) {
        more = false;
        for (size_t i = first; i < end; i++) {
            bench_work *const w = b->works[i];
            BENCH_TRY(keep_failure(w, run_round(b, w)));
            more = more || (!b->stopped && wants_more(b, w, w->spent));
        }
        if (b->joined)
            BENCH_TRY(b->team.decides(b->team.user, &more));
    }
    for (size_t i = first; i < end; i++)
        BENCH_TRY(keep_failure(b->works[i], finish(b->works[i])));
    return FL_OK;
}

/* Something delays passes with events so often that they take longer than whole passes, however often they are taken
 * again. */
static bool contradicts_itself(const bench_work *w)
{
    const bench_samples *kernel = &w->samples[FL_BENCH_KERNEL], *total = &w->samples[FL_BENCH_TOTAL];
    fl_bench_statistics k, t;

    if (!w->apart || kernel->count == 0 || total->count == 0)
        return false;
    k = bench_statistics(kernel->s, kernel->count, w->sorted);
    t = bench_statistics(total->s, total->count, w->sorted);
    return isnan(k.low) || isnan(t.low) ? k.minimum > t.maximum : k.low > t.high;
}

/* Frees the device memory of the run, also after a failure. */
static void clean_up(const fl_bench *b, bench_work *w)
{
    static const bench_disturbance none; /* of a GPU: what other programs do to the processors explains nothing */

    if (w->release_own)
        w->release_own(w->own);
    bench_flush_free(&w->flush);
    if (b->joined) /* a process that waits for its team lets others have its processor */
        w->disturbed.switches = w->disturbed.waited_s = w->disturbed.counts_waiting = 0;
    bench_disturbance_say(w->info.host_memory ? &w->disturbed : &none, w->clocks.throttled, w->why_disturbed,
                          sizeof w->why_disturbed);
    if (w->clocks.throttled > 0)
        bench_gpu_clocks_explain(&w->clocks, w->why_disturbed, sizeof w->why_disturbed);
    if (!*w->why_disturbed && contradicts_itself(w))
        snprintf(w->why_disturbed, sizeof w->why_disturbed, "the kernel's time exceeds the total; cause unknown");
    if (w->info.emulation)
        *w->why_disturbed = '\0'; /* its times say nothing, disturbed or not */
    if (!w->began && w->status == FL_OK) {
        w->status = FL_E_UNAVAILABLE;
        snprintf(w->message, sizeof w->message, "the run ended before its first pass");
    }
}

fl_status fl_bench_run(fl_bench *bench)
{
    fl_status status = FL_OK;
    char message[800];

    if (!bench)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_run: bench is NULL");
    if (bench->ran)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_run: the bench has run; create another one");
    bench->ran = true;
    bench->profiler = bench_profiler_open();
    bench->start = bench_now();
    if (bench->plan.rounds == 1)
        for (size_t i = 0; i < bench->count && status == FL_OK; i++)
            status = run_group(bench, i, i + 1);
    else
        status = run_group(bench, 0, bench->count);
    snprintf(message, sizeof message, "%s", fl_last_error());
    for (size_t i = 0; i < bench->count; i++)
        clean_up(bench, bench->works[i]);
    bench_profiler_close(&bench->profiler);
    return status == FL_OK ? FL_OK : fl_set_error(status, message);
}
