/* SPDX-License-Identifier: MIT
 *
 * link.c - a link by MPI: all of Flynn that knows MPI. Compiled against each MPI, whose binary interfaces differ.
 *
 * Every wait polls, and gives its processor away more and more: other ranks may need it. Besides, a thread sends a
 * message each second to rank 0, which answers: a process that hangs or was killed is found by its silence. That needs
 * MPI_THREAD_MULTIPLE.
 */
#include <flynn/link.h>

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

enum { TAG_PIECE = 1, TAG_BEAT = 2, TAG_TAKE = 3, TAG_TAKEN = 4, HOST_NAME = sizeof((fl_link_info *)0)->host };
enum { BROKEN = 4 };                       /* the exit code of a machine's failure */
static const int64_t most_bytes = 1 << 30; /* of one message: counts are int */
static const double to_be_read = 0.1;      /* a line on stderr, before the launcher learns that all end */

/* A rank whose beats are heard. */
typedef struct peer {
    int rank;
    MPI_Request in, out;
    double heard; /* seconds of clock_now */
} peer;

static struct {
    const fl_host *host;
    MPI_Comm work, beats;
    int rank, size;
    bool threads, crowded;    /* MPI_THREAD_MULTIPLE; this host has more ranks than processors */
    char (*hosts)[HOST_NAME]; /* of all ranks */
    double timeout;
    pthread_t thread;
    bool beating;
    atomic_bool done;
    int peers;
    peer *peer;
} mpi;

/* ----------------------------------------------------------------------------------------------- waiting ---- */

static double clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_for(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&t, NULL);
}

static fl_status failed(const char *call, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    MPI_Error_string(error, text, &length);
    return mpi.host->error(FL_E_DEVICE, "%s: %.200s", call, text);
}

/* Until all are complete: at first without a pause, unless ranks share processors, then with longer and longer ones.
 * Several polls lie between two pauses: MPICH's move a collective call on by a small step each. */
static fl_status wait_for(const char *call, MPI_Request *requests, int count)
{
    const int burst = 16, spins = mpi.crowded ? burst : 1000, yields = mpi.crowded ? 2 * burst : 20000;
    double pause = 2e-5;
    int turns = 0, done;

    for (int i = 0; i < count; i++)
        for (;;) {
            const int error = MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
            if (error != MPI_SUCCESS)
                return failed(call, error);
            if (done)
                break;
            if (++turns < spins || (turns >= yields && turns % burst != 0))
                continue;
            if (turns < yields) {
                sched_yield();
            } else {
                sleep_for(pause);
                pause = pause * 1.5 < 1e-3 ? pause * 1.5 : 1e-3;
            }
        }
    return FL_OK;
}

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
        dprintf((int)strtol(launcher, NULL, 10), "cmd=abort exitcode=%d\n", BROKEN);
    _exit(BROKEN);
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
        const struct timespec until = moment_in((mpi.timeout + 1) / PARTS);
        pthread_cond_timedwait(&together.changed, &together.lock, &until);
    }
    over = together.what;
    pthread_mutex_unlock(&together.lock);
    if (!over)
        return NULL;
    sleep_for(mpi.rank > 1 ? 5 : mpi.rank);
    fprintf(stderr, "flynn: not all processes of the launch have %s within %g s (FLYNN_LINK_TIMEOUT)\n", together.what,
            mpi.timeout);
    sleep_for(to_be_read);
    end_without_mpi();
    return NULL;
}

static void start_watching(const char *what)
{
    together.what = what;
    together.watched = mpi.timeout > 0 && pthread_create(&together.thread, NULL, watch, NULL) == 0;
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

/* Waits first: a launcher that learns of the end may drop what a rank has just printed. */
static void end(int exit_code)
{
    sleep_for(to_be_read);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    _exit(exit_code);
}

/* Ends the job. Rank 0 prints the line, or rank 1 where rank 0 is lost. */
static void lost(const peer *p)
{
    if (mpi.rank <= 1)
        fprintf(stderr, "flynn: rank %d (%s) was not heard of for %g s (FLYNN_LINK_TIMEOUT): the job ends\n", p->rank,
                mpi.hosts[p->rank], mpi.timeout);
    if (mpi.rank > 1)
        sleep_for(1);
    end(BROKEN);
}

static void listen_to(peer *p)
{
    MPI_Irecv(NULL, 0, MPI_BYTE, p->rank, TAG_BEAT, mpi.beats, &p->in);
}

static bool is_done(MPI_Request *request)
{
    int done = 0;

    return MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done;
}

static void *beat(void *unused)
{
    const double period = mpi.timeout < 10 ? mpi.timeout / 10 : 1;
    double sent = 0, before = clock_now();

    (void)unused;
    while (!mpi.done) {
        const double now = clock_now();
        const bool slept = now - before > mpi.timeout / 2; /* this process was stopped itself */
        before = now;
        for (int i = 0; i < mpi.peers; i++) {
            peer *p = &mpi.peer[i];
            if (is_done(&p->in)) {
                p->heard = now;
                listen_to(p);
            }
            if (slept)
                p->heard = now;
            if (now - p->heard > mpi.timeout)
                lost(p);
            if (now - sent >= period && is_done(&p->out))
                MPI_Isend(NULL, 0, MPI_BYTE, p->rank, TAG_BEAT, mpi.beats, &p->out);
        }
        if (now - sent >= period)
            sent = now;
        sleep_for(period / 10);
    }
    return NULL;
}

static fl_status start_beating(void)
{
    mpi.peers = mpi.rank == 0 ? mpi.size - 1 : 1;
    mpi.peer = calloc((size_t)mpi.peers, sizeof *mpi.peer);
    if (!mpi.peer)
        return mpi.host->error(FL_E_MEMORY, "out of host memory");
    for (int i = 0; i < mpi.peers; i++) {
        mpi.peer[i] = (peer){mpi.rank == 0 ? i + 1 : 0, MPI_REQUEST_NULL, MPI_REQUEST_NULL, clock_now()};
        listen_to(&mpi.peer[i]);
    }
    mpi.done = false;
    if (pthread_create(&mpi.thread, NULL, beat, NULL) != 0)
        return mpi.host->error(FL_E_MEMORY, "a thread cannot be started");
    mpi.beating = true;
    return FL_OK;
}

/* Waits for all ranks, and goes on receiving beats until all have arrived. */
static void stop_beating(void)
{
    MPI_Request all;
    int there = 1;

    if (MPI_Ibarrier(mpi.work, &all) == MPI_SUCCESS)
        (void)wait_for("MPI_Ibarrier", &all, 1);
    mpi.done = true;
    pthread_join(mpi.thread, NULL);
    for (int i = 0; i < mpi.peers; i++)
        MPI_Wait(&mpi.peer[i].out, MPI_STATUS_IGNORE);
    MPI_Barrier(mpi.beats);
    for (int i = 0; i < mpi.peers; i++) {
        MPI_Cancel(&mpi.peer[i].in);
        MPI_Wait(&mpi.peer[i].in, MPI_STATUS_IGNORE);
    }
    while (MPI_Iprobe(MPI_ANY_SOURCE, TAG_BEAT, mpi.beats, &there, MPI_STATUS_IGNORE) == MPI_SUCCESS && there)
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG_BEAT, mpi.beats, MPI_STATUS_IGNORE);
    free(mpi.peer);
}

#include "counter.h"

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

    MPI_Comm_size(mpi.work, &mpi.size);
    info->rank = mpi.rank;
    info->size = mpi.size;
    MPI_Comm_split_type(mpi.work, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &info->local_rank);
    MPI_Comm_size(local, &info->local_size);
    MPI_Comm_free(&local);
    mpi.crowded = info->local_size > sysconf(_SC_NPROCESSORS_ONLN);
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
        return mpi.host->error(FL_E_DEVICE, "MPI_Init_thread: error %d", error);
    mpi.threads = provided == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.work);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.beats);
    MPI_Comm_set_errhandler(mpi.work, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(mpi.beats, MPI_ERRORS_RETURN);
    describe(info);
    mpi.hosts = calloc((size_t)mpi.size, sizeof *mpi.hosts);
    if (!mpi.hosts)
        return mpi.host->error(FL_E_MEMORY, "out of host memory");
    status = gather(info->host, mpi.hosts, HOST_NAME);
    if (status != FL_OK || mpi.size == 1 || mpi.timeout == 0)
        return status;
    if (mpi.threads)
        return start_beating();
    snprintf(info->remark, sizeof info->remark,
             "%s has no MPI_THREAD_MULTIPLE: a rank that hangs is not found (FLYNN_LINK_TIMEOUT)", info->library);
    return FL_OK;
}

static fl_status open_link(const fl_host *host, double timeout_s, fl_link_info *info)
{
    fl_status status;

    mpi.host = host;
    mpi.timeout = timeout_s;
    start_watching("joined");
    status = join(info);
    stop_watching();
    return status;
}

static void close_link(void)
{
    start_watching("left");
    counter.done = true;
    if (counter.answering)
        pthread_join(counter.thread, NULL);
    if (counter.opened)
        MPI_Comm_free(&counter.asked);
    if (mpi.beating)
        stop_beating();
    MPI_Comm_free(&mpi.beats);
    MPI_Comm_free(&mpi.work);
    free(mpi.hosts);
    MPI_Finalize();
    stop_watching();
}

/* ------------------------------------------------------------------------------------------------ calls ---- */

static fl_status reduce(void *x, int32_t count, fl_dtype dtype, fl_reduction reduction)
{
    MPI_Datatype type = dtype == FL_I64 ? MPI_INT64_T : MPI_DOUBLE;
    MPI_Op operation = reduction == FL_SUM ? MPI_SUM : reduction == FL_MINIMUM ? MPI_MIN : MPI_MAX;
    MPI_Request request;
    const int error = MPI_Iallreduce(MPI_IN_PLACE, x, count, type, operation, mpi.work, &request);

    return error == MPI_SUCCESS ? wait_for("MPI_Iallreduce", &request, 1) : failed("MPI_Iallreduce", error);
}

static fl_status gather(const void *mine, void *all, int64_t bytes)
{
    MPI_Request request;
    int error;

    if (bytes > INT_MAX)
        return mpi.host->error(FL_E_DEVICE, "%lld bytes of each rank are gathered; expected at most %d",
                               (long long)bytes, INT_MAX);
    error = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, mpi.work, &request);
    return error == MPI_SUCCESS ? wait_for("MPI_Iallgather", &request, 1) : failed("MPI_Iallgather", error);
}

static int64_t messages_of(const fl_piece *pieces)
{
    int64_t count = 0;

    for (int r = 0; r < mpi.size; r++)
        count += r == mpi.rank ? 0 : (pieces[r].bytes + most_bytes - 1) / most_bytes;
    return count;
}

/* Starts the messages of a piece and returns MPI's error. */
static int begin(fl_piece piece, int rank, bool sends, MPI_Request *requests, int *used)
{
    int error = MPI_SUCCESS;

    for (int64_t at = 0; error == MPI_SUCCESS && at < piece.bytes; at += most_bytes) {
        const int bytes = (int)(piece.bytes - at < most_bytes ? piece.bytes - at : most_bytes);
        char *data = (char *)piece.data + at;
        error = sends ? MPI_Isend(data, bytes, MPI_BYTE, rank, TAG_PIECE, mpi.work, &requests[*used])
                      : MPI_Irecv(data, bytes, MPI_BYTE, rank, TAG_PIECE, mpi.work, &requests[*used]);
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
        return mpi.host->error(FL_E_MEMORY, "out of host memory");
    /* Each rank starts with its neighbour, so that not all send to the same one at a time. */
    for (int i = 1; i < mpi.size && error == MPI_SUCCESS; i++) {
        const int r = (mpi.rank + mpi.size - i) % mpi.size;
        error = begin(from[r], r, false, requests, &used);
    }
    for (int i = 1; i < mpi.size && error == MPI_SUCCESS; i++) {
        const int r = (mpi.rank + i) % mpi.size;
        error = begin(to[r], r, true, requests, &used);
    }
    if (to[mpi.rank].bytes > 0)
        memmove(from[mpi.rank].data, to[mpi.rank].data, (size_t)to[mpi.rank].bytes);
    status = error == MPI_SUCCESS ? wait_for("MPI_Isend, MPI_Irecv", requests, used) : failed("MPI_Isend", error);
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
    .end = end,
    .close = close_link,
    .count = count_from_zero,
    .take = take,
};
