/* SPDX-License-Identifier: MIT
 *
 * libflynn-bench: callbacks that fail at each place, wrong arguments, structs of other versions, and no allocation
 * between the first pass and the last.
 */
#include "harness.h"

#include <flynn/bench.h>
#include <stdlib.h>
#include <string.h>

/* Places where a callback fails. */
enum place {
    CALL,
    COPY_IN,
    COPY_OUT,
    BETWEEN,
    FINISH,
    PREPARE,
    BEGIN,
    AFTER_FIRST,
    RESTORE,
    AFTER_PASS,
    END,
    TOOK,
    CHECK,
    WAIT,
    MOST,
    DECIDES,
    PLACES
};

struct failing {
    enum place place;
    int at; /* the call of that place that fails: 1, 2 ... */
    int calls[PLACES];
};

static fl_status maybe(void *user, enum place place)
{
    struct failing *f = user;

    f->calls[place]++;
    if (place == f->place && f->calls[place] == f->at)
        return fl_set_error(FL_E_LIMIT, "this place fails");
    return FL_OK;
}

static fl_status call(void *user, const fl_run *run)
{
    (void)run;
    return maybe(user, CALL);
}

static fl_status took(void *user, double seconds, int launches)
{
    (void)seconds, (void)launches;
    return maybe(user, TOOK);
}

static fl_status check(void *user, bool *right)
{
    *right = true;
    return maybe(user, CHECK);
}

static fl_status team_wait(void *user)
{
    return maybe(user, WAIT);
}

static fl_status team_most(void *user, double *seconds)
{
    (void)seconds;
    return maybe(user, MOST);
}

static fl_status team_decides(void *user, bool *more)
{
    (void)more;
    return maybe(user, DECIDES);
}

#define IN_STREAM(name, place) \
    static fl_status name(void *user, fl_stream *stream) \
    { \
        (void)stream; \
        return maybe(user, place); \
    }
IN_STREAM(copy_in, COPY_IN)
IN_STREAM(copy_out, COPY_OUT)
IN_STREAM(between, BETWEEN)
IN_STREAM(finish, FINISH)
IN_STREAM(prepare, PREPARE)
IN_STREAM(begin, BEGIN)
IN_STREAM(after_first, AFTER_FIRST)
IN_STREAM(restore, RESTORE)
IN_STREAM(after_pass, AFTER_PASS)
IN_STREAM(end, END)

static fl_bench_case failing_case(struct failing *f, fl_device *device)
{
    return (fl_bench_case){.name = "fails",
                           .device = device,
                           .call = call,
                           .copy_in = copy_in,
                           .copy_out = copy_out,
                           .between = between,
                           .finish = finish,
                           .prepare = prepare,
                           .begin = begin,
                           .after_first = after_first,
                           .restore = restore,
                           .after_pass = after_pass,
                           .end = end,
                           .took = took,
                           .check = check,
                           .user = f,
                           .launches = 1};
}

static void count_marks(const fl_span *span, void *user)
{
    const bool is_pass = strcmp(span->name, "pass") == 0 || strcmp(span->name, "first pass") == 0 ||
                         strcmp(span->name, "pass between events") == 0;

    *(int *)user += is_pass;
}

enum { PASSES = 4 };

/* Runs a case whose place fails, and one after it. Returns whether the place was reached. */
static bool fail_there(enum place place, int at, fl_device *device, bool optional)
{
    struct failing f = {.place = place, .at = at}, other = {.place = PLACES};
    fl_bench_case work = failing_case(&f, device);
    fl_bench_result r;
    int marks = 0;
    int64_t lost = -1;
    fl_status status;
    fl_bench *bench;

    work.optional = optional;
    must(fl_bench_create(&(fl_bench_plan){.repeat = PASSES, .time_call = true}, &bench));
    if (place == WAIT || place == MOST || place == DECIDES)
        must(fl_bench_join(bench, &(fl_bench_team){team_wait, team_most, team_decides, &f}));
    must(fl_bench_add(bench, &work));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "other", .call = call, .user = &other, .launches = 1}));
    must(fl_trace_start());
    status = fl_bench_run(bench);
    must(fl_trace_stop(count_marks, &marks, &lost));
    cr_expect(lost == 0, "place %d, call %d: %lld marks were not ended", (int)place, at, (long long)lost);
    must(fl_bench_result_get(bench, 0, &r));
    if (f.calls[place] < at) {
        cr_expect(status == FL_OK && r.status == FL_OK && r.passes == PASSES && r.checked);
        fl_bench_free(bench);
        return false;
    }
    /* DECIDES can fail for the second case, or for both. */
    if (place < WAIT)
        cr_expect(r.status == FL_E_LIMIT && strcmp(r.message, "this place fails") == 0, "place %d, call %d: %s: %s",
                  (int)place, at, fl_status_name(r.status), r.message);
    if (optional && status == FL_OK)
        cr_expect(r.passes == 0 && other.calls[CALL] > PASSES, "place %d, call %d", (int)place, at);
    else
        cr_expect(status == FL_E_LIMIT && strcmp(fl_last_error(), "this place fails") == 0, "place %d, call %d: %s: %s",
                  (int)place, at, fl_status_name(status), fl_last_error());
    cr_expect(marks > 0 || f.calls[CALL] == 0);
    fl_bench_free(bench);
    return true;
}

static void fail_everywhere(fl_device *device)
{
    for (int place = 0; place < PLACES; place++) {
        const bool once = place == PREPARE || place == BEGIN || place == AFTER_FIRST || place == END || place == CHECK;
        int reached = 0;
        for (int at = 1; fail_there(place, at, device, false); at++)
            reached = at;
        cr_expect(reached >= (once ? 1 : PASSES), "place %d was reached %d times", place, reached);
    }
}

Test(bench_fails, at_each_place_in_host_memory, .timeout = 120)
{
    fl_device *device = open_device("serial");

    fail_everywhere(device);
    fail_everywhere(NULL);
    fl_device_close(device);
}

Test(bench_fails, at_each_place_on_a_device, .timeout = 300)
{
    const struct on *all;
    const size_t count = every_backend(&all);

    for (size_t i = 0; i < count; i++) {
        fl_device *device = open_device(all[i].resource);
        if (!fl_device_describe(device)->host_memory)
            fail_everywhere(device);
        fl_device_close(device);
    }
}

/* An optional case that cannot run leaves its reason, and the others go on. */
Test(bench_fails, an_optional_case_is_left_out, .timeout = 60)
{
    static const enum place first[] = {PREPARE, BEGIN, COPY_IN, CALL, BETWEEN, COPY_OUT, FINISH};
    struct failing f = {.place = CALL, .at = 1};
    fl_bench_case work = failing_case(&f, NULL);
    char text[2000];
    fl_bench *bench;

    for (size_t i = 0; i < COUNT(first); i++)
        cr_expect(fail_there(first[i], 1, NULL, true));
    work.optional = true;
    must(fl_bench_create(NULL, &bench));
    must(fl_bench_add(bench, &work));
    must(fl_bench_run(bench));
    fl_bench_table(bench, text, sizeof text);
    cr_expect(strstr(text, "fails, host: left out: this place fails\n"), "%s", text);
    fl_bench_free(bench);
    expect_status(FL_E_LIMIT, (must(fl_bench_create(NULL, &bench)), f.calls[CALL] = 0, f.at = 2,
                               must(fl_bench_add(bench, &work)), fl_bench_run(bench))); /* not its first pass */
    fl_bench_free(bench);
}

/* ---------------------------------------------------------------------------------------- structs, arguments ---- */

Test(bench_fails, structs_of_other_versions, .timeout = 60)
{
    struct failing f = {.place = PLACES};
    struct {
        fl_bench_case known;
        int64_t later;
    } newer = {{.name = "newer", .call = call, .user = &f}, 0};
    struct {
        fl_bench_result known;
        int64_t later;
    } room;
    struct {
        fl_bench_plan known;
        char later;
    } plan;
    fl_bench_case older;
    fl_bench *bench;

    memset(&plan, 0, sizeof plan);
    plan.later = 1;
    expect_status(FL_E_UNSUPPORTED, fl_bench_create_sized(&plan.known, sizeof plan, &bench));
    cr_assert(!bench);
    plan.later = 0;
    plan.known.repeat = 3;
    must(fl_bench_create_sized(&plan.known, sizeof plan, &bench));
    must(fl_bench_add_sized(bench, &newer.known, sizeof newer));
    newer.later = 1;
    expect_status(FL_E_UNSUPPORTED, fl_bench_add_sized(bench, &newer.known, sizeof newer));
    expect_error_says("does not know");
    /* An older program has no members after `user`: whatever lies there is not read. */
    memset(&older, 0x55, sizeof older);
    memset(&older, 0, offsetof(fl_bench_case, between));
    older.name = "older";
    older.call = call;
    f.place = PLACES;
    must(fl_bench_add_sized(bench, &older, offsetof(fl_bench_case, between)));
    cr_assert_eq(fl_bench_count(bench), 2);
    fl_bench_free(bench);

    must(fl_bench_create(&(fl_bench_plan){.repeat = 3}, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "x", .call = call, .user = &f}));
    must(fl_bench_run(bench));
    memset(&room, 0x55, sizeof room);
    must(fl_bench_result_sized(bench, 0, &room.known, 3 * sizeof(char *)));
    cr_expect_str_eq(room.known.name, "x");
    cr_expect_str_eq(room.known.resource, "host");
    for (size_t i = 3 * sizeof(char *); i < sizeof room; i++)
        cr_assert(((unsigned char *)&room)[i] == 0x55, "byte %zu was written", i);
    must(fl_bench_result_sized(bench, 0, &room.known, sizeof room));
    cr_expect(room.later == 0 && room.known.passes == 3);
    fl_bench_free(bench);
}

static fl_status call_with_arrays(void *user, fl_array *const *arrays, const fl_run *run)
{
    (void)arrays;
    return call(user, run);
}

Test(bench_fails, wrong_arguments)
{
    static float values[4];
    const fl_bench_array same = {FL_F32, 1, {4}, .from = values, .to = values}, none = {.dtype = FL_F32};
    fl_bench_result r;
    fl_bench *bench;
    const double *list;
    int count;

    expect_argument_error(fl_bench_create(&(fl_bench_plan){.repeat = -1}, &bench), "repeat is -1");
    expect_argument_error(fl_bench_create(&(fl_bench_plan){.precision = -0.5}, &bench), "precision -0.5");
    expect_argument_error(fl_bench_create(NULL, NULL), "NULL");
    must(fl_bench_create(NULL, &bench));
    expect_argument_error(fl_bench_add(bench, &(fl_bench_case){.name = "y"}), "'y' has no call");
    expect_argument_error(fl_bench_add(bench, &(fl_bench_case){.call = call}), "no name");
    expect_argument_error(fl_bench_add(bench, &(fl_bench_case){.name = "y", .call = call, .by = 7}), "by is 7");
    expect_argument_error(fl_bench_add(bench, &(fl_bench_case){.name = "y", .call = call, .launches = -2}), "-2");
    expect_argument_error(fl_bench_add(NULL, &(fl_bench_case){.name = "y", .call = call}), "bench is NULL");
    expect_argument_error(fl_bench_join(bench, &(fl_bench_team){.wait = team_wait}), "most is NULL");
    expect_argument_error(fl_bench_add_call(bench, &(fl_bench_call){.name = "y"}), "no call");
    fl_bench_call work = {.name = "y", .call = call_with_arrays, .count = 1, .arrays = &same};
    expect_argument_error(fl_bench_add_call(bench, &work), "same memory");
    work.arrays = &none;
    expect_argument_error(fl_bench_add_call(bench, &work), "0 dimensions");
    work.count = FL_MAX_PARAMETERS + 1;
    expect_argument_error(fl_bench_add_call(bench, &work), "count is 17");
    cr_expect_eq(fl_bench_count(bench), 0);
    expect_argument_error(fl_bench_result_get(bench, 0, &r), "case 0 of 0");
    expect_argument_error(fl_bench_samples(bench, 0, FL_BENCH_TOTAL, &list, &count), "case 0 of 0");
    must(fl_bench_run(bench));
    expect_argument_error(fl_bench_run(bench), "has run");
    expect_argument_error(fl_bench_add(bench, &(fl_bench_case){.name = "y", .call = call}), "has run");
    fl_bench_free(bench);
    fl_bench_free(NULL);
}

/* ---------------------------------------------------------------------------------------------- allocations ---- */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);

static volatile int allocations;

void *malloc(size_t bytes)
{
    allocations++;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allocations++;
    return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    allocations++;
    return __libc_realloc(memory, bytes);
}

static int at_first, at_end;

static fl_status after_first_pass(void *user, fl_stream *stream)
{
    (void)user, (void)stream;
    at_first = allocations;
    return FL_OK;
}

static fl_status at_the_end(void *user, fl_stream *stream)
{
    (void)user, (void)stream;
    at_end = allocations;
    return FL_OK;
}

Test(bench_fails, nothing_is_allocated_between_passes, .timeout = 60)
{
    fl_device *devices[] = {NULL, open_device("serial")};

    for (size_t i = 0; i < COUNT(devices); i++) {
        struct failing f = {.place = PLACES};
        fl_bench_case work = failing_case(&f, devices[i]);
        void *volatile counted;
        fl_bench *bench;
        const int before = allocations;
        counted = malloc(1);
        free(counted);
        cr_assert(allocations > before, "allocations are not counted here");
        work.after_first = after_first_pass;
        work.end = at_the_end;
        must(fl_bench_create(&(fl_bench_plan){.min_time_s = 2e-3, .precision = 1e-9, .time_call = true}, &bench));
        must(fl_bench_add(bench, &work));
        must(fl_bench_run(bench));
        cr_expect(f.calls[CALL] > 100);
        cr_expect(at_end == at_first, "%d allocations between the first pass and the last", at_end - at_first);
        fl_bench_free(bench);
    }
    fl_device_close(devices[1]);
}
#endif
