/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

link_ranks link_mpi;

double link_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void link_sleep(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&t, NULL);
}

fl_status link_failed(const char *call, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    MPI_Error_string(error, text, &length);
    return link_mpi.host->error(FL_E_DEVICE, "%s: %.200s", call, text);
}

/* Several polls lie between two pauses: MPICH's move a collective call on by a small step each. */
fl_status link_wait(const char *call, MPI_Request *requests, int count)
{
    const int burst = 16, spins = link_mpi.crowded ? burst : 1000, yields = link_mpi.crowded ? 2 * burst : 20000;
    double pause = 2e-5;
    int turns = 0, done;

    for (int i = 0; i < count; i++)
        for (;;) {
            const int error = MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
            if (error != MPI_SUCCESS)
                return link_failed(call, error);
            if (done)
                break;
            if (++turns < spins || (turns >= yields && turns % burst != 0))
                continue;
            if (turns < yields) {
                sched_yield();
            } else {
                link_sleep(pause);
                pause = pause * 1.5 < 1e-3 ? pause * 1.5 : 1e-3;
            }
        }
    return FL_OK;
}

/* Waits first: a launcher that learns of the end may drop what a rank has just printed. */
void link_end(int exit_code)
{
    link_sleep(link_seconds_to_read);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    _exit(exit_code);
}
