/* SPDX-License-Identifier: MIT
 *
 * course.h - the inputs that the courses make, for exercises that are given none.
 */
#ifndef FLYNN_APPS_EXERCISES_COURSE_H
#define FLYNN_APPS_EXERCISES_COURSE_H

#include "support/host_array.h"

/* An edge x edge image (edge at least 1): tiles of 16x16 zeros with a one at [8, 8], cut off at the right and the
 * bottom. f32 or f64. false as host_array_create, --size being to blame. */
bool course_image(int64_t edge, fl_dtype dtype, host_array *image, problem *why);

typedef enum gaussian_width { GAUSSIAN_WIDE = 0, GAUSSIAN_NARROW = 1 } gaussian_width;

/* The 15x15 kernel exp(-r^2 / 2) (wide) or exp(-r^2) (narrow) over np.linspace(-2, 2, 15) squared, computed in f64; f32
 * is rounded from that. */
bool course_gaussian(gaussian_width width, fl_dtype dtype, host_array *kernel, problem *why);

/* The first `size` elements (at least 1) of such an image of 2048 columns and any number of rows, row after row. */
bool course_signal(int64_t size, fl_dtype dtype, host_array *signal, problem *why);

/* That kernel as a vector: its diagonal (15 elements), or all of it, row after row (225). */
bool course_gaussian_line(gaussian_width width, bool whole, fl_dtype dtype, host_array *kernel, problem *why);

#endif
