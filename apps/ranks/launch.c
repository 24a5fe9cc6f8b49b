/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include "child.h"
#include "group.h"

#include "files/output.h"
#include "options/paths.h"
#include "support/processors.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The command line of a launcher. */
static const struct launcher {
    const char *link, *program, *package, *step;
} launchers[] = {{"openmpi", "mpirun.openmpi", "openmpi-bin", "--mpi=pmix"},
                 {"mpich", "mpirun.mpich", "mpich", "--mpi=pmi2"}};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers, LAUNCHER_WORDS = 16 };

static bool has_link(const char *name)
{
    const char *there;

    for (size_t i = 0; (there = fl_link_name(i)); i++)
        if (strcmp(there, name) == 0)
            return true;
    return false;
}

/* Returns NULL if no launcher exists; `step`: a step in a Slurm allocation, which needs no mpirun. */
static const struct launcher *find_launcher(bool step)
{
    const char *wanted = getenv("FLYNN_LINK");

    for (int i = 0; i < LAUNCHERS; i++)
        if ((!wanted || strcmp(wanted, launchers[i].link) == 0) && has_link(launchers[i].link) &&
            (step || path_has_program(launchers[i].program)))
            return &launchers[i];
    if (!step)
        fail(EXIT_CANNOT_RUN,
             "--ranks: no usable MPI%s%s: a launcher and flynn's link for it are needed; install %s and its headers, "
             "and build flynn again",
             wanted ? " for FLYNN_LINK=" : "", wanted ? wanted : "", launchers[0].package);
    return NULL;
}

static void refuse_root(const struct launcher *launcher)
{
    if (geteuid() == 0 && strcmp(launcher->link, "openmpi") == 0 && !getenv("OMPI_ALLOW_RUN_AS_ROOT"))
        fail(EXIT_CANNOT_RUN,
             "--ranks: Open MPI's mpirun does not run as root; run flynn as another user (in a container "
             "set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)");
}

/* srun in a Slurm allocation. A link that is none of the above gets the site's own --mpi. srun ends with 1 if it fails
 * itself, unless a variable names another code; a step in a step waits for the outer one, unless both may overlap. */
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
    unsetenv("SLURM_EXIT_ERROR");
    unsetenv("SLURM_EXIT_IMMEDIATE");
    return used;
}

void launch_refuse_nested(void)
{
    static const char *const set[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof set / sizeof *set && !getenv("SLURM_JOB_ID"); i++)
        if (getenv(set[i]))
            fail(EXIT_BAD_INPUT,
                 "--ranks: a launcher started this process (%s is set), and it cannot start others; run "
                 "flynn without it",
                 set[i]);
}

void launch_note_shared(int64_t count)
{
    const int processors = processors_count();

    if (count > processors)
        note("--ranks: %lld processes share %d processors: their times say little", (long long)count, processors);
}

/* The processes share the processors equally: by default Open MPI's mpirun gives one core to each, and MPICH's all of
 * them to each. */
static void share_processors(int64_t ranks)
{
    const int64_t threads = processors_count() / ranks;
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)(threads > 1 ? threads : 1));
    setenv("OMP_NUM_THREADS", text, 0);
}

/* Writes the launcher's words, which precede the command. Returns their number. */
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
    launch_note_shared(ranks);
    share_processors(ranks);
    if (strcmp(launcher->link, "openmpi") == 0) {
        words[used++] = "--bind-to";
        words[used++] = "none";
        words[used++] = "--oversubscribe";
        /* Open MPI's mpirun passes only variables that -x names to other hosts; MPICH's passes all. */
        for (char **v = environ; *v; v++)
            if (strncmp(*v, "FLYNN_", 6) == 0) {
                words[used++] = "-x";
                words[used++] = memory_print("%.*s", (int)strcspn(*v, "="), *v);
            }
    }
    return used;
}

/* -------------------------------------------------------------------------------------------- the launcher ---- */

/* The launcher is a child of a guard process. If this process is killed, the guard lives on and ends the launcher. */
static pid_t guard, launcher;
static bool is_mpirun; /* not srun */

static void end_guard(void)
{
    kill(guard, SIGTERM);
}

static void kill_launcher(int unused)
{
    (void)unused;
    kill(launcher, SIGKILL);
}

/* Passes every signal on as SIGTERM, because srun asks after the first SIGINT whether it is meant, and MPICH's mpirun
 * dies of SIGHUP. A signal during the start of the processes can make an mpirun wait for ever; a later SIGKILL ends
 * that. */
static void end_launcher(void)
{
    const int most_s = 10;

    kill(launcher, SIGTERM);
    if (is_mpirun)
        alarm(most_s);
}

static void start_launcher(const char *const *words)
{
    launcher = child_start();
    if (launcher == 0) {
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        if (is_mpirun)
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        signals_unblock();
        child_exec(words);
    }
}

/* If a signal ends a launcher while it starts its processes, they become children of this process, and it ends them. */
static void kill_children(void)
{
    char path[64];
    long child;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    do {
        FILE *children = fopen(path, "re");
        while (children && fscanf(children, "%ld", &child) == 1)
            kill((pid_t)child, SIGKILL);
        if (!children)
            return;
        fclose(children);
    } while (waitpid(-1, NULL, 0) > 0);
}

/* The guard has its own process group, because the other process passes on the terminal's Ctrl-C, which must arrive
 * once. Ends with the launcher's exit code. */
static noreturn void run_guard(const char *const *words, const char *written)
{
    int status;

    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    is_mpirun = strcmp(words[0], "srun") != 0;
    start_launcher(words);
    signals_catch(end_launcher);
    signal(SIGALRM, kill_launcher);
    signals_unblock();
    status = child_wait(launcher);
    alarm(0);
    if (signals_caught() || WIFSIGNALED(status))
        kill_children();
    if (status != 0 && written)
        output_clean(written);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BROKEN);
}

/* Translates the launcher's exit code. The processes end with 0 to 4, except that EXIT_WRONG_RESULT arrives as
 * EXIT_WRONG_ON_RANKS. A launcher ends with 1 or 255 if it fails itself, and with a number above 4 if a process was
 * killed. */
static int exit_code_of_launcher(int status, const char *name, int64_t ranks)
{
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BROKEN;

    if (code == EXIT_WRONG_RESULT || code == CHILD_NOT_FOUND || code == CHILD_NOT_STARTED || code == UINT8_MAX)
        fail(EXIT_CANNOT_RUN, "--ranks: %s itself failed (exit code %d); `%s -n %lld true` shows why", name, code, name,
             (long long)ranks);
    return code == EXIT_WRONG_ON_RANKS ? EXIT_WRONG_RESULT : code <= EXIT_BROKEN ? code : EXIT_BROKEN;
}

static noreturn void launch(int64_t ranks, int argc, char **argv, const char *written)
{
    const char **words;
    char count[24], self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int used = argc + LAUNCHER_WORDS, status;

    self[length > 0 ? length : 0] = '\0';
    snprintf(count, sizeof count, "%lld", (long long)ranks);
    progress_has_result(); /* --max-time is handled by the processes */
    for (char **v = environ; *v; v++)
        used += 2;
    words = memory_zeroed((size_t)used, sizeof *words);
    used = launcher_words(words, count, ranks);
    words[used++] = "env"; /* set even if srun exports no variables */
    words[used++] = EXIT_VARIABLE "=1";
    words[used++] = self;
    for (int i = 0; i < argc; i++)
        words[used++] = argv[i];
    signals_block();
    guard = child_start();
    if (guard == 0)
        run_guard(words, written);
    signals_catch(end_guard);
    signals_unblock();
    status = child_wait(guard);
    if (signals_caught())
        signals_raise(signals_caught());
    leave(exit_code_of_launcher(status, words[0], ranks));
}

void launch_ranks(int64_t ranks, int argc, char **argv, const char *written)
{
    if (!*group_info()->link && ranks > 1) {
        launch_refuse_nested();
        launch(ranks, argc, argv, written);
    }
    if (ranks > 0 && group_info()->size != ranks)
        fail(EXIT_BAD_INPUT, "--ranks: %lld processes are asked for, and the launcher started %d; leave --ranks out",
             (long long)ranks, group_info()->size);
}
