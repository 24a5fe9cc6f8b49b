/* SPDX-License-Identifier: MIT */
#include "group.h"

#include "machine.h"

#include "support/memory.h"
#include "support/paths.h"
#include "support/progress.h"
#include "support/statistics.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

bool group_is_parted(void)
{
    return group && group_info()->size > 1;
}

bool group_prints(void)
{
    return !group_is_parted() || group_info()->rank == 0;
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

/* Tells the other processes that this one fails, unless they told it: then all know already. */
static bool share_failure(int exit_code, char *text, size_t size)
{
    if (!group_is_parted())
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

/* At the end of the process. Another one may fail now, such as by a full disk. */
static int leave_group(int exit_code)
{
    const bool agreed = group && fl_group_failed(group) != FL_OK, prints = group_prints();
    fl_group *left = group;
    const fl_status status = fl_group_close(left);

    group = NULL;
    if (status == FL_OK || agreed)
        return exit_code;
    if (prints)
        print_error("%s", fl_last_error());
    return exit_code_of(status);
}

void group_start(void)
{
    opened_by = pthread_self();
    must(fl_group_open(&group));
    fail_set_group(share_failure, leave_group);
    if (!group_prints() && !freopen("/dev/null", "w", stdout))
        fail(EXIT_BROKEN, "/dev/null: %s", strerror(errno));
    if (group_prints() && *group_info()->remark)
        note("%s", group_info()->remark);
    fail_set_quiet_part(!group_prints());
}

/* ------------------------------------------------------------------------------------------------- calls ---- */

int64_t group_part(int ndim, int64_t *shape)
{
    int64_t first = 0, share, row = 1;

    if (!group_is_parted())
        return 0;
    for (int d = 1; d < ndim; d++)
        row *= shape[d];
    fl_group_share(group, shape[0], group_info()->rank, &first, &share);
    shape[0] = share;
    return first * row;
}

void group_wait(void)
{
    if (group_is_parted())
        must(fl_group_agree(group, FL_OK, NULL));
}

static double reduced(double own, fl_reduction how)
{
    if (group_is_parted())
        must(fl_group_reduce(group, &own, 1, FL_F64, how));
    return own;
}

double group_most(double own)
{
    return reduced(own, FL_MOST);
}

double group_sum(double own)
{
    return reduced(own, FL_SUM);
}

void group_add(double *values, int64_t count)
{
    const int64_t most = 1 << 24; /* at a time */

    for (int64_t at = 0; at < count && group_is_parted(); at += most)
        must(fl_group_reduce(group, values + at, (int32_t)(count - at < most ? count - at : most), FL_F64, FL_SUM));
}

int64_t group_count(int64_t own)
{
    if (group_is_parted())
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
    return group_is_parted() ? group_count(group_info()->rank == 0 && first) > 0 : first;
}

void group_gather(const void *mine, void *all, size_t bytes)
{
    if (group_is_parted())
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

/* Each rank's `to` and `from` in group_exchange, zeroed. */
static fl_piece *new_pieces(void)
{
    return memory_zeroed((size_t)group_info()->size, sizeof(fl_piece));
}

void group_broadcast(void *data, int64_t bytes)
{
    fl_piece *to, *from;

    if (!group_is_parted())
        return;
    to = new_pieces();
    from = new_pieces();
    for (int r = 1; r < group_info()->size && group_prints(); r++)
        to[r] = (fl_piece){data, bytes};
    if (!group_prints())
        from[0] = (fl_piece){data, bytes};
    must(fl_group_exchange(group, to, from));
    free(to);
    free(from);
}

void group_collect_texts(const char *mine, char **texts)
{
    const int64_t own = (int64_t)strlen(mine) + 1;
    const int size = group_info()->size;
    int64_t *lengths = memory_zeroed((size_t)size, sizeof *lengths);
    fl_piece *to = new_pieces(), *from = new_pieces();

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

    if (!group_is_parted() || dealt.ended || now - dealt.asked < often)
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
    if (group_is_parted() && !dealt.ended)
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

/* ---------------------------------------------------------------------------------------------- launching ---- */

/* How a link's processes are begun. */
static const struct launcher {
    const char *link, *program, *package, *step;
} launchers[] = {{"openmpi", "mpirun.openmpi", "openmpi-bin", "--mpi=pmix"},
                 {"mpich", "mpirun.mpich", "mpich", "--mpi=pmi2"}};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers, MOST_WORDS = 16 };

static bool has_link(const char *name)
{
    const char *there;

    for (size_t i = 0; (there = fl_link_name(i)); i++)
        if (strcmp(there, name) == 0)
            return true;
    return false;
}

/* NULL: none; `step`: as a step of Slurm's, which needs no mpirun. */
static const struct launcher *find_launcher(bool step)
{
    const char *wanted = getenv("FLYNN_LINK");

    for (int i = 0; i < LAUNCHERS; i++)
        if ((!wanted || strcmp(wanted, launchers[i].link) == 0) && has_link(launchers[i].link) &&
            (step || path_has_program(launchers[i].program)))
            return &launchers[i];
    if (!step)
        fail(EXIT_CANNOT_RUN,
             "--ranks: no MPI is there with its launcher and flynn's link to it%s%s; install %s and its "
             "headers, and build flynn again",
             wanted ? ", FLYNN_LINK=" : "", wanted ? wanted : "", launchers[0].package);
    return NULL;
}

static void refuse_root(const struct launcher *launcher)
{
    if (geteuid() == 0 && strcmp(launcher->link, "openmpi") == 0 && !getenv("OMPI_ALLOW_RUN_AS_ROOT"))
        fail(EXIT_CANNOT_RUN,
             "--ranks: Open MPI's mpirun does not run as root; run flynn as another user (in a container "
             "set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)");
}

/* Within an allocation of Slurm's. Another link than those above gets the site's own --mpi. srun ends with 1 when it
 * fails itself, unless it is given another code; a step in a step waits for that one's end, unless they overlap. */
static int step_words(const char **words, const char *count)
{
    const struct launcher *launcher = find_launcher(true);
    const char *const step[] = {"srun", "-n", count, "-K1"};
    int used = sizeof step / sizeof *step;

    memcpy(words, step, sizeof step);
    if (launcher)
        words[used++] = launcher->step;
    if (getenv("SLURM_STEP_ID"))
        words[used++] = "--overlap";
    setenv("SLURM_EXIT_ERROR", "3", 0);
    return used;
}

void group_refuse_nested(void)
{
    static const char *const set[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof set / sizeof *set && !getenv("SLURM_JOB_ID"); i++)
        if (getenv(set[i]))
            fail(EXIT_BAD_INPUT,
                 "--ranks: a launcher began this process (%s is set), which cannot begin others; run "
                 "flynn without it",
                 set[i]);
}

void group_note_shared(int64_t count)
{
    const int processors = machine_threads();

    if (count > processors)
        note("--ranks: %lld processes share %d processors: their times say little", (long long)count, processors);
}

/* The processes have the processors in equal parts: of itself Open MPI's mpirun gives each one core, and MPICH's each
 * all of them. */
static void share_processors(int64_t ranks)
{
    const int64_t threads = machine_threads() / ranks;
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)(threads > 1 ? threads : 1));
    setenv("OMP_NUM_THREADS", text, 0);
}

/* The launcher's words before the command; their number. */
static int launcher_words(const char **words, const char *count, int64_t ranks)
{
    const struct launcher *launcher;
    int used = 0;

    if (getenv("SLURM_JOB_ID"))
        return step_words(words, count);
    launcher = find_launcher(false);
    refuse_root(launcher);
    words[used++] = launcher->program;
    if (strcmp(launcher->link, "openmpi") == 0)
        words[used++] = "--quiet"; /* the exit code says that a process failed */
    words[used++] = "-n";
    words[used++] = count;
    group_note_shared(ranks);
    share_processors(ranks);
    if (strcmp(launcher->link, "openmpi") == 0) {
        words[used++] = "--bind-to";
        words[used++] = "none";
        words[used++] = "--oversubscribe";
    }
    return used;
}

static noreturn void launch(int64_t ranks, int argc, char **argv)
{
    const char **words = memory_zeroed((size_t)argc + MOST_WORDS, sizeof *words);
    char count[24], self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int used, status = 0, error;
    pid_t child;

    self[length > 0 ? length : 0] = '\0';
    snprintf(count, sizeof count, "%lld", (long long)ranks);
    progress_has_result(); /* the processes end by --max-time themselves */
    used = launcher_words(words, count, ranks);
    words[used++] = self;
    for (int i = 0; i < argc; i++)
        words[used++] = argv[i];
    error = posix_spawnp(&child, words[0], NULL, NULL, (char *const *)words, environ);
    if (error != 0)
        fail(EXIT_CANNOT_RUN, "--ranks: %s cannot be run: %s", words[0], strerror(error));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    free(words);
    leave(WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_BROKEN ? WEXITSTATUS(status) : EXIT_BROKEN);
}

void group_require(int64_t ranks, int argc, char **argv)
{
    if (!*group_info()->link && ranks > 1) {
        group_refuse_nested();
        launch(ranks, argc, argv);
    }
    if (group_info()->size != ranks)
        fail(EXIT_BAD_INPUT, "--ranks: %lld processes are asked for, and the launcher began %d; leave --ranks out",
             (long long)ranks, group_info()->size);
}
