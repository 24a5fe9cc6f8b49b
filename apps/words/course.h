/* SPDX-License-Identifier: MIT
 *
 * course.h - the inputs that the courses make, for exercises without a file and for the words that make arrays.
 */
#pragma once

#include "support/host_array.h"

/* The courses' image has a one in the middle of each tile of this many rows and columns. */
enum { COURSE_TILE = 16 };

/* Rows, from `first` on, of an edge x edge image (edge at least 1): tiles of 16x16 zeros with a one at [8, 8], cut off
 * at the right and the bottom. f32 or f64. */
host_array course_image_rows(int64_t edge, int64_t first, int64_t rows, fl_dtype dtype);

enum { GAUSSIAN_WIDE, GAUSSIAN_NARROW };

/* An element of exp(-r^2 / 2) (wide) or exp(-r^2) (narrow) over np.linspace(-2, 2, n) of each dimension; a dimension of
 * one element has its middle. */
double course_gaussian_at(int width, int ndim, const int64_t *shape, const int64_t *index);

/* The 15x15 kernel exp(-r^2 / 2) (wide) or exp(-r^2) (narrow) over np.linspace(-2, 2, 15) squared, computed in f64; for
 * an image of f32 it is rounded to f32. */
host_array course_gaussian(int width, fl_dtype image);

/* Elements, from `first` on, of such an image with 2048 columns and any number of rows, row after row. */
host_array course_signal_part(int64_t first, int64_t count, fl_dtype dtype);

/* That kernel as a vector: its diagonal (15 elements), or all of it, row after row (225). */
host_array course_gaussian_line(int width, bool whole, fl_dtype signal);

/* A pixel of the head that reconstructions from X-rays are tried on: the middles of height x width pixels of the square
 * from -1 to 1, from the top down. */
double course_phantom_at(int64_t height, int64_t width, int64_t y, int64_t x);

/* `rows` rows, from `first` on, of that head in edge x edge pixels of f32. */
host_array course_phantom_rows(int64_t edge, int64_t first, int64_t rows);
