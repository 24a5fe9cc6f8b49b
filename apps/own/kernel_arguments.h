/* SPDX-License-Identifier: MIT
 *
 * kernel_arguments.h - the arguments of `flynn kernel`: arrays and numbers for the kernel's parameters.
 */
#pragma once

#include "kernel_options.h"

/* Ends the command if it cannot be read. */
kernel_text kernel_text_read(const kernel_options *own, const char *path, const char *entry);
/* Ends the command unless `status` is FL_OK. A place of the text in the message is shown as that of the file that the
 * user wrote. */
void kernel_text_must(const kernel_text *k, fl_status status, const char *log);
void kernel_text_free(kernel_text *k);

/* Says once what of the file no compiler sees. Call it when the kernel has compiled: an error in it stands alone. */
void kernel_remark(kernel_options *own);

/* exercise_kind.take */
void kernel_take(exercise *e);
void kernel_arguments_free(kernel_options *own);
