/* SPDX-License-Identifier: MIT
 *
 * threads.h - how many threads a process should use, and whether it gets them; stacks for signals on them.
 */
#ifndef FLYNN_SHARED_THREADS_H
#define FLYNN_SHARED_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Threads that the process should use: OMP_NUM_THREADS where it is set, else the smaller of the processors that its
 * affinity mask holds and the quota of its cgroups, rounded up; at least 1. */
int threads_default(void);

/* Starts so many threads, which live at the same time and then end: 0, or the error for which the last one was refused.
 * OpenMP's runtime and OpenBLAS end the process then, or wait for ever. */
int threads_try(int count);

/* The processor time that the cgroups of this process may use (0.5: half a processor); 0: no limit.
 * Reads <root>/proc/self/cgroup and <root>/sys/fs/cgroup; `root` is "" but for tests. */
double threads_quota(const char *root);

/* Gives the calling thread a stack on which a signal handler of the program can run when a user's function has used up
 * the thread's own, unless it has one or there is no memory. A thread's first call makes the stack, which is freed when
 * the thread ends: the system's calls for it take more than twice as long as a map of few elements. */
void threads_ensure_signal_stack(void);

#ifdef __cplusplus
}
#endif

#endif
