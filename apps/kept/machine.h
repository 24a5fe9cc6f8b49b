/* SPDX-License-Identifier: MIT
 *
 * machine.h - where and how this program runs, kept with its results.
 */
#pragma once

#include <flynn/flynn.h>
#include <jansson.h>
#include <sched.h>

/* The NUMA node of the device with this PCI bus id ("0000:3b:00.0"), and the node's processors; -1, and none: not
 * known, such as where a machine has one node. `sys` is "/sys", but for tests. */
int machine_node_of(const char *sys, const char *bus_id, cpu_set_t *processors);

/* The governor, which sets the clock, of the processors that the process may use: "performance", "powersave, schedutil"
 * where they differ; "": not known, such as in a virtual machine. */
typedef struct governor_text {
    char text[128];
} governor_text;
governor_text machine_governor(const char *sys);

/* Bytes of the last-level caches of the processors that the process may use, all of them together; 0: not known, such
 * as in some virtual machines. */
double machine_caches(const char *sys);

/* An upper bound of the bytes of a device's last-level cache: its own size, or, where that is not known, one that no
 * cache exceeds. */
double machine_caches_of(const fl_device_info *device);

/* The JSON object "machine" (a new reference): host, date (ISO 8601, UTC), processor, threads (processors_count),
 * governor, memory_bytes, os, kernel, gpu, driver, runtime, gpu_clock_mhz, gpu_temperature_c, gpu_throttled,
 * gpu_other_processes (from gpu on null: the caller sets them from its devices), compiler, flags, commit, version, and
 * slurm: null, or those of job_id, job_name, partition, nodelist, procid, ntasks, cpus_per_task that Slurm set. Unknown
 * values are null. Ends the command if memory runs out.
 *
 * Compiler, flags and commit are string macros of the build: FLYNN_COMPILER, FLYNN_FLAGS, FLYNN_COMMIT. */
json_t *machine_describe(void);

/* Sets what the GPU's library for management reports now. The ranks of a group may share a GPU: of them nobody knows
 * which of its processes are others. */
void machine_put_gpu(json_t *machine, const fl_device *device);

/* Notes that other processes may have slowed the GPU. They may also only hold memory there, so that this marks no row.
 */
void machine_say_others(const json_t *machine);
