/* SPDX-License-Identifier: MIT
 *
 * files.h - arrays in files of the kind that the name's ending says: .npy or .png.
 */
#ifndef FLYNN_APPS_FILES_FILES_H
#define FLYNN_APPS_FILES_FILES_H

#include "support/host_array.h"

/* Reads a .png (as grey, png_file.h) or, whatever else the name ends in, a .npy (npy.h). */
bool file_read(const char *path, host_array *array, problem *why);

/* Writes a .npy or a .png (grey, clipped to 0..1), whole or not at all. */
bool file_write(const char *path, const host_array *array, problem *why);

/* Before long work whose result goes to `path`: can it be written? */
bool file_check_writable(const char *path, problem *why);
/* The same for a file_write: its ending must be .npy or .png too. */
bool file_check_output(const char *path, problem *why);

#endif
