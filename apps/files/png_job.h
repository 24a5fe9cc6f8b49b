/* SPDX-License-Identifier: MIT
 *
 * png_job.h - one PNG that libpng reads from memory or writes to memory. Each job may run on its own thread.
 */
#ifndef FLYNN_APPS_FILES_PNG_JOB_H
#define FLYNN_APPS_FILES_PNG_JOB_H

#include "file_bytes.h"

#include <png.h>

/* libpng reports an error by a longjmp, which loses local variables that changed since the setjmp. This structure
 * holds everything that must survive one. */
typedef struct png_job {
    const char *path; /* for messages */
    int64_t height, width;
    int channels; /* 1 to 4: grey, grey and alpha, RGB, RGB and alpha */
    int depth;    /* bits of a sample: 8 or 16 when reading, also 1, 2 or 4 when writing */
    /* Row by row, the channels of a pixel side by side. A sample is one byte, or two (big-endian) if depth is 16. */
    png_bytep pixels;
    png_bytepp rows; /* the first byte of each row, when reading */

    png_structp png;
    png_infop info;
    size_t size;         /* of the whole file, when reading */
    const uint8_t *next; /* not read yet */
    size_t left;
    char message[160]; /* libpng's error */
} png_job;

/* Asks libpng to convert the pixels while it reads them. */
typedef void png_conversion(png_structp png, png_infop info);

/* Reads the header of the file `bytes` into height and width; path must be set. `convert` must give each sample at
 * least one byte. Refuses a header that claims more pixels than the bytes can hold. Call png_job_end in any case. */
bool png_job_start(png_job *job, const void *bytes, size_t size, png_conversion *convert, problem *why);

/* Reads the rest into channels, depth, pixels and rows. */
bool png_job_read(png_job *job, problem *why);

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

static inline uint16_t png_job_sample(const png_job *job, const uint8_t *at)
{
    return (uint16_t)(job->depth == 16 ? at[0] << 8 | at[1] : at[0]);
}

/* Makes a PNG, not interlaced, with libpng's default compression, from path, height, width, channels, depth and
 * pixels. false, with a problem and no bytes, for an edge outside the format's range (exit code 2), for a depth that
 * the format lacks for these channels, and if memory runs out (4). */
bool png_job_write(png_job *job, file_bytes *out, problem *why);

#endif
