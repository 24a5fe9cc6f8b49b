/* SPDX-License-Identifier: MIT */
#include "png_job.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_EDGE = 0x7fffffff, /* by the format */
    /* deflate compresses at most 1032 to 1 (zlib's technical details). */
    MAX_COMPRESSION = 1032,
};

static void on_error(png_structp png, png_const_charp words)
{
    png_job *job = png_get_error_ptr(png);
    snprintf(job->message, sizeof job->message, "%s", words);
    png_longjmp(png, 1);
}

/* libpng warns of odd colour profiles and trailing blanks, which change no pixel. */
static void on_warning(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

static void *allocate(png_structp png, png_alloc_size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL)
        ((png_job *)png_get_mem_ptr(png))->no_memory = true;
    return memory;
}

static void release(png_structp png, void *memory)
{
    (void)png;
    free(memory);
}

static void take(png_structp png, png_bytep data, size_t size)
{
    png_job *job = png_get_io_ptr(png);
    if (size > job->left)
        png_error(png, "truncated");
    memcpy(data, job->next, size);
    job->next += size;
    job->left -= size;
}

/* Returns whether libpng replaces samples: palette entries by colours, a transparent colour by alpha. */
static bool needs_expansion(const png_job *job)
{
    return png_get_color_type(job->png, job->info) == PNG_COLOR_TYPE_PALETTE ||
           png_get_valid(job->png, job->info, PNG_INFO_tRNS) != 0;
}

static bool read_header(png_job *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    png_set_user_limits(job->png, MAX_EDGE, MAX_EDGE);
    png_read_info(job->png, job->info);
    job->file_depth = png_get_bit_depth(job->png, job->info);
    if (needs_expansion(job)) {
        png_set_expand(job->png);
        job->file_depth = job->file_depth < 8 ? 8 : job->file_depth;
    } else {
        png_set_packing(job->png); /* at least one byte a sample, its value unchanged */
    }
    png_set_interlace_handling(job->png);
    job->height = png_get_image_height(job->png, job->info);
    job->width = png_get_image_width(job->png, job->info);
    return true;
}

static bool refuse(const png_job *job, problem *why)
{
    if (job->no_memory)
        return problem_no_memory(why, job->path, 0);
    if (strcmp(job->message, "Not a PNG file") == 0)
        return problem_set(why, EXIT_BAD_INPUT, "%s: is not a PNG file", job->path);
    return problem_set(why, EXIT_BAD_INPUT, "%s: is a damaged PNG file (%s)", job->path, job->message);
}

static bool start_pixels(png_job *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    png_read_update_info(job->png, job->info);
    job->channels = png_get_channels(job->png, job->info);
    job->depth = png_get_bit_depth(job->png, job->info);
    return true;
}

/* Returns whether there is room for the pixels, their rows, and the floats that png_planes.h makes of them. */
static bool allowed(const png_job *job, problem *why)
{
    const double height = (double)job->height, pixels = height * (double)job->width,
                 bytes = png_job_pixel_bytes(job) + (double)sizeof(float) * job->channels;

    return memory_allows(job->path, pixels * bytes + height * (double)sizeof *job->rows, why);
}

static bool read_pixels(png_job *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    size_t row_bytes = png_get_rowbytes(job->png, job->info), height = (size_t)job->height;
    job->pixels = png_malloc(job->png, row_bytes * height);
    job->rows = png_malloc(job->png, sizeof *job->rows * height);
    for (size_t y = 0; y < height; y++)
        job->rows[y] = job->pixels + y * row_bytes;
    if (job->wanted == 0) {
        png_read_image(job->png, job->rows);
        png_read_end(job->png, NULL);
        return true;
    }
    for (int64_t y = 0; y < job->first; y++) /* rows depend on those above */
        png_read_row(job->png, job->pixels, NULL);
    png_read_rows(job->png, job->rows, NULL, (png_uint_32)height);
    if (job->first + job->height == (int64_t)png_get_image_height(job->png, job->info))
        png_read_end(job->png, NULL);
    return true;
}

/* Rows of an interlaced image are whole only when all are read. */
static void choose_rows(png_job *job)
{
    if (job->wanted == 0)
        return;
    if (png_get_interlace_type(job->png, job->info) == PNG_INTERLACE_NONE)
        job->height = job->wanted;
    else
        job->wanted = 0;
}

bool png_job_look(png_job *job, const void *bytes, size_t size, problem *why)
{
    job->next = bytes;
    job->left = size;
    job->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, job, on_error, on_warning, job, allocate, release);
    job->info = job->png == NULL ? NULL : png_create_info_struct(job->png);
    if (job->info == NULL)
        return problem_no_memory(why, job->path, 0);
    png_set_read_fn(job->png, job, take);
    if (!read_header(job))
        return refuse(job, why);
    /* The file must be able to hold the pixels that its header claims, as they are stored. */
    if ((double)png_get_rowbytes(job->png, job->info) * (double)job->height > (double)size * MAX_COMPRESSION)
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: the header claims %" PRId64 "x%" PRId64 " pixels, more than %zu bytes can hold",
                           job->path, job->height, job->width, size);
    return true;
}

bool png_job_read(png_job *job, const void *bytes, size_t size, problem *why)
{
    const int64_t wanted = job->wanted;

    if (!png_job_look(job, bytes, size, why))
        return false;
    choose_rows(job);
    if (!start_pixels(job))
        return refuse(job, why);
    if (!allowed(job, why))
        return false;
    if (!read_pixels(job))
        return refuse(job, why);
    if (wanted > 0 && job->wanted == 0) { /* of all rows of an interlaced image */
        for (int64_t y = 0; y < wanted; y++)
            job->rows[y] = job->rows[y + job->first];
        job->height = wanted;
    }
    return true;
}

void png_job_end(png_job *job)
{
    if (job->png != NULL) {
        png_free(job->png, job->rows);
        png_free(job->png, job->pixels);
    }
    png_destroy_read_struct(&job->png, &job->info, NULL);
}

static bool write_pixels(png_job *job)
{
    static const int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                       PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    png_set_user_limits(job->png, MAX_EDGE, MAX_EDGE);
    /* A quarter of the time of zlib's default level with a choice among all filters, for files a fifth larger. */
    png_set_compression_level(job->png, 1);
    png_set_filter(job->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_set_IHDR(job->png, job->info, (png_uint_32)job->width, (png_uint_32)job->height, job->depth,
                 colour_types[job->channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(job->png, job->info);
    png_set_packing(job->png); /* our samples below 8 bits have a byte each */
    size_t row_bytes = (size_t)job->width * (size_t)png_job_pixel_bytes(job);
    for (int64_t y = 0; y < job->height; y++)
        png_write_row(job->png, job->pixels + (size_t)y * row_bytes);
    png_write_end(job->png, NULL);
    return true;
}

/* Closes a stream of open_memstream; false if the text is not whole. */
static bool close_memory(FILE *stream, char *const *text)
{
    const bool whole = !ferror(stream);

    return fclose(stream) == 0 && whole && *text; /* fclose may fail to shorten the text, and says nothing */
}

bool png_job_write(png_job *job, file_bytes *out, problem *why)
{
    *out = (file_bytes){0};
    if (job->height < 1 || job->width < 1 || job->height > MAX_EDGE || job->width > MAX_EDGE)
        return problem_set(why, EXIT_BAD_INPUT,
                           "%s: an image of %" PRId64 "x%" PRId64 " pixels; a PNG has 1 to %d on each edge", job->path,
                           job->height, job->width, MAX_EDGE);
    char *data = NULL;
    FILE *stream = open_memstream(&data, &out->size);
    job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, on_warning);
    job->info = job->png == NULL ? NULL : png_create_info_struct(job->png);
    bool ok = (stream != NULL && job->info != NULL) || problem_no_memory(why, job->path, 0);
    if (ok) {
        png_init_io(job->png, stream);
        ok = write_pixels(job) || problem_set(why, EXIT_BROKEN, "%s: cannot be encoded (%s)", job->path, job->message);
    }
    png_destroy_write_struct(&job->png, &job->info);
    if (stream != NULL && !close_memory(stream, &data) && ok)
        ok = problem_no_memory(why, job->path, 0);
    out->data = (uint8_t *)data;
    if (!ok)
        file_bytes_free(out);
    return ok;
}
