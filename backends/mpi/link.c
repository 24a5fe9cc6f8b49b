/* SPDX-License-Identifier: MIT
 *
 * link.c - a link by MPI: all of Flynn that knows MPI. Compiled against each MPI, whose binary interfaces differ.
 *
 * Every wait polls, and gives its processor away more and more: other ranks may need it. Beside the calls a thread
 * sends a message each second to rank 0, which answers: a process that hangs or was killed is found by its silence.
 * That needs MPI_THREAD_MULTIPLE.
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

/* ----------------------------------------------------------------------------------------------- beating ---- */

static void end(int exit_code)
{
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    _exit(exit_code);
}

/* Ends the job. Rank 0 prints the line, or rank 1 where rank 0 is lost. */
static void lost(const peer *p)
{
    if (mpi.rank <= 1)
        fprintf(stderr, "flynn: rank %d (%s) was not heard of for %g s (FLYNN_LINK_TIMEOUT): the job ends\n", p->rank,
                mpi.hosts[p->rank], mpi.timeout);
    else
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

/* With all ranks: beats that are still under way are received. */
static void stop_beating(void)
{
    int there = 1;

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

/* --------------------------------------------------------------------------------------------- counting ---- */

/* A thread of rank 0 answers: an MPI_Fetch_and_op of another rank waits until rank 0 calls MPI, which it does not while
 * it computes (seen with MPICH 4.0.2 for all windows, with Open MPI 4.1.4 for those of MPI_Win_create; that one makes
 * no such window at all over TCP where MPI_THREAD_MULTIPLE is asked for). */
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
        error = MPI_Iprobe(MPI_ANY_SOURCE, TAG_TAKE, counter.asked, &there, &from);
        if (error != MPI_SUCCESS || !there) {
            sleep_for(pause);
            continue;
        }
        error = MPI_Recv(&value, 1, MPI_INT64_T, from.MPI_SOURCE, TAG_TAKE, counter.asked, MPI_STATUS_IGNORE);
        value = error == MPI_SUCCESS ? atomic_fetch_add(&counter.value, value) : 0;
        if (error == MPI_SUCCESS)
            error = MPI_Send(&value, 1, MPI_INT64_T, from.MPI_SOURCE, TAG_TAKEN, counter.asked);
    }
    if (error == MPI_SUCCESS)
        return NULL;
    fprintf(stderr, "flynn: rank 0 (%s): the counter of the ranks: MPI's error %d\n", mpi.hosts[0], error);
    end(BROKEN);
    return NULL;
}

static fl_status count_from_zero(void)
{
    int error = MPI_SUCCESS;

    if (!mpi.threads)
        return mpi.host->error(FL_E_UNSUPPORTED, "a counter of the ranks needs MPI_THREAD_MULTIPLE");
    if (!counter.opened)
        error = MPI_Comm_dup(mpi.work, &counter.asked);
    if (error != MPI_SUCCESS)
        return failed("MPI_Comm_dup", error);
    counter.opened = true;
    atomic_store(&counter.value, 0);
    if (mpi.rank > 0 || counter.answering)
        return FL_OK;
    counter.answering = pthread_create(&counter.thread, NULL, answer, NULL) == 0;
    return counter.answering ? FL_OK : mpi.host->error(FL_E_MEMORY, "a thread cannot be started");
}

static fl_status take(int64_t by, int64_t *was)
{
    MPI_Request requests[2];
    int error;

    if (mpi.rank == 0) {
        *was = atomic_fetch_add(&counter.value, by);
        return FL_OK;
    }
    error = MPI_Irecv(was, 1, MPI_INT64_T, 0, TAG_TAKEN, counter.asked, &requests[0]);
    if (error == MPI_SUCCESS)
        error = MPI_Isend(&by, 1, MPI_INT64_T, 0, TAG_TAKE, counter.asked, &requests[1]);
    return error == MPI_SUCCESS ? wait_for("MPI_Isend, MPI_Irecv", requests, 2) : failed("MPI_Isend", error);
}

/* ---------------------------------------------------------------------------------------------- opening ---- */

/* Whether this process has joined the others. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
} joined = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

/* Ends the process if not all have joined within the timeout: nothing beats yet, and MPI_Init waits for ever. */
static void *watch_joining(void *unused)
{
    struct timespec until;
    int error = 0;

    (void)unused;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)mpi.timeout + 1;
    pthread_mutex_lock(&joined.lock);
    while (!joined.done && error == 0)
        error = pthread_cond_timedwait(&joined.changed, &joined.lock, &until);
    pthread_mutex_unlock(&joined.lock);
    if (joined.done)
        return NULL;
    fprintf(stderr, "flynn: not all processes of the launch have joined within %g s (FLYNN_LINK_TIMEOUT)\n",
            mpi.timeout);
    _exit(BROKEN);
}

static int init(int *provided)
{
    pthread_t watcher;
    const bool watched = mpi.timeout > 0 && pthread_create(&watcher, NULL, watch_joining, NULL) == 0;
    const int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, provided);

    if (!watched)
        return error;
    pthread_mutex_lock(&joined.lock);
    joined.done = true;
    pthread_cond_signal(&joined.changed);
    pthread_mutex_unlock(&joined.lock);
    pthread_join(watcher, NULL);
    return error;
}

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

/* Of the MPIs that have them: whether this build reads and writes the memory of NVIDIA's and of AMD's GPUs. */
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

    MPI_Comm_rank(mpi.work, &mpi.rank);
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

static fl_status open_link(const fl_host *host, double timeout_s, fl_link_info *info)
{
    int provided = MPI_THREAD_SINGLE, error;
    fl_status status;

    mpi.host = host;
    mpi.timeout = timeout_s;
    error = init(&provided);
    if (error != MPI_SUCCESS)
        return host->error(FL_E_DEVICE, "MPI_Init_thread: error %d", error);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.work);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi.beats);
    MPI_Comm_set_errhandler(mpi.work, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(mpi.beats, MPI_ERRORS_RETURN);
    describe(info);
    mpi.threads = provided == MPI_THREAD_MULTIPLE;
    mpi.hosts = calloc((size_t)mpi.size, sizeof *mpi.hosts);
    if (!mpi.hosts)
        return host->error(FL_E_MEMORY, "out of host memory");
    status = gather(info->host, mpi.hosts, HOST_NAME);
    if (status != FL_OK || mpi.size == 1 || timeout_s == 0)
        return status;
    if (mpi.threads)
        return start_beating();
    snprintf(info->remark, sizeof info->remark,
             "%s has no MPI_THREAD_MULTIPLE: a rank that hangs is not found (FLYNN_LINK_TIMEOUT)", info->library);
    return FL_OK;
}

static void close_link(void)
{
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
}

/* ------------------------------------------------------------------------------------------------ calls ---- */

static fl_status reduce(void *x, int32_t count, fl_dtype dtype, fl_reduction reduction)
{
    MPI_Datatype type = dtype == FL_I64 ? MPI_INT64_T : MPI_DOUBLE;
    MPI_Op operation = reduction == FL_SUM ? MPI_SUM : reduction == FL_LEAST ? MPI_MIN : MPI_MAX;
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

/* Begins the messages of a piece; MPI's error. */
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
    /* Each rank begins with its neighbour, so that not all send to the same one at a time. */
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
