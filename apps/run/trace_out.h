/* SPDX-License-Identifier: MIT
 *
 * trace_out.h - --trace: writes what libflynn recorded as a Chrome trace, which Perfetto opens (ui.perfetto.dev).
 */
#pragma once

/* Starts the recording for `path` (NULL: does nothing); ends the command if that file cannot be written. */
void trace_out_start(const char *path);

/* Ends the recording and writes it, before the devices are closed. */
void trace_out_finish(const char *path);
