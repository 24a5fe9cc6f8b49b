/* SPDX-License-Identifier: MIT
 *
 * signals.h - SIGINT, SIGTERM and SIGHUP end a command in order.
 */
#pragma once

/* From now on the first signal is only recorded, so that a batch can finish the work on the device and the files being
 * written and start nothing else. `pass_on`, if not NULL, is called by the signal's handler. A second signal, at least
 * 0.3 s later, ends the process at once. Ignored signals stay ignored. */
void signals_catch(void (*pass_on)(void));

/* Between these calls signals are blocked; a process that is started in between has them blocked until it makes the
 * second call. */
void signals_block(void);
void signals_unblock(void);

/* Ends signals_catch: the next signal does what it did before. For a process that is started. */
void signals_let_end(void);

/* Returns the recorded signal; 0: none. */
int signals_caught(void);

/* Ends the process by that signal, so that its parent sees the cause. */
void signals_raise(int number);
