/* SPDX-License-Identifier: MIT
 *
 * async_output.h - a file that a thread writes while its contents are checked. It appears only if they are right.
 */
#pragma once

#include "support/host_array.h"

typedef struct async_output async_output;

/* Starts to write the array, which must stay as it is, as file_write does. NULL: the path is no place for an unfinished
 * file (stdout, a pipe, a device), or there is no thread; nothing is written then. */
async_output *async_output_start(const char *path, const host_array *array);

/* Completes the file as file_put does. */
void async_output_finish(async_output *file, const char *how);
/* Removes what was written. */
void async_output_discard(async_output *file);
