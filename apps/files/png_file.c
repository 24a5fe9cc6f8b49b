/* SPDX-License-Identifier: MIT */
#include "png_file.h"
#include "png_job.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------- reading ---- */

/* To grey or RGB of 8 or 16 bits. */
static void convert_to_colours(png_structp png, png_infop info)
{
    (void)info;
    png_set_expand(png);
    png_set_strip_alpha(png);
}

/* The weights times 1000 keep the sum exact, so that white is 1 and a grey pixel of an RGB file its own value. */
static void to_grey(const png_job *job, float *grey)
{
    int step = png_job_sample_bytes(job);
    double largest = job->depth == 16 ? 65535 : 255;
    for (int64_t y = 0; y < job->height; y++) {
        const uint8_t *at = job->rows[y];
        for (int64_t x = 0; x < job->width; x++, at += step * job->channels) {
            double red = png_job_sample(job, at), sum = 1000 * red;
            if (job->channels == 3)
                sum = 299 * red + 587 * png_job_sample(job, at + step) + 114 * png_job_sample(job, at + 2 * step);
            *grey++ = (float)(sum / (1000 * largest));
        }
    }
}

static bool read_image(png_job *job, host_array *image, problem *why)
{
    int64_t shape[] = {job->height, job->width};
    if (!host_array_create(image, FL_F32, 2, shape, job->path, why) || !png_job_read(job, why))
        return false;
    to_grey(job, image->data);
    return true;
}

bool png_read(const char *path, host_array *image, problem *why)
{
    *image = (host_array){0};
    png_job job = {.path = path};
    file_bytes bytes;
    if (!file_bytes_read(path, "a PNG file", &bytes, why))
        return false;
    bool ok = png_job_start(&job, bytes.data, bytes.size, convert_to_colours, why) && read_image(&job, image, why);
    png_job_end(&job);
    file_bytes_free(&bytes);
    if (!ok)
        host_array_free(image);
    return ok;
}

/* ---------------------------------------------------------------------------------------------- writing ---- */

/* Writes 8-bit pixels of one or three channels. */
static bool write_file(const char *path, int64_t height, int64_t width, int channels, uint8_t *pixels, problem *why)
{
    png_job job = {.path = path, .height = height, .width = width, .channels = channels, .depth = 8, .pixels = pixels};
    file_bytes made;
    bool ok = png_job_write(&job, &made, why) && file_bytes_write(path, &made, why);
    file_bytes_free(&made);
    return ok;
}

bool png_write_grey(const char *path, const host_array *image, problem *why)
{
    if (image->ndim != 2)
        return problem_set(why, EXIT_BAD_INPUT, "%s: a PNG holds 2 dimensions; the array has %d", path, image->ndim);
    int64_t size = host_array_size(image);
    uint8_t *pixels = malloc((size_t)size + 1);
    if (pixels == NULL)
        return problem_no_memory(why, path, (double)size);
    for (int64_t i = 0; i < size; i++)
        pixels[i] = (uint8_t)(255 * fmin(fmax(host_array_get(image, i), 0), 1) + 0.5); /* fmax(NaN, 0) is 0 */
    bool ok = write_file(path, image->shape[0], image->shape[1], 1, pixels, why);
    free(pixels);
    return ok;
}

bool png_write_picture(const char *path, const picture *colours, problem *why)
{
    return write_file(path, colours->height, colours->width, 3, colours->rgb, why);
}
