/* SPDX-License-Identifier: MIT
 * The variants of a device, and which of them a call takes. */
#ifndef FLYNN_CORE_CHOOSE_H
#define FLYNN_CORE_CHOOSE_H

#include "device.h"

/* One row to run, its arguments checked. */
typedef struct core_step {
    fl_operation operation;
    fl_dtype dtype;    /* it computes in */
    const void *args;  /* the operation's struct */
    size_t args_bytes; /* of `args`, with the values behind it that it points to; 0: the call waits and cannot be
                          recorded */
} core_step;

/* "convolve"; never NULL. */
const char *core_operation_name(fl_operation operation);

/* The variant of a call that names none, "auto": known by its address. */
extern const char core_automatic[];

/* Finds the row for `variant`; "auto": one that takes the tolerance, or, if none does, the one that takes the least. */
fl_status core_find_row(const fl_device *device, const core_step *step, const char *variant, double tolerance,
                        const fl_row **found);

/* Refuses a tolerance above 0 that the row does not take for these arguments. */
fl_status core_check_tolerance(const fl_device *device, const core_step *step, const fl_row *row, double tolerance);

#endif
