/* SPDX-License-Identifier: MIT
 *
 * input.h - opening input files so that nothing but a regular file gets through.
 */
#ifndef FLYNN_APPS_FILES_INPUT_H
#define FLYNN_APPS_FILES_INPUT_H

#include "support/problem.h"

#include <stdint.h>
#include <stdio.h>

/* Opens `path` for reading and tells its size in bytes, at least 1. `expected` ends the error message, such as
 * "a .npy file". NULL, with a problem, for what is missing, unreadable, empty, a folder, a pipe or a device: a size is
 * needed to hold a header's claims against, and a pipe without a writer would block for ever. */
FILE *input_open(const char *path, const char *expected, int64_t *bytes, problem *why);

#endif
