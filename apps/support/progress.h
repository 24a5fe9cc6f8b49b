/* SPDX-License-Identifier: MIT
 *
 * progress.h - what is under way, told in one line on a terminal: stderr, if that is one. From any thread.
 */
#ifndef FLYNN_APPS_SUPPORT_PROGRESS_H
#define FLYNN_APPS_SUPPORT_PROGRESS_H

#include <stdbool.h>

/* true: nothing is shown. */
void progress_set_quiet(bool quiet);

/* Shows what is under way, in place of what was shown last. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes that away, if anything is shown. Messages (fail.h) do so themselves; who writes to stdout must have done so. */
void progress_end(void);

#endif
