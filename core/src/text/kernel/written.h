/* SPDX-License-Identifier: MIT
 * Which arrays a kernel may write, from its text. */
#ifndef FLYNN_CORE_KERNEL_WRITTEN_H
#define FLYNN_CORE_KERNEL_WRITTEN_H

#include "cut.h"

/* Bit i: the kernel may write to the array that the parameter names[i] points to. 0: every place that names it reads an
 * element, so that nothing can write. NULL among the `count` names: no such array. Call it after cut_end. */
unsigned core_kernel_written(const kernel_cut *cut, const char *const *names, int count);
/* Returns whether the kernel, or what it names, calls printf. */
bool core_kernel_prints(const kernel_cut *cut);

#endif
