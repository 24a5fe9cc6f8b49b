/* SPDX-License-Identifier: MIT
 *
 * kernel_arguments.h - the arguments of `flynn kernel`: arrays and numbers for the kernel's parameters.
 */
#pragma once

#include "kernel_options.h"

/* Ends the command if it cannot be read. */
kernel_text kernel_text_read(const char *path, const char *entry);

/* exercise_kind.take */
void kernel_take(exercise *e);
void kernel_arguments_free(kernel_options *own);
