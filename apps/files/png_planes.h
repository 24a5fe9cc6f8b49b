/* SPDX-License-Identifier: MIT
 *
 * png_planes.h - PNG images as planes, which can be written back in the colour type and depth of the file. Several
 * threads may decode and encode different images at once. file_bytes.h reads and writes the bytes.
 */
#pragma once

#include "file_bytes.h"

/* An image as planes of numbers: grey, or red, green and blue, with an optional alpha plane. Zeroed, it is empty and
 * may be freed. */
typedef struct png_planes {
    int64_t height, width;
    int channels;    /* 1: grey; 3: red, green, blue */
    int depth;       /* bits of a sample in the file: 8, 16, or 1, 2, 4 for grey without alpha */
    float *planes;   /* channels x height x width samples, 0 .. 2^depth - 1, not scaled; aligned to a cache line */
    uint16_t *alpha; /* height x width samples, 0 .. 2^depth - 1; or NULL */
} png_planes;

/* Decodes a PNG of any colour type and depth, interlaced or not. The samples are the file's, except that a palette
 * becomes RGB of 8 bits, and that grey of fewer than 8 bits with a transparent colour is scaled to 8, since the format
 * has no alpha below that. Transparency becomes an alpha plane. No gamma is applied; text and metadata (gAMA, iCCP,
 * pHYs, tEXt) are dropped. `path` begins the error message. A header that claims more pixels than the bytes can hold is
 * refused before memory is allocated. false, with a problem and an empty image, if the bytes are not a complete, valid
 * PNG (exit code 2) or memory runs out (4). */
bool png_planes_decode(const char *path, const void *data, size_t size, png_planes *image, problem *why);

/* png_planes_decode for `rows` rows from `first` on, which are there; 0 rows are all of them. What comes after them is
 * not read and may be damaged. Uses host memory for these rows alone, unless the PNG is interlaced. */
bool png_planes_decode_rows(const char *path, const void *data, size_t size, int64_t first, int64_t rows,
                            png_planes *image, problem *why);

/* Encodes the image as a PNG of its channels, depth and alpha (png_job_write). Samples are rounded to the nearest
 * integer, halves up, and clipped to 0 .. 2^depth - 1; NaN becomes 0. false, with a problem and no bytes, for an image
 * without pixels (exit code 2), for channels and a depth that the format does not combine, and if memory runs out (4).
 */
bool png_planes_encode(const char *path, const png_planes *image, file_bytes *encoded, problem *why);

/* Frees the planes and empties the image. */
void png_planes_free(png_planes *image);
