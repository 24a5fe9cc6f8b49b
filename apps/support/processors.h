/* SPDX-License-Identifier: MIT
 *
 * processors.h - the processors that this process may use.
 */
#pragma once

/* Threads that this process may use (its affinity: taskset, cpusets, Slurm); 0: unknown. */
int processors_count(void);
