/* SPDX-License-Identifier: MIT
 *
 * turn.h - commands that measure on the same GPU take turns, also those of several users.
 *
 * The turn is a lock (flock) on the GPU's folder in sysfs, to which nobody writes, or on the file that FLYNN_GPU_LOCK
 * names. The system releases it when the process ends, however it ends.
 */
#pragma once

#include <flynn/flynn.h>

#include <limits.h>
#include <stdbool.h>

/* Adds a device to those of the next turn. Devices in host memory and emulations have none; nor has any device of a
 * rank, since ranks that wait for each other's GPUs would wait for ever. */
void turn_add(const fl_device *device);

/* Waits until no other command measures on one of these devices, and shows for whom. Returns without a turn where there
 * is none to be had; when a process above this one has it; when a signal was caught, or --max-time is over and
 * something is done. Ends the command if --max-time is over before anything is done, or if FLYNN_GPU_LOCK names a file
 * that cannot be locked. */
void turn_take(void);

/* The next command may measure. */
void turn_end(void);

/* The file that is locked for the device. `file` is "" if there is none, and `why` says so. */
typedef struct turn_file {
    char file[PATH_MAX];
    const char *why;
} turn_file;
turn_file turn_describe(const fl_device_info *device);
