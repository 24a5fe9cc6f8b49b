/* SPDX-License-Identifier: MIT
 *
 * ceilings.h - the limits of a device as `flynn ceiling` measured them, kept in a file: the roofline from which
 * "percent of ceiling" follows (Williams, Waterman and Patterson, "Roofline", CACM 52, 2009).
 */
#pragma once

#include "support/problem.h"

#include <flynn/flynn.h>

/* NaN: not measured, or the device has no such units. */
typedef struct ceilings {
    double copy_bytes_per_s;                 /* within the device: bytes read plus bytes written */
    double f32_flops_per_s, f64_flops_per_s; /* a multiply-add counts as two */
} ceilings;

/* The saved ones of this device on this machine; all NaN if there are none or the file cannot be read. */
ceilings ceilings_load(const fl_device_info *device);

/* Saves them in ceilings.json (cache.h); what is NaN stays as it was kept before. */
bool ceilings_save(const fl_device_info *device, const ceilings *measured, problem *why);

/* The file's path; "" if the environment names no folder. */
const char *ceilings_path(void);
/* The same, if this process has saved a ceiling in it; else NULL. */
const char *ceilings_saved_in(void);

/* The least time that the work can take: the longer of the times for moving `bytes` and for `flops` operations in
 * `dtype` (integers: for moving alone). NaN if the ceiling is not known. */
double ceilings_least_s(const ceilings *c, fl_dtype dtype, double bytes, double flops);

/* An exchange between all ranks: the bytes that each sends to the others together, and the seconds that it takes. */
typedef struct link_time {
    double bytes, seconds;
} link_time;

/* Saves what was measured of exchanges by a path ("host", "staged"), by ascending bytes: for the link, the number of
 * ranks and how many of them are on rank 0's host. */
bool ceilings_save_link(const char *path, const link_time *times, int count, problem *why);

/* Seconds of an exchange of `bytes` by this path, interpolated between the sizes that were saved. Beyond the largest
 * one the time is proportional to the bytes, if that one has at least 1 MiB. NaN: none was saved. */
double ceilings_link_s(const char *path, double bytes);
