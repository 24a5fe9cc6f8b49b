/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <signal.h>
#include <time.h>

static const double SAME_REQUEST_S = 0.3;

static volatile sig_atomic_t caught;
static struct timespec caught_at;
static struct sigaction before[2];
static const int ending[2] = {SIGINT, SIGTERM};

void signals_raise(int number)
{
    for (int i = 0; i < 2; i++)
        sigaction(ending[i], &before[i], NULL);
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
    } else if ((double)(now.tv_sec - caught_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - caught_at.tv_nsec) >=
               SAME_REQUEST_S) {
        signals_raise(number);
    }
}

void signals_catch(void)
{
    for (int i = 0; i < 2; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigaction(ending[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

int signals_caught(void)
{
    return caught;
}
