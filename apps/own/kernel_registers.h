/* SPDX-License-Identifier: MIT
 *
 * kernel_registers.h - flynn kernel --registers: what a kernel takes of a GPU that need not be here.
 */
#pragma once

#include "kernel_options.h"

#include "run/exercise.h"

/* Compiles each kernel for each GPU of --registers, shows what it takes there, and ends the command: no kernel is
 * launched. `words` are the kernels' files. */
noreturn void kernel_registers(const exercise *e, const char *const *words, int count);
