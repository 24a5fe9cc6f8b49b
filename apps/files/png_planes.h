/* SPDX-License-Identifier: MIT
 *
 * png_planes.h - images in PNG files as planes, written back in the colour type and depth that they were read from.
 *
 * Not called png_image: that is a type of libpng's. Several threads may decode and encode different images at once.
 * Reading and writing the bytes: file_bytes.h.
 */
#ifndef FLYNN_APPS_FILES_PNG_PLANES_H
#define FLYNN_APPS_FILES_PNG_PLANES_H

#include "file_bytes.h"

/* An image as planes of numbers: grey, or red, green and blue; an alpha plane is kept apart, as it is. Zeroed, it is
 * empty and may be freed. */
typedef struct png_planes {
    int64_t height, width;
    int channels;    /* 1: grey; 3: red, green, blue */
    int depth;       /* bits of a sample in the file: 8, 16, or 1, 2, 4 for grey without alpha */
    float *planes;   /* channels x height x width samples, 0 .. 2^depth - 1, not scaled; aligned to a cache line */
    uint16_t *alpha; /* height x width samples, 0 .. 2^depth - 1; or NULL */
} png_planes;

/* Decodes the bytes of a PNG of any colour type and depth, interlaced or not. The samples are the file's, with two
 * exceptions: a palette becomes RGB of 8 bits; and grey of fewer than 8 bits with a transparent colour is scaled to 8
 * bits, since the format has no alpha below that. A transparent colour or a palette's transparency becomes an alpha
 * plane. No gamma is applied; text and metadata (gAMA, iCCP, pHYs, tEXt) are not kept. `path` begins the error
 * message. A header that claims more pixels than the bytes can hold is refused before memory is taken. false, with a
 * one-line problem that has libpng's words and an empty image, for what is no whole, sound PNG: exit code 2, or 4 for
 * memory that was not to be had. */
bool png_planes_decode(const char *path, const void *data, size_t size, png_planes *image, problem *why);

/* Encodes an image as a PNG of its channels and depth, with alpha where it has some; not interlaced, with libpng's
 * default compression. Samples are rounded to the nearest whole number, halves up, and clipped to 0 .. 2^depth - 1; NaN
 * becomes 0. `path` begins the error message. false, with a problem and no bytes, for an image without pixels (exit
 * code 2), channels and a depth that the format has not together, or memory that was not to be had (4). */
bool png_planes_encode(const char *path, const png_planes *image, file_bytes *encoded, problem *why);

/* Frees the planes and empties the image. */
void png_planes_free(png_planes *image);

#endif
