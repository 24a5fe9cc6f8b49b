/* SPDX-License-Identifier: MIT
 *
 * threads.c - how many threads a process should use, and whether it gets them; stacks for signals. A container or a
 * batch system grants fewer processors than the machine has, in one of two ways: an affinity mask, or a quota of time
 * (cgroups v1 and v2).
 */
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------ cgroups ---- */

/* The first line of the file <a><b><c><d>; false if there is none. */
static bool read_line(const char *a, const char *b, const char *c, const char *d, char *line, int size)
{
    char path[PATH_MAX];
    FILE *file;
    bool read;

    if ((size_t)snprintf(path, sizeof path, "%s%s%s%s", a, b, c, d) >= sizeof path)
        return false;
    file = fopen(path, "re");
    read = file && fgets(line, size, file);
    if (file)
        fclose(file);
    return read;
}

/* cgroups v2: cpu.max holds "<quota> <period>", microseconds, or "max <period>". 0: no limit. */
static double quota_v2(const char *root, const char *group)
{
    char line[64];
    double quota, period;

    if (!read_line(root, "/sys/fs/cgroup", group, "/cpu.max", line, sizeof line) ||
        sscanf(line, "%lf %lf", &quota, &period) != 2 || quota <= 0 || period <= 0)
        return 0;
    return quota / period;
}

/* cgroups v1: two files; a quota of -1 is none. */
static double quota_v1(const char *root, const char *group)
{
    char quota[64], period[64];

    if (!read_line(root, "/sys/fs/cgroup/cpu", group, "/cpu.cfs_quota_us", quota, sizeof quota) ||
        !read_line(root, "/sys/fs/cgroup/cpu", group, "/cpu.cfs_period_us", period, sizeof period) ||
        atof(quota) <= 0 || atof(period) <= 0)
        return 0;
    return atof(quota) / atof(period);
}

/* The smallest quota of the group and its parents, each of which limits all groups below it. Inside a container the
 * path may be the host's, and the container's own group is at the root: so all are tried. */
static double smallest_quota(double (*quota_of)(const char *, const char *), const char *root, char *group)
{
    double least = 0;

    for (;;) {
        double quota = quota_of(root, strcmp(group, "/") == 0 ? "" : group);
        char *slash = strrchr(group, '/');
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
        if (!slash || !*group)
            return least;
        *slash = '\0';
    }
}

/* Returns whether the comma-separated list of cgroup v1 controllers has "cpu". */
static bool has_cpu(char *controllers)
{
    char *rest = NULL;

    for (char *name = strtok_r(controllers, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (strcmp(name, "cpu") == 0)
            return true;
    return false;
}

double threads_quota(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX];
    double least = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) { /* "<id>:<controllers>:<path>", no controllers in v2 */
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        double quota = 0;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        if (controllers[1] == '\0')
            quota = smallest_quota(quota_v2, root, group);
        else if (has_cpu(controllers + 1))
            quota = smallest_quota(quota_v1, root, group);
        if (quota > 0 && (least == 0 || quota < least))
            least = quota;
    }
    if (file)
        fclose(file);
    return least;
}

/* ----------------------------------------------------------------------------------------------- affinity ---- */

/* Processors in the affinity mask. The kernel refuses a mask shorter than its own (EINVAL), whose length is unknown. */
static int processors_allowed(void)
{
    for (int bits = CPU_SETSIZE; bits <= 1 << 20; bits *= 2) {
        size_t size = CPU_ALLOC_SIZE((size_t)bits);
        cpu_set_t *set = CPU_ALLOC((size_t)bits);
        int failed = set ? sched_getaffinity(0, size, set) : -1, count = failed ? 0 : CPU_COUNT_S(size, set);
        bool longer = set && failed && errno == EINVAL;
        CPU_FREE(set);
        if (count > 0)
            return count;
        if (!longer)
            break;
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int threads_default(void)
{
    const char *wanted = getenv("OMP_NUM_THREADS"); /* "4", or "4,2" for nested teams */
    long asked = wanted ? strtol(wanted, NULL, 10) : 0;
    int threads = processors_allowed();
    double quota = threads_quota("");

    if (asked > 0 && asked <= INT_MAX)
        return (int)asked;
    if (quota > 0 && quota < threads)
        threads = (int)quota + ((int)quota < quota);
    return threads > 0 ? threads : 1;
}

/* ------------------------------------------------------------------------------------------------ starting ---- */

/* Each waits until all have been started. */
static void *wait_at(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int threads_try(int count)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *threads = count > 0 ? malloc((size_t)count * sizeof *threads) : NULL;
    int started = 0, error = count > 0 && !threads ? ENOMEM : 0;

    pthread_mutex_lock(&gate);
    while (started < count && error == 0) {
        error = pthread_create(&threads[started], NULL, wait_at, &gate);
        started += error == 0;
    }
    pthread_mutex_unlock(&gate);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    free(threads);
    return error;
}

/* ------------------------------------------------------------------------------------------------- signals ---- */

static pthread_key_t signal_stack; /* its value in a thread: the stack that is to be freed */
static bool has_key;

static void end_signal_stack(void *stack)
{
    stack_t now;

    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == stack)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    free(stack);
}

static void make_key(void)
{
    has_key = pthread_key_create(&signal_stack, end_signal_stack) == 0;
}

void threads_ensure_signal_stack(void)
{
    enum { BYTES = 64 << 10 };
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local bool done;
    stack_t before, stack = {.ss_size = BYTES};

    if (done)
        return;
    done = true;
    pthread_once(&once, make_key);
    if (!has_key || sigaltstack(NULL, &before) != 0 || !(before.ss_flags & SS_DISABLE))
        return;
    stack.ss_sp = malloc(BYTES);
    if (!stack.ss_sp)
        return;
    if (sigaltstack(&stack, NULL) != 0 || pthread_setspecific(signal_stack, stack.ss_sp) != 0)
        end_signal_stack(stack.ss_sp);
}
