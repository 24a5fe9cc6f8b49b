/* SPDX-License-Identifier: MIT
 *
 * png_job.h - one PNG being read or written by libpng: what png_file.c and png_planes.c have in common. Jobs share
 * nothing: each may run on a thread of its own.
 */
#ifndef FLYNN_APPS_FILES_PNG_JOB_H
#define FLYNN_APPS_FILES_PNG_JOB_H

#include "file_bytes.h"

#include <png.h>

/* libpng reports an error by a longjmp, after which local variables are lost that changed since the setjmp. All that
 * has to outlive one is therefore in a structure, which the functions with a setjmp only point to. */
typedef struct png_job {
    const char *path; /* for messages */
    int64_t bytes;    /* of the file that is read */
    int64_t height, width;
    int channels; /* 1 to 4: grey, grey and alpha, RGB, RGB and alpha */
    int depth;    /* bits of a sample: 8 or 16 when reading, and 1, 2 or 4 too when writing */
    /* Row by row, the channels of a pixel side by side. A sample is a byte, or two where depth is 16: the most
     * significant first. */
    png_bytep pixels;

    png_structp png;
    png_infop info;
    char message[160]; /* libpng's words */
    png_bytepp rows;   /* where they begin in pixels, when reading */
} png_job;

/* Asks libpng for the pixels in another form than the file has them in. */
typedef void png_wishes(png_structp png, png_infop info);

/* Reads the header, into height and width. To be set before: path and bytes. libpng gets its bytes by `read` from
 * `source`; from a FILE for a NULL `read`. `ask` sees to it that a sample has a byte at least. Refuses a
 * header that claims more pixels than the bytes can hold. png_job_end is needed whatever comes of it. */
bool png_job_start(png_job *job, png_rw_ptr read, void *source, png_wishes *ask, problem *why);

/* Reads the rest, into channels, depth and pixels: all samples of a pixel as `ask` made them. */
bool png_job_read(png_job *job, problem *why);

/* Frees what the job that reads holds, the pixels too. */
void png_job_end(png_job *job);

/* Makes a PNG, not interlaced, with libpng's default compression, out of path, height, width, channels, depth and
 * pixels, which remain the caller's. false, with a problem and no bytes, for an edge out of the format's range (exit
 * code 2), a depth that the format has not for that many channels, or memory that was not to be had (4). */
bool png_job_write(png_job *job, file_bytes *out, problem *why);

#endif
