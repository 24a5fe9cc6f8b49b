/* SPDX-License-Identifier: MIT */
#include "png_planes.h"
#include "png_job.h"

#include "support/host_array.h"

#include <math.h>
#include <stdlib.h>

/* The sample of channel c at row y, column x. */
static uint16_t sample_at(const png_job *job, int64_t y, int64_t x, int c)
{
    const int sample = png_job_sample_bytes(job);
    const uint8_t *at = job->rows[y] + x * png_job_pixel_bytes(job) + c * sample;

    return (uint16_t)(sample == 2 ? at[0] << 8 | at[1] : at[0]);
}

static void take_plane(const png_job *job, int c, float *plane)
{
    for (int64_t y = 0; y < job->height; y++)
        for (int64_t x = 0; x < job->width; x++)
            *plane++ = sample_at(job, y, x, c);
}

static void take_alpha(const png_job *job, int c, uint16_t *alpha)
{
    for (int64_t y = 0; y < job->height; y++)
        for (int64_t x = 0; x < job->width; x++)
            *alpha++ = sample_at(job, y, x, c);
}

/* An even number of channels has alpha last. */
static bool to_image(const png_job *job, png_planes *image, problem *why)
{
    bool has_alpha = job->channels % 2 == 0;
    int channels = job->channels - has_alpha;
    host_array planes;
    int64_t shape[] = {channels, job->height, job->width};
    if (!host_array_create(&planes, FL_F32, 3, shape, job->path, why))
        return false;
    *image = (png_planes){job->height, job->width, channels, job->file_depth, planes.data, NULL};
    size_t pixels = (size_t)job->height * (size_t)job->width;
    for (int c = 0; c < channels; c++)
        take_plane(job, c, image->planes + (size_t)c * pixels);
    if (!has_alpha)
        return true;
    image->alpha = malloc(pixels * sizeof *image->alpha);
    if (image->alpha == NULL)
        return problem_no_memory(why, job->path, (double)(pixels * sizeof *image->alpha));
    take_alpha(job, channels, image->alpha);
    return true;
}

bool png_planes_decode(const char *path, const void *data, size_t size, png_planes *image, problem *why)
{
    return png_planes_decode_rows(path, data, size, 0, 0, image, why);
}

bool png_planes_decode_rows(const char *path, const void *data, size_t size, int64_t first, int64_t rows,
                            png_planes *image, problem *why)
{
    *image = (png_planes){0};
    png_job job = {.path = path, .first = first, .wanted = rows};
    bool ok = png_job_read(&job, data, size, why) && to_image(&job, image, why);
    png_job_end(&job);
    if (!ok)
        png_planes_free(image);
    return ok;
}

/* Puts a channel into the pixels from `at` on: `alpha`, or `plane` if `alpha` is NULL. */
static void put_channel(const png_job *job, const float *plane, const uint16_t *alpha, uint8_t *at)
{
    double largest = (1 << job->depth) - 1;
    int step = png_job_pixel_bytes(job);
    for (int64_t i = 0; i < job->height * job->width; i++, at += step) {
        /* fmax(NaN, 0) is 0 */
        unsigned value = alpha != NULL ? alpha[i] : (unsigned)(fmin(fmax((double)plane[i], 0), largest) + 0.5);
        at[0] = (uint8_t)(job->depth == 16 ? value >> 8 : value);
        if (job->depth == 16)
            at[1] = (uint8_t)value;
    }
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
    size_t bytes = pixels * (size_t)png_job_pixel_bytes(&job);
    job.pixels = malloc(bytes + 1);
    if (job.pixels == NULL)
        return problem_no_memory(why, path, (double)bytes);
    for (int c = 0; c < image->channels; c++)
        put_channel(&job, image->planes + (size_t)c * pixels, NULL, job.pixels + c * png_job_sample_bytes(&job));
    if (image->alpha != NULL)
        put_channel(&job, NULL, image->alpha, job.pixels + image->channels * png_job_sample_bytes(&job));
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
