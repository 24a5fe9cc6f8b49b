/* SPDX-License-Identifier: MIT
 *
 * folder.h - the folder of compiled code, and folders and files for code that is being compiled. */
#ifndef FLYNN_CORE_CACHE_FOLDER_H
#define FLYNN_CORE_CACHE_FOLDER_H

#include "plugins/plugin_file.h"

#include <limits.h>

/* Each returns false with `fault` filled: FL_E_MEMORY if memory, descriptors or space on the disk are short, else
 * FL_E_UNAVAILABLE. */

/* Writes the folder in which Flynn saves files for later processes, as the variables name it; "" if none does. `make`:
 * makes it and those above it, with mode 0700, but not in another user's folder, unless FLYNN_CACHE names it. */
bool core_cache_base(bool make, char base[PATH_MAX], core_fault *fault);

/* Writes the folder in it for compiled code: absolute and without symbolic links; "" if no variable names one. Returns
 * whether it can be used: it is a folder of this user's, nobody else can write to it or replace it, and code can be
 * loaded from its file system. `make`: makes both; else neither needs to exist, but files must be writable in it. */
bool core_cache_folder(bool make, char folder[PATH_MAX], core_fault *fault);
/* Returns whether the cache is off: FLYNN_CACHE is "off". */
bool core_cache_is_off(void);

/* Makes an empty file for code, on a disk with space for it. Its name shows which process made it. */
bool core_cache_make_part(const char *folder, char path[PATH_MAX], core_fault *fault);

/* Makes a folder in $TMPDIR (or /tmp) that only this user can use, and such a file in it. */
bool core_cache_make_temporary(char path[PATH_MAX], core_fault *fault);
/* Removes both. */
void core_cache_remove_temporary(const char *path);

/* Removes from the folder what the two made in processes that were killed. */
void core_cache_remove_left_behind(const char *folder);

#endif
