/* SPDX-License-Identifier: MIT
 *
 * early.h - a file that a thread writes while its contents are checked. It appears only if they are right.
 */
#pragma once

#include "support/host_array.h"

typedef struct early_file early_file;

/* Starts to write the array, which must stay as it is, as file_write does. NULL: the path is no place for an unfinished
 * file (stdout, a pipe, a device), or there is no thread; nothing is written then. */
early_file *early_start(const char *path, const host_array *array);

/* Completes the file as file_put does. */
void early_put(early_file *file, const char *how);
/* Removes what was written. */
void early_discard(early_file *file);
