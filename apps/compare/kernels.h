/* SPDX-License-Identifier: MIT
 *
 * kernels.h - flynn compare kernel FILE...: the user's kernels side by side.
 */
#pragma once

#include "own/kernel_rows.h"

/* Returns whether the words are `kernel FILE...`. */
bool compare_is_of_kernels(const common_options *common);

/* The document of all rows: each kernel with each value of -D, --let and --block on all backends, in a process of its
 * own. Rows that fail are listed in "failed". Ends the command if all fail. */
json_t *compare_kernels(const common_options *common, const kernel_options *own);
