/* SPDX-License-Identifier: MIT
 *
 * link.c - a link by MPI: all of Flynn that knows MPI. Compiled against each MPI, whose binary interfaces differ.
 *
 * Every wait polls, and gives its processor away more and more: other ranks may need it. Besides, a thread sends a
 * message each second to rank 0, which answers: a process that hangs or was killed is found by its silence. That needs
 * MPI_THREAD_MULTIPLE.
 */
#include "counter.h"
#include "ranks.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static const int64_t most_bytes = 1 << 30; /* of one message: counts are int */

/* A rank whose beats are heard. */
typedef struct peer {
    int rank;
    MPI_Request in, out;
    double heard; /* seconds of link_clock */
} peer;

static struct {
    MPI_Comm comm;
    pthread_t thread;
    bool beating;
    atomic_bool done;
    int peers;
    peer *peer;
} beats;

/* ---------------------------------------------------------------------------------------------- watching ---- */

/* Work that all ranks do together while no beats are received, such as MPI_Init, which can wait for ever. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *what; /* the step in words, "joined"; NULL: it is done */
    bool watched;
    pthread_t thread;
} together = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Ends the process and asks the launcher to end the others, by PMI version 1, which MPICH's and Slurm's launchers
 * speak, because MPI_Abort is not possible at every moment. Open MPI's launcher ends all processes when one fails. */
static void end_without_mpi(void)
{
    const char *launcher = secure_getenv("PMI_FD");

    if (launcher)
        dprintf((int)strtol(launcher, NULL, 10), "cmd=abort exitcode=%d\n", LINK_BROKEN);
    _exit(LINK_BROKEN);
}

static struct timespec moment_in(double seconds)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    seconds += (double)t.tv_nsec * 1e-9;
    t.tv_sec += (time_t)seconds;
    t.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9);
    return t;
}

/* Waits until all ranks have done it, one second longer than the timeout, in short waits, so that a process that was
 * itself stopped is not late at once. Once the ranks are known, rank 0 reports for all that some are missing; rank 1
 * does if rank 0 is lost. */
static void *watch(void *unused)
{
    enum { PARTS = 20 };
    bool over;

    (void)unused;
    pthread_mutex_lock(&together.lock);
    for (int i = 0; together.what && i < PARTS; i++) {
        const struct timespec until = moment_in((link_mpi.timeout + 1) / PARTS);
        pthread_cond_timedwait(&together.changed, &together.lock, &until);
    }
    over = together.what;
    pthread_mutex_unlock(&together.lock);
    if (!over)
        return NULL;
    link_sleep(link_mpi.rank > 1 ? 5 : link_mpi.rank);
    fprintf(stderr, "flynn: not all processes of the launch have %s within %g s (FLYNN_LINK_TIMEOUT)\n", together.what,
            link_mpi.timeout);
    link_sleep(link_seconds_to_read);
    end_without_mpi();
    return NULL;
}

static void start_watching(const char *what)
{
    together.what = what;
    together.watched = link_mpi.timeout > 0 && pthread_create(&together.thread, NULL, watch, NULL) == 0;
}

static void stop_watching(void)
{
    pthread_mutex_lock(&together.lock);
    together.what = NULL;
    pthread_cond_signal(&together.changed);
    pthread_mutex_unlock(&together.lock);
    if (together.watched)
        pthread_join(together.thread, NULL);
}

/* ----------------------------------------------------------------------------------------------- beating ---- */

/* Ends the job. Rank 0 prints the line, or rank 1 where rank 0 is lost. */
static void lost(const peer *p)
{
    if (link_mpi.rank <= 1)
        fprintf(stderr, "flynn: rank %d (%s) was not heard of for %g s (FLYNN_LINK_TIMEOUT): the job ends\n", p->rank,
                link_mpi.hosts[p->rank], link_mpi.timeout);
    if (link_mpi.rank > 1)
        link_sleep(1);
    link_end(LINK_BROKEN);
}

static void listen_to(peer *p)
{
    MPI_Irecv(NULL, 0, MPI_BYTE, p->rank, LINK_TAG_BEAT, beats.comm, &p->in);
}

static bool is_done(MPI_Request *request)
{
    int done = 0;

    return MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
}

static void *beat(void *unused)
{
    const double period = link_mpi.timeout < 10 ? link_mpi.timeout / 10 : 1;
    double sent = 0, before = link_clock();

    (void)unused;
    while (!beats.done) {
        const double now = link_clock();
        const bool slept = now - before > link_mpi.timeout / 2; /* this process was stopped itself */
        before = now;
        for (int i = 0; i < beats.peers; i++) {
            peer *p = &beats.peer[i];
            if (is_done(&p->in)) {
                p->heard = now;
                listen_to(p);
            }
            if (slept)
                p->heard = now;
            if (now - p->heard > link_mpi.timeout)
                lost(p);
            if (now - sent >= period && is_done(&p->out))
                MPI_Isend(NULL, 0, MPI_BYTE, p->rank, LINK_TAG_BEAT, beats.comm, &p->out);
        }
        if (now - sent >= period)
            sent = now;
        link_sleep(period / 10);
    }
    return NULL;
}

static fl_status start_beating(void)
{
    beats.peers = link_mpi.rank == 0 ? link_mpi.size - 1 : 1;
    beats.peer = calloc((size_t)beats.peers, sizeof *beats.peer);
    if (!beats.peer)
        return link_mpi.host->error(FL_E_MEMORY, "out of host memory");
    for (int i = 0; i < beats.peers; i++) {
        beats.peer[i] = (peer){link_mpi.rank == 0 ? i + 1 : 0, MPI_REQUEST_NULL, MPI_REQUEST_NULL, link_clock()};
        listen_to(&beats.peer[i]);
    }
    beats.done = false;
    if (pthread_create(&beats.thread, NULL, beat, NULL) != 0)
        return link_mpi.host->error(FL_E_MEMORY, "a thread cannot be started");
    beats.beating = true;
    return FL_OK;
}

/* Waits for all ranks, and goes on receiving beats until all have arrived. */
static void stop_beating(void)
{
    MPI_Request all;
    int there = 1;

    if (MPI_Ibarrier(link_mpi.work, &all) == MPI_SUCCESS)
        (void)link_wait("MPI_Ibarrier", &all, 1);
    beats.done = true;
    pthread_join(beats.thread, NULL);
    for (int i = 0; i < beats.peers; i++)
        MPI_Wait(&beats.peer[i].out, MPI_STATUS_IGNORE);
    MPI_Barrier(beats.comm);
    for (int i = 0; i < beats.peers; i++) {
        MPI_Cancel(&beats.peer[i].in);
        MPI_Wait(&beats.peer[i].in, MPI_STATUS_IGNORE);
    }
    while (MPI_Iprobe(MPI_ANY_SOURCE, LINK_TAG_BEAT, beats.comm, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && there)
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, LINK_TAG_BEAT, beats.comm, MPI_STATUS_IGNORE);
    free(beats.peer);
}

/* ---------------------------------------------------------------------------------------------- opening ---- */

/* "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n...": the first words. */
static void describe_library(char *text, size_t size)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    size_t used = 0;
    int length = 0;

    MPI_Get_library_version(all, &length);
    for (const char *c = all; *c && !strchr(",\n", *c) && used + 1 < size; c++)
        if (*c != ':')
            text[used++] = (char)(*c == '\t' ? ' ' : *c);
    text[used] = '\0';
}

/* Some MPIs have these functions: they return whether this build reads and writes the memory of NVIDIA's and of AMD's
 * GPUs. */
int MPIX_Query_cuda_support(void) __attribute__((weak));
int MPIX_Query_rocm_support(void) __attribute__((weak));
int MPIX_Query_hip_support(void) __attribute__((weak));

static uint32_t device_memory(void)
{
    enum { NVIDIA = 1, AMD = 2 };
    const char *cray = getenv("MPICH_GPU_SUPPORT_ENABLED");
    uint32_t vendors = cray && strcmp(cray, "1") == 0 ? NVIDIA | AMD : 0;

    if (MPIX_Query_cuda_support && MPIX_Query_cuda_support() == 1)
        vendors |= NVIDIA;
    if ((MPIX_Query_rocm_support && MPIX_Query_rocm_support() == 1) ||
        (MPIX_Query_hip_support && MPIX_Query_hip_support() == 1))
        vendors |= AMD;
    return vendors;
}

static void describe(fl_link_info *info)
{
    MPI_Comm local;

    MPI_Comm_size(link_mpi.work, &link_mpi.size);
    info->rank = link_mpi.rank;
    info->size = link_mpi.size;
    MPI_Comm_split_type(link_mpi.work, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &info->local_rank);
    MPI_Comm_size(local, &info->local_size);
    MPI_Comm_free(&local);
    link_mpi.crowded = info->local_size > sysconf(_SC_NPROCESSORS_ONLN);
    gethostname(info->host, sizeof info->host - 1);
    describe_library(info->library, sizeof info->library);
    info->device_memory = device_memory();
}

static fl_status gather(const void *mine, void *all, int64_t bytes);

static fl_status join(fl_link_info *info)
{
    int provided = MPI_THREAD_SINGLE;
    const int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    fl_status status;

    if (error != MPI_SUCCESS)
        return link_mpi.host->error(FL_E_DEVICE, "MPI_Init_thread: error %d", error);
    link_mpi.threads = provided == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &link_mpi.rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &link_mpi.work);
    MPI_Comm_dup(MPI_COMM_WORLD, &beats.comm);
    MPI_Comm_set_errhandler(link_mpi.work, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(beats.comm, MPI_ERRORS_RETURN);
    describe(info);
    link_mpi.hosts = calloc((size_t)link_mpi.size, sizeof *link_mpi.hosts);
    if (!link_mpi.hosts)
        return link_mpi.host->error(FL_E_MEMORY, "out of host memory");
    status = gather(info->host, link_mpi.hosts, LINK_HOST_NAME);
    if (status != FL_OK || link_mpi.size == 1 || link_mpi.timeout == 0)
        return status;
    if (link_mpi.threads)
        return start_beating();
    snprintf(info->remark, sizeof info->remark,
             "%s has no MPI_THREAD_MULTIPLE: a rank that hangs is not found (FLYNN_LINK_TIMEOUT)", info->library);
    return FL_OK;
}

static fl_status open_link(const fl_host *host, double timeout_s, fl_link_info *info)
{
    fl_status status;

    link_mpi.host = host;
    link_mpi.timeout = timeout_s;
    start_watching("joined");
    status = join(info);
    stop_watching();
    return status;
}

static void close_link(void)
{
    start_watching("left");
    link_counter_close();
    if (beats.beating)
        stop_beating();
    MPI_Comm_free(&beats.comm);
    MPI_Comm_free(&link_mpi.work);
    free(link_mpi.hosts);
    MPI_Finalize();
    stop_watching();
}

/* ------------------------------------------------------------------------------------------------ calls ---- */

static fl_status reduce(void *x, int32_t count, fl_dtype dtype, fl_reduction reduction)
{
    MPI_Datatype type = dtype == FL_I64 ? MPI_INT64_T : MPI_DOUBLE;
    MPI_Op operation = reduction == FL_SUM ? MPI_SUM : reduction == FL_MINIMUM ? MPI_MIN : MPI_MAX;
    MPI_Request request;
    const int error = MPI_Iallreduce(MPI_IN_PLACE, x, count, type, operation, link_mpi.work, &request);

    return error == MPI_SUCCESS ? link_wait("MPI_Iallreduce", &request, 1) : link_failed("MPI_Iallreduce", error);
}

static fl_status gather(const void *mine, void *all, int64_t bytes)
{
    MPI_Request request;
    int error;

    if (bytes > INT_MAX)
        return link_mpi.host->error(FL_E_DEVICE, "%lld bytes of each rank are gathered; expected at most %d",
                                    (long long)bytes, INT_MAX);
    error = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, link_mpi.work, &request);
    return error == MPI_SUCCESS ? link_wait("MPI_Iallgather", &request, 1) : link_failed("MPI_Iallgather", error);
}

static int64_t messages_of(const fl_piece *pieces)
{
    int64_t count = 0;

    for (int r = 0; r < link_mpi.size; r++)
        count += r == link_mpi.rank ? 0 : (pieces[r].bytes + most_bytes - 1) / most_bytes;
    return count;
}

/* Starts the messages of a piece and returns MPI's error. */
static int begin(fl_piece piece, int rank, bool sends, MPI_Request *requests, int *used)
{
    int error = MPI_SUCCESS;

    for (int64_t at = 0; error == MPI_SUCCESS && at < piece.bytes; at += most_bytes) {
        const int bytes = (int)(piece.bytes - at < most_bytes ? piece.bytes - at : most_bytes);
        char *data = (char *)piece.data + at;
        error = sends ? MPI_Isend(data, bytes, MPI_BYTE, rank, LINK_TAG_PIECE, link_mpi.work, &requests[*used])
                      : MPI_Irecv(data, bytes, MPI_BYTE, rank, LINK_TAG_PIECE, link_mpi.work, &requests[*used]);
        *used += error == MPI_SUCCESS;
    }
    return error;
}

static fl_status exchange(const fl_piece *to, const fl_piece *from)
{
    MPI_Request *requests = malloc((size_t)(messages_of(to) + messages_of(from) + 1) * sizeof *requests);
    int used = 0, error = MPI_SUCCESS;
    fl_status status;

    if (!requests)
        return link_mpi.host->error(FL_E_MEMORY, "out of host memory");
    /* Each rank starts with its neighbour, so that not all send to the same one at a time. */
    for (int i = 1; i < link_mpi.size && error == MPI_SUCCESS; i++) {
        const int r = (link_mpi.rank + link_mpi.size - i) % link_mpi.size;
        error = begin(from[r], r, false, requests, &used);
    }
    for (int i = 1; i < link_mpi.size && error == MPI_SUCCESS; i++) {
        const int r = (link_mpi.rank + i) % link_mpi.size;
        error = begin(to[r], r, true, requests, &used);
    }
    if (to[link_mpi.rank].bytes > 0)
        memmove(from[link_mpi.rank].data, to[link_mpi.rank].data, (size_t)to[link_mpi.rank].bytes);
    status = error == MPI_SUCCESS ? link_wait("MPI_Isend, MPI_Irecv", requests, used) : link_failed("MPI_Isend", error);
    free(requests);
    return status;
}

FL_API const fl_link flynn_link = {
    .abi = FL_LINK_ABI,
    .size = sizeof(fl_link),
    .name = TEXT(LINK_NAME),
    .built_with = LINK_BUILT_WITH,
    .variables = (const char *const[]){LINK_VARIABLES, NULL},
    .open = open_link,
    .reduce = reduce,
    .gather = gather,
    .exchange = exchange,
    .end = link_end,
    .close = close_link,
    .count = link_counter_start,
    .take = link_counter_take,
};
