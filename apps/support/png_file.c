/* SPDX-License-Identifier: MIT */
#include "png_file.h"

#include "input.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_EDGE = 0x7fffffff, /* by the format */
    /* deflate's bound is 1032 to 1 (zlib's technical details): a file cannot unfold to more than that. */
    MAX_COMPRESSION = 1032,
};

/* libpng reports an error by a longjmp, after which local variables are lost that changed since the setjmp. All that
 * has to outlive one is therefore in a structure, which the functions with a setjmp only point to. */
typedef struct png_job {
    png_structp png;
    png_infop info;
    char message[160]; /* libpng's words */
    FILE *input;
    output *file;
    png_bytep pixels;
    png_bytepp rows;
    png_uint_32 height, width;
    int channels, depth;
} png_job;

static void on_error(png_structp png, png_const_charp words)
{
    png_job *job = png_get_error_ptr(png);
    snprintf(job->message, sizeof job->message, "%s", words);
    png_longjmp(png, 1);
}

/* What libpng warns of (odd colour profiles, trailing blanks) changes no pixel. */
static void on_warning(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

/* ---------------------------------------------------------------------------------------------- reading ---- */

/* Asks libpng for 8 or 16 bit grey or RGB, whatever the file has. Left by a longjmp when the file is broken. */
static void read_description(png_job *job)
{
    png_init_io(job->png, job->input);
    png_set_user_limits(job->png, MAX_EDGE, MAX_EDGE);
    png_read_info(job->png, job->info);
    png_set_expand(job->png);
    png_set_strip_alpha(job->png);
    png_set_interlace_handling(job->png);
    job->height = png_get_image_height(job->png, job->info);
    job->width = png_get_image_width(job->png, job->info);
}

static bool start_reading(png_job *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    read_description(job);
    return true;
}

/* Whether a file of `bytes` bytes can hold the pixels that its header claims: as they are stored, before expansion. */
static bool plausible(const png_job *job, int64_t bytes)
{
    double stored = (double)png_get_rowbytes(job->png, job->info) * job->height;
    return stored <= (double)bytes * MAX_COMPRESSION;
}

static bool read_pixels(png_job *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    png_read_update_info(job->png, job->info);
    job->channels = png_get_channels(job->png, job->info);
    job->depth = png_get_bit_depth(job->png, job->info);
    size_t row_bytes = png_get_rowbytes(job->png, job->info);
    job->pixels = png_malloc(job->png, row_bytes * job->height);
    job->rows = png_malloc(job->png, sizeof *job->rows * job->height);
    for (png_uint_32 y = 0; y < job->height; y++)
        job->rows[y] = job->pixels + y * row_bytes;
    png_read_image(job->png, job->rows);
    png_read_end(job->png, NULL);
    return true;
}

/* One sample, of 8 bits or of 16, most significant byte first. */
static double sample(const png_job *job, const uint8_t *at)
{
    return job->depth == 16 ? at[0] << 8 | at[1] : at[0];
}

/* The weights times 1000 keep the sum exact, so that white is 1 and a grey pixel of an RGB file its own value. */
static void to_grey(const png_job *job, float *grey)
{
    int step = job->depth / 8;
    double largest = job->depth == 16 ? 65535 : 255;
    for (png_uint_32 y = 0; y < job->height; y++) {
        const uint8_t *at = job->rows[y];
        for (png_uint_32 x = 0; x < job->width; x++, at += step * job->channels) {
            double sum = job->channels < 3
                             ? 1000 * sample(job, at)
                             : 299 * sample(job, at) + 587 * sample(job, at + step) + 114 * sample(job, at + 2 * step);
            *grey++ = (float)(sum / (1000 * largest));
        }
    }
}

static bool read_image(png_job *job, const char *path, int64_t bytes, host_array *image, problem *why)
{
    if (!start_reading(job))
        return problem_set(why, EXIT_BAD_INPUT, "%s: is no sound PNG (%s); expected one", path, job->message);
    if (!plausible(job, bytes))
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: claims %" PRIu32 "x%" PRIu32 " pixels; expected no more than its %" PRId64
                           " bytes can hold",
                           path, job->height, job->width, bytes);
    int64_t shape[] = {job->height, job->width};
    if (!host_array_create(image, FL_F32, 2, shape, path, why))
        return false;
    if (!read_pixels(job)) {
        int exit_code = strcmp(job->message, "Out of memory") == 0 ? EXIT_BROKEN : EXIT_BAD_INPUT;
        return problem_set(why, exit_code, "%s: is no whole PNG (%s); expected one", path, job->message);
    }
    to_grey(job, image->data);
    return true;
}

bool png_read(const char *path, host_array *image, problem *why)
{
    *image = (host_array){0};
    png_job job = {0};
    int64_t bytes;
    job.input = input_open(path, "a PNG", &bytes, why);
    if (job.input == NULL)
        return false;
    job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    job.info = job.png == NULL ? NULL : png_create_info_struct(job.png);
    bool ok = job.info == NULL ? problem_no_memory(why, path, 0) : read_image(&job, path, bytes, image, why);
    if (job.png != NULL) {
        png_free(job.png, job.rows);
        png_free(job.png, job.pixels);
    }
    png_destroy_read_struct(&job.png, &job.info, NULL);
    fclose(job.input);
    if (!ok)
        host_array_free(image);
    return ok;
}

/* ---------------------------------------------------------------------------------------------- writing ---- */

static void write_data(png_structp png, png_bytep data, size_t bytes)
{
    const png_job *job = png_get_io_ptr(png);
    if (!output_write(job->file, data, bytes))
        png_error(png, "write error");
}

/* output_commit does it. */
static void flush_data(png_structp png)
{
    (void)png;
}

static bool write_pixels(png_job *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    png_set_write_fn(job->png, job, write_data, flush_data);
    png_set_user_limits(job->png, MAX_EDGE, MAX_EDGE);
    png_set_IHDR(job->png, job->info, job->width, job->height, 8,
                 job->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(job->png, job->info);
    for (png_uint_32 y = 0; y < job->height; y++)
        png_write_row(job->png, job->pixels + (size_t)y * job->width * (size_t)job->channels);
    png_write_end(job->png, NULL);
    return true;
}

/* Writes 8-bit pixels of one or three channels. */
static bool write_file(const char *path, int64_t height, int64_t width, int channels, uint8_t *pixels, problem *why)
{
    if (height < 1 || width < 1 || height > MAX_EDGE || width > MAX_EDGE)
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: a picture of %" PRId64 "x%" PRId64 "; expected 1 to %d pixels an edge", path, height,
                           width, MAX_EDGE);
    png_job job = {.pixels = pixels, .height = (png_uint_32)height, .width = (png_uint_32)width, .channels = channels};
    job.file = output_open(path, why);
    if (job.file == NULL)
        return false;
    job.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    job.info = job.png == NULL ? NULL : png_create_info_struct(job.png);
    bool ok = job.info == NULL ? problem_no_memory(why, path, 0) : true;
    if (ok && !write_pixels(&job))
        ok = problem_set(why, EXIT_BROKEN, "%s: could not be written (%s)", path, job.message);
    png_destroy_write_struct(&job.png, &job.info);
    if (ok || output_failed(job.file)) /* which knows the cause in the system's words */
        return output_commit(job.file, why);
    output_discard(job.file);
    return false;
}

bool png_write_grey(const char *path, const host_array *image, problem *why)
{
    if (image->ndim != 2)
        return problem_set(why, EXIT_BAD_INPUT, "%s: an array of %d dimensions is no picture; expected 2", path,
                           image->ndim);
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
