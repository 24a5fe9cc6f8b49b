/* SPDX-License-Identifier: MIT
 *
 * lent.h - arrays of the host as arrays of a device that computes in host memory, without a copy.
 */
#pragma once

#include "host_array.h"

/* Creates an array over the memory of `array`, which must stay until fl_array_free. The device's `host_memory` must be
 * true. */
fl_status lent_create(fl_device *device, const host_array *array, fl_array **lent);
