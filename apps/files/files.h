/* SPDX-License-Identifier: MIT
 *
 * files.h - arrays in .npy and .png files; the end of the name shows which.
 *
 * The room files/ reads and writes files: NumPy arrays, PNG images, colour maps, and whole-or-nothing output.
 */
#pragma once

#include "npy.h"

/* Returns whether the name ends with `ending` (".png", also ".PNG") or equals it. */
bool file_ends_in(const char *path, const char *ending);

/* Reads a .png (as grey, png_file.h); under any other name a .npy (npy.h). */
bool file_read(const char *path, host_array *array, problem *why);

/* Reads the header of such a file; a picture has only dtype, ndim and shape. */
bool file_look(const char *path, npy_layout *layout, problem *why);
/* Reads `count` elements from `first` on, in the order of a C array, into an array of one dimension. Uses host memory
 * for little more than the rows that hold them, but for all of an interlaced picture. Exit code 2 if the file was
 * replaced since file_look by one that is too short. */
bool file_read_elements(const char *path, const npy_layout *layout, int64_t first, int64_t count, host_array *array,
                        problem *why);

/* Writes a .npy or a .png (grey, clipped to 0..1), whole or not at all. */
bool file_write(const char *path, const host_array *array, problem *why);
/* All of file_write but output_commit: the unfinished file; NULL, with a problem, if it cannot be written. */
output *file_begin(const char *path, const host_array *array, problem *why);

/* file_write, which ends the command where it fails and says in a line what was written. Of a .png the line says what
 * share of the elements is beyond 0..1, and `how` it is drawn whole (NULL: by `flynn show`). */
void file_put(const char *path, const host_array *array, const char *how);
/* file_put for what file_begin returned. */
void file_put_begun(const char *path, output *file, const host_array *array, const char *how, problem *why);

/* Says in a note that the file is written, and what it has; nothing of stdout, a pipe or a device. */
void file_note_written(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Checks that `path` can be written; call it before long work. A name that is an ending alone (.png) is refused. */
bool file_check_writable(const char *path, problem *why);
/* file_check_writable for file_write: the name must also end in .npy or .png; "-" is stdout, which must be no terminal.
 */
bool file_check_output(const char *path, problem *why);
/* file_check_writable for a picture that --png names: the name must end in .png. */
bool file_check_picture(const char *path, problem *why);
