/* SPDX-License-Identifier: MIT
 *
 * test_setting.c - a number of the process that callers share: who is inside together, who waits, and what is set when.
 */
#include "../../backends/cpu/blas.h"
#include "../../backends/shared/library.h"
#include "../../core/src/base/setting_lock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum {
    BEFORE = 5,     /* what is set when nobody is inside */
    PATIENCE = 20,  /* seconds for what must come */
    THREADS = 6,    /* of the tests with many */
    ROUNDS = 2000,  /* of each of them */
    LONGEST_LOG = 8 /* numbers set */
};

/* A number as a library has one; it notes what it is set to, and whether two threads are in its functions at once. */
struct number {
    atomic_int now, busy, collisions, count;
    int log[LONGEST_LOG];
};

static struct number one = {.now = BEFORE}, other = {.now = BEFORE};

static void in(struct number *n)
{
    if (atomic_fetch_add(&n->busy, 1) > 0)
        atomic_fetch_add(&n->collisions, 1);
}

static int get_of(struct number *n)
{
    in(n);
    int now = n->now;
    atomic_fetch_sub(&n->busy, 1);
    return now;
}

static void set_of(struct number *n, int to)
{
    in(n);
    int at = atomic_fetch_add(&n->count, 1);
    if (at < LONGEST_LOG)
        n->log[at] = to;
    n->now = to;
    atomic_fetch_sub(&n->busy, 1);
}

static int get_one(void)
{
    return get_of(&one);
}

static void set_one(int to)
{
    set_of(&one, to);
}

static int get_other(void)
{
    return get_of(&other);
}

static void set_other(int to)
{
    set_of(&other, to);
}

#define expect_log(n, ...) \
    do { \
        const int wanted[] = {__VA_ARGS__}; \
        const int length = sizeof wanted / sizeof *wanted; \
        cr_expect((n).count == length, "set %d times, expected %d", (n).count, length); \
        for (int i = 0; i < length && i < (n).count; i++) \
            cr_expect((n).log[i] == wanted[i], "set to %d, expected %d", (n).log[i], wanted[i]); \
    } while (0)

/* ------------------------------------------------------------------------------------------------- waiting ---- */

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Whether the counter gets that high within the time. */
static bool reaches(atomic_int *counter, int least, int ms)
{
    for (int i = 0; i < ms && *counter < least; i++)
        sleep_ms(1);
    return *counter >= least;
}

/* A thread that enters, stays until it is let go, and leaves. */
struct visitor {
    pthread_t thread;
    int32_t value, alone;
    bool elsewhere; /* the other number */
    atomic_int inside, go, saw;
};

static void *visit(void *argument)
{
    struct visitor *v = argument;
    core_setting_enter(v->value, v->alone, v->elsewhere ? get_other : get_one, v->elsewhere ? set_other : set_one);
    v->saw = v->elsewhere ? other.now : one.now;
    v->inside = 1;
    reaches(&v->go, 1, PATIENCE * 1000);
    core_setting_leave();
    return NULL;
}

static void start(struct visitor *v)
{
    cr_assert(pthread_create(&v->thread, NULL, visit, v) == 0);
}

static void end(struct visitor *v)
{
    v->go = 1;
    pthread_join(v->thread, NULL);
}

static void expect_inside(struct visitor *v, const char *who)
{
    cr_assert(reaches(&v->inside, 1, PATIENCE * 500), "%s cannot enter", who);
    cr_expect(v->saw == v->value, "%s found %d set, expected %d", who, v->saw, v->value);
}

/* Long enough to get in, if it could. */
static void expect_outside(struct visitor *v, const char *who)
{
    cr_expect(!reaches(&v->inside, 1, 100), "%s entered", who);
}

/* --------------------------------------------------------------------------------------------------- tests ---- */

/* Neither leaves before both are inside. */
Test(setting, the_same_value_is_shared, .timeout = 240)
{
    struct visitor a = {.value = 1}, b = {.value = 1};
    start(&a);
    expect_inside(&a, "the first");
    start(&b);
    expect_inside(&b, "the second");
    end(&a);
    cr_expect(one.now == 1, "set to %d while one is inside", one.now);
    end(&b);
    expect_log(one, 1, BEFORE);
}

Test(setting, what_is_set_already_is_not_set, .timeout = 240)
{
    core_setting_enter(BEFORE, 0, get_one, set_one);
    core_setting_leave();
    cr_expect(one.count == 0 && one.now == BEFORE);
}

/* What was set is looked up by each first one anew. */
Test(setting, what_was_set_before_comes_back, .timeout = 240)
{
    core_setting_enter(1, 0, get_one, set_one);
    core_setting_leave();
    one.now = 3;
    core_setting_enter(1, 0, get_one, set_one);
    core_setting_leave();
    expect_log(one, 1, BEFORE, 1, 3);
}

Test(setting, another_value_waits_for_all, .timeout = 240)
{
    struct visitor a = {.value = 1}, b = {.value = 1}, c = {.value = 2};
    start(&a);
    start(&b);
    expect_inside(&a, "a");
    expect_inside(&b, "b");
    start(&c);
    expect_outside(&c, "c, beside a and b,");
    end(&a);
    expect_outside(&c, "c, beside b,");
    end(&b);
    expect_inside(&c, "c");
    end(&c);
    expect_log(one, 1, BEFORE, 2, BEFORE);
}

Test(setting, alone_is_alone, .timeout = 240)
{
    struct visitor a = {.value = 1, .alone = 1}, b = {.value = 1}, c = {.value = 1, .alone = 1};
    start(&a);
    expect_inside(&a, "a");
    start(&b);
    expect_outside(&b, "b, beside one alone,");
    end(&a);
    expect_inside(&b, "b");
    start(&c);
    expect_outside(&c, "c, to be alone,");
    end(&b);
    expect_inside(&c, "c");
    end(&c);
    expect_log(one, 1, BEFORE, 1, BEFORE, 1, BEFORE);
}

/* Those who waited together enter together, in whichever order they wake. */
Test(setting, all_who_waited_enter, .timeout = 240)
{
    for (int round = 0; round < 10; round++) {
        struct visitor first = {.value = 2}, waiting[THREADS] = {{.value = 0}};
        start(&first);
        expect_inside(&first, "the first");
        for (int i = 0; i < THREADS; i++) {
            waiting[i].value = 1;
            start(&waiting[i]);
        }
        expect_outside(&waiting[THREADS - 1], "who waits");
        end(&first);
        for (int i = 0; i < THREADS; i++)
            expect_inside(&waiting[i], "one who waited");
        for (int i = 0; i < THREADS; i++)
            end(&waiting[i]);
    }
}

/* The same value of another number is another setting: the first one's `set` would not set it. */
Test(setting, another_number_waits, .timeout = 240)
{
    struct visitor a = {.value = 1}, b = {.value = 1, .elsewhere = true};
    start(&a);
    expect_inside(&a, "a");
    start(&b);
    expect_outside(&b, "b, of another number,");
    end(&a);
    expect_inside(&b, "b");
    end(&b);
    expect_log(one, 1, BEFORE);
    expect_log(other, 1, BEFORE);
}

/* One of two who hand over to each other: at any time one of them is inside, unless somebody else waits. */
struct relay {
    struct relay *partner;
    int patience; /* milliseconds, not the same as the partner's: the two never leave together */
    atomic_int entries, *stop;
};

static void *run_relay(void *argument)
{
    struct relay *r = argument;
    while (!*r->stop) {
        core_setting_enter(1, 0, get_one, set_one);
        atomic_fetch_add(&r->entries, 1);
        reaches(&r->partner->entries, r->partner->entries + 1, r->patience);
        core_setting_leave();
    }
    return NULL;
}

Test(setting, nobody_starves, .timeout = 240)
{
    struct visitor c = {.value = 2};
    atomic_int stop = 0;
    struct relay a = {.patience = 200, .stop = &stop}, b = {.partner = &a, .patience = 310, .stop = &stop};
    pthread_t threads[2];
    a.partner = &b;
    cr_assert(pthread_create(&threads[0], NULL, run_relay, &a) == 0);
    cr_assert(pthread_create(&threads[1], NULL, run_relay, &b) == 0);
    cr_expect(reaches(&a.entries, 5, PATIENCE * 1000) && reaches(&b.entries, 5, PATIENCE * 1000), "no relay");
    start(&c);
    cr_expect(reaches(&c.inside, 1, PATIENCE * 250), "who keep coming keep others out");
    stop = 1;
    end(&c);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cr_expect(one.now == BEFORE);
}

/* Many at once: by any order the number is everybody's own, and who wants to be alone is. */
static atomic_int inside, wrong;

static void *come_and_go(void *argument)
{
    unsigned state = *(unsigned *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525 + 1013904223;
        const int value = 1 + (state >> 16) % 3, alone = (state >> 20) % 4 == 0;
        core_setting_enter(value, alone, get_one, set_one);
        if (atomic_fetch_add(&inside, 1) > 0 && alone)
            wrong = 1;
        if (one.now != value)
            wrong = 2;
        if ((state >> 24) % 8 == 0)
            sleep_ms(0);
        if (one.now != value)
            wrong = 3;
        if (atomic_fetch_sub(&inside, 1) > 1 && alone)
            wrong = 4;
        core_setting_leave();
    }
    return NULL;
}

Test(setting, many_at_once, .timeout = 240)
{
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = (unsigned)i;
        cr_assert(pthread_create(&threads[i], NULL, come_and_go, &seeds[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect(wrong == 0, "wrong: %d", wrong);
    cr_expect(one.collisions == 0, "get and set were called by two threads at once");
    cr_expect(one.now == BEFORE, "%d is left", one.now);
}

/* ------------------------------------------------------------------------------------------------ the BLAS ---- */

static const fl_host host = {.size = sizeof(fl_host), .enter = core_setting_enter, .leave = core_setting_leave};

/* A thread between cpu_blas_begin and cpu_blas_end. */
struct caller {
    pthread_t thread;
    int threads;
    atomic_int inside, go, saw, failed;
};

static int (*get_threads)(void);

static void *call(void *argument)
{
    struct caller *c = argument;
    c->failed = cpu_blas_begin(&host, c->threads) != FL_OK;
    c->saw = get_threads ? get_threads() : c->threads;
    c->inside = 1;
    reaches(&c->go, 1, PATIENCE * 1000);
    cpu_blas_end(&host, c->threads);
    return NULL;
}

static void let_go(struct caller *c)
{
    c->go = 1;
    pthread_join(c->thread, NULL);
}

/* Whether two callers get inside together; each with its number of threads. */
static bool together(int threads_of_one, int threads_of_other)
{
    struct caller a = {.threads = threads_of_one}, b = {.threads = threads_of_other};
    cr_assert(pthread_create(&a.thread, NULL, call, &a) == 0);
    cr_assert(reaches(&a.inside, 1, PATIENCE * 500));
    cr_assert(pthread_create(&b.thread, NULL, call, &b) == 0);
    bool both = reaches(&b.inside, 1, 500);
    let_go(&a);
    cr_expect(reaches(&b.inside, 1, PATIENCE * 500), "the second never entered");
    let_go(&b);
    cr_expect(!a.failed && !b.failed);
    cr_expect(a.saw == a.threads && b.saw == b.threads, "computed on %d and %d threads, expected %d and %d", a.saw,
              b.saw, a.threads, b.threads);
    return both;
}

/* With one thread each, on a BLAS that is safe so; never where they would share a team. */
Test(setting, blas_is_shared_with_one_thread_each, .timeout = 240)
{
    void *library = cpu_blas_library();
    int (*get_parallel)(void), before;
    if (!library)
        cr_skip("no BLAS here");
    if (!library_function(library, "openblas_get_num_threads", &get_threads, sizeof get_threads) ||
        !library_function(library, "openblas_get_parallel", &get_parallel, sizeof get_parallel)) {
        get_threads = NULL;
        cr_expect(together(1, 1) && together(2, 1), "a BLAS without settings lets its callers wait");
        return;
    }
    before = get_threads();
    cr_expect(together(1, 1) == (get_parallel() == 1), "OpenBLAS of kind %d", get_parallel());
    if (get_parallel() != 0) {
        cr_expect(!together(2, 2), "two teams of threads at once");
        cr_expect(!together(2, 1) && !together(1, 2), "two numbers of threads at once");
    }
    cr_expect(get_threads() == before, "%d threads are left, expected %d", get_threads(), before);
}
