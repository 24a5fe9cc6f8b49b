/* SPDX-License-Identifier: MIT
 *
 * passes.c - runs a pipeline: its first pass, and the timed ones by libflynn-bench.
 */
#include "pipeline.h"
#include "distributed.h"

#include "kept/turn.h"
#include "run/passes.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/signals.h"
#include "view/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Called before each pass: the ranks share the items anew. */
static fl_status deal(void *user, fl_stream *stream)
{
    const pipeline *p = user;

    (void)stream;
    group_deal(p->source->count);
    return FL_OK;
}

/* One pass. A later one that a signal cut short is not reported: the first pass did all items. */
static fl_status call(void *user, const fl_run *run)
{
    pipeline *p = user;
    pipeline_report *r = &p->report;
    const pipeline_report before = *r;

    p->first_pass = run->timing != NULL;
    pipeline_pass(p);
    p->cut_short = !p->first_pass && !r->broken && r->done + r->failed + r->already_there < p->source->count;
    if (p->cut_short) {
        memcpy(r->stages, before.stages, sizeof r->stages);
        r->device = before.device;
        r->done = before.done;
        r->already_there = before.already_there;
    }
    return FL_OK;
}

/* Other passes follow the first one if the factors are ready and no result was wrong; several ranks take one. */
static bool goes_on(void *user, const fl_bench_step *step)
{
    pipeline *p = user;

    return step->phase == FL_BENCH_FIRST || (p->source->ready && p->report.wrong == 0 && !pipeline_is_stopped(p));
}

static void run_passes(pipeline *p)
{
    fl_bench_plan plan = passes_plan(p->plan->command->common);
    pipeline_report *r = &p->report;
    fl_bench_result found;
    fl_bench *bench;

    if (p->source->ready) /* no line for each: thousands of matrices take a second */
        progress("%s: %" PRId64 " matrices", pipeline_mode_names[p->plan->mode], p->source->count);
    plan.fewest = 3;
    plan.rounds = 1;
    plan.step = goes_on;
    plan.user = p;
    must(fl_bench_create(&plan, &bench));
    must(fl_bench_add(
        bench,
        &(fl_bench_case){.name = "batch", .call = call, .prepare = deal, .restore = deal, .user = p, .launches = 1}));
    turn_add(p->plan->device->device);
    turn_take();
    must(fl_bench_run(bench));
    turn_end();
    must(fl_bench_result_get(bench, 0, &found));
    r->cold_s = p->source->ready ? found.first_s : (double)NAN;
    r->wall = passes_samples(bench, 0, FL_BENCH_TOTAL);
    if (p->cut_short && r->wall.count > 1)
        r->wall.count--;
    else if (p->cut_short)
        r->wall.s[0] = found.first_s;
    fl_bench_free(bench);
}

static int64_t peak_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}

pipeline_report pipeline_run(const pipeline_plan *plan)
{
    const batch_command *command = plan->command;
    pipeline p = {.plan = plan, .source = &command->source, .has_result = command->count > 1 || group_is_distributed()};
    device_plan device = *plan->device;

    p.report.mode = plan->mode;
    p.report.check = compare_start();
    p.report.failures = json_new_list();
    pthread_mutex_init(&p.lock, NULL);
    p.known = memory_zeroed((size_t)p.source->distinct, sizeof *p.known);
    device.back = pipeline_come_back;
    device.lost = pipeline_be_lost;
    device.user = &p;
    if (plan->mode <= PIPELINE_PINNED) {
        device.slots = 1;
        device.chunk = MOST_CHANNELS; /* of one image */
        device.chunk_bytes = INT64_MAX;
    }
    p.device = batch_device_create(&device);
    if (command->decompose_on && plan->mode != PIPELINE_FULL)
        p.decomposer = decomposer_create(command->decompose_on, command->own->svd, command->common->seed);
    run_passes(&p);
    progress_end();
    decomposer_free(p.decomposer);
    batch_device_free(p.device);
    free(p.known);
    pthread_mutex_destroy(&p.lock);
    p.report.interrupted = signals_caught() != 0;
    p.report.late = progress_is_late();
    p.report.peak_bytes = peak_bytes();
    ranks_merge(&p.report, fl_device_describe(plan->device->device)->resource);
    p.report.dropped = p.source->count - p.report.done - p.report.failed - p.report.already_there;
    p.report.late = p.report.late && p.report.dropped > 0 && !p.report.interrupted && !p.report.broken;
    return p.report;
}

void pipeline_report_free(pipeline_report *report)
{
    json_decref(report->failures);
    free(report->wall.s);
    free(report->parts);
}
