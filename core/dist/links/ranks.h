/* SPDX-License-Identifier: MIT
 *
 * ranks.h - what the files of a link share: the ranks of this launch, and how one of them waits for the others.
 */
#ifndef FLYNN_LINK_RANKS_H
#define FLYNN_LINK_RANKS_H

#include <flynn/link.h>

#include <mpi.h>
#include <stdbool.h>

/* Of messages: a piece of an exchange, a beat, a request to the counter and its answer. */
enum { LINK_TAG_PIECE = 1, LINK_TAG_BEAT = 2, LINK_TAG_TAKE = 3, LINK_TAG_TAKEN = 4 };
enum { LINK_HOST_NAME = sizeof((fl_link_info *)0)->host };
enum { LINK_BROKEN = 4 };                       /* the exit code of a machine's failure */
static const double link_seconds_to_read = 0.1; /* a line on stderr, before the launcher learns that all end */

/* Set while the link is opened. */
typedef struct link_ranks {
    const fl_host *host;
    MPI_Comm work;
    int rank, size;
    bool threads, crowded;         /* MPI_THREAD_MULTIPLE; this host has more ranks than processors */
    char (*hosts)[LINK_HOST_NAME]; /* of all ranks */
    double timeout;
} link_ranks;

extern link_ranks link_mpi;

double link_clock(void); /* seconds */
void link_sleep(double seconds);

/* Returns FL_E_DEVICE, with MPI's message. */
fl_status link_failed(const char *call, int error);

/* Returns when all requests are complete, and polls until then: at first without a pause, unless ranks share
 * processors, then with longer and longer ones. */
fl_status link_wait(const char *call, MPI_Request *requests, int count);

/* Ends the processes of all ranks, and does not return. */
void link_end(int exit_code);

#endif
