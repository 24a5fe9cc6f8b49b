/* SPDX-License-Identifier: MIT */
#include "png_file.h"
#include "png_job.h"
#include "png_planes.h"

#include <stdlib.h>

/* The weights times 1000 keep the sum exact, so that white is 1 and a grey pixel of an RGB file its own value. `grey`
 * may be the first plane. */
static void to_grey(const png_planes *colours, float *grey)
{
    const int64_t pixels = colours->height * colours->width;
    const double white = 1000.0 * ((1 << colours->depth) - 1);

    for (int64_t i = 0; i < pixels; i++) {
        const float *at = colours->planes + i;
        const double red = (double)at[0];
        grey[i] = (float)((colours->channels == 3 ? 299 * red + 587 * (double)at[pixels] + 114 * (double)at[2 * pixels]
                                                  : 1000 * red) /
                          white);
    }
}

bool png_read(const char *path, host_array *image, problem *why)
{
    return png_read_part(path, 0, 0, image, why);
}

bool png_look(const char *path, int64_t shape[2], problem *why)
{
    png_job job = {.path = path};
    file_bytes bytes;

    if (!file_bytes_read(path, "a PNG file", &bytes, why))
        return false;
    const bool ok = png_job_look(&job, bytes.data, bytes.size, why);
    shape[0] = job.height;
    shape[1] = job.width;
    png_job_end(&job);
    file_bytes_free(&bytes);
    return ok;
}

bool png_read_part(const char *path, int64_t first, int64_t rows, host_array *image, problem *why)
{
    png_planes colours = {0};
    file_bytes bytes;

    *image = (host_array){0};
    if (!file_bytes_read(path, "a PNG file", &bytes, why))
        return false;
    bool ok = png_planes_decode_rows(path, bytes.data, bytes.size, first, rows, &colours, why);
    file_bytes_free(&bytes);
    if (ok && colours.channels == 1) { /* a large image fits once, not twice */
        *image = (host_array){FL_F32, 2, {colours.height, colours.width, 1, 1}, colours.planes};
        to_grey(&colours, image->data);
        colours.planes = NULL;
    } else if (ok && host_array_create(image, FL_F32, 2, (int64_t[]){colours.height, colours.width}, path, why)) {
        to_grey(&colours, image->data);
    } else {
        ok = false;
    }
    png_planes_free(&colours);
    return ok;
}

/* Writes 8-bit pixels of one or three channels; output_commit completes the file. */
static output *begin_file(const char *path, int64_t height, int64_t width, int channels, uint8_t *pixels, problem *why)
{
    png_job job = {.path = path, .height = height, .width = width, .channels = channels, .depth = 8, .pixels = pixels};
    file_bytes made;
    output *file = png_job_write(&job, &made, why) ? file_bytes_begin(path, &made, why) : NULL;
    file_bytes_free(&made);
    return file;
}

static bool complete(output *file, problem *why)
{
    return file != NULL && output_commit(file, why);
}

bool png_grey(const char *path, const host_array *array, uint8_t **bytes, problem *why)
{
    const int64_t size = host_array_size(array);

    *bytes = malloc((size_t)size + 1);
    if (*bytes == NULL)
        return problem_no_memory(why, path, (double)size);
    for (int64_t i = 0; i < size; i++) {
        const double grey = host_array_get(array, i);
        (*bytes)[i] = (uint8_t)(255 * (grey > 0 ? (grey < 1 ? grey : 1) : 0) + 0.5); /* NaN is black */
    }
    return true;
}

bool png_write_bytes(const char *path, int64_t height, int64_t width, uint8_t *bytes, problem *why)
{
    return complete(begin_file(path, height, width, 1, bytes, why), why);
}

output *png_begin_grey(const char *path, const host_array *image, problem *why)
{
    uint8_t *bytes;

    if (image->ndim != 2) {
        problem_set(why, EXIT_BAD_INPUT, "%s: a PNG holds 2 dimensions; the array has %d", path, image->ndim);
        return NULL;
    }
    if (!png_grey(path, image, &bytes, why))
        return NULL;
    output *file = begin_file(path, image->shape[0], image->shape[1], 1, bytes, why);
    free(bytes);
    return file;
}

bool png_write_grey(const char *path, const host_array *image, problem *why)
{
    return complete(png_begin_grey(path, image, why), why);
}

bool png_write_picture(const char *path, const picture *colours, problem *why)
{
    return complete(begin_file(path, colours->height, colours->width, 3, colours->rgb, why), why);
}
