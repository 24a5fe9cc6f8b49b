/* SPDX-License-Identifier: MIT
 *
 * progress.h - what the command does, on stderr: on a terminal a line that is renewed each second, with the time that
 * has passed and, where it is known, the time that is left and when it ends; else a line every 30 seconds. For any
 * thread.
 */
#pragma once

#include <stdbool.h>

/* Names the work; shows nothing if fail_is_quiet. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How much of the work that progress() names is done, 0..1, since it was 0. */
void progress_part(double done);

/* Clears the line. Messages (fail.h) do so themselves; call it before writing to stdout. */
void progress_end(void);

/* ---------------------------------------------------------------------------------------------- --max-time ---- */

/* Sets the time limit of the process, in seconds after its start. Then `give_up` is called, which ends the process,
 * unless progress_has_result was called before. */
void progress_limit(double seconds, void (*give_up)(double limit));

/* From here on there is something to show when the time is over. */
void progress_has_result(void);

/* Returns whether a limit is set and the time is over. */
bool progress_is_late(void);
/* Returns whether the time is over and there is something to show. */
bool progress_ends(void);

/* Seconds that are left; a large number without a limit. progress_left_for_first: before `give_up` is called; a large
 * number where there is something to show. */
double progress_left(void);
double progress_left_for_first(void);
