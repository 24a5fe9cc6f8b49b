/* SPDX-License-Identifier: MIT
 *
 * signals.h - SIGINT and SIGTERM end a batch in order.
 */
#pragma once

/* From here on the first signal is only kept, so that the batch can finish what is on the device or being written and
 * begin nothing else. Another one, at least 0.3 s later, ends the process at once. Ignored signals stay ignored. */
void signals_catch(void);

/* The signal that came; 0: none. */
int signals_caught(void);

/* Ends the process by that signal, so that its parent sees why it ended. */
void signals_raise(int number);
