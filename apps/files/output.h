/* SPDX-License-Identifier: MIT
 *
 * output.h - output files that appear whole or not at all, and a stdout whose failures are not lost.
 *
 * A file is written beside its target under a temporary name and renamed once it is complete and on the disk. What is
 * unfinished is removed when the process exits, by fail() too, or is ended by SIGINT, SIGTERM, SIGHUP or SIGQUIT.
 */
#ifndef FLYNN_APPS_FILES_OUTPUT_H
#define FLYNN_APPS_FILES_OUTPUT_H

#include "support/problem.h"

#include <stddef.h>
#include <stdio.h>

/* To be called once, first thing in main: removal of unfinished files at the end of the process, however it comes; a
 * stdout that could not be written in full (disk full, pipe closed) ends the process with exit code 4 and a message;
 * and a file can never be opened as a stdin, stdout or stderr that the caller had closed. */
void output_start(void);

/* A file being written. */
typedef struct output output;

/* Begins the file `path`; NULL, with a problem, where it could not be completed anyway: no such folder, a folder that
 * cannot be written to, a folder of that name, a read-only file of that name. A symbolic link stays and what it points
 * to is replaced. What is no regular file (/dev/null, a pipe) is written to directly. */
output *output_open(const char *path, problem *why);

/* To write to with stdio; errors need no checking, output_commit tells. */
FILE *output_stream(output *file);

/* Writes `bytes` bytes; false when it failed, of which output_commit then tells the cause. For what is larger than a
 * stream's buffer, where the cause would be forgotten. */
bool output_write(output *file, const void *data, size_t bytes);

/* Whether an output_write failed. */
bool output_failed(const output *file);

/* Ends the file and puts it in its place, with the mode that umask gives; false, with a problem and nothing left
 * behind, when anything went wrong since output_open. `file` is gone in either case. */
bool output_commit(output *file, problem *why);

/* Gives the file up: nothing is left behind. NULL does nothing. */
void output_discard(output *file);

/* Writes what `print` prints of `data` to the file, whole or not at all; for a NULL path to stdout, whose failures
 * output_start's check tells. */
bool output_print(const char *path, void (*print)(FILE *stream, const void *data), const void *data, problem *why);

#endif
