/* SPDX-License-Identifier: MIT */
#include "passes.h"
#include "distributed.h"
#include "shape.h"

#include "kept/turn.h"
#include "support/host_memory.h"
#include "support/fail.h"
#include "support/lent.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- the plan ---- */

/* One pass, of which nothing is measured. */
static bool only_step(void *user, const fl_bench_step *s)
{
    (void)user;
    if (s->phase != FL_BENCH_FIRST || progress_ends())
        return false;
    progress("%s: computing", s->name);
    return true;
}

/* Shows that passes go on, unless that was shown a moment ago. */
static bool step(void *user, const fl_bench_step *s)
{
    static double shown; /* when a pass was */
    const double now = seconds_now(), moment = 0.2;

    (void)user;
    if (progress_ends())
        return false;
    if (s->pass > 1 && now - shown < moment)
        return true;
    shown = now;
    progress_part(s->done);
    if (s->phase == FL_BENCH_FIRST)
        progress("%s: first pass", s->name);
    else if (s->phase == FL_BENCH_WARM_UP)
        progress("%s: warming up", s->name);
    else if (s->passes > 0)
        progress("%s: pass %d of %d", s->name, s->pass, s->passes);
    else
        progress("%s: pass %d", s->name, s->pass);
    return true;
}

fl_bench_plan passes_plan(const common_options *common)
{
    return (fl_bench_plan){.repeat = common->repeat,
                           .warmup = common->warmup > 0 ? common->warmup : -1,
                           .min_time_s = fmax(common->min_time_s, 1e-9), /* 0 would be the plan's default */
                           .precision = common->until,
                           .time_call = common->wrong_timing,
                           .flush = common->flush,
                           .step = step};
}

samples passes_samples(const fl_bench *bench, size_t i, fl_bench_quantity quantity)
{
    samples list = {0};
    const double *seconds;

    must(fl_bench_samples(bench, i, quantity, &seconds, &list.count));
    list.s = memory_zeroed((size_t)list.count + 1, sizeof *list.s);
    if (list.count > 0)
        memcpy(list.s, seconds, (size_t)list.count * sizeof *seconds);
    return list;
}

/* ------------------------------------------------------------------------------------------ one choice ---- */

/* An exercise on one device. The library's failures end the command where they happen, with its line; only those of the
 * exercise's operation are the bench's to judge, which leaves out what is optional. */
typedef struct work {
    exercise *exercise;
    choice what;
    measurement found;
    bool began;  /* its first pass */
    bool copies; /* arrays are not in host memory */
    bool lends;  /* with exercise.once: they are the host's inputs and results */
    bool pinned;
    void *host_in[MOST_INPUTS], *host_out[MOST_OUTPUTS];
    int64_t count; /* elements of a counted result */
    fl_array *inputs[MOST_INPUTS], *outputs[MOST_OUTPUTS];
    fl_array *whole[MOST_OUTPUTS];          /* of guarded outputs: with their guards */
    host_array first_results[MOST_OUTPUTS]; /* of the first pass, to compare others with */
    int compared;                           /* passes */
} work;

static size_t output_bytes(const output_spec *o)
{
    return (size_t)output_size(o) * fl_dtype_size(o->dtype);
}

/* Creates the i-th result, or with exercise.once makes it of the input that the kind spends. */
static void create_result(work *w, int i)
{
    exercise *const e = w->exercise;
    const output_spec *o = &e->outputs[i];
    host_array *const result = &w->found.results[i];
    problem why;

    if (e->once && i == 0 && e->in_place && e->kind->spends_input) {
        *result = e->inputs[0];
        e->inputs[0].data = NULL;
    } else {
        must_do(host_array_create(result, o->dtype, o->ndim, o->shape, "the result", &why), &why);
    }
    if (e->once)
        w->host_out[i] = result->data;
}

/* The host's side of the passes' copies, in the memory that the options ask for. Where no pass copies, it is the
 * exercise's own inputs, and none for the outputs, so that no memory is taken. */
static fl_status prepare(void *user, fl_stream *stream)
{
    work *w = user;
    const exercise *e = w->exercise;

    (void)stream;
    w->began = true;
    for (int i = 0; i < e->input_count; i++) {
        const size_t bytes = host_array_bytes(&e->inputs[i]);
        w->host_in[i] = e->inputs[i].data;
        if (!w->copies || e->once)
            continue;
        must(host_memory_create(w->what.on->device, w->pinned, bytes, &w->host_in[i]));
        memcpy(w->host_in[i], e->inputs[i].data, bytes);
    }
    for (int i = 0; e->once && i < e->output_count; i++)
        create_result(w, i);
    for (int i = 0; w->copies && !e->once && i < e->output_count; i++)
        must(host_memory_create(w->what.on->device, w->pinned, output_bytes(&e->outputs[i]), &w->host_out[i]));
    return FL_OK;
}

static void release(work *w)
{
    const bool copied = w->copies && !w->exercise->once;

    for (int i = 0; i < w->exercise->input_count; i++) {
        if (copied)
            host_memory_free(w->what.on->device, w->pinned, w->host_in[i]);
        fl_array_free(w->inputs[i]);
        w->host_in[i] = NULL;
        w->inputs[i] = NULL;
    }
    for (int i = 0; i < w->exercise->output_count; i++) {
        if (copied)
            host_memory_free(w->what.on->device, w->pinned, w->host_out[i]);
        if (!(w->exercise->in_place && i == 0))
            fl_array_free(w->outputs[i]);
        fl_array_free(w->whole[i]);
        host_array_free(&w->first_results[i]);
        w->host_out[i] = NULL;
        w->outputs[i] = w->whole[i] = NULL;
    }
}

static fl_status copy_in(void *user, fl_stream *stream)
{
    work *w = user;

    for (int i = 0; i < w->exercise->input_count; i++)
        must(fl_array_write(w->inputs[i], w->host_in[i], stream));
    return FL_OK;
}

/* Queues the copies of the outputs' initial contents. */
static void queue_begins(work *w, fl_stream *stream)
{
    for (int i = 0; w->exercise->begins && i < w->exercise->output_count; i++)
        must(fl_array_write(w->outputs[i], w->exercise->begins[i].data, stream));
}

/* What works in place works on the result, to which the input goes before, unless it became the result. */
static void lend_input(work *w, int i)
{
    const host_array *in = &w->exercise->inputs[i], *result = &w->found.results[0];
    const bool in_place = w->exercise->in_place && i == 0;

    if (in_place && in->data)
        memcpy(result->data, in->data, host_array_bytes(in));
    must(lent_create(w->what.on->device, in_place ? result : in, &w->inputs[i]));
}

/* Creates the device's arrays. Those in host memory get their contents here, since no pass copies. */
static fl_status begin(void *user, fl_stream *stream)
{
    work *w = user;
    const exercise *e = w->exercise;
    fl_device *const device = w->what.on->device;

    for (int i = 0; i < e->input_count; i++)
        if (w->lends)
            lend_input(w, i);
        else
            must(fl_array_create(device, e->inputs[i].dtype, e->inputs[i].ndim, e->inputs[i].shape, &w->inputs[i]));
    for (int i = 0; i < e->output_count; i++) {
        const output_spec *o = &e->outputs[i];
        if (e->in_place && i == 0)
            w->outputs[0] = w->inputs[0];
        else if (w->lends)
            must(lent_create(device, &w->found.results[i], &w->outputs[i]));
        else if (e->guarded)
            must(watch_create(device, o->dtype, output_size(o), &w->whole[i], &w->outputs[i]));
        else
            must(fl_array_create(device, o->dtype, o->ndim, o->shape, &w->outputs[i]));
    }
    queue_begins(w, stream);
    return w->copies || w->lends ? FL_OK : copy_in(w, stream);
}

static fl_status run_operation(const work *w, const fl_run *given)
{
    fl_run run = *given;

    run.variant = w->what.variant;
    run.tolerance = w->exercise->common.tolerance;
    memcpy(run.block, w->what.block, sizeof run.block);
    return w->exercise->kind->steps.call(w->exercise, w->what.on->device, w->inputs, w->outputs, &run);
}

/* A block that was the best for one input may be more than the device has room for with another of the same size: then
 * the first call, which has a timing, changes the choice. */
static fl_status call(void *user, const fl_run *run)
{
    work *w = user;
    fl_status got = run_operation(w, run);

    if (run->timing && w->what.tuned && (got == FL_E_LIMIT || got == FL_E_UNSUPPORTED || got == FL_E_UNAVAILABLE)) {
        note("the saved sweep's choice cannot run, auto does: %s", fl_last_error());
        w->what = (choice){.on = w->what.on};
        got = run_operation(w, run);
    }
    if (run->timing && got == FL_OK && w->exercise->kind->watched)
        w->exercise->kind->watched(w->exercise, w->what.on->device, &w->found.watched);
    if (run->timing && w->what.optional && got != FL_OK) { /* frees its memory for the variants that can run */
        must(fl_stream_wait(run->stream));
        release(w);
    }
    return got;
}

/* A wrong count is the check's to find. */
static int64_t possible(const work *w, int64_t count)
{
    const int64_t most = w->exercise->outputs[0].shape[0];

    return count < 0 ? 0 : count > most ? most : count;
}

static bool is_counted(const exercise *e)
{
    return e->kind->counted && e->output_count > 1;
}

/* How many elements a counted result has is known once the work is done. */
static fl_status read_count(void *user, fl_stream *stream)
{
    work *w = user;

    must(fl_array_read(w->outputs[1], w->host_out[1], stream));
    must(fl_stream_wait(stream));
    memcpy(&w->count, w->host_out[1], sizeof w->count);
    w->count = possible(w, w->count);
    return FL_OK;
}

/* Queues the copies of all outputs, of a counted one as much as counts. */
static fl_status copy_out(void *user, fl_stream *stream)
{
    work *w = user;
    const exercise *e = w->exercise;
    fl_array *part;

    for (int i = is_counted(e) ? 1 : 0; i < e->output_count; i++)
        must(fl_array_read(w->outputs[i], w->host_out[i], stream));
    if (!is_counted(e))
        return FL_OK;
    must(fl_array_view(w->outputs[0], (int64_t[]){0}, &w->count, &part));
    must(fl_array_read(part, w->host_out[0], stream));
    fl_array_free(part);
    return FL_OK;
}

/* A result that is read from here on was computed from here on. */
static fl_status after_first(void *user, fl_stream *stream)
{
    work *w = user;

    for (int i = 0; i < w->exercise->output_count; i++) {
        const size_t bytes = output_bytes(&w->exercise->outputs[i]);
        void *const other = w->copies ? w->host_out[i] : memory_regrown(NULL, 1, bytes + 1);
        memset(other, 0xff, bytes);
        if (!(w->exercise->in_place && i == 0))
            must(fl_array_write(w->outputs[i], other, stream));
        must(fl_stream_wait(stream));
        if (!w->copies)
            free(other);
    }
    return FL_OK;
}

/* Where the inputs are not copied in every pass, what works in place would see its own output. */
static fl_status restore(void *user, fl_stream *stream)
{
    work *w = user;

    if (w->exercise->in_place && !w->copies)
        must(fl_array_write(w->inputs[0], w->host_in[0], stream));
    queue_begins(w, stream);
    (void)group_take_cost(); /* that of the last pass was taken, or is of one that is not timed */
    return FL_OK;
}

/* Finds out whether a pass has bits that differ from the first one's. Some passes are enough to know. */
static fl_status after_pass(void *user, fl_stream *stream)
{
    enum { COMPARED = 16 };
    work *w = user;

    (void)stream;
    progress_has_result();
    for (int i = 0; w->exercise->begins && i < w->exercise->output_count && w->compared <= COMPARED; i++)
        must(watch_pass(w->outputs[i], i, &w->first_results[i], &w->found.watched));
    w->compared++;
    return FL_OK;
}

static fl_status took(void *user, double seconds, int launches)
{
    work *w = user;

    distributed_take(&w->found, seconds, launches);
    return FL_OK;
}

/* Takes the outputs of the last pass, and gives back the memory. */
static fl_status end(void *user, fl_stream *stream)
{
    work *w = user;
    const exercise *e = w->exercise;
    host_array *const results = w->found.results;

    (void)stream;
    for (int i = 0; i < e->output_count && !e->once; i++) {
        create_result(w, i);
        must(fl_array_to_host(w->outputs[i], results[i].data));
    }
    if (is_counted(e))
        results[0].shape[0] = possible(w, *(const int64_t *)results[1].data);
    for (int i = 0; i < e->output_count && e->guarded; i++)
        must(watch_guards(w->whole[i], i, &w->found.watched));
    release(w);
    return FL_OK;
}

static void add_case(fl_bench *bench, work *w)
{
    const exercise *e = w->exercise;
    const bool restores = (e->in_place && !w->copies && !e->once) || e->begins;

    must(fl_bench_add(bench, &(fl_bench_case){.name = w->what.on->requested,
                                              .device = w->what.on->device,
                                              .call = call,
                                              .copy_in = w->copies ? copy_in : NULL,
                                              .copy_out = w->copies ? copy_out : NULL,
                                              .between = w->copies && is_counted(e) ? read_count : NULL,
                                              .prepare = prepare,
                                              .begin = begin,
                                              .after_first = after_first,
                                              .restore = restores || group_is_distributed() ? restore : NULL,
                                              .after_pass = after_pass,
                                              .end = end,
                                              .took = group_is_distributed() ? took : NULL,
                                              .user = w,
                                              .alone = restores || (e->in_place && !e->kind->steady),
                                              .optional = w->what.optional}));
}

/* ------------------------------------------------------------------------------------------ all choices ---- */

static fl_status team_wait(void *unused)
{
    (void)unused;
    group_wait();
    return FL_OK;
}

static fl_status team_most(void *unused, double *seconds)
{
    (void)unused;
    *seconds = group_most(*seconds);
    return FL_OK;
}

static fl_status team_decides(void *unused, bool *more)
{
    (void)unused;
    *more = group_decides(*more);
    return FL_OK;
}

fl_bench_team passes_team(void)
{
    return (fl_bench_team){team_wait, team_most, team_decides, NULL};
}

/* Adds what the bench found of a choice, if that could run. */
static void take_result(const fl_bench *bench, size_t i, work *w, result_list *results)
{
    measurement *const m = &w->found;
    fl_bench_result r;

    must(fl_bench_result_get(bench, i, &r));
    if (r.status != FL_OK) {
        if (w->began)
            note("%s: %s is left out: %s", r.name, w->what.variant, r.message);
        release(w);
        measurement_free(m);
        return;
    }
    m->requested = w->what.on->requested;
    m->device = *fl_device_describe(w->what.on->device);
    m->tuned = w->what.tuned;
    m->timing = *r.first;
    m->timing.kernel_s = r.kernel_s;
    m->timing.flops = w->exercise->uncounted ? NAN : m->timing.flops;
    m->cold_s = r.first_s;
    m->first_counts = r.first_counts && !w->exercise->once;
    if (!w->exercise->once) /* else nothing is measured that noise could spoil */
        snprintf(m->disturbed, sizeof m->disturbed, "%s", r.disturbed);
    m->h2d = passes_samples(bench, i, FL_BENCH_COPY_IN);
    m->kernel = passes_samples(bench, i, FL_BENCH_KERNEL);
    m->d2h = passes_samples(bench, i, FL_BENCH_COPY_OUT);
    m->total = passes_samples(bench, i, FL_BENCH_TOTAL);
    m->call = passes_samples(bench, i, FL_BENCH_CALL);
    if (group_is_distributed())
        distributed_gather(m);
    snprintf(m->variant, sizeof m->variant, "%s", r.first->variant);
    results->list[results->count] = *m;
    results->list[results->count].timing.variant = results->list[results->count].variant;
    results->count++;
}

void passes_run(exercise *e, const choice *choices, int count, bool together, result_list *results)
{
    const fl_bench_team team = passes_team();
    fl_bench_plan plan = passes_plan(&e->common);
    work *works = memory_zeroed((size_t)count, sizeof *works);
    fl_bench *bench;

    plan.rounds = together ? 0 : 1;
    if (e->once)
        plan.step = only_step;
    must(fl_bench_create(&plan, &bench));
    if (group_is_distributed())
        must(fl_bench_join(bench, &team));
    for (int i = 0; i < count; i++) {
        const fl_device_info *device = fl_device_describe(choices[i].on->device);
        const bool lends = e->once && device->host_memory && device->dlpack_type != 0;
        works[i] = (work){.exercise = e,
                          .what = choices[i],
                          .copies = e->once ? !lends : !device->host_memory,
                          .lends = lends,
                          .pinned = !e->common.pageable};
        add_case(bench, &works[i]);
        turn_add(choices[i].on->device);
    }
    turn_take();
    must(fl_bench_run(bench));
    turn_end();
    progress_end();
    for (int i = 0; i < count; i++)
        take_result(bench, (size_t)i, &works[i], results);
    fl_bench_free(bench);
    free(works);
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
    differences_free(&m->wrong);
}
