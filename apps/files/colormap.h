/* SPDX-License-Identifier: MIT
 *
 * colormap.h - draws an array in false colours, as the course shows it.
 */
#pragma once

#include "png_file.h"

/* Draws the top left crop[0] x crop[1] elements (0 or too large: all) of a 2-D array of any dtype in viridis, each
 * element a square of zoom x zoom pixels, zoom at least 1. The colours run from the smallest to the largest finite
 * element drawn; -inf and inf have the first and the last colour, NaN is grey, and a constant array has the first
 * colour. `what` (the output's name) begins an error message. Free with picture_free. */
bool colormap_draw(const host_array *array, const int64_t crop[2], int64_t zoom, picture *colours, const char *what,
                   problem *why);

void picture_free(picture *colours);
