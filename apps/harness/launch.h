/* SPDX-License-Identifier: MIT
 *
 * launch.h - --ranks=N: starts the processes by the launcher of an MPI, or by srun.
 */
#pragma once

#include <stdint.h>

/* Unless this is one of `ranks` processes (0: any number), starts them, passes SIGINT, SIGTERM and SIGHUP on, waits for
 * them and ends with their exit code, or by the signal. `argv` is the command's, without "flynn"; `written`: the file
 * or folder that they write, where those that were killed leave nothing unfinished; NULL: none. */
void launch_ranks(int64_t ranks, int argc, char **argv, const char *written);
/* Ends the command where mpirun began this process, which then cannot begin others. */
void launch_refuse_nested(void);
/* The note for `count` threads or processes that share fewer processors. */
void launch_note_shared(int64_t count);
