/* SPDX-License-Identifier: MIT
 *
 * make_png.h - PNGs of every colour type and depth, made with libpng, for the tests of the reader.
 */
#ifndef FLYNN_TESTS_MAKE_PNG_H
#define FLYNN_TESTS_MAKE_PNG_H

#include <stdbool.h>

/* Which kind of PNG: libpng's PNG_COLOR_TYPE_..., 1 to 16 bits a sample. */
typedef struct png_kind {
    int type, depth;
} png_kind;

/* All that the format has. */
enum { PNG_KINDS = 15 };
extern const png_kind png_kinds[PNG_KINDS];

/* The sample of channel c at (y, x) of such a picture, a palette's index for those. */
unsigned made_sample(png_kind kind, int y, int x, int c);
/* The colours of the palette's entry i. */
void made_colour(unsigned i, unsigned char rgb[3]);

/* Writes the picture with those samples; the palette's pictures and grey ones have a transparent colour too. */
void make_png(const char *path, png_kind kind, bool interlaced, int height, int width);

#endif
