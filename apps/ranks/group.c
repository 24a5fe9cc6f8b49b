/* SPDX-License-Identifier: MIT */
#include "group.h"

#include "files/output.h"
#include "options/options.h"
#include "support/memory.h"
#include "support/statistics.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fl_group *group;
static fl_group_timing cost, cost_of_call; /* of former calls; of the latest one */
static pthread_t opened_by;

fl_group *group_of_all(void)
{
    return group;
}

const fl_group_info *group_info(void)
{
    static const fl_group_info alone = {
        .size = 1, .local_size = 1, .host = "", .link = "", .library = "", .remark = "", .path = ""};

    return group ? fl_group_describe(group) : &alone; /* none is opened by the tests of parts of the command */
}

bool group_is_distributed(void)
{
    return group && group_info()->size > 1;
}

bool group_prints(void)
{
    return !group_is_distributed() || group_info()->rank == 0;
}

int group_threads(void)
{
    return group_is_distributed() ? 1 : INT_MAX;
}

/* ---------------------------------------------------------------------------------------------- failures ---- */

static fl_status status_of(int exit_code)
{
    switch (exit_code) {
    case EXIT_BAD_INPUT: return FL_E_ARGUMENT;
    case EXIT_CANNOT_RUN: return FL_E_UNAVAILABLE;
    default: return FL_E_DEVICE;
    }
}

/* Reports this process's failure to the others, unless they failed first: then all know already. Returns whether this
 * process prints the line. */
static bool share_failure(int exit_code, char *text, size_t size)
{
    if (!group_is_distributed())
        return true;
    if (fl_group_failed(group) == FL_OK) {
        if (!pthread_equal(pthread_self(), opened_by)) { /* another thread may be in a call of the group */
            fprintf(stderr, "flynn: rank %d (%s): %s\n", group_info()->rank, group_info()->host, text);
            fl_group_end(group, exit_code);
        }
        (void)fl_group_agree(group, status_of(exit_code), text);
        snprintf(text, size, "%s", fl_last_error());
    }
    return group_prints();
}

/* Leaves the group at the end of the process. Another process may fail now, such as by a full disk. */
static int leave_group(int exit_code)
{
    const bool agreed = group && fl_group_failed(group) != FL_OK, prints = group_prints();
    fl_group *left = group;
    const fl_status status = fl_group_close(left);

    if (!left) /* it did not join the others */
        fl_group_end(NULL, exit_code);
    group = NULL;
    if (status == FL_OK || agreed)
        return exit_code;
    if (prints)
        print_error("%s", fl_last_error());
    return exit_code_of(status);
}

/* Called when --max-time is over. Rank 0 prints one line for all ranks and ends them, unless it has a result. The
 * others wait for that, on busy processors longer than a second, in case rank 0 no longer runs. */
static void give_up(double limit)
{
    enum { SECONDS_FOR_RANK_0 = 5 };

    if (!group_prints())
        sleep(SECONDS_FOR_RANK_0);
    print_error("--max-time: not even the first pass ended within %g s; give it more time, or a smaller input", limit);
    output_remove_unfinished();
    fl_group_end(group, EXIT_BROKEN);
    output_end(EXIT_BROKEN);
}

void group_same(const void *facts, size_t bytes, const char *differs)
{
    if (group_is_distributed())
        must(fl_group_same(group, facts, (int64_t)bytes, differs));
}

void group_same_file(const char *path, const void *data, size_t bytes)
{
    char *differs = memory_print("%s: is not the file that rank 0 reads", path);

    group_same(data, bytes, differs);
    free(differs);
}

static void same_value(const char *name, const char *value)
{
    char *fact = memory_print("%s=%s", name, value);

    group_same(fact, strlen(fact) + 1, NULL);
    free(fact);
}

void group_start(const char *command)
{
    const fl_status status = fl_group_open(&group);

    opened_by = pthread_self();
    fail_set_group(share_failure, leave_group);
    if (!group_prints() && !freopen("/dev/null", "w", stdout))
        fail(EXIT_BROKEN, "/dev/null: %s", strerror(errno));
    if (group_prints() && *group_info()->remark)
        note("%s", group_info()->remark);
    fail_set_quiet_part(!group_prints());
    must(status);
    same_value("version", fl_version());
    same_value("command", command ? command : "");
    options_set_group(group_same, give_up);
}

/* ------------------------------------------------------------------------------------------------- calls ---- */

int64_t group_part(int ndim, int64_t *shape)
{
    int64_t first = 0, share, row = 1;

    if (!group_is_distributed())
        return 0;
    for (int d = 1; d < ndim; d++)
        row *= shape[d];
    fl_group_share(group, shape[0], group_info()->rank, &first, &share);
    shape[0] = share;
    return first * row;
}

void group_wait(void)
{
    if (group_is_distributed())
        must(fl_group_agree(group, FL_OK, NULL));
}

static double reduced(double own, fl_reduction how)
{
    if (group_is_distributed())
        must(fl_group_reduce(group, &own, 1, FL_F64, how));
    return own;
}

double group_most(double own)
{
    return reduced(own, FL_MAXIMUM);
}

double group_sum(double own)
{
    return reduced(own, FL_SUM);
}

void group_add(double *values, int64_t count)
{
    const int64_t most = 1 << 24; /* at a time */

    for (int64_t at = 0; at < count && group_is_distributed(); at += most)
        must(fl_group_reduce(group, values + at, (int32_t)(count - at < most ? count - at : most), FL_F64, FL_SUM));
}

int64_t group_count(int64_t own)
{
    if (group_is_distributed())
        must(fl_group_reduce(group, &own, 1, FL_I64, FL_SUM));
    return own;
}

int64_t group_before(int64_t own)
{
    int64_t *all = memory_zeroed((size_t)group_info()->size, sizeof *all), before = 0;

    group_gather(&own, all, sizeof own);
    for (int r = 0; r < group_info()->rank; r++)
        before += all[r];
    free(all);
    return before;
}

bool group_decides(bool first)
{
    return group_is_distributed() ? group_count(group_info()->rank == 0 && first) > 0 : first;
}

void group_gather(const void *mine, void *all, size_t bytes)
{
    if (group_is_distributed())
        must(fl_group_gather(group, mine, all, (int64_t)bytes));
    else
        memcpy(all, mine, bytes);
}

void group_collect(int of, const void *own, int64_t count, size_t size,
                   void (*take)(const void *items, int64_t count, void *user), void *user)
{
    enum { MOST_BYTES = 16 << 20 };
    const int64_t most = MOST_BYTES / (int64_t)size, longest = count < most ? count : most;
    fl_piece *to = memory_zeroed((size_t)group_info()->size, sizeof *to),
             *from = memory_zeroed((size_t)group_info()->size, sizeof *from);
    char *piece = group_prints() ? memory_zeroed((size_t)longest + 1, size) : NULL;

    for (int64_t at = 0; at < count; at += longest) {
        const int64_t length = count - at < longest ? count - at : longest;
        if (group_info()->rank == of)
            to[0] = (fl_piece){(char *)own + at * (int64_t)size, length * (int64_t)size};
        if (group_prints())
            from[of] = (fl_piece){piece, length * (int64_t)size};
        must(fl_group_exchange(group, to, from));
        if (group_prints())
            take(piece, length, user);
    }
    free(piece);
    free(to);
    free(from);
}

void group_broadcast(void *data, int64_t bytes)
{
    if (group_is_distributed())
        must(fl_group_broadcast(group, data, bytes));
}

void group_collect_texts(const char *mine, char **texts)
{
    const int64_t own = (int64_t)strlen(mine) + 1;
    const int size = group_info()->size;
    int64_t *lengths = memory_zeroed((size_t)size, sizeof *lengths);
    fl_piece *to = memory_zeroed((size_t)size, sizeof *to), *from = memory_zeroed((size_t)size, sizeof *from);

    group_gather(&own, lengths, sizeof own);
    to[0] = (fl_piece){(char *)mine, own};
    for (int r = 0; r < size && group_prints(); r++) {
        texts[r] = memory_regrown(NULL, (size_t)lengths[r], 1);
        from[r] = (fl_piece){texts[r], lengths[r]};
    }
    must(fl_group_exchange(group, to, from));
    free(to);
    free(from);
    free(lengths);
}

/* ----------------------------------------------------------------------------------------------- dealing ---- */

static struct {
    int64_t next, end; /* this process has these, and will ask for more */
    double asked;      /* when it asked last */
    atomic_bool ended;
} dealt;

void group_deal(int64_t count)
{
    dealt.next = dealt.end = 0;
    dealt.ended = false;
    dealt.asked = seconds_now();
    if (group)
        must(fl_group_deal(group, count));
    else
        dealt.end = count;
}

/* The others may have ended it since. */
static void ask_whether_ended(void)
{
    const double often = 0.1, now = seconds_now();
    bool ended;

    if (!group_is_distributed() || dealt.ended || now - dealt.asked < often)
        return;
    dealt.asked = now;
    must(fl_group_deal_ended(group, &ended));
    dealt.ended = ended;
}

int64_t group_next(void)
{
    int64_t share = 0;

    ask_whether_ended();
    if (!dealt.ended && dealt.next == dealt.end && group) {
        must(fl_group_take(group, &dealt.next, &share));
        dealt.end = dealt.next + share;
    }
    return dealt.ended || dealt.next == dealt.end ? -1 : dealt.next++;
}

void group_deal_end(void)
{
    if (group_is_distributed() && !dealt.ended)
        must(fl_group_deal_end(group));
    dealt.ended = true;
}

bool group_deal_ended(void)
{
    return dealt.ended;
}

fl_group_timing *group_cost(void)
{
    cost.local_s += cost_of_call.local_s;
    cost.stage_s += cost_of_call.stage_s;
    cost.link_s += cost_of_call.link_s;
    cost.wait_s += cost_of_call.wait_s;
    cost.bytes += cost_of_call.bytes;
    cost_of_call = (fl_group_timing){0};
    return &cost_of_call;
}

fl_group_timing group_take_cost(void)
{
    (void)group_cost();
    const fl_group_timing taken = cost;

    cost = (fl_group_timing){0};
    return taken;
}
