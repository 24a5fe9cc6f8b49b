/* SPDX-License-Identifier: MIT
 *
 * pipeline.c - one pass of a batch through the stages, by one thread or by crews of them.
 */
#include "pipeline.h"
#include "distributed.h"

#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/signals.h"
#include "support/statistics.h"
#include "view/json.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 8,         /* elements of a ready item's result that are checked */
    CHECKED_FULLY = 512, /* results of the first pass that are checked as a whole instead */
};

const char *const pipeline_mode_names[] = {"one-by-one", "pinned", "streams", "full", NULL};

bool pipeline_is_stopped(pipeline *p)
{
    return signals_caught() || atomic_load(&p->stopped) || group_deal_ended() ||
           (atomic_load(&p->has_result) && progress_is_late());
}

static void have_result(pipeline *p)
{
    if (!atomic_exchange(&p->has_result, true))
        progress_has_result();
}

/* The next item of the batch; of several ranks, for this one. -1: none is left, or no rank starts another. */
static int64_t next_index(pipeline *p)
{
    if (pipeline_is_stopped(p))
        group_deal_end();
    return group_next();
}

/* The i-th item as it enters the pipeline; NULL if there is nothing to do for it. */
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
    if (source->ready && !p->first_pass && source->ready[i % source->distinct].state == ITEM_FAILED)
        return NULL; /* the first pass has reported it */
    item = memory_regrown(NULL, 1, sizeof *item);
    if (source->ready) {
        *item = source->ready[i % source->distinct];
        item->original = i % source->distinct;
        item->left = item->matrices;
    } else {
        *item = (batch_item){.kind = source->kind, .input = source->inputs[i], .check = compare_start()};
    }
    item->output = source->outputs && p->first_pass ? source->outputs[i] : NULL;
    return item;
}

/* `why` of the report is the first reason why the batch ended early, or an image could not be done. */
static void keep_reason(pipeline_report *r, const problem *why)
{
    if (!r->broken && !r->machine_failed)
        r->why = *why;
}

static void add_failure(pipeline *p, const batch_item *item)
{
    const bool wrong = item->why.exit_code == EXIT_WRONG_RESULT, machine = item->why.exit_code == EXIT_BROKEN;
    json_t *failure = json_new_object();

    json_put(failure, "input", json_text(item->input ? item->input : "random"));
    json_put(failure, "message", json_text(item->why.text));
    json_put(failure, "wrong", json_boolean(wrong));
    json_append(p->report.failures, failure);
    p->report.failed++;
    p->report.wrong += wrong;
    if (!machine && (wrong || p->plan->command->count == 1))
        ranks_print_error(item->why.text);
    if (machine) {
        keep_reason(&p->report, &item->why);
        p->report.machine_failed = true;
    }
}

static void add_quality(pipeline_report *r, const batch_item *item)
{
    if (item->norm > 0)
        r->worst_error = fmax(r->worst_error, item->error / item->norm);
    r->error = hypot(r->error, item->error);
    r->norm = hypot(r->norm, item->norm);
}

/* Ends the batch early. */
static void break_off(pipeline *p, const problem *why)
{
    pthread_mutex_lock(&p->lock);
    keep_reason(&p->report, why);
    p->report.broken = true;
    pthread_mutex_unlock(&p->lock);
    atomic_store(&p->broken, true);
    atomic_store(&p->stopped, true);
}

static void break_off_unless(pipeline *p, fl_status status)
{
    problem why;

    if (status == FL_OK)
        return;
    problem_set(&why, exit_code_of(status), "%s", fl_last_error());
    break_off(p, &why);
}

/* An item leaves the pipeline. */
static void end_item(pipeline *p, batch_item *item)
{
    pipeline_report *r = &p->report;
    int64_t gone;

    pthread_mutex_lock(&p->lock);
    if (item->check.compared > 0)
        compare_merge(&r->check, &item->check, 0);
    r->sum += item->bits;
    if (item->state == ITEM_GOES_ON) {
        r->done++;
        add_quality(r, item);
    } else if (item->state == ITEM_FAILED) {
        add_failure(p, item);
    }
    gone = r->done + r->failed + r->already_there;
    pthread_mutex_unlock(&p->lock);
    if (item->state != ITEM_DROPPED)
        have_result(p);
    if (!p->source->ready)
        progress("%" PRId64 " of %" PRId64, gone, p->source->count);
    else
        memset(item->factors, 0, sizeof item->factors); /* the source's own */
    item_free(item);
    free(item);
}

static void do_stage(pipeline *p, batch_stage stage, batch_item *item, decomposer *d)
{
    const stage_settings settings = {p->plan->command->own->keep, p->plan->command->common->seed, d};
    stage_report *report = &p->report.stages[stage];
    const double start = seconds_now();
    fl_trace_mark mark;

    if (item->state == ITEM_GOES_ON && (stage <= STAGE_DECOMPOSE ? pipeline_is_stopped(p) : atomic_load(&p->broken)))
        item->state = ITEM_DROPPED;
    if (item->state != ITEM_GOES_ON)
        return;
    must(fl_trace_begin(stage_kinds[stage].name, &mark));
    item->moved = 0;
    if (!stage_kinds[stage].work(item, &settings))
        item->state = ITEM_FAILED;
    fl_trace_end(mark);
    pthread_mutex_lock(&p->lock);
    report->busy_s += seconds_now() - start;
    report->count++;
    report->bytes += item->moved;
    pthread_mutex_unlock(&p->lock);
    /* The disk is full, or gone: no other item could be written. */
    if (stage == STAGE_WRITE && item->state == ITEM_FAILED && item->why.exit_code == EXIT_BROKEN) {
        break_off(p, &item->why);
        item->state = ITEM_DROPPED;
    }
}

static void do_front(pipeline *p, batch_item *item, decomposer *d)
{
    if (p->source->ready)
        return;
    do_stage(p, STAGE_READ, item, d);
    if (p->source->kind == BATCH_IMAGES)
        do_stage(p, STAGE_DECODE, item, d);
}

static void decompose(pipeline *p, batch_item *item, decomposer *d)
{
    do_stage(p, STAGE_DECOMPOSE, item, d);
    if (item->state == ITEM_GOES_ON) /* most of the work is done; the rest may wait for a chunk to fill */
        have_result(p);
}

static void do_back(pipeline *p, batch_item *item, decomposer *d)
{
    if (!p->source->ready || item->output) {
        do_stage(p, STAGE_CHECK, item, d);
        if (item->output && p->source->kind == BATCH_IMAGES)
            do_stage(p, STAGE_ENCODE, item, d);
        if (item->output && p->plan->writes)
            do_stage(p, STAGE_WRITE, item, d);
    }
    end_item(p, item);
}

/* Checks a ready item where its result lies: the first ones of the first pass as a whole. */
static void check_in_place(pipeline *p, batch_item *item, const void *y)
{
    const int64_t index = p->report.done + p->report.failed;
    const int samples = p->first_pass && index < CHECKED_FULLY ? 0 : SAMPLES;

    if (!item_check_in_place(item, y, index, samples, p->plan->command->common->seed, &p->known[item->original]))
        item->state = ITEM_FAILED;
}

void pipeline_come_back(void *user, batch_item *item, int64_t first, int64_t count, const void *y)
{
    pipeline *p = user;
    const size_t bytes = bytes_of_array(&item->shape, RESULT);

    if (item->y)
        memcpy((char *)item->y + (size_t)first * bytes, y, (size_t)count * bytes);
    else
        check_in_place(p, item, y);
    item->left -= count;
    if (item->left > 0)
        return;
    if (p->finished)
        queue_put(p->finished, item);
    else
        do_back(p, item, NULL);
}

void pipeline_be_lost(void *user, batch_item *item, int64_t count)
{
    item->left -= count;
    if (item->left > 0)
        return;
    if (item->state == ITEM_GOES_ON)
        item->state = ITEM_DROPPED;
    end_item(user, item);
}

static void add_to_device(pipeline *p, batch_item *item, decomposer *d)
{
    fl_status status;

    (void)d;
    if (item->state == ITEM_GOES_ON && atomic_load(&p->broken))
        item->state = ITEM_DROPPED;
    if (item->state != ITEM_GOES_ON) {
        end_item(p, item);
        return;
    }
    if (item->output && !item->y)
        item->y = memory_regrown(NULL, (size_t)item->matrices, bytes_of_array(&item->shape, RESULT));
    status = batch_device_add(p->device, item);
    if (status == FL_OK && p->plan->mode <= PIPELINE_PINNED)
        status = batch_device_finish(p->device);
    break_off_unless(p, status);
}

static void finish_device(pipeline *p)
{
    if (!atomic_load(&p->broken))
        break_off_unless(p, batch_device_finish(p->device));
}

static void pass_of_one_thread(pipeline *p)
{
    for (int64_t i; (i = next_index(p)) >= 0;) {
        batch_item *item = new_item(p, i);
        if (!item)
            continue;
        do_front(p, item, NULL);
        if (p->decomposer)
            decompose(p, item, p->decomposer);
        add_to_device(p, item, NULL);
    }
    finish_device(p);
}

/* Threads that do the same work on the items of one queue. */
typedef struct crew {
    void (*work)(pipeline *p, batch_item *item, decomposer *d);
    int threads, room; /* of its queue */
    pipeline *p;
    queue *in, *out; /* add_to_device fills the next queue itself, see come_back */
} crew;

static void *run_crew(void *argument)
{
    const crew *c = argument;
    pipeline *p = c->p;
    const batch_command *command = p->plan->command;
    decomposer *d = c->work == decompose
                        ? decomposer_create(command->decompose_on, command->own->svd, command->common->seed)
                        : NULL;
    batch_item *item;

    while ((item = queue_take(c->in))) {
        c->work(p, item, d);
        if (c->work == do_front || c->work == decompose)
            queue_put(c->out, item);
    }
    if (c->work == add_to_device)
        finish_device(p);
    if (c->out)
        queue_close(c->out);
    decomposer_free(d);
    return NULL;
}

/* Makes the queues between the crews. */
static void join_crews(pipeline *p, crew *crews, int count)
{
    for (int i = 0; i < count; i++) {
        crews[i].p = p;
        crews[i].in = queue_create(crews[i].room, i > 0 ? crews[i - 1].threads : 1);
        if (i > 0)
            crews[i - 1].out = crews[i].in;
    }
    p->finished = crews[count - 1].in;
}

/* Decoding takes little time: it gets a quarter of the threads that the other stages have. */
static void pass_of_all_threads(pipeline *p)
{
    const int all = p->plan->threads, decoders = all > 4 ? all / 4 : 1,
              decomposers = p->plan->command->decompose_on ? all : 0;
    crew crews[4] = {{.work = do_front, .threads = decoders, .room = decoders}};
    pthread_t *threads = memory_zeroed((size_t)(decoders + decomposers + 1 + all), sizeof *threads);
    int count = 1, started = 0;

    if (decomposers)
        crews[count++] = (crew){.work = decompose, .threads = decomposers, .room = decomposers};
    crews[count++] = (crew){.work = add_to_device, .threads = 1, .room = all};
    crews[count++] = (crew){.work = do_back, .threads = all, .room = all};
    join_crews(p, crews, count);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < crews[c].threads; i++)
            if (pthread_create(&threads[started++], NULL, run_crew, &crews[c]) != 0)
                fail(EXIT_BROKEN, "could not start a thread");
    for (int64_t i; (i = next_index(p)) >= 0;) {
        batch_item *item = new_item(p, i);
        if (item)
            queue_put(crews[0].in, item);
    }
    queue_close(crews[0].in);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    p->report.stages[STAGE_READ].threads = p->report.stages[STAGE_DECODE].threads = decoders;
    p->report.stages[STAGE_DECOMPOSE].threads = decomposers;
    for (int stage = STAGE_CHECK; stage < STAGES; stage++)
        p->report.stages[stage].threads = all;
    p->report.queued = 2 * (decoders + decomposers) + 3 * all;
    for (int c = 0; c < count; c++)
        queue_free(crews[c].in);
    p->finished = NULL;
    free(threads);
}

void pipeline_pass(pipeline *p)
{
    pipeline_report *r = &p->report;
    const bool threads = p->plan->mode == PIPELINE_FULL && !p->source->ready;

    memset(r->stages, 0, sizeof r->stages);
    for (int stage = 0; stage < STAGES; stage++)
        r->stages[stage].threads = 1;
    r->queued = 1;
    r->done = r->already_there = 0;
    batch_device_begin(p->device);
    if (threads)
        pass_of_all_threads(p);
    else
        pass_of_one_thread(p);
    r->device = batch_device_report(p->device);
    for (int e = 0; e < ENGINES; e++)
        r->stages[STAGE_ENGINES + e] = (stage_report){0, r->device.busy_s[e], r->device.matrices, r->device.bytes[e]};
    if (p->plan->mode > PIPELINE_PINNED) /* items in chunks, and items that wait for the next one */
        r->queued += (r->device.slots + WAITING_SHAPES) * r->device.chunk;
}
