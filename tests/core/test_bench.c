/* SPDX-License-Identifier: MIT
 *
 * libflynn-bench: times of callbacks that wait for a known time, how many passes there are, and what is shown of them.
 */
#include "harness.h"

#include <dlfcn.h>
#include <flynn/bench.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The parts of a case wait for so many seconds; the counts say how often each was called. */
struct waits {
    double copy_in, call, between, copy_out, finish, begin;
    int calls, restored, took, ended;
    bool by_events;        /* of a device, which may begin its work after the host has waited */
    double wrong_launches; /* the sum of `launches` that `took` got */
    char *order;           /* gets `letter` for each call */
    char letter;
};

static void wait_s(double seconds)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))}, NULL);
}

static fl_status waits_call(void *user, const fl_run *run)
{
    struct waits *w = user;

    (void)run;
    w->calls++;
    if (w->order)
        w->order[strlen(w->order)] = w->letter;
    if (w->call > 0)
        wait_s(w->call);
    return FL_OK;
}

#define WAIT_IN(name) \
    static fl_status waits_##name(void *user, fl_stream *stream) \
    { \
        (void)stream; \
        wait_s(((struct waits *)user)->name); \
        return FL_OK; \
    }
WAIT_IN(copy_in)
WAIT_IN(between)
WAIT_IN(copy_out)
WAIT_IN(finish)
WAIT_IN(begin)

static fl_status count_restored(void *user, fl_stream *stream)
{
    (void)stream;
    ((struct waits *)user)->restored++;
    return FL_OK;
}

static fl_status count_ended(void *user, fl_stream *stream)
{
    (void)stream;
    ((struct waits *)user)->ended++;
    return FL_OK;
}

static fl_status count_took(void *user, double seconds, int launches)
{
    struct waits *w = user;

    cr_expect(seconds >= 0.9 * w->call || w->by_events, "%g", seconds);
    w->took++;
    w->wrong_launches += launches;
    return FL_OK;
}

/* The list of a quantity, which has `expected` samples. */
static const double *samples_of(const fl_bench *bench, size_t i, fl_bench_quantity quantity, int expected)
{
    const double *list = NULL;
    int count = -1;

    must(fl_bench_samples(bench, i, quantity, &list, &count));
    cr_assert(count == expected, "quantity %d: %d samples, expected %d", (int)quantity, count, expected);
    return list;
}

/* Each sample is at least the time that was waited, and the least of them not much above. */
static void expect_waited(const fl_bench *bench, fl_bench_quantity quantity, int count, double seconds)
{
    const double *list = samples_of(bench, 0, quantity, count);
    double least = INFINITY;

    for (int i = 0; i < count; i++) {
        cr_expect(list[i] >= 0.999 * seconds, "quantity %d: %g s, waited %g s", (int)quantity, list[i], seconds);
        least = fmin(least, list[i]);
    }
    cr_expect(least < seconds + 3e-3, "quantity %d: %g s, waited %g s", (int)quantity, least, seconds);
}

/* In host memory each kernel is a part of its pass. */
static void expect_parts(const fl_bench *bench, size_t i, int count)
{
    const double *kernel = samples_of(bench, i, FL_BENCH_KERNEL, count);
    const double *total = samples_of(bench, i, FL_BENCH_TOTAL, count);

    for (int pass = 0; pass < count; pass++)
        cr_assert(kernel[pass] >= 0 && kernel[pass] <= total[pass], "pass %d: kernel %g, total %g", pass, kernel[pass],
                  total[pass]);
}

static void times_known_waits(fl_device *device)
{
    enum { PASSES = 8 };
    struct waits w = {.copy_in = 3e-3, .call = 4e-3, .between = 2e-3, .copy_out = 1e-3, .finish = 5e-3, .begin = 40e-3};
    fl_bench_result r;
    fl_bench *bench;

    must(fl_bench_create(&(fl_bench_plan){.repeat = PASSES, .warmup = 2, .time_call = true}, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "waits",
                                              .device = device,
                                              .call = waits_call,
                                              .copy_in = waits_copy_in,
                                              .between = waits_between,
                                              .copy_out = waits_copy_out,
                                              .finish = waits_finish,
                                              .begin = waits_begin,
                                              .restore = count_restored,
                                              .end = count_ended,
                                              .took = count_took,
                                              .user = &w}));
    must(fl_bench_run(bench));
    expect_waited(bench, FL_BENCH_COPY_IN, PASSES, w.copy_in);
    expect_waited(bench, FL_BENCH_KERNEL, PASSES, w.call);
    expect_waited(bench, FL_BENCH_BETWEEN, PASSES, w.between);
    expect_waited(bench, FL_BENCH_COPY_OUT, PASSES, w.copy_out);
    expect_waited(bench, FL_BENCH_FINISH, PASSES, w.finish);
    expect_waited(bench, FL_BENCH_CALL, PASSES, w.call);
    expect_waited(bench, FL_BENCH_TOTAL, PASSES, 15e-3);
    expect_parts(bench, 0, PASSES);
    must(fl_bench_result_get(bench, 0, &r));
    cr_expect(r.status == FL_OK && r.passes == PASSES && r.launches == 1 && !r.first_counts && !r.checked);
    cr_expect(r.first_s >= 54e-3 && r.first_s < 0.5, "%g", r.first_s);
    cr_expect(r.kernel_s >= 4e-3 && r.total_s >= 15e-3 && isnan(r.clock_low) && isnan(r.throttled));
    cr_expect_eq(w.ended, 1);
    /* First pass, two warm-ups, one that finds `launches`, a warm-up for each round, and the timed ones. */
    cr_expect(w.calls == 1 + 2 + 1 + 3 + PASSES, "%d", w.calls);
    cr_expect_eq(w.restored, w.calls - 1);
    cr_expect(w.took == PASSES && w.wrong_launches == w.took);
    fl_bench_free(bench);
}

Test(bench, parts_take_what_they_wait, .timeout = 60)
{
    fl_device *device = open_device("serial");

    times_known_waits(device);
    fl_device_close(device);
}

Test(bench, a_function_of_the_host_has_no_device, .timeout = 60)
{
    times_known_waits(NULL);
}

enum { WAITED = 5 };

/* WAITED passes of a copy in, a call and a copy out that wait. */
static fl_bench *bench_of_waits(fl_device *device, struct waits *w, fl_bench_clock by)
{
    fl_bench *bench;

    must(fl_bench_create(&(fl_bench_plan){.repeat = WAITED, .rounds = 1}, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "waits",
                                              .device = device,
                                              .call = waits_call,
                                              .copy_in = waits_copy_in,
                                              .copy_out = waits_copy_out,
                                              .took = count_took,
                                              .user = w,
                                              .by = by,
                                              .alone = true}));
    must(fl_bench_run(bench));
    return bench;
}

/* Events time kernels and copies, the clock the whole. */
static void expect_two_clocks(fl_device *device, fl_bench_clock by)
{
    const int events = by != FL_BENCH_HOST ? WAITED : 0, host = by != FL_BENCH_EVENTS ? WAITED : 0;
    struct waits w = {.copy_in = 2e-3, .call = 4e-3, .copy_out = 1e-3, .by_events = true};
    fl_bench *bench = bench_of_waits(device, &w, by);

    /* The host waits while it queues: by the events of the false GPU that is the device's time. */
    samples_of(bench, 0, FL_BENCH_COPY_IN, events);
    samples_of(bench, 0, FL_BENCH_KERNEL, events);
    samples_of(bench, 0, FL_BENCH_COPY_OUT, events);
    if (host)
        expect_waited(bench, FL_BENCH_TOTAL, host, 7e-3);
    else
        samples_of(bench, 0, FL_BENCH_TOTAL, 0);
    samples_of(bench, 0, FL_BENCH_CALL, 0);
    cr_expect(w.calls == 2 + events + host, "%s, clocks %d: %d calls", fl_device_describe(device)->resource, (int)by,
              w.calls);
    fl_bench_free(bench);
}

static bool times_by_one_clock(const fl_device *device)
{
    const fl_device_info *info = device ? fl_device_describe(device) : NULL;

    return !info || info->host_memory || info->emulation;
}

Test(bench, a_device_has_two_clocks, .timeout = 120)
{
    const struct on *all;
    const size_t count = every_backend(&all);
    fl_device *device;

    for (size_t i = 0; i <= count; i++) {
        setenv("FLYNN_PLUGIN_PATH", FLYNN_TEST_FAULTS "/false-gpu", 1);
        if (fl_device_open(i < count ? all[i].resource : "false-gpu", &device) != FL_OK) {
            cr_expect(i == count, "%s", fl_last_error()); /* without hip-cpu there is no false GPU */
            continue;
        }
        for (int by = FL_BENCH_BOTH; by <= FL_BENCH_HOST && !times_by_one_clock(device); by++)
            expect_two_clocks(device, (fl_bench_clock)by);
        fl_device_close(device);
    }
}

/* A kernel that waits for a lock, and whatever else an emulation takes long for, is a part of its pass. */
Test(bench, an_emulation_has_one_clock, .timeout = 60)
{
    struct waits w = {.copy_in = 2e-3, .call = 4e-3, .copy_out = 1e-3};
    fl_device *device;
    fl_bench *bench;

    if (fl_device_open("hip-cpu", &device) != FL_OK)
        cr_skip_test("there is no hip-cpu: %s", fl_last_error());
    bench = bench_of_waits(device, &w, FL_BENCH_BOTH);
    expect_waited(bench, FL_BENCH_COPY_IN, WAITED, w.copy_in);
    expect_waited(bench, FL_BENCH_KERNEL, WAITED, w.call);
    expect_waited(bench, FL_BENCH_COPY_OUT, WAITED, w.copy_out);
    expect_waited(bench, FL_BENCH_TOTAL, WAITED, 7e-3);
    expect_parts(bench, 0, WAITED);
    fl_bench_free(bench);
    fl_device_close(device);
}

/* A call too short for the clock is repeated within the pass. */
Test(bench, short_calls_are_repeated, .timeout = 60)
{
    struct waits quick = {0}, alone = {0}, three = {0};
    fl_bench_result r;
    fl_bench *bench;

    must(fl_bench_create(&(fl_bench_plan){.repeat = 20, .batch_s = 100e-6}, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "quick", .call = waits_call, .user = &quick}));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "alone", .call = waits_call, .user = &alone, .alone = true}));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "three", .call = waits_call, .user = &three, .launches = 3}));
    must(fl_bench_run(bench));
    must(fl_bench_result_get(bench, 0, &r));
    cr_expect(r.launches > 10 && r.launches <= 1000, "%d", r.launches); /* in 100 us, of a call shorter than 10 us */
    cr_expect(quick.calls == 6 + 20 * r.launches, "%d calls, %d launches", quick.calls, r.launches);
    cr_expect(r.kernel_s < 1e-6, "%g s for an empty call", r.kernel_s);
    must(fl_bench_result_get(bench, 1, &r));
    cr_expect(r.launches == 1 && alone.calls == 5 + 20, "%d calls", alone.calls);
    must(fl_bench_result_get(bench, 2, &r));
    cr_expect(r.launches == 3 && three.calls == 5 + 60, "%d calls", three.calls);
    for (size_t i = 0; i < 3; i++)
        expect_parts(bench, i, 20);
    fl_bench_free(bench);
}

Test(bench, a_hundred_thousand_passes, .timeout = 120)
{
    enum { PASSES = 100000 };
    struct waits w = {0};
    fl_device *device = open_device("serial");
    fl_bench *bench;

    must(fl_bench_create(&(fl_bench_plan){.repeat = PASSES}, &bench));
    must(fl_bench_add(
        bench, &(fl_bench_case){.name = "many", .device = device, .call = waits_call, .user = &w, .launches = 1}));
    must(fl_bench_run(bench));
    expect_parts(bench, 0, PASSES);
    cr_expect(w.calls == PASSES + 5, "%d", w.calls);
    fl_bench_free(bench);
    fl_device_close(device);
}

Test(bench, cases_take_turns, .timeout = 60)
{
    char order[200] = "";
    struct waits a = {.order = order, .letter = 'a'}, b = {.order = order, .letter = 'b'};

    for (int rounds = 1; rounds <= 2; rounds++) {
        fl_bench *bench;
        memset(order, 0, sizeof order);
        must(fl_bench_create(&(fl_bench_plan){.repeat = 4, .rounds = rounds, .warmup = -1}, &bench));
        must(fl_bench_add(bench, &(fl_bench_case){.name = "a", .call = waits_call, .user = &a, .launches = 1}));
        must(fl_bench_add(bench, &(fl_bench_case){.name = "b", .call = waits_call, .user = &b, .launches = 1}));
        must(fl_bench_run(bench));
        /* The first pass; then the rounds, after the first with a warm-up each. */
        cr_expect_str_eq(order, rounds == 1 ? "aaaaabbbbb" : "abaabbaaabbb");
        fl_bench_free(bench);
    }
}

/* ------------------------------------------------------------------------------------------------ how many ---- */

static int passes_with(const fl_bench_plan *plan, double call_s)
{
    struct waits w = {.call = call_s};
    fl_bench_result r;
    fl_bench *bench;

    must(fl_bench_create(plan, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "w", .call = waits_call, .user = &w, .launches = 1}));
    must(fl_bench_run(bench));
    must(fl_bench_result_get(bench, 0, &r));
    expect_parts(bench, 0, r.first_counts ? 1 : r.passes);
    fl_bench_free(bench);
    return r.passes;
}

/* Loads a false library, which the bench then finds by its name, and lets it record its calls. */
static void *load_profiler(const char *file, char *record)
{
    char path[500];
    void (*to)(char *text);
    void *library, *address;

    snprintf(path, sizeof path, "%s/profiler/%s", FLYNN_TEST_FAULTS, file);
    library = dlopen(path, RTLD_NOW);
    cr_assert(library, "%s", dlerror());
    address = dlsym(library, "false_profiler_record");
    memcpy(&to, &address, sizeof to);
    to(record);
    return library;
}

/* Three timed passes after a first one and a warm-up, each call of which is a c. */
static void expect_profiled(const char *expected, const char *const *files, int count)
{
    char order[256] = "";
    struct waits w = {.order = order, .letter = 'c'};
    const fl_bench_plan plan = {.repeat = 3, .warmup = 1, .rounds = 1, .min_time_s = 1e-9};
    void *libraries[2];
    fl_bench *bench;

    for (int i = 0; i < count; i++)
        libraries[i] = load_profiler(files[i], order);
    must(fl_bench_create(&plan, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "waits", .call = waits_call, .user = &w, .launches = 1}));
    must(fl_bench_run(bench));
    fl_bench_free(bench);
    cr_expect(strcmp(order, expected) == 0, "'%s' instead of '%s'", order, expected);
    for (int i = 0; i < count; i++)
        dlclose(libraries[i]);
}

Test(bench, a_profiler_sees_the_timed_passes, .timeout = 60)
{
    static const char *const nvidia[] = {"libcuda.so.1", "libnvToolsExt.so.1"};
    static const char *const amd[] = {"librocprofiler-sdk-roctx.so.1"};

    unsetenv("NVTX_INJECTION64_PATH");
    expect_profiled("ccccc", NULL, 0);
    expect_profiled("ccsccce", nvidia, 2); /* ncu sets no variable */
    expect_profiled("ccspwaitscccoe", amd, 1);
    setenv("NVTX_INJECTION64_PATH", "a profiler's library", 1);
    expect_profiled("ccspwaitscccoe", nvidia, 2);
}

Test(bench, passes_fill_the_time, .timeout = 60)
{
    const int slow = passes_with(&(fl_bench_plan){.min_time_s = 0.1}, 10e-3);

    cr_expect(slow >= 4 && slow <= 14, "%d passes of 10 ms in 0.1 s", slow);
    cr_expect_eq(passes_with(&(fl_bench_plan){.min_time_s = 1e-6}, 1e-3), 3);
    cr_expect_eq(passes_with(&(fl_bench_plan){.min_time_s = 1e-6, .fewest = 7}, 1e-3), 7);
    cr_expect_eq(passes_with(&(fl_bench_plan){.min_time_s = 10}, 0), 1000);
}

Test(bench, precision_goes_on, .timeout = 60)
{
    const int without = passes_with(&(fl_bench_plan){.min_time_s = 1e-3}, 1e-3);
    const int never = passes_with(&(fl_bench_plan){.min_time_s = 1e-3, .precision = 1e-12}, 1e-3);
    const int soon = passes_with(&(fl_bench_plan){.min_time_s = 1e-3, .precision = 1e6}, 1e-3);

    cr_expect(without == 3, "%d", without);
    cr_expect(never >= 30 && never <= 101, "%d passes of 1 ms in 100 times 1 ms", never);
    cr_expect(soon >= 6 && soon < 12, "an interval needs six samples: %d", soon);
}

static bool stop_at(void *user, const fl_bench_step *step)
{
    int *left = user;

    cr_expect(step->pass >= 1 && step->done >= 0 && step->done <= 1 && *step->name && *step->resource);
    return (*left)-- > 0;
}

Test(bench, the_caller_and_the_time_end_a_run, .timeout = 60)
{
    for (int passes = 0; passes < 8; passes++) {
        struct waits w = {0};
        int left = passes;
        fl_bench_result r;
        fl_bench *bench;
        must(fl_bench_create(&(fl_bench_plan){.repeat = 100, .step = stop_at, .user = &left}, &bench));
        must(fl_bench_add(bench, &(fl_bench_case){.name = "w", .call = waits_call, .user = &w, .end = count_ended}));
        must(fl_bench_run(bench));
        must(fl_bench_result_get(bench, 0, &r));
        cr_expect_eq(r.status, passes == 0 ? FL_E_UNAVAILABLE : FL_OK);
        cr_expect_eq(*r.message != '\0', passes == 0);
        cr_expect(r.first_counts == (passes == 1 || passes == 2), "%d", passes); /* the first pass and a warm-up */
        cr_expect(r.passes == (passes > 2 ? passes - 2 : 0), "%d passes, %d", r.passes, passes);
        cr_expect_eq(w.ended, passes > 0);
        fl_bench_free(bench);
    }
    const int passes = passes_with(&(fl_bench_plan){.repeat = 1000, .max_time_s = 0.1}, 10e-3);
    cr_expect(passes >= 2 && passes <= 9, "%d passes of 10 ms in 0.1 s", passes);
}

/* ---------------------------------------------------------------------------------------------------- team ---- */

struct team {
    int waited, most, decided;
};

static fl_status team_wait(void *user)
{
    ((struct team *)user)->waited++;
    return FL_OK;
}

static fl_status team_most(void *user, double *seconds)
{
    ((struct team *)user)->most++;
    *seconds += 1; /* of a slower process */
    return FL_OK;
}

static fl_status team_decides(void *user, bool *more)
{
    ((struct team *)user)->decided++;
    (void)more;
    return FL_OK;
}

Test(bench, a_team_waits_and_takes_the_slowest, .timeout = 60)
{
    struct waits w = {.call = 1e-3};
    struct team team = {0};
    fl_bench_result r;
    fl_bench *bench;

    must(fl_bench_create(&(fl_bench_plan){.repeat = 5, .rounds = 1}, &bench));
    must(fl_bench_join(bench, &(fl_bench_team){team_wait, team_most, team_decides, &team}));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "w", .call = waits_call, .took = count_took, .user = &w}));
    must(fl_bench_run(bench));
    must(fl_bench_result_get(bench, 0, &r));
    cr_expect(r.passes == 5 && r.kernel_s > 1 && r.kernel_s < 1.5 && r.total_s > 1 && r.first_s > 1, "%g", r.kernel_s);
    cr_expect(team.waited == 1 + 1 + 1 + 5, "%d", team.waited); /* each pass, the first one too */
    cr_expect(team.most > 5 && team.decided > 5);
    fl_bench_free(bench);
}

struct delay {
    int calls, delays, most; /* the most passes between events that are delayed */
};

/* After two calls every second one is in a pass between events: of a kernel, and not of the whole. */
static fl_status delayed_kernel(void *user, const fl_run *run)
{
    struct delay *d = user;
    const bool between_events = d->calls++ % 2 == 0, delayed = between_events && d->calls > 2 && d->delays < d->most;

    (void)run;
    d->delays += delayed;
    wait_s(delayed ? 0.1 : between_events ? 1e-4 : 2e-3);
    return FL_OK;
}

/* Timed passes of a kernel that is delayed; its samples are each less than their pass, unless it is `always`. */
/* Returns whether the times are as expected: without `always` all kernels are parts of their passes. */
static bool times_delayed_kernel(int passes, int most, bool always)
{
    struct delay delay = {.most = most};
    fl_bench_result r;
    fl_device *device;
    fl_bench *bench;

    setenv("FLYNN_PLUGIN_PATH", FLYNN_TEST_FAULTS "/false-gpu", 1);
    if (fl_device_open("false-gpu", &device) != FL_OK)
        cr_skip_test("there is no hip-cpu: %s", fl_last_error());
    must(fl_bench_create(&(fl_bench_plan){.repeat = passes, .rounds = 1}, &bench));
    must(fl_bench_add(
        bench,
        &(fl_bench_case){.name = "slow", .device = device, .call = delayed_kernel, .user = &delay, .launches = 1}));
    must(fl_bench_run(bench));
    must(fl_bench_result_get(bench, 0, &r));
    bool expected;
    if (always) {
        expected =
            r.kernel_s > r.total_s && strcmp(r.disturbed, "the kernel's time exceeds the total; cause unknown") == 0;
    } else {
        const double *kernel = samples_of(bench, 0, FL_BENCH_KERNEL, passes);
        const double *total = samples_of(bench, 0, FL_BENCH_TOTAL, passes);
        expected = delay.delays == most && r.passes == passes && strcmp(r.disturbed, "") == 0;
        for (int pass = 0; pass < passes; pass++)
            expected = expected && kernel[pass] <= total[pass];
    }
    fl_bench_free(bench);
    fl_device_close(device);
    return expected;
}

/* Other work on this machine delays, too: one of five tries is as expected. */
static void time_delayed_kernel(int passes, int most, bool always)
{
    bool expected = false;

    for (int i = 0; i < 5 && !expected; i++)
        expected = times_delayed_kernel(passes, most, always);
    cr_expect(expected, "%d passes, %d delays", passes, most);
}

Test(bench, a_kernel_longer_than_the_whole_is_taken_again, .timeout = 60)
{
    time_delayed_kernel(2, 0, false);
    time_delayed_kernel(2, 1, false);
    time_delayed_kernel(9, 3, false);
}

Test(bench, a_kernel_always_longer_than_the_whole_is_disturbed, .timeout = 60)
{
    time_delayed_kernel(2, 1000, true);
    time_delayed_kernel(9, 1000, true);
}

/* --------------------------------------------------------------------------------------------------- flush ---- */

/* A chain of lines in random order: each step waits for the memory, unless a cache has it. */
enum { LINES = 8192, STEP = 8 };

static fl_status chase(void *user, const fl_run *run)
{
    const int64_t *chain = user;
    int64_t at = 0;

    (void)run;
    for (int i = 0; i < LINES; i++)
        at = chain[at];
    return at >= 0 ? FL_OK : FL_E_DEVICE; /* never: the chain must be walked to know */
}

Test(bench, flush_empties_the_cache, .timeout = 600)
{
    if (is_left_out(4)) /* it takes ten seconds */
        return;
    int64_t *chain = malloc(sizeof(int64_t) * LINES * STEP), order[LINES];
    double least[2];
    fl_device *device = open_device("serial");

    srand(1);
    for (int i = 0; i < LINES; i++)
        order[i] = i;
    for (int i = LINES - 1; i > 0; i--) {
        const int other = rand() % (i + 1);
        const int64_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < LINES; i++)
        chain[order[i] * STEP] = order[(i + 1) % LINES] * STEP;
    for (int of_device = 0; of_device < 2; of_device++) {
        for (int flush = 0; flush < 2; flush++) {
            fl_bench_statistics s;
            fl_bench *bench;
            must(fl_bench_create(&(fl_bench_plan){.repeat = 15, .flush = flush}, &bench));
            must(fl_bench_add(
                bench,
                &(fl_bench_case){.name = "chase", .device = of_device ? device : NULL, .call = chase, .user = chain}));
            must(fl_bench_run(bench));
            must(fl_bench_statistics_of(samples_of(bench, 0, FL_BENCH_KERNEL, 15), 15, &s));
            least[flush] = s.minimum;
            fl_bench_free(bench);
        }
        cr_expect(least[1] > 2 * least[0], "%g s with flush, %g s without", least[1], least[0]);
    }
    fl_device_close(device);
    free(chain);
}

/* -------------------------------------------------------------------------------------------------- arrays ---- */

enum { SIZE = 3000 };

struct increments {
    float from[SIZE], to[SIZE];
    bool in_place, lazy; /* lazy: only the first call works */
    double add;
    int calls;
};

static fl_status increment(void *user, fl_array *const *arrays, const fl_run *run)
{
    struct increments *s = user;

    if (s->calls++ > 0 && s->lazy)
        return FL_OK;
    if (arrays)
        return fl_increment(fl_array_device(arrays[0]), arrays[0], arrays[s->in_place ? 0 : 1], run);
    for (int i = 0; i < SIZE; i++)
        s->to[i] = s->from[i] + 1;
    return FL_OK;
}

static fl_status is_incremented(void *user, bool *right)
{
    const struct increments *s = user;

    *right = true;
    for (int i = 0; i < SIZE; i++)
        *right = *right && s->to[i] == s->from[i] + (float)s->add;
    return FL_OK;
}

static void call_on(fl_device *device, bool in_place, bool pageable, double add, bool lazy)
{
    static struct increments s;
    const fl_bench_array two[] = {{FL_F32, 1, {SIZE}, .from = s.from}, {FL_F32, 1, {SIZE}, .to = s.to}};
    const fl_bench_array one[] = {{FL_F32, 1, {SIZE}, .from = s.from, .to = s.to}};
    fl_bench_result r;
    fl_bench *bench;
    char text[2000];

    for (int i = 0; i < SIZE; i++)
        s.from[i] = (float)i;
    memset(s.to, 0, sizeof s.to);
    s.in_place = in_place;
    s.add = add;
    s.lazy = lazy;
    s.calls = 0;
    must(fl_bench_create(&(fl_bench_plan){.repeat = 5}, &bench));
    must(fl_bench_add_call(bench, &(fl_bench_call){.name = "increment",
                                                   .device = device,
                                                   .call = increment,
                                                   .user = &s,
                                                   .count = in_place ? 1 : 2,
                                                   .arrays = in_place ? one : two,
                                                   .pageable = pageable,
                                                   .check = is_incremented}));
    must(fl_bench_run(bench));
    must(fl_bench_result_get(bench, 0, &r));
    cr_expect(r.checked && r.right == (add == 1 && !lazy), "%s: the check says %d", r.resource, r.right);
    cr_expect(r.passes == 5 && r.total_s > 0 && (r.kernel_s > 0 || lazy) && r.kernel_s < 1);
    if (device) {
        cr_expect(fabs(r.first->bytes - 8.0 * SIZE) < 0.5, "%g", r.first->bytes);
        cr_expect_str_eq(r.resource, fl_device_describe(device)->resource);
        cr_expect_eq(r.copy_in_s > 0, !fl_device_describe(device)->host_memory);
    }
    if (times_by_one_clock(device))
        expect_parts(bench, 0, 5);
    fl_bench_table(bench, text, sizeof text);
    cr_expect(strstr(text, add == 1 && !lazy ? " right\n" : " WRONG\n") && strstr(text, r.resource), "%s", text);
    fl_bench_free(bench);
}

ON_EVERY_BACKEND(bench, arrays_go_there_and_back)
{
    fl_device *device = open_device(on->resource);

    call_on(device, false, false, 1, false);
    call_on(device, false, true, 1, false);
    call_on(device, true, false, 1, false); /* each pass starts from the input again */
    call_on(device, false, false, 2, false);
    call_on(device, false, false, 1, true); /* a result of the first pass must not pass for a timed one's */
    fl_device_close(device);
}

/* Wherever a run ends, the results are those of its last pass, and not what the library overwrote them with. */
ON_EVERY_BACKEND(bench, a_run_that_ends_early_keeps_its_results)
{
    static struct increments s;
    fl_device *device = open_device(on->resource);
    const fl_bench_array arrays[] = {{FL_F32, 1, {SIZE}, .from = s.from}, {FL_F32, 1, {SIZE}, .to = s.to}};

    for (int passes = 1; passes < 16; passes++) {
        const bool warm = passes % 2;
        int left = passes / 2 + 1;
        fl_bench_result r;
        fl_bench *bench;
        s.add = 1;
        memset(s.to, 0, sizeof s.to);
        must(fl_bench_create(&(fl_bench_plan){.repeat = 100, .warmup = warm ? 2 : -1, .step = stop_at, .user = &left},
                             &bench));
        must(fl_bench_add_call(bench, &(fl_bench_call){.name = "increment",
                                                       .device = device,
                                                       .call = increment,
                                                       .user = &s,
                                                       .count = 2,
                                                       .arrays = arrays,
                                                       .check = is_incremented}));
        must(fl_bench_run(bench));
        must(fl_bench_result_get(bench, 0, &r));
        cr_expect(r.checked && r.right, "%s: %d steps, %d passes, first %d", r.resource, passes / 2 + 1, r.passes,
                  r.first_counts);
        fl_bench_free(bench);
    }
    fl_device_close(device);
}

Test(bench, arrays_of_the_host, .timeout = 60)
{
    call_on(NULL, false, false, 1, false);
    call_on(NULL, false, false, 2, false);
    call_on(NULL, false, false, 1, true);
}

/* --------------------------------------------------------------------------------------------- what is shown ---- */

Test(bench, statistics_of_a_list)
{
    const double six[] = {6, 1, 5, 2, 4, 3};
    double hundred[100];
    fl_bench_statistics s;

    must(fl_bench_statistics_of(six, 6, &s));
    cr_expect(s.count == 6 && s.median == 3.5 && s.minimum == 1 && s.maximum == 6);
    cr_expect(s.first_quartile == 2.25 && s.third_quartile == 4.75 && s.low == 1 && s.high == 6); /* numpy.quantile */
    must(fl_bench_statistics_of(six, 5, &s));
    cr_expect(s.median == 4 && isnan(s.low) && isnan(s.high));
    for (int i = 0; i < 100; i++)
        hundred[i] = (i * 37) % 100 + 1;
    must(fl_bench_statistics_of(hundred, 100, &s));
    cr_expect(s.median == 50.5 && s.low == 40 && s.high == 61, "%g %g %g", s.low, s.median, s.high);
    must(fl_bench_statistics_of(NULL, 0, &s));
    cr_expect(s.count == 0 && isnan(s.median) && isnan(s.maximum));
    expect_argument_error(fl_bench_statistics_of(NULL, 1, &s), "seconds is NULL");
    expect_argument_error(fl_bench_statistics_of((double[]){NAN}, 1, &s), "seconds[0]");
}

/* The interval holds the true median of a skewed distribution as often as it promises. */
Test(bench, the_interval_holds_the_median)
{
    int held = 0, lists = 4000;
    double list[40];
    fl_bench_statistics s;

    srand(5);
    for (int k = 0; k < lists; k++) {
        for (int i = 0; i < 40; i++)
            list[i] = -log((rand() + 1.0) / (RAND_MAX + 2.0));
        must(fl_bench_statistics_of(list, 40, &s));
        held += s.low <= log(2) && log(2) <= s.high;
    }
    cr_expect(held >= 0.95 * lists && held < 0.995 * lists, "%d of %d", held, lists);
}

Test(bench, a_processor_is_no_gpu)
{
    fl_bench_gpu gpu = {1, 2, 3, 4};
    fl_device *device;

    must(fl_device_open("serial", &device));
    must(fl_bench_gpu_get(device, &gpu));
    cr_expect(isnan(gpu.clock) && isnan(gpu.temperature) && isnan(gpu.throttled) && isnan(gpu.other_processes));
    cr_expect_eq(fl_bench_gpu_get(NULL, &gpu), FL_E_ARGUMENT);
    cr_expect_eq(fl_bench_gpu_get(device, NULL), FL_E_ARGUMENT);
    fl_device_close(device);
}

Test(bench, json_is_a_row, .timeout = 60)
{
    struct waits w = {.call = 1e-4};
    char text[4000], cut[40];
    json_error_t error;
    fl_bench *bench;
    json_t *row;

    must(fl_bench_create(&(fl_bench_plan){.repeat = 6}, &bench));
    must(fl_bench_add(bench,
                      &(fl_bench_case){.name = "a \"quoted\"\n\\name", .call = waits_call, .user = &w, .bytes = 7}));
    must(fl_bench_run(bench));
    const size_t length = fl_bench_json(bench, 0, text, sizeof text);
    cr_assert_eq(length, strlen(text));
    row = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(row, "%s: %s", error.text, text);
    cr_expect_str_eq(json_string_value(json_object_get(row, "schema")), "flynn/2");
    cr_expect_str_eq(json_string_value(json_object_get(row, "exercise")), "a \"quoted\"\n\\name");
    cr_expect_str_eq(json_string_value(json_object_get(row, "resource")), "host");
    cr_expect_eq(json_number_value(json_object_get(row, "bytes")), 7);
    cr_expect_eq(json_array_size(json_object_get(json_object_get(row, "times_s"), "kernel")), 6);
    cr_expect_eq(json_array_size(json_object_get(row, "kernel_interval_s")), 2);
    cr_expect(json_is_null(json_object_get(json_object_get(row, "check"), "ok")));
    for (size_t i = 0; i < 4; i++)
        cr_expect(json_is_null(json_object_get(
            row, (const char *const[]){"clock_low_mhz", "throttled", "temperature_c", "other_processes"}[i])));
    json_decref(row);
    memset(cut, 'x', sizeof cut);
    cr_expect_eq(fl_bench_json(bench, 0, cut, 20), length);
    cr_expect(strlen(cut) == 19 && strncmp(cut, text, 19) == 0 && cut[20] == 'x');
    cr_expect_eq(fl_bench_json(bench, 0, NULL, 0), length);
    cr_expect_eq(fl_bench_table(bench, cut, 20), fl_bench_table(bench, NULL, 0));
    fl_bench_table(bench, text, sizeof text);
    cr_expect(strstr(text, " not checked\n"), "%s", text);

    fl_bench_statistics total;
    const double *samples;
    int count;
    must(fl_bench_samples(bench, 0, FL_BENCH_TOTAL, &samples, &count));
    must(fl_bench_statistics_of(samples, count, &total));
    snprintf(cut, sizeof cut, "  %.2g %%  ", 100 * (total.third_quartile - total.first_quartile) / total.median);
    cr_expect(strstr(text, cut), "the spread is not '%s': %s", cut, text);
    fl_bench_free(bench);
}
