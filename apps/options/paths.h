/* SPDX-License-Identifier: MIT
 *
 * paths.h - what a path leads to, and which files a command reads and writes: two outputs in one file, or an output in
 * the place of an input, would destroy each other.
 */
#pragma once

#include <stdbool.h>

/* Takes the empty and the relative folders out of this process's PATH, because a program that it starts (mpirun,
 * gnuplot) must not come from the current folder. */
void path_keep_absolute(void);
/* Returns whether a folder of PATH has the program. */
bool path_has_program(const char *name);

/* `path` without the symbolic links in its last part, also where the file that they lead to is not there (malloc).
 * NULL with errno: ELOOP, ENOMEM. */
char *path_follow(const char *path);

typedef enum path_use {
    PATH_READ,
    PATH_FIRST,  /* the first input, which is read whole before the result is written */
    PATH_RESULT, /* the result: it may replace the first input, and nothing else */
    PATH_WRITTEN,
} path_use;

/* Declares that the command uses the file in this way. Ends the command (exit code 2) if it is the same file as one
 * that was declared before, and one of the two would destroy the other; the line names both, as the format says. Files
 * are the same if device and inode are, or, where there is no file yet, those of the folder and the name in it.
 * Terminals, pipes and devices without blocks (/dev/null) can be used twice. */
void path_claim(path_use use, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Declares stdout and stderr, where they lead to files. */
void path_claim_streams(void);
