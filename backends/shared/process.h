/* SPDX-License-Identifier: MIT
 *
 * process.h - runs work, such as a compiler, in a process that ends with this one.
 */
#ifndef FLYNN_PROCESS_H
#define FLYNN_PROCESS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the work ended. */
typedef struct process_ending {
    int error;  /* errno if the work could not be started; 0: the members below describe its end */
    bool late;  /* its time was over */
    int status; /* valid if not late: the status as waitpid returns it */
} process_ending;

/* Calls work(data) in a new process and waits for its end. The process and those that it starts are a process group.
 * The group is ended, by SIGTERM and a second later by SIGKILL, after `seconds` (0: never), and when the calling
 * process has ended, whatever ended it: SIGKILL, too. Processes that outlive the work when it ends by itself are left
 * alone.
 *
 * The result does not depend on what the calling process does with SIGCHLD and with its children: a process between
 * the two waits for the work. Any thread may call it, and may end.
 *
 * `work` returns 0, or an errno for ending.error. It finds all signals at their default, and should only call
 * async-signal-safe functions, since other threads may have held locks. */
process_ending process_run(int (*work)(void *data), void *data, double seconds);

/* Marks all files of this process above `last` to be closed by execve; needs Linux 5.11. */
void process_close_on_exec(int last);

#ifdef __cplusplus
}
#endif
#endif
