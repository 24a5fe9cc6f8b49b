/* SPDX-License-Identifier: MIT
 *
 * plan.c - creates a bench, and adds cases to it: all checks of what a program hands over.
 */
#include "inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

fl_status bench_copy_sized(void *to, size_t known, const void *from, size_t size, const char *what)
{
    const unsigned char *bytes = from;

    memset(to, 0, known);
    for (size_t i = known; i < size; i++)
        if (bytes[i] != 0)
            return bench_fail(FL_E_UNSUPPORTED,
                              "%s: the program sets a member that libflynn-bench %s does not know; use a newer library",
                              what, fl_version());
    memcpy(to, from, size < known ? size : known);
    return FL_OK;
}

/* Returns whether a number of seconds, or a part, can be one: 0 stands for the default. */
static bool is_positive(double x)
{
    return x >= 0 && isfinite(x);
}

static fl_status check_plan(const fl_bench_plan *p)
{
    if (p->repeat < 0 || p->fewest < 0 || p->warmup < -1 || p->rounds < 0)
        return bench_fail(
            FL_E_ARGUMENT,
            "fl_bench_create: repeat is %d, fewest %d, warmup %d, rounds %d; expected at least 0 (warmup: -1)",
            p->repeat, p->fewest, p->warmup, p->rounds);
    if (!is_positive(p->min_time_s) || !is_positive(p->max_time_s) || !is_positive(p->precision) ||
        !is_positive(p->batch_s))
        return bench_fail(FL_E_ARGUMENT,
                          "fl_bench_create: min_time_s is %g, max_time_s %g, precision %g, batch_s %g; expected finite "
                          "numbers of at least 0",
                          p->min_time_s, p->max_time_s, p->precision, p->batch_s);
    return FL_OK;
}

fl_status fl_bench_create_sized(const fl_bench_plan *plan, size_t size, fl_bench **bench)
{
    fl_bench_plan copy = {0};

    if (!bench)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_create: bench is NULL");
    *bench = NULL;
    if (plan)
        BENCH_TRY(bench_copy_sized(&copy, sizeof copy, plan, size, "fl_bench_create"));
    BENCH_TRY(check_plan(&copy));
    if (copy.warmup == 0)
        copy.warmup = 1;
    if (copy.rounds == 0)
        copy.rounds = 4;
    if (copy.min_time_s == 0)
        copy.min_time_s = 0.2;
    if (copy.batch_s == 0)
        copy.batch_s = 1e-3;
    *bench = calloc(1, sizeof **bench);
    if (!*bench)
        return bench_fail(FL_E_MEMORY, "fl_bench_create: out of memory");
    (*bench)->plan = copy;
    return FL_OK;
}

fl_status fl_bench_join_sized(fl_bench *bench, const fl_bench_team *team, size_t size)
{
    fl_bench_team copy;

    if (!bench || !team)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_join: %s is NULL", bench ? "team" : "bench");
    if (bench->ran)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_join: the bench has run");
    BENCH_TRY(bench_copy_sized(&copy, sizeof copy, team, size, "fl_bench_join"));
    if (!copy.wait || !copy.most || !copy.decides)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_join: %s is NULL",
                          !copy.wait   ? "wait"
                          : !copy.most ? "most"
                                       : "decides");
    bench->team = copy;
    bench->joined = true;
    return FL_OK;
}

static fl_status check_case(const fl_bench *bench, const fl_bench_case *what)
{
    if (bench->ran)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add: the bench has run");
    if (!what->name || !*what->name)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add: the case has no name");
    if (!what->call)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add: '%s' has no call", what->name);
    if ((unsigned)what->by > FL_BENCH_HOST)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add: '%s': by is %d", what->name, (int)what->by);
    if (what->launches < 0)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add: '%s': launches is %d; expected at least 0", what->name,
                          what->launches);
    if (!is_positive(what->bytes) || !is_positive(what->flops))
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add: '%s': bytes is %g, flops %g; expected at least 0", what->name,
                          what->bytes, what->flops);
    return FL_OK;
}

static void work_free(bench_work *w)
{
    if (!w)
        return;
    if (w->release_own)
        w->release_own(w->own);
    if (w->free_own)
        w->free_own(w->own);
    for (int i = 0; i < BENCH_EVENTS; i++)
        fl_event_free(w->event[i]);
    fl_stream_free(w->stream);
    bench_flush_free(&w->flush);
    free(w->room);
    free(w);
}

/* A copy of the case; NULL: out of memory. */
static bench_work *work_create(const fl_bench_case *what)
{
    static const fl_device_info host = {
        .resource = "host", .backend = "host", .family = "cpu", .flynn_class = "", .name = "host", .host_memory = true};
    const size_t length = strlen(what->name) + 1;
    bench_work *w = calloc(1, sizeof *w + length);

    if (!w)
        return NULL;
    w->name = memcpy(w + 1, what->name, length);
    w->what = *what;
    w->what.name = w->name;
    w->info = what->device ? *fl_device_describe(what->device) : host;
    w->clocks = BENCH_GPU_CLOCKS_NONE;
    w->first.variant = w->variant;
    w->launches = 1;
    return w;
}

fl_status bench_add(fl_bench *bench, const fl_bench_case *what, bench_work **work)
{
    bench_work **grown;

    BENCH_TRY(check_case(bench, what));
    grown = realloc(bench->works, (bench->count + 1) * sizeof *grown);
    if (grown)
        bench->works = grown;
    *work = grown ? work_create(what) : NULL;
    if (!*work)
        return bench_fail(FL_E_MEMORY, "fl_bench_add: out of memory");
    bench->works[bench->count++] = *work;
    return FL_OK;
}

fl_status fl_bench_add_sized(fl_bench *bench, const fl_bench_case *work, size_t size)
{
    fl_bench_case copy;
    bench_work *added;

    if (!bench || !work)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add: %s is NULL", bench ? "work" : "bench");
    BENCH_TRY(bench_copy_sized(&copy, sizeof copy, work, size, "fl_bench_add"));
    return bench_add(bench, &copy, &added);
}

void fl_bench_free(fl_bench *bench)
{
    if (!bench)
        return;
    for (size_t i = 0; i < bench->count; i++)
        work_free(bench->works[i]);
    free(bench->works);
    free(bench);
}
