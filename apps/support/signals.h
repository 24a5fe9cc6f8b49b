/* SPDX-License-Identifier: MIT
 *
 * signals.h - SIGINT, SIGTERM and SIGHUP end a command in order.
 */
#pragma once

/* From here on the first signal is only kept, so that a batch can finish what is on the device or being written and
 * begin nothing else; `pass_on`, if not NULL, is called, by the signal's handler. Another one, at least 0.3 s later,
 * ends the process at once. Ignored signals stay ignored. */
void signals_catch(void (*pass_on)(void));

/* Between these calls a signal waits, also in a process that is started meanwhile until it calls the second one. */
void signals_block(void);
void signals_unblock(void);

/* The signal that came; 0: none. */
int signals_caught(void);

/* Ends the process by that signal, so that its parent sees why it ended. */
void signals_raise(int number);
