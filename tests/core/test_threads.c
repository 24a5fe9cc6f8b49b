/* SPDX-License-Identifier: MIT
 *
 * test_threads.c - how many threads the CPU backend takes: quotas in made-up file trees, the affinity mask, the
 * variable; and their stacks for signals.
 */
#include "../../backends/cpu/cpu.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/flynn-threads.XXXXXX";

static void start(void)
{
    cr_assert(mkdtemp(root) != NULL);
}

static void end(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    cr_expect(system(command) == 0);
}

TestSuite(threads, .init = start, .fini = end);

/* Writes <root><path>, with the folders on the way. */
static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + sizeof root; *slash; slash++)
        if (*slash == '/') {
            *slash = '\0';
            mkdir(full, 0755);
            *slash = '/';
        }
    FILE *file = fopen(full, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s", full);
}

static void expect_quota(double quota)
{
    double got = threads_quota(root);
    cr_expect(got == quota, "a quota of %g, expected %g", got, quota);
}

Test(threads, no_cgroup_is_no_limit)
{
    expect_quota(0);
}

Test(threads, v2_own_group)
{
    put("/proc/self/cgroup", "0::/job\n");
    put("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    expect_quota(1.5);
}

Test(threads, v2_max_is_no_limit)
{
    put("/proc/self/cgroup", "0::/job\n");
    put("/sys/fs/cgroup/job/cpu.max", "max 100000\n");
    expect_quota(0);
}

/* The smallest on the way up holds. */
Test(threads, v2_outer_group)
{
    put("/proc/self/cgroup", "0::/slurm/job/step\n");
    put("/sys/fs/cgroup/slurm/job/step/cpu.max", "800000 100000\n");
    put("/sys/fs/cgroup/slurm/cpu.max", "400000 100000\n");
    expect_quota(4);
}

/* In a container the path is often the host's, and the container's own group at the root. */
Test(threads, v2_container)
{
    put("/proc/self/cgroup", "0::/docker/0123abc\n");
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    expect_quota(2);
}

Test(threads, v1_group)
{
    put("/proc/self/cgroup", "11:memory:/job\n4:cpu,cpuacct:/job\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    expect_quota(3);
}

Test(threads, v1_without_limit)
{
    put("/proc/self/cgroup", "4:cpu,cpuacct:/job\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    expect_quota(0);
}

Test(threads, affinity_is_respected)
{
    cpu_set_t one;
    unsetenv("OMP_NUM_THREADS");
    CPU_ZERO(&one);
    cr_assert(sched_getaffinity(0, sizeof one, &one) == 0);
    for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &one) && kept++)
            CPU_CLR(cpu, &one);
    cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
    cr_expect(threads_default() == 1, "%d threads on one processor", threads_default());
}

Test(threads, variable_is_respected)
{
    setenv("OMP_NUM_THREADS", "7,2", 1);
    cr_expect(threads_default() == 7);
    setenv("OMP_NUM_THREADS", "nonsense", 1);
    cr_expect(threads_default() >= 1);
}

/* As many threads as pay: each costs as much as about 50,000 operations. */
Test(threads, team)
{
    static const struct {
        int threads;
        double operations;
        int team;
    } cases[] = {{1, 1e12, 1}, {2, 0, 1},       {2, 199999, 1},  {2, 2e5, 2},      {2, 1e12, 2}, {16, 1e5, 1},
                 {16, 2e5, 2}, {16, 393216, 2}, {16, 1.25e6, 5}, {16, 1.28e7, 16}, {16, 1e9, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cpu_device device = {.threads = cases[i].threads};
        int team = cpu_team(&(fl_context){.device = &device}, cases[i].operations);
        cr_expect(team == cases[i].team, "%g operations on %d threads: a team of %d, expected %d", cases[i].operations,
                  cases[i].threads, team, cases[i].team);
    }
}

static stack_t signal_stack_of_thread(void)
{
    stack_t now;
    cr_assert(sigaltstack(NULL, &now) == 0);
    return now;
}

/* `own`: the stack for signals that the program has given this thread before; NULL: none. */
static void *ensure_signal_stack(void *own)
{
    enum { BYTES = 1 << 16 };
    if (own)
        cr_assert(sigaltstack(&(stack_t){.ss_sp = own, .ss_size = BYTES}, NULL) == 0);
    cr_assert((own == NULL) == !!(signal_stack_of_thread().ss_flags & SS_DISABLE));
    threads_ensure_signal_stack();
    const stack_t first = signal_stack_of_thread();
    cr_expect(!(first.ss_flags & SS_DISABLE) && first.ss_size == BYTES);
    cr_expect(own ? first.ss_sp == own : first.ss_sp != NULL, "%s", own ? "the program's was replaced" : "no stack");
    threads_ensure_signal_stack();
    cr_expect(signal_stack_of_thread().ss_sp == first.ss_sp, "another one at the second call");
    return NULL;
}

Test(threads, signal_stack)
{
    static char own[1 << 16];
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        cr_assert(pthread_create(&thread, NULL, ensure_signal_stack, i % 2 ? own : NULL) == 0);
        cr_assert(pthread_join(thread, NULL) == 0);
    }
}
