/* SPDX-License-Identifier: MIT
 *
 * ceilings.h - what `flynn ceiling` measured of a device, kept in a file between commands: the roofline that
 * "percent of ceiling" is held against (Williams, Waterman and Patterson, "Roofline", CACM 52, 2009).
 */
#ifndef FLYNN_APPS_HARNESS_CEILINGS_H
#define FLYNN_APPS_HARNESS_CEILINGS_H

#include "support/problem.h"

#include <flynn/flynn.h>

/* NaN: not measured, or not there. */
typedef struct ceilings {
    double copy_bytes_per_s;                 /* on the device, read and written bytes */
    double f32_flops_per_s, f64_flops_per_s; /* a multiply-add being two */
} ceilings;

/* What is kept for this device on this machine; all NaN when nothing is. A file that cannot be read counts as none. */
ceilings ceilings_load(const fl_device_info *device);

/* Keeps them, in place of what was kept for the device before. The file is $FLYNN_CACHE/ceilings.json, or that of
 * $XDG_CACHE_HOME/flynn or ~/.cache/flynn. */
bool ceilings_save(const fl_device_info *device, const ceilings *measured, problem *why);

/* The file's name; "" where the environment names no folder. */
const char *ceilings_path(void);

/* The least time that so much work can take: the longer one of moving `bytes` and of `flops` operations in `dtype` (of
 * integers: of moving them). NaN where the ceiling is not known. */
double ceilings_least_s(const ceilings *c, fl_dtype dtype, double bytes, double flops);

#endif
