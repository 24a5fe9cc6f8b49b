/* SPDX-License-Identifier: MIT
 *
 * launch.h - --ranks=N: starts the processes by the launcher of an MPI, or by srun.
 */
#pragma once

#include <stdint.h>

/* Returns at once in one of the `ranks` processes (0: any number). Otherwise starts them, passes SIGINT, SIGTERM and
 * SIGHUP on, waits for them, and ends with their exit code or by the signal. `argv` is the command's, without "flynn";
 * `written`: the file or folder that they write, from which the unfinished files of killed processes are removed; NULL:
 * none. */
void launch_ranks(int64_t ranks, int argc, char **argv, const char *written);
/* Ends the command if mpirun started this process, because it then cannot start others. */
void launch_refuse_nested(void);
/* Prints the note that `count` threads or processes share fewer processors. */
void launch_note_shared(int64_t count);
