/* SPDX-License-Identifier: MIT
 *
 * make_png.h - PNGs of every colour type and depth, made with libpng, for the tests of the readers.
 */
#ifndef FLYNN_TESTS_MAKE_PNG_H
#define FLYNN_TESTS_MAKE_PNG_H

#include <stdbool.h>

/* Which kind of PNG: libpng's PNG_COLOR_TYPE_..., 1 to 16 bits a sample. */
typedef struct png_kind {
    int type, depth;
    bool transparent; /* grey and RGB: one colour is; palette: entry 0 is, and half of entry 1 */
} png_kind;

/* All that the format has, then again those that may have transparent colours, with them. */
enum { PNG_KINDS = 26 };
extern const png_kind png_kinds[PNG_KINDS];

/* The sample of channel c at (y, x) of such a picture, a palette's index for those. */
unsigned made_sample(png_kind kind, int y, int x, int c);
/* The colours of the palette's entry i. */
void made_colour(unsigned i, unsigned char rgb[3]);

/* The alpha at (y, x), 0 to 255, or to 65535 for a depth of 16; -1 where the picture has none. */
int made_alpha(png_kind kind, int y, int x);

/* Writes the picture with those samples. */
void make_png(const char *path, png_kind kind, bool interlaced, int height, int width);

#endif
