/* SPDX-License-Identifier: MIT
 * Which arrays a kernel may write, from its text. */
#ifndef FLYNN_CORE_KERNEL_WRITTEN_H
#define FLYNN_CORE_KERNEL_WRITTEN_H

#include "kernel_cut.h"
#include "kernel_signature.h"

/* Bit i: the kernel may write to the array of parameter i. 0: every place that names the parameter reads an element,
 * so that nothing can write. Call it after cut_end. */
unsigned core_kernel_written(const kernel_cut *cut, const core_kernel_signature *signature);
/* Returns whether the kernel, or what it names, calls printf. */
bool core_kernel_prints(const kernel_cut *cut);

#endif
