/* SPDX-License-Identifier: MIT */
#include "counter.h"
#include "ranks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* A thread of rank 0 answers, because an MPI_Fetch_and_op of another rank waits until rank 0 calls MPI, which rank 0
 * does not do while it computes. MPICH 4.0.2 did so for all windows, Open MPI 4.1.4 for those of MPI_Win_create; over
 * TCP with MPI_THREAD_MULTIPLE Open MPI created no such window at all. */
static struct {
    _Atomic int64_t value;
    MPI_Comm asked; /* by other ranks */
    bool opened, answering;
    atomic_bool done;
    pthread_t thread;
} counter;

static void *answer(void *unused)
{
    const double pause = 5e-4;
    int there, error = MPI_SUCCESS;

    (void)unused;
    while (!counter.done && error == MPI_SUCCESS) {
        MPI_Status from;
        int64_t value;
        error = MPI_Iprobe(MPI_ANY_SOURCE, LINK_TAG_TAKE, counter.asked, &there, &from);
        if (error != MPI_SUCCESS || !there) {
            link_sleep(pause);
            continue;
        }
        error = MPI_Recv(&value, 1, MPI_INT64_T, from.MPI_SOURCE, LINK_TAG_TAKE, counter.asked, MPI_STATUS_IGNORE);
        value = error == MPI_SUCCESS ? atomic_fetch_add(&counter.value, value) : 0;
        if (error == MPI_SUCCESS)
            error = MPI_Send(&value, 1, MPI_INT64_T, from.MPI_SOURCE, LINK_TAG_TAKEN, counter.asked);
    }
    if (error == MPI_SUCCESS)
        return NULL;
    fprintf(stderr, "flynn: rank 0 (%s): the counter of the ranks: MPI's error %d\n", link_mpi.hosts[0], error);
    link_end(LINK_BROKEN);
    return NULL;
}

fl_status link_counter_start(void)
{
    int error = MPI_SUCCESS;

    if (!link_mpi.threads)
        return link_mpi.host->error(FL_E_UNSUPPORTED, "a counter of the ranks needs MPI_THREAD_MULTIPLE");
    if (!counter.opened)
        error = MPI_Comm_dup(link_mpi.work, &counter.asked);
    if (error != MPI_SUCCESS)
        return link_failed("MPI_Comm_dup", error);
    counter.opened = true;
    atomic_store(&counter.value, 0);
    if (link_mpi.rank > 0 || counter.answering)
        return FL_OK;
    counter.answering = pthread_create(&counter.thread, NULL, answer, NULL) == 0;
    return counter.answering ? FL_OK : link_mpi.host->error(FL_E_MEMORY, "a thread cannot be started");
}

fl_status link_counter_take(int64_t by, int64_t *was)
{
    MPI_Request requests[2];
    int error;

    if (link_mpi.rank == 0) {
        *was = atomic_fetch_add(&counter.value, by);
        return FL_OK;
    }
    error = MPI_Irecv(was, 1, MPI_INT64_T, 0, LINK_TAG_TAKEN, counter.asked, &requests[0]);
    if (error == MPI_SUCCESS)
        error = MPI_Isend(&by, 1, MPI_INT64_T, 0, LINK_TAG_TAKE, counter.asked, &requests[1]);
    return error == MPI_SUCCESS ? link_wait("MPI_Isend, MPI_Irecv", requests, 2) : link_failed("MPI_Isend", error);
}

void link_counter_close(void)
{
    counter.done = true;
    if (counter.answering)
        pthread_join(counter.thread, NULL);
    if (counter.opened)
        MPI_Comm_free(&counter.asked);
}
