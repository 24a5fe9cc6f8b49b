/* SPDX-License-Identifier: MIT
 *
 * progress.h - one line on stderr that shows the current work, if stderr is a terminal. For any thread.
 */
#pragma once

#include <stdbool.h>

/* true: shows nothing. */
void progress_set_quiet(bool quiet);

void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Clears the line. Messages (fail.h) do so themselves; call it before writing to stdout. */
void progress_end(void);
