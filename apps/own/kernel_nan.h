/* SPDX-License-Identifier: MIT
 *
 * kernel_nan.h - NaN among the results of the user's kernel.
 */
#pragma once

#include "kernel_options.h"

/* Looks for NaN in the outputs from the `first` on, of which --expect says nothing. It is an error unless the kernel
 * reads a NaN: the message says where, and `found`, the check's result, becomes a wrong one. */
void nan_judge(const kernel_options *own, const measurement *m, int first, compare_result *found);
