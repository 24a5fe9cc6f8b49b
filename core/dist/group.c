/* SPDX-License-Identifier: MIT */
#include "group.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* A rank's failure and the call that it makes, as sent to the others. */
typedef struct report {
    int32_t status;
    char call[sizeof((fl_group *)0)->call];
    char message[sizeof((fl_group *)0)->message - 100]; /* there is room for the rank and its host before it */
} report;

double dist_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

dist_part dist_begin(const char *name)
{
    dist_part part;

    fl_trace_begin(name, &part.mark);
    part.start = dist_now();
    return part;
}

void dist_end(dist_part part, double *sum)
{
    *sum += dist_now() - part.start;
    fl_trace_end(part.mark);
}

fl_status dist_fail(fl_status status, const char *format, ...)
{
    char text[sizeof((fl_group *)0)->message];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fl_set_error(status, text);
}

fl_status dist_finish(fl_device *device, const fl_run *run)
{
    return run && run->stream ? fl_stream_wait(run->stream) : fl_device_wait(device);
}

uint64_t dist_hash(const void *data, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325U ^ bytes, word;

    for (size_t at = 0; at < bytes; at += sizeof word) {
        word = 0;
        memcpy(&word, (const char *)data + at, bytes - at < sizeof word ? bytes - at : sizeof word);
        hash = (hash ^ word) * 0x100000001b3U;
        hash ^= hash >> 32;
    }
    return hash;
}

void dist_call(fl_group *group, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(group->call, sizeof group->call, format, arguments);
    va_end(arguments);
    group->call_hash = (int64_t)(dist_hash(group->call, strlen(group->call)) >> 2); /* its negative exists, too */
}

void *dist_scratch(fl_group *group, int i, size_t bytes)
{
    if (bytes > group->bytes[i] || !group->scratch[i]) {
        free(group->scratch[i]);
        group->scratch[i] = malloc(bytes ? bytes : 1);
        group->bytes[i] = group->scratch[i] ? bytes : 0;
    }
    if (!group->scratch[i])
        fl_set_error(FL_E_MEMORY, "out of host memory");
    return group->scratch[i];
}

const fl_group_info *fl_group_describe(const fl_group *group)
{
    return &group->info;
}

void fl_group_share(const fl_group *group, int64_t count, int32_t rank, int64_t *first, int64_t *share)
{
    const int64_t size = group->info.size, each = count / size, more = count % size;

    *first = rank * each + (rank < more ? rank : more);
    *share = each + (rank < more);
}

dist_range dist_share(const fl_group *group, int64_t count, int rank)
{
    int64_t first, share;

    fl_group_share(group, count, rank, &first, &share);
    return (dist_range){first, first + share};
}

dist_range dist_both(dist_range a, dist_range b)
{
    return (dist_range){a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end};
}

/* ------------------------------------------------------------------------------------------------ agree ---- */

/* Fails the group because its ranks make different calls; the message names the lowest rank whose call is not that of
 * rank 0. */
static void take_calls(fl_group *g, const report *all, const char (*hosts)[sizeof g->launch.host])
{
    int lowest = 1;

    while (lowest < g->info.size - 1 && strcmp(all[lowest].call, all[0].call) == 0)
        lowest++;
    g->failed = FL_E_ARGUMENT;
    snprintf(g->message, sizeof g->message, "rank %d (%s) calls %s, and rank 0 %s", lowest, hosts[lowest],
             all[lowest].call, all[0].call);
}

/* Takes the reports of all; the group's failure is that of the lowest rank that failed. Where all failed in the same
 * way, such as by a wrong option, none is named. */
static void take_reports(fl_group *g, const report *all, const char (*hosts)[sizeof g->launch.host])
{
    int lowest = -1;
    bool same = true;

    for (int r = g->info.size; r-- > 0;) {
        lowest = all[r].status != FL_OK ? r : lowest;
        same = same && all[r].status != FL_OK && strcmp(all[r].message, all[0].message) == 0;
    }
    if (lowest < 0) {
        take_calls(g, all, hosts);
        return;
    }
    g->failed = (fl_status)all[lowest].status;
    if (same)
        snprintf(g->message, sizeof g->message, "%s", all[lowest].message);
    else
        snprintf(g->message, sizeof g->message, "rank %d (%s): %s", lowest, hosts[lowest], all[lowest].message);
}

static fl_status gather_reports(fl_group *g, fl_status status, const char *message)
{
    report mine = {.status = (int32_t)status}, *all = calloc((size_t)g->info.size, sizeof *all);
    char(*hosts)[sizeof g->launch.host] = calloc((size_t)g->info.size, sizeof *hosts);
    fl_status linked = all && hosts ? FL_OK : dist_fail(FL_E_MEMORY, "out of host memory");

    snprintf(mine.call, sizeof mine.call, "%s", g->call);
    snprintf(mine.message, sizeof mine.message, "%s", message ? message : "");
    if (linked == FL_OK)
        linked = g->link->gather(&mine, all, sizeof mine);
    if (linked == FL_OK)
        linked = g->link->gather(g->launch.host, hosts, sizeof g->launch.host);
    if (linked == FL_OK)
        take_reports(g, all, (const char(*)[sizeof g->launch.host])hosts);
    free(all);
    free(hosts);
    return linked;
}

fl_status fl_group_agree(fl_group *group, fl_status status, const char *message)
{
    int64_t most[] = {status, group->call_hash, -group->call_hash};
    fl_status linked = FL_OK;

    group->failed = group->link ? FL_OK : status;
    if (!group->link)
        return status == FL_OK ? FL_OK : fl_set_error(status, message ? message : "");
    linked = group->link->reduce(most, 3, FL_I64, FL_MAXIMUM);
    if (linked == FL_OK && most[0] == FL_OK && most[1] == -most[2])
        return FL_OK;
    if (linked == FL_OK)
        linked = gather_reports(group, status, message);
    if (linked != FL_OK) { /* the link itself fails: nothing can be agreed on any more */
        fprintf(stderr, "flynn: rank %d (%s): %s\n", group->info.rank, group->info.host, fl_last_error());
        group->link->end(4);
    }
    return fl_set_error(group->failed, group->message);
}

fl_status fl_group_failed(const fl_group *group)
{
    return group->failed;
}

/* Asks MPICH's launcher by PMI version 1 to end all processes; otherwise it would wait for this one for ever. Open
 * MPI's launcher and srun -K1 see the exit code. */
static void refuse_to_join(int exit_code)
{
    const char *launcher = secure_getenv("SLURM_STEP_ID") ? NULL : secure_getenv("PMI_FD");
    char text[40];

    snprintf(text, sizeof text, "cmd=abort exitcode=%d\n", exit_code);
    if (!launcher)
        return;
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* it reads the line on stderr first */
    (void)send((int)strtol(launcher, NULL, 10), text, strlen(text), MSG_NOSIGNAL);
}

void fl_group_end(const fl_group *group, int exit_code)
{
    if (!group)
        refuse_to_join(exit_code);
    else if (group->link)
        group->link->end(exit_code);
}

/* ------------------------------------------------------------------------------------------------ calls ---- */

fl_status fl_group_reduce(fl_group *group, void *x, int32_t count, fl_dtype dtype, fl_reduction reduction)
{
    fl_status status;

    dist_call(group, "fl_group_reduce of %d %s by %d", (int)count, fl_dtype_name(dtype), (int)reduction);
    status =
        reduction == FL_SUM || reduction == FL_MINIMUM || reduction == FL_MAXIMUM
            ? FL_OK
            : dist_fail(FL_E_ARGUMENT, "fl_group_reduce: reduction is %d; expected FL_SUM, FL_MINIMUM or FL_MAXIMUM",
                        (int)reduction);
    status = fl_group_agree(group, status, fl_last_error());
    if (status != FL_OK || !group->link)
        return status;
    return group->link->reduce(x, count, dtype, reduction);
}

fl_status fl_group_gather(fl_group *group, const void *mine, void *all, int64_t bytes)
{
    fl_status status;

    dist_call(group, "fl_group_gather of %lld bytes", (long long)bytes);
    status = fl_group_agree(group, FL_OK, NULL);
    if (status != FL_OK)
        return status;
    if (group->link)
        return group->link->gather(mine, all, bytes);
    memcpy(all, mine, (size_t)bytes);
    return FL_OK;
}

fl_status fl_group_exchange(fl_group *group, const fl_piece *to, const fl_piece *from)
{
    fl_status status;

    dist_call(group, "fl_group_exchange");
    status = fl_group_agree(group, FL_OK, NULL);
    if (status != FL_OK)
        return status;
    if (group->link)
        return group->link->exchange(to, from);
    if (to[0].bytes > 0)
        memmove(from[0].data, to[0].data, (size_t)to[0].bytes);
    return FL_OK;
}

fl_status fl_group_broadcast(fl_group *group, void *data, int64_t bytes)
{
    const size_t size = (size_t)group->info.size;
    fl_piece *to = calloc(size, sizeof *to), *from = calloc(size, sizeof *from);
    fl_status status;

    dist_call(group, "fl_group_broadcast of %lld bytes", (long long)bytes);
    status = fl_group_agree(group, to && from ? FL_OK : FL_E_MEMORY, "out of host memory");
    if (status == FL_OK && to && from && group->link) {
        for (size_t r = 1; r < size && group->info.rank == 0; r++)
            to[r] = (fl_piece){data, bytes};
        if (group->info.rank > 0)
            from[0] = (fl_piece){data, bytes};
        status = group->link->exchange(to, from);
    }
    free(to);
    free(from);
    return status;
}
