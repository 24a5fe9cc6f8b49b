/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "fail.h"
#include "text.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Return to the first column and clear the line. */
#define ERASE_LINE "\r\033[K"

enum { LINE_EVERY_S = 30 };

/* All of the state is used under the lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t ends;
    pthread_t thread;              /* renews the line */
    bool runs, stop;               /* the thread */
    bool shown;                    /* a line is on the terminal */
    char text[80];                 /* "": no work that is worth a line */
    double begun, told;            /* start of the work whose share is known; time of the last line */
    double done;                   /* the share of the work that is done */
    double limit;                  /* --max-time, since the process started; 0: none */
    void (*give_up)(double limit); /* NULL: a result exists */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds since the process started, or since the first call. */
static double passed(void)
{
    static double start;

    if (start == 0) /* in progress_limit, before other threads */
        start = now();
    return now() - start;
}

/* ", 95 s, 20 s left, until 14:03:20"; the last two where the part is known. */
static void say_times(char *text, size_t size)
{
    const double since = now() - state.begun, left = since * (1 - state.done) / state.done;
    const time_t end = time(NULL) + (time_t)left;
    struct tm clock;
    size_t used;

    snprintf(text, size, ", %.0f s", since);
    used = strlen(text);
    if (state.done > 0 && since > 1 && localtime_r(&end, &clock)) {
        snprintf(text + used, size - used, ", %.0f s left, until ", left);
        used = strlen(text);
        strftime(text + used, size - used, "%H:%M:%S", &clock);
    }
}

/* Characters for the text before the times, of which the last are left out where a terminal is narrow: a line that is
 * wider than it would not be erased whole. */
static int room_for(char *times)
{
    const int least = 24, most = text_width(stderr) - 1 - (int)strlen(" ...");
    char *last;

    while (most - (int)strlen(times) < least && (last = strrchr(times, ',')))
        *last = '\0';
    return most > 0 ? most - (int)strlen(times) : 0;
}

static void show_line(void)
{
    char shown[sizeof state.text], times[64] = "";
    const bool terminal = isatty(STDERR_FILENO);

    if (fail_is_quiet() || !*state.text)
        return;
    if (now() - state.begun >= 1)
        say_times(times, sizeof times);
    text_show(shown, sizeof shown, state.text);
    if (terminal) {
        fprintf(stderr, ERASE_LINE "%.*s%s ...", room_for(times), shown, times);
        state.shown = true;
    } else if (now() - state.told >= LINE_EVERY_S) {
        fprintf(stderr, "%s: %s%s\n", fail_command(), shown, times);
        state.told = now();
    }
}

/* The time of the next look: in a second, or when the limit is over. */
static struct timespec next_look(void)
{
    const double wait = state.give_up ? fmin(1, fmax(progress_left(), 1e-3)) : 1;
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)(wait * 1e9);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *renew(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&state.lock);
    while (!state.stop) {
        const struct timespec until = next_look();
        if (state.limit > 0 && state.give_up && passed() >= state.limit) {
            void (*give_up)(double limit) = state.give_up;
            const double limit = state.limit;
            pthread_mutex_unlock(&state.lock);
            give_up(limit);
        }
        show_line();
        pthread_cond_timedwait(&state.ends, &state.lock, &until);
    }
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

static void stop(void)
{
    pthread_mutex_lock(&state.lock);
    const bool join = state.runs && !pthread_equal(state.thread, pthread_self());
    state.stop = true;
    pthread_cond_signal(&state.ends);
    pthread_mutex_unlock(&state.lock);
    if (join)
        pthread_join(state.thread, NULL);
}

static void before_fork(void)
{
    pthread_mutex_lock(&state.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&state.lock);
}

static void in_child(void)
{
    state.runs = false; /* only the thread that forked is there */
    pthread_mutex_unlock(&state.lock);
}

/* Starts the thread, which takes no signals. Without one the line stays as it was last written. */
static void start(void)
{
    static bool prepared;
    sigset_t all, before;

    if (state.runs)
        return;
    if (!prepared)
        prepared = pthread_atfork(before_fork, after_fork, in_child) == 0 && atexit(stop) == 0;
    state.stop = false;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    state.runs = prepared && pthread_create(&state.thread, NULL, renew, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void progress(const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&state.lock);
    if (!*state.text) {
        state.begun = state.told = now();
        state.done = 0;
    }
    va_start(arguments, format);
    vsnprintf(state.text, sizeof state.text, format, arguments);
    va_end(arguments);
    if (!fail_is_quiet())
        start();
    fail_before(progress_end);
    show_line();
    pthread_mutex_unlock(&state.lock);
}

void progress_part(double done)
{
    pthread_mutex_lock(&state.lock);
    if (done == 0)
        state.begun = now();
    state.done = fmin(done, 1);
    pthread_mutex_unlock(&state.lock);
}

void progress_end(void)
{
    pthread_mutex_lock(&state.lock);
    if (state.shown)
        fputs(ERASE_LINE, stderr);
    state.shown = false;
    state.text[0] = '\0';
    pthread_mutex_unlock(&state.lock);
}

void progress_limit(double seconds, void (*give_up)(double limit))
{
    pthread_mutex_lock(&state.lock);
    passed();
    state.limit = seconds;
    state.give_up = give_up;
    start();
    pthread_mutex_unlock(&state.lock);
}

void progress_has_result(void)
{
    pthread_mutex_lock(&state.lock);
    state.give_up = NULL;
    pthread_mutex_unlock(&state.lock);
}

double progress_left(void)
{
    return state.limit > 0 ? state.limit - passed() : HUGE_VAL;
}

double progress_left_for_first(void)
{
    pthread_mutex_lock(&state.lock);
    const bool has_result = !state.give_up;
    pthread_mutex_unlock(&state.lock);
    return has_result ? HUGE_VAL : progress_left();
}

bool progress_is_late(void)
{
    return progress_left() <= 0;
}

bool progress_ends(void)
{
    pthread_mutex_lock(&state.lock);
    const bool has_result = !state.give_up;
    pthread_mutex_unlock(&state.lock);
    return has_result && progress_is_late();
}
