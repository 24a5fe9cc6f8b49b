/* SPDX-License-Identifier: MIT
 *
 * shared_options.h - the options that many commands have: --backend, --size, --json ...
 */
#pragma once

#include "command_line.h"

enum { SHARED = 27 };
_Static_assert(TAKES_FILES == 1 << SHARED, "each shared option has a bit, and TAKES_FILES the next one");

/* The i-th one has bit 1 << i (TAKES_...). Places are in common_options. */
extern const own_option shared_options[SHARED];

/* The values that hold where neither an option nor a variable is given. */
void shared_options_default(common_options *common);
