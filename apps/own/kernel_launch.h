/* SPDX-License-Identifier: MIT
 *
 * kernel_launch.h - the launches of the user's kernel, and of the kernel that --expect names.
 */
#pragma once

#include "kernel_arguments.h"

/* The block of a launch: `asked`, or by default 256 threads in one dimension. */
void kernel_choose_block(const int asked[3], int block[3]);

/* The kernel's code on a device, compiled at the first call. */
fl_status kernel_on(kernel_options *own, const kernel_text *k, fl_device *device, kernel_code **found);

/* Launches a kernel. `watched`: hip-cpu looks at each access; a GPU cannot. `shown`: what the kernel prints is shown,
 * if this is its first launch there. */
fl_status kernel_launch(const exercise *e, const kernel_text *k, fl_device *device, fl_array *const *in,
                        fl_array *const *out, const fl_run *run, bool watched, bool shown);
