/* SPDX-License-Identifier: MIT
 *
 * progress.h - one line on stderr that shows the current work, if stderr is a terminal. For any thread.
 */
#ifndef FLYNN_APPS_SUPPORT_PROGRESS_H
#define FLYNN_APPS_SUPPORT_PROGRESS_H

#include <stdbool.h>

/* true: shows nothing. */
void progress_set_quiet(bool quiet);

/* Replaces the line. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Clears the line. Messages (fail.h) do so themselves; call it before writing to stdout. */
void progress_end(void);

#endif
