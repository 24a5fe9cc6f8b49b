/* SPDX-License-Identifier: MIT
 *
 * png_job.h - one PNG that libpng reads from memory or writes to memory. Each job may run on its own thread.
 */
#pragma once

#include "file_bytes.h"

#include <png.h>

/* libpng reports an error by a longjmp, which loses local variables that changed since the setjmp. This structure
 * holds everything that must survive one. */
typedef struct png_job {
    const char *path; /* for messages */
    int64_t height, width;
    int channels;   /* 1 to 4: grey, grey and alpha, RGB, RGB and alpha */
    int depth;      /* bits of a sample: 8 or 16 when reading, also 1, 2 or 4 when writing */
    int file_depth; /* when reading: bits of a sample in the file; 8 where fewer were scaled to 8 */
    int64_t first;  /* when reading: the first row that is wanted */
    int64_t wanted; /* and how many from there on; 0: all. Then `height` is their number */
    /* Row by row, the channels of a pixel side by side. A sample is one byte, or two (big-endian) if depth is 16. */
    png_bytep pixels;
    png_bytepp rows; /* the first byte of each row, when reading */

    png_structp png;
    png_infop info;
    const uint8_t *next; /* not read yet */
    size_t left;
    char message[160]; /* libpng's error */
    bool no_memory;    /* an allocation failed, whatever libpng says of it */
} png_job;

/* Reads a PNG from memory into height, width, channels, depths, pixels and rows; path must be set. A palette becomes
 * RGB of 8 bits, a transparent colour alpha (grey of fewer than 8 bits is then scaled to 8). Refuses a header that
 * claims more pixels than the bytes can hold before memory is allocated. Call png_job_end in any case. */
bool png_job_read(png_job *job, const void *bytes, size_t size, problem *why);

/* Reads the header alone: height, width and file_depth. Errors as above. */
bool png_job_look(png_job *job, const void *bytes, size_t size, problem *why);

/* Frees what a reading job holds, the pixels too. */
void png_job_end(png_job *job);

static inline int png_job_sample_bytes(const png_job *job)
{
    return job->depth == 16 ? 2 : 1;
}

/* Bytes from one pixel to the next. */
static inline int png_job_pixel_bytes(const png_job *job)
{
    return job->channels * png_job_sample_bytes(job);
}

/* Makes a PNG, not interlaced, from path, height, width, channels, depth and pixels; threads compress the rows. false, with a problem and no bytes, for an edge outside the format's range (exit code 2), for a depth that
 * the format lacks for these channels, and if memory runs out (4). */
bool png_job_write(png_job *job, file_bytes *out, problem *why);
