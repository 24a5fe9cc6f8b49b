/* SPDX-License-Identifier: MIT
 * A kernel of the user's, compiled for a device. */
#ifndef FLYNN_CORE_KERNEL_H
#define FLYNN_CORE_KERNEL_H

#include "device.h"
#include "kernel_signature.h"

struct fl_kernel {
    fl_device *device; /* a reference */
    core_kernel_signature signature;
    fl_kernel_info info; /* whose names are the signature's */
    void *code;          /* the plugin's */
};

#endif
