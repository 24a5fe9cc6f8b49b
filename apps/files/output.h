/* SPDX-License-Identifier: MIT
 *
 * output.h - output files that appear whole or not at all, and errors of stdout that are reported.
 *
 * A file is written next to its target under a temporary name and renamed once it is complete and on the disk. An
 * unfinished file is removed when the process exits or is ended by SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGXCPU. The
 * next process that writes into the folder removes what a process left that could not do so (SIGKILL): at once on the
 * same host, after a day on others.
 */
#pragma once

#include "support/problem.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdnoreturn.h>

/* Call once, first in main. From then on unfinished files are removed when the process ends; a stdout that could not be
 * written completely (disk full) ends the process with exit code 4 and a message, unless it is a pipe that nobody reads
 * any more; and no file is opened in place of a stdin, stdout or stderr that the caller had closed. */
void output_start(void);

/* Ends the process while other threads run: unfinished files are removed, and no new ones are created. A signal handler
 * may call both. */
noreturn void output_end(int exit_code);
void output_remove_unfinished(void);

/* Removes unfinished files that killed processes of this host left in the folder `path`, or next to the file `path`. */
void output_clean(const char *path);

/* From then on the file "-" is stdout, and what is printed goes to stderr, or if `quiet` nowhere. */
void output_take_stdout(bool quiet);

/* The first sends stdout to stderr, or if not `shown` nowhere; the second ends that. Either may be called again. */
void output_hold_stdout(bool shown);
void output_release_stdout(void);

typedef struct output output;

/* Creates the file `path`. NULL, with a problem, if it cannot be written: its folder is missing or read-only, or `path`
 * is a folder or a read-only file. A symbolic link stays; its target is replaced, or made. A device or pipe (/dev/null)
 * is written to directly. */
output *output_open(const char *path, problem *why);

/* The stream for stdio. Errors need no checking: output_commit reports them. */
FILE *output_stream(output *file);

/* Writes `bytes` bytes; output_commit reports the cause of a failure. For data larger than a stream's buffer, where
 * stdio would forget the cause. */
bool output_write(output *file, const void *data, size_t bytes);

/* For processes that write parts of one file: the name of the unfinished one, and how many bytes of it are written.
 * NULL: it can only be written from front to back (stdout, a device, a pipe). */
const char *output_unfinished(output *file, int64_t *bytes);

/* Joins in writing the unfinished file of another process, from byte `at` on. output_commit then puts what was written
 * on the disk; the process that created the file completes it. NULL if this process cannot see the file. */
output *output_join(const char *path, const char *unfinished, int64_t at);

/* Puts on the disk what is written so far; output_commit, which has little left to do then, reports a failure. */
void output_settle(output *file);

/* Completes the file and frees `file`. It has the mode of the file that it replaces, and a new one that of umask.
 * false, with a problem and nothing left on the disk, if anything failed since output_open. */
bool output_commit(output *file, problem *why);

/* Removes the unfinished file. NULL does nothing. */
void output_discard(output *file);

/* Lets `print` write `data` to the file, whole or not at all; for a NULL path to stdout. */
bool output_print(const char *path, void (*print)(FILE *stream, const void *data), const void *data, problem *why);
