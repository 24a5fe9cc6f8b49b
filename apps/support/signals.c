/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <signal.h>
#include <stdbool.h>
#include <time.h>

static const double SAME_REQUEST_S = 0.3;

static volatile sig_atomic_t caught;
static struct timespec caught_at;
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };
static struct sigaction before[ENDING];
static void (*pass_on)(void);
static bool catching;

void signals_let_end(void)
{
    for (int i = 0; i < ENDING && catching; i++)
        sigaction(ending[i], &before[i], NULL);
}

void signals_raise(int number)
{
    signals_let_end();
    raise(number);
}

/* One request may come twice, to the process and to its group, as timeout sends it. */
static void on_signal(int number)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!caught) {
        caught_at = now;
        caught = number;
        if (pass_on)
            pass_on();
    } else if ((double)(now.tv_sec - caught_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - caught_at.tv_nsec) >=
               SAME_REQUEST_S) {
        signals_raise(number);
    }
}

void signals_catch(void (*passes_on)(void))
{
    pass_on = passes_on;
    catching = true;
    for (int i = 0; i < ENDING; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigaction(ending[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

static sigset_t let_through;

void signals_block(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &let_through);
}

void signals_unblock(void)
{
    pthread_sigmask(SIG_SETMASK, &let_through, NULL);
}

int signals_caught(void)
{
    return caught;
}
