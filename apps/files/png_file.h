/* SPDX-License-Identifier: MIT
 *
 * png_file.h - pictures in PNG files, by libpng.
 */
#pragma once

#include "output.h"

#include "support/host_array.h"

/* Reads a PNG of any colour type and depth as a 2-D f32 array (height, width) of greys from 0 to 1: colours as
 * 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), alpha ignored, no gamma applied. A header that claims more pixels than
 * the file's bytes can hold is refused before memory is allocated. false, with a problem and an empty array, if the
 * file is not a complete, valid PNG. */
bool png_read(const char *path, host_array *image, problem *why);
/* png_read for `rows` rows from `first` on, which are there; 0 rows are all of them. What comes after them may be
 * damaged. */
bool png_read_part(const char *path, int64_t first, int64_t rows, host_array *image, problem *why);
/* Reads the height and width from the header alone. */
bool png_look(const char *path, int64_t shape[2], problem *why);

/* Writes a 2-D array of any dtype as 8-bit grey, 0..1 becoming 0..255, rounded and clipped; NaN becomes 0. Whole or not
 * at all (output.h). Exit code 2 for an array that is not 2-D or is empty. */
bool png_write_grey(const char *path, const host_array *image, problem *why);
/* All of png_write_grey but output_commit: the unfinished file, or NULL. */
output *png_begin_grey(const char *path, const host_array *image, problem *why);

/* png_write_grey in two steps: the bytes of the elements of an array of any shape (malloc), and a picture of such
 * bytes, row by row. */
bool png_grey(const char *path, const host_array *array, uint8_t **bytes, problem *why);
bool png_write_bytes(const char *path, int64_t height, int64_t width, uint8_t *bytes, problem *why);

/* 8-bit colours, three bytes a pixel, row by row. */
typedef struct picture {
    int64_t height, width;
    uint8_t *rgb;
} picture;

/* Writes a picture; whole or not at all. */
bool png_write_picture(const char *path, const picture *colours, problem *why);
