/* SPDX-License-Identifier: MIT
 *
 * input.h - opens input files, regular files only.
 */
#ifndef FLYNN_APPS_FILES_INPUT_H
#define FLYNN_APPS_FILES_INPUT_H

#include "support/problem.h"

#include <stdint.h>
#include <stdio.h>

/* Opens `path` for reading and stores its size in `bytes`, at least 1. `expected` ends the error message, such as
 * "a .npy file". NULL, with a problem, for a file that is missing, unreadable or empty, and for a folder, pipe or
 * device: checking a header needs the size, and a pipe without a writer would block forever. */
FILE *input_open(const char *path, const char *expected, int64_t *bytes, problem *why);

#endif
