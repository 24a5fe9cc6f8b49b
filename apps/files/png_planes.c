/* SPDX-License-Identifier: MIT */
#include "png_planes.h"
#include "png_job.h"

#include "support/host_array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes from one channel to the next, and from one pixel to the next. */
static int sample_bytes(const png_job *job)
{
    return job->depth == 16 ? 2 : 1;
}

static int pixel_bytes(const png_job *job)
{
    return job->channels * sample_bytes(job);
}

/* ---------------------------------------------------------------------------------------------- decoding ---- */

/* What has not been read yet. */
typedef struct rest {
    const uint8_t *data;
    size_t size;
} rest;

static void take(png_structp png, png_bytep data, size_t size)
{
    rest *from = png_get_io_ptr(png);
    if (size > from->size)
        png_error(png, "Read Error"); /* libpng's words for a file that ends */
    memcpy(data, from->data, size);
    from->data += size;
    from->size -= size;
}

/* Whether samples have to be replaced by what they mean: those of palettes, and where a colour is transparent. */
static bool has_meanings(png_structp png, png_infop info)
{
    return png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
}

/* Other samples as they are, a byte each at least. */
static void ask_for_samples(png_structp png, png_infop info)
{
    if (has_meanings(png, info))
        png_set_expand(png); /* to 8 bits at least */
    else
        png_set_packing(png);
}

/* Bits of the image's samples, the header having been read; job->depth will be of those in memory. */
static int image_depth(const png_job *job)
{
    int depth = png_get_bit_depth(job->png, job->info);
    return depth < 8 && has_meanings(job->png, job->info) ? 8 : depth;
}

static void to_plane(const png_job *job, int c, float *plane)
{
    int step = pixel_bytes(job);
    for (int64_t y = 0; y < job->height; y++) {
        const uint8_t *at = job->rows[y] + c * sample_bytes(job);
        if (job->depth == 16)
            for (int64_t x = 0; x < job->width; x++, at += step)
                *plane++ = (float)(at[0] << 8 | at[1]);
        else
            for (int64_t x = 0; x < job->width; x++, at += step)
                *plane++ = at[0];
    }
}

static void to_alpha(const png_job *job, int c, uint16_t *alpha)
{
    int step = pixel_bytes(job);
    for (int64_t y = 0; y < job->height; y++) {
        const uint8_t *at = job->rows[y] + c * sample_bytes(job);
        for (int64_t x = 0; x < job->width; x++, at += step)
            *alpha++ = (uint16_t)(job->depth == 16 ? at[0] << 8 | at[1] : at[0]);
    }
}

/* An odd number of channels is colours alone, an even one has alpha last. */
static bool to_image(const png_job *job, int depth, png_planes *image, problem *why)
{
    bool has_alpha = job->channels % 2 == 0;
    int channels = job->channels - has_alpha;
    host_array planes;
    int64_t shape[] = {channels, job->height, job->width};
    if (!host_array_create(&planes, FL_F32, 3, shape, job->path, why))
        return false;
    *image = (png_planes){job->height, job->width, channels, depth, planes.data, NULL};
    size_t pixels = (size_t)job->height * (size_t)job->width;
    for (int c = 0; c < channels; c++)
        to_plane(job, c, image->planes + (size_t)c * pixels);
    if (!has_alpha)
        return true;
    image->alpha = malloc(pixels * sizeof *image->alpha);
    if (image->alpha == NULL)
        return problem_no_memory(why, job->path, (double)(pixels * sizeof *image->alpha));
    to_alpha(job, channels, image->alpha);
    return true;
}

static bool read_image(png_job *job, png_planes *image, problem *why)
{
    int depth = image_depth(job);
    return png_job_read(job, why) && to_image(job, depth, image, why);
}

bool png_planes_decode(const char *path, const void *data, size_t size, png_planes *image, problem *why)
{
    *image = (png_planes){0};
    rest from = {data, size};
    png_job job = {.path = path, .bytes = (int64_t)size};
    bool ok = png_job_start(&job, take, &from, ask_for_samples, why) && read_image(&job, image, why);
    png_job_end(&job);
    if (!ok)
        png_planes_free(image);
    return ok;
}

/* ---------------------------------------------------------------------------------------------- encoding ---- */

/* One sample of a row being made: two bytes, most significant first, for a depth of 16. */
static void put(const png_job *job, uint8_t *at, unsigned value)
{
    if (job->depth == 16)
        *at++ = (uint8_t)(value >> 8);
    *at = (uint8_t)value;
}

static void from_plane(const png_job *job, const float *plane, uint8_t *at)
{
    double largest = (1 << job->depth) - 1;
    int step = pixel_bytes(job);
    for (int64_t i = 0; i < job->height * job->width; i++, at += step)
        put(job, at, (unsigned)(fmin(fmax((double)plane[i], 0), largest) + 0.5)); /* fmax(NaN, 0) is 0 */
}

static void from_alpha(const png_job *job, const uint16_t *alpha, uint8_t *at)
{
    int step = pixel_bytes(job);
    for (int64_t i = 0; i < job->height * job->width; i++, at += step)
        put(job, at, alpha[i]);
}

bool png_planes_encode(const char *path, const png_planes *image, file_bytes *encoded, problem *why)
{
    *encoded = (file_bytes){0};
    png_job job = {.path = path,
                   .height = image->height,
                   .width = image->width,
                   .channels = image->channels + (image->alpha != NULL),
                   .depth = image->depth};
    size_t pixels = (size_t)image->height * (size_t)image->width;
    job.pixels = malloc(pixels * (size_t)pixel_bytes(&job) + 1);
    if (job.pixels == NULL)
        return problem_no_memory(why, path, (double)pixels * pixel_bytes(&job));
    for (int c = 0; c < image->channels; c++)
        from_plane(&job, image->planes + (size_t)c * pixels, job.pixels + c * sample_bytes(&job));
    if (image->alpha != NULL)
        from_alpha(&job, image->alpha, job.pixels + image->channels * sample_bytes(&job));
    bool ok = png_job_write(&job, encoded, why);
    free(job.pixels);
    return ok;
}

void png_planes_free(png_planes *image)
{
    free(image->planes);
    free(image->alpha);
    *image = (png_planes){0};
}
