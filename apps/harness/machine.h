/* SPDX-License-Identifier: MIT
 *
 * machine.h - where and how this program runs, for whoever reads its numbers later.
 */
#ifndef FLYNN_APPS_HARNESS_MACHINE_H
#define FLYNN_APPS_HARNESS_MACHINE_H

#include <jansson.h>

/* Threads that the scheduler may give this process (affinity: taskset, cpusets, Slurm); 0: not to be found out. */
int machine_threads(void);

/* The JSON object "machine" (a new reference): host, date (ISO 8601, UTC), processor, threads (those that this process
 * may use), memory_bytes, os, kernel, gpu, driver, runtime (all three null: for the caller to set from the devices it
 * opens), compiler, flags, commit, version, and slurm: null, or job_id, job_name, partition, nodelist, procid, ntasks,
 * cpus_per_task as far as Slurm set them. What cannot be found out is null. Ends the command (fail) where memory is
 * short.
 *
 * Compiler, flags and commit are macros of the build: FLYNN_COMPILER, FLYNN_FLAGS, FLYNN_COMMIT, all strings. */
json_t *machine_describe(void);

#endif
