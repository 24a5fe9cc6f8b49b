/* SPDX-License-Identifier: MIT
 * A function of the user's, compiled for a device. */
#ifndef FLYNN_CORE_FUNCTION_H
#define FLYNN_CORE_FUNCTION_H

#include "device.h"
#include "signature.h"

struct fl_function {
    fl_device *device; /* a reference */
    core_signature signature;
    fl_function_info info; /* whose name is the signature's */
    void *code;            /* the plugin's */
};

#endif
