/* SPDX-License-Identifier: MIT */
#include "pipeline.h"
#include "queue.h"

#include "checks/factors.h"
#include "support/fail.h"
#include "support/progress.h"
#include "support/random.h"
#include "support/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    SAMPLES = 8,         /* elements of a result that are held against the definition, or against those found right */
    CHECKED_FULLY = 512, /* results of the first pass that are checked as a whole */
};

/* Signals within this time of the first one are the same request. */
static const double SAME_REQUEST_S = 0.3;

const char *const stage_names[STAGES] = {"read", "decode", "decompose", "check", "encode", "write"};

typedef struct pipeline {
    const pipeline_plan *plan;
    const batch_source *source;
    pipeline_report report;
    batch_device *device;
    decomposer *decomposer; /* of modes with one thread */
    queue *decoding, *decomposing, *computing, *encoding;
    pthread_mutex_t lock; /* of `report` */
    atomic_bool stopped;  /* nothing is begun any more */
    atomic_bool broken;   /* nothing is finished either */
    bool checks_all;      /* of ready items: the whole result, and not only samples */
    uint64_t *prints;     /* of the result of each ready item, found right; 0: not yet */
} pipeline;

/* ---------------------------------------------------------------------------------------------- signals ---- */

static volatile sig_atomic_t signal_caught;
static struct timespec caught_at;
static struct sigaction before[2];
static const int ending[2] = {SIGINT, SIGTERM};

void pipeline_let_signals_through(void)
{
    for (int i = 0; i < 2; i++)
        sigaction(ending[i], &before[i], NULL);
}

static double seconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

/* One request may come twice, to the process and to its group (timeout does so); what comes later is a second one. */
static void on_signal(int number)
{
    if (!signal_caught) {
        clock_gettime(CLOCK_MONOTONIC, &caught_at);
        signal_caught = number;
        return;
    }
    if (seconds_since(&caught_at) < SAME_REQUEST_S)
        return;
    pipeline_let_signals_through();
    raise(number);
}

void pipeline_catch_signals(void)
{
    for (int i = 0; i < 2; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigaction(ending[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

int pipeline_signal(void)
{
    return signal_caught;
}

static bool is_stopped(pipeline *p)
{
    return signal_caught || atomic_load(&p->stopped);
}

/* ------------------------------------------------------------------------------------------------ items ---- */

/* The i-th item, as it enters the pipeline. NULL: there is nothing to do for it. */
static batch_item *new_item(pipeline *p, int64_t i)
{
    const batch_source *source = p->source;
    batch_item *item;

    if (source->outputs && !source->outputs[i]) {
        pthread_mutex_lock(&p->lock);
        p->report.already_there++;
        pthread_mutex_unlock(&p->lock);
        return NULL;
    }
    if (source->ready && !p->checks_all && source->ready[i % source->distinct].state == ITEM_FAILED)
        return NULL; /* the first pass has told */
    item = malloc(sizeof *item);
    if (!item)
        fail(EXIT_BROKEN, "out of host memory");
    if (source->ready) {
        *item = source->ready[i % source->distinct];
        item->like = i % source->distinct;
        item->left = item->matrices;
    } else {
        memset(item, 0, sizeof *item);
        item->input = source->inputs[i];
        item->check = compare_start();
    }
    item->output = source->outputs && p->checks_all ? source->outputs[i] : NULL;
    return item;
}

static char *copy_of(const char *text)
{
    char *copy = strdup(text);

    if (!copy)
        fail(EXIT_BROKEN, "out of host memory");
    return copy;
}

static void add_failure(pipeline_report *r, const batch_item *item)
{
    batch_failure *list = realloc(r->failures, (size_t)(r->failed + 1) * sizeof *list);

    if (!list)
        fail(EXIT_BROKEN, "out of host memory");
    r->failures = list;
    list[r->failed++] = (batch_failure){copy_of(item->input ? item->input : "made here"), copy_of(item->why.text),
                                        item->why.exit_code == EXIT_WRONG_RESULT};
}

static void add_quality(pipeline_report *r, const batch_item *item)
{
    if (item->norm > 0)
        r->worst_error = fmax(r->worst_error, item->error / item->norm);
    r->error = hypot(r->error, item->error);
    r->norm = hypot(r->norm, item->norm);
}

/* What the process cannot go on after. The first one counts. */
static void break_off(pipeline *p, const problem *why)
{
    pthread_mutex_lock(&p->lock);
    if (!p->report.broken) {
        p->report.broken = true;
        p->report.why = *why;
    }
    pthread_mutex_unlock(&p->lock);
    atomic_store(&p->broken, true);
    atomic_store(&p->stopped, true);
}

/* An item leaves the pipeline. */
static void end_item(pipeline *p, batch_item *item)
{
    pipeline_report *r = &p->report;
    int64_t gone;

    pthread_mutex_lock(&p->lock);
    if (item->check.compared > 0)
        compare_merge(&r->check, &item->check, 0);
    if (item->state == ITEM_GOES_ON) {
        r->done++;
        add_quality(r, item);
    } else if (item->state == ITEM_FAILED) {
        add_failure(r, item);
    }
    gone = r->done + r->failed + r->already_there;
    pthread_mutex_unlock(&p->lock);
    if (!p->source->ready)
        progress("%" PRId64 " of %" PRId64, gone, p->source->count);
    else
        memset(item->factors, 0, sizeof item->factors); /* which are the source's */
    item_free(item);
    free(item);
}

/* ----------------------------------------------------------------------------------------------- stages ---- */

/* Sums up the bits of results in a way that does not depend on their order. */
static uint64_t sum_bits(const void *data, size_t bytes)
{
    const uint64_t *words = data;
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes / sizeof *words; i++)
        sum += words[i] * (2 * (uint64_t)i + 1);
    for (size_t i = bytes / sizeof *words * sizeof *words; i < bytes; i++)
        sum += ((const uint8_t *)data)[i] * (2 * (uint64_t)i + 1);
    return sum;
}

static void do_stage(pipeline *p, batch_stage stage, batch_item *item, decomposer *d)
{
    const size_t result = (size_t)item->matrices * item_result_bytes(item);
    double bytes = 0, start = seconds_now();
    fl_trace_mark mark;
    uint64_t sum = 0;

    if (item->state == ITEM_GOES_ON && (stage <= STAGE_DECOMPOSE ? is_stopped(p) : atomic_load(&p->broken)))
        item->state = ITEM_DROPPED;
    if (item->state != ITEM_GOES_ON)
        return;
    must(fl_trace_begin(stage_names[stage], &mark));
    switch (stage) {
    case STAGE_READ:
        if (p->source->kind == BATCH_FACTORS)
            item_read_factors(item, p->plan->rank);
        else
            item_read(item);
        bytes = (double)item->file.size;
        break;
    case STAGE_DECODE: item_decode(item); break;
    case STAGE_DECOMPOSE: item_decompose(item, d, p->plan->rank); break;
    case STAGE_CHECK:
        item_check(item, p->plan->seed);
        sum = sum_bits(item->y, result);
        break;
    case STAGE_ENCODE: item_encode(item); break;
    default:
        if (p->source->kind == BATCH_IMAGES)
            item_write(item);
        else
            item_write_result(item);
        bytes = p->source->kind == BATCH_IMAGES ? (double)item->file.size : (double)result;
    }
    fl_trace_end(mark);
    pthread_mutex_lock(&p->lock);
    p->report.stages[stage].busy_s += seconds_now() - start;
    p->report.stages[stage].count++;
    p->report.stages[stage].bytes += bytes;
    p->report.sum += sum;
    pthread_mutex_unlock(&p->lock);
    /* The disk is full, or gone: no other image will fare better. */
    if (stage == STAGE_WRITE && item->state == ITEM_FAILED && item->why.exit_code == EXIT_BROKEN) {
        break_off(p, &item->why);
        item->state = ITEM_DROPPED;
    }
}

static void do_front(pipeline *p, batch_item *item)
{
    if (p->source->ready)
        return;
    do_stage(p, STAGE_READ, item, NULL);
    if (p->source->kind == BATCH_IMAGES)
        do_stage(p, STAGE_DECODE, item, NULL);
}

static void do_middle(pipeline *p, batch_item *item, decomposer *d)
{
    if (d)
        do_stage(p, STAGE_DECOMPOSE, item, d);
}

static void do_back(pipeline *p, batch_item *item)
{
    if (!p->source->ready || item->output) {
        do_stage(p, STAGE_CHECK, item, NULL);
        if (item->output && p->source->kind == BATCH_IMAGES)
            do_stage(p, STAGE_ENCODE, item, NULL);
        if (item->output && p->plan->writes)
            do_stage(p, STAGE_WRITE, item, NULL);
    }
    end_item(p, item);
}

/* ---------------------------------------------------------------------------------------------- the device ---- */

/* Some of the result's words, the same ones for each pass; never 0. */
static uint64_t print_of(const pipeline *p, const batch_item *item, const void *y)
{
    const int64_t words = (int64_t)(item_result_bytes(item) / sizeof(uint32_t));
    random_state random = random_start(p->plan->seed + (uint64_t)item->like);
    uint64_t print = 1;

    for (int i = 0; i < SAMPLES; i++)
        print = (print ^ ((const uint32_t *)y)[random_below(&random, words)]) * 0x100000001b3u; /* FNV-1a's prime */
    return print | 1;
}

/* Looks at a result of a ready item where it lies: the first one of its factors is held against the definition, others
 * against its bits, which cost a timed pass next to nothing. */
static void check_in_place(pipeline *p, batch_item *item, const void *y, int64_t index)
{
    const host_array u = {item->dtype, 2, {item->rows, item->rank, 1, 1}, item->factors[0]},
                     s = {item->dtype, 1, {item->rank, 1, 1, 1}, item->factors[1]},
                     vt = {item->dtype, 2, {item->rank, item->columns, 1, 1}, item->factors[2]},
                     result = {item->dtype, 2, {item->rows, item->columns, 1, 1}, (void *)y};
    const uint64_t print = print_of(p, item, y), known = p->prints[item->like];
    problem why;

    item->check = compare_start();
    if (print == known)
        return;
    if (known || (p->checks_all && index < CHECKED_FULLY))
        item->check = batch_check_product(&u, &s, &vt, &result, p->plan->seed);
    else
        batch_check_samples(&u, &s, &vt, y, SAMPLES, p->plan->seed + (uint64_t)index, &item->check);
    if (p->checks_all && index < CHECKED_FULLY)
        p->report.sum += sum_bits(y, item_result_bytes(item));
    if (item->check.ok) {
        p->prints[item->like] = print;
        return;
    }
    problem_set(&why, EXIT_WRONG_RESULT, "matrix %" PRId64 ": the result is wrong: %g, expected %g", index,
                item->check.worst_result, item->check.worst_expected);
    item_fail(item, &why);
}

/* A part of an item is back. */
static void come_back(void *user, batch_item *item, int64_t first, int64_t count, const void *y)
{
    pipeline *p = user;
    const size_t bytes = item_result_bytes(item);

    if (item->y)
        memcpy((char *)item->y + (size_t)first * bytes, y, (size_t)count * bytes);
    else
        check_in_place(p, item, y, p->report.done + p->report.failed);
    item->left -= count;
    if (item->left > 0)
        return;
    if (p->encoding)
        queue_put(p->encoding, item);
    else
        do_back(p, item);
}

/* A part of an item will not come back: the device failed. */
static void be_lost(void *user, batch_item *item, int64_t count)
{
    item->left -= count;
    if (item->left > 0)
        return;
    if (item->state == ITEM_GOES_ON)
        item->state = ITEM_DROPPED;
    end_item(user, item);
}

static void add_to_device(pipeline *p, batch_item *item)
{
    fl_status status;
    problem why;

    if (item->state == ITEM_GOES_ON && atomic_load(&p->broken))
        item->state = ITEM_DROPPED;
    if (item->state != ITEM_GOES_ON) {
        end_item(p, item);
        return;
    }
    if (item->output && !item->y && !(item->y = malloc((size_t)item->matrices * item_result_bytes(item))))
        fail(EXIT_BROKEN, "out of host memory for %zu bytes", (size_t)item->matrices * item_result_bytes(item));
    status = batch_device_add(p->device, item);
    if (status == FL_OK && p->plan->mode <= PIPELINE_PINNED)
        status = batch_device_finish(p->device);
    if (status == FL_OK)
        return;
    problem_set(&why, exit_code_of(status), "%s", fl_last_error());
    break_off(p, &why);
}

static void finish_device(pipeline *p)
{
    fl_status status = atomic_load(&p->broken) ? FL_OK : batch_device_finish(p->device);
    problem why;

    if (status == FL_OK)
        return;
    problem_set(&why, exit_code_of(status), "%s", fl_last_error());
    break_off(p, &why);
}

/* --------------------------------------------------------------------------------------------- one thread ---- */

static void pass_of_one_thread(pipeline *p)
{
    for (int64_t i = 0; i < p->source->count && !is_stopped(p); i++) {
        batch_item *item = new_item(p, i);
        if (!item)
            continue;
        do_front(p, item);
        do_middle(p, item, p->decomposer);
        add_to_device(p, item);
    }
    finish_device(p);
}

/* -------------------------------------------------------------------------------- producers and consumers ---- */

static void *decode_thread(void *argument)
{
    pipeline *p = argument;
    batch_item *item;

    while ((item = queue_take(p->decoding))) {
        do_front(p, item);
        queue_put(p->decomposing ? p->decomposing : p->computing, item);
    }
    queue_close(p->decomposing ? p->decomposing : p->computing);
    return NULL;
}

static void *decompose_thread(void *argument)
{
    pipeline *p = argument;
    decomposer *d = decomposer_create(p->plan->decompose_on, p->plan->decompose_variant, p->plan->seed);
    batch_item *item;

    while ((item = queue_take(p->decomposing))) {
        do_middle(p, item, d);
        queue_put(p->computing, item);
    }
    queue_close(p->computing);
    decomposer_free(d);
    return NULL;
}

static void *compute_thread(void *argument)
{
    pipeline *p = argument;
    batch_item *item;

    while ((item = queue_take(p->computing)))
        add_to_device(p, item);
    finish_device(p);
    queue_close(p->encoding);
    return NULL;
}

static void *encode_thread(void *argument)
{
    pipeline *p = argument;
    batch_item *item;

    while ((item = queue_take(p->encoding)))
        do_back(p, item);
    return NULL;
}

static void start_threads(pipeline *p, void *(*run)(void *), int count, pthread_t *threads, int *started)
{
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[(*started)++], NULL, run, p) != 0)
            fail(EXIT_BROKEN, "could not start a thread");
}

/* Decoding takes little: a quarter of the threads that the others have. */
static void pass_of_all_threads(pipeline *p)
{
    const int all = p->plan->threads, decoders = all > 4 ? all / 4 : 1, encoders = all,
              decomposers = p->plan->decompose_on ? all : 0;
    pthread_t *threads = malloc((size_t)(decoders + decomposers + encoders + 1) * sizeof *threads);
    int started = 0;

    if (!threads)
        fail(EXIT_BROKEN, "out of host memory");
    p->decoding = queue_create(decoders, 1);
    p->decomposing = decomposers ? queue_create(decomposers, decoders) : NULL;
    p->computing = queue_create(all, decomposers ? decomposers : decoders);
    p->encoding = queue_create(all, 1);
    start_threads(p, decode_thread, decoders, threads, &started);
    start_threads(p, decompose_thread, decomposers, threads, &started);
    start_threads(p, compute_thread, 1, threads, &started);
    start_threads(p, encode_thread, encoders, threads, &started);
    for (int64_t i = 0; i < p->source->count && !is_stopped(p); i++) {
        batch_item *item = new_item(p, i);
        if (item)
            queue_put(p->decoding, item);
    }
    queue_close(p->decoding);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    p->report.stages[STAGE_READ].threads = p->report.stages[STAGE_DECODE].threads = decoders;
    p->report.stages[STAGE_DECOMPOSE].threads = decomposers;
    for (int stage = STAGE_CHECK; stage < STAGES; stage++)
        p->report.stages[stage].threads = encoders;
    p->report.queued = 2 * (decoders + decomposers) + 2 * all + encoders;
    queue_free(p->decoding);
    queue_free(p->decomposing);
    queue_free(p->computing);
    queue_free(p->encoding);
    p->decoding = p->decomposing = p->computing = p->encoding = NULL;
    free(threads);
}

/* ------------------------------------------------------------------------------------------------- passes ---- */

/* One pass over the batch; seconds. What it tells of replaces what the pass before told. */
static double run_pass(pipeline *p)
{
    pipeline_report *r = &p->report;
    const bool threads = p->plan->mode == PIPELINE_FULL && !p->source->ready;
    double start = seconds_now();
    fl_trace_mark mark;

    memset(r->stages, 0, sizeof r->stages);
    for (int stage = 0; stage < STAGES; stage++)
        r->stages[stage].threads = 1;
    r->queued = 1;
    r->done = r->already_there = 0;
    must(fl_trace_begin("batch", &mark));
    batch_device_begin(p->device);
    if (threads)
        pass_of_all_threads(p);
    else
        pass_of_one_thread(p);
    start = seconds_now() - start;
    fl_trace_end(mark);
    r->device = batch_device_report(p->device);
    if (p->plan->mode > PIPELINE_PINNED) /* what is in the chunks, and what waits for the next one */
        r->queued += (r->device.slots + WAITING_SHAPES) * r->device.chunk;
    return start;
}

/* Another pass; seconds. Of one that a signal cut short nothing is told, and NaN returned: the pass before did all. */
static double run_again(pipeline *p)
{
    pipeline_report *r = &p->report;
    const pipeline_report before = *r;
    const double wall = run_pass(p);

    if (r->broken || r->done + r->failed + r->already_there == p->source->count)
        return wall;
    memcpy(r->stages, before.stages, sizeof r->stages);
    r->device = before.device;
    r->done = before.done;
    r->already_there = before.already_there;
    return NAN;
}

/* Did a result fail its check? */
static bool has_wrong(const pipeline_report *r)
{
    for (int64_t i = 0; i < r->failed; i++)
        if (r->failures[i].wrong)
            return true;
    return false;
}

/* The first pass with all of its results checked; then, where nothing is read or written, timed ones. */
static void run_passes(pipeline *p)
{
    pipeline_report *r = &p->report;
    const bool once = !p->source->ready;
    double spent = 0, first;

    p->checks_all = true;
    first = run_pass(p);
    r->cold_s = once ? (double)NAN : first;
    p->checks_all = false;
    for (int i = 0; i < p->plan->timing.warmup && !once && !has_wrong(r) && !is_stopped(p); i++)
        run_again(p);
    while (!once && !has_wrong(r) && !is_stopped(p) && measure_more(&p->plan->timing, r->wall.count, spent)) {
        const double wall = run_again(p);
        if (isfinite(wall))
            samples_add(&r->wall, wall);
        spent += wall;
    }
    if (r->wall.count == 0) /* it is read as it goes, or something failed, or a signal came */
        samples_add(&r->wall, first);
}

static int64_t peak_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

pipeline_report pipeline_run(const pipeline_plan *plan)
{
    pipeline p = {.plan = plan, .source = plan->source};
    device_plan device = *plan->device;

    p.report.mode = plan->mode;
    p.report.check = compare_start();
    pthread_mutex_init(&p.lock, NULL);
    p.prints = calloc((size_t)p.source->distinct + 1, sizeof *p.prints);
    if (!p.prints)
        fail(EXIT_BROKEN, "out of host memory");
    device.back = come_back;
    device.lost = be_lost;
    device.user = &p;
    if (plan->mode <= PIPELINE_PINNED) {
        device.slots = 1;
        device.chunk = MOST_CHANNELS; /* of one image */
        device.chunk_bytes = INT64_MAX;
    }
    p.device = batch_device_create(&device);
    if (plan->decompose_on && plan->mode != PIPELINE_FULL)
        p.decomposer = decomposer_create(plan->decompose_on, plan->decompose_variant, plan->seed);
    run_passes(&p);
    progress_end();
    if (p.decomposer)
        decomposer_free(p.decomposer);
    batch_device_free(p.device);
    free(p.prints);
    pthread_mutex_destroy(&p.lock);
    p.report.interrupted = signal_caught != 0;
    p.report.dropped = plan->source->count - p.report.done - p.report.failed - p.report.already_there;
    p.report.peak_bytes = peak_bytes();
    return p.report;
}

void pipeline_report_free(pipeline_report *report)
{
    for (int64_t i = 0; i < report->failed; i++) {
        free(report->failures[i].input);
        free(report->failures[i].message);
    }
    free(report->failures);
    free(report->wall.s);
}
