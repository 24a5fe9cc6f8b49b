/* SPDX-License-Identifier: MIT
 * A kernel of the user's, compiled for a device. */
#ifndef FLYNN_CORE_KERNEL_H
#define FLYNN_CORE_KERNEL_H

#include "text/text.h"
#include "user_text.h"

struct fl_kernel {
    core_user_code compiled;
    core_kernel_signature signature;
    fl_kernel_info info;   /* whose names are the signature's */
    fl_parameter *numbers; /* info's */
    bool watch_next;       /* watch the next launch */
    bool was_watched;      /* a launch was; `found` has what it found */
    fl_findings found;
};

/* Checks an array that a kernel shall see: not NULL, on its device, its elements one after the other. */
fl_status core_kernel_check_array(const char *call, const char *name, const fl_array *array, const fl_device *device);

#endif
