/* SPDX-License-Identifier: MIT
 *
 * kernel_axes.h - whether a kernel with a wrong result takes the axes in the other order than `--grid=auto`.
 */
#pragma once

#include "kernel_options.h"

/* Blocks for a thread for each element of the first output. Where the block has several dimensions, x runs along the
 * output's last dimension, y along the one before it; `exchanged`: x along its first one, y along the second. */
void kernel_auto_grid(const output_spec *output, const int block[3], bool exchanged, int64_t grid[3]);

/* Launches the kernel again with the axes exchanged, in another process, so that a fault of the kernel does not end
 * this one. Returns whether that result is right, and its grid. Returns false, too, if the grid was given or has one
 * dimension, or if the inputs come from a pipe. */
bool kernel_is_right_exchanged(const exercise *e, const measurement *m, int64_t grid[3]);
