/* SPDX-License-Identifier: MIT */
#include "png_job.h"

#include "support/memory.h"
#include "support/threads.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

/* ------------------------------------------------------------------------------------------------ writing ---- */

/* Threads filter and compress the rows, a band each. Band 0 begins a zlib stream (RFC 1950); the others continue it
 * without references to the rows above, which makes the file about 0.1 % larger. All but the last end at a whole byte
 * (Z_SYNC_FLUSH), so that the bytes of all, one after the other, are one stream, however many threads there are. */
typedef struct png_band {
    uint8_t *stream; /* malloc; NULL: no memory */
    size_t size;     /* bytes of it */
    size_t filtered; /* bytes that were compressed, and their Adler-32 */
    uLong checksum;
} png_band;

typedef struct png_bands {
    const png_job *job;
    int64_t rows, count; /* rows of each band but the last; number of bands */
    png_band *band;
} png_bands;

enum {
    BAND_BYTES = 1 << 20,
    SPARE = 16,     /* bytes for Z_SYNC_FLUSH, which deflateBound leaves out, and the stream's checksum */
    PIECE = 1 << 29 /* bytes; zlib's and libpng's counts have 32 bits */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A byte for the filter, then the samples; those of fewer than 8 bits side by side. */
static size_t filtered_bytes(const png_job *job)
{
    return 1 + ((size_t)job->width * (size_t)(job->channels * job->depth) + 7) / 8;
}

/* The filter SUB: each byte less that of the pixel to the left. Samples of fewer than 8 bits are not filtered, as the
 * format advises. */
static void filter_row(const png_job *job, int64_t y, uint8_t *row)
{
    const size_t step = (size_t)png_job_pixel_bytes(job), bytes = (size_t)job->width * step;
    const uint8_t *samples = job->pixels + (size_t)y * bytes;

    if (job->depth < 8) {
        memset(row, PNG_FILTER_VALUE_NONE, filtered_bytes(job));
        for (size_t x = 0, bit = 0; x < bytes; x++, bit += (size_t)job->depth)
            row[1 + bit / 8] |= (uint8_t)(samples[x] << (8 - (size_t)job->depth - bit % 8));
        return;
    }
    *row++ = PNG_FILTER_VALUE_SUB;
    memcpy(row, samples, step);
    for (size_t i = step; i < bytes; i++)
        row[i] = (uint8_t)(samples[i] - samples[i - step]);
}

/* Returns whether the bytes went into the stream, which has `room` left; `flush` after the last of them. */
static bool compress_bytes(z_stream *z, uint8_t *bytes, size_t count, int flush, size_t room)
{
    int status = Z_OK;

    z->next_in = bytes;
    for (size_t at = 0; at < count && status == Z_OK; at += PIECE) {
        const bool last = count - at <= PIECE;
        z->avail_in = (uInt)smaller(count - at, PIECE);
        z->avail_out = (uInt)smaller(room - z->total_out, 2U * PIECE);
        status = deflate(z, last ? flush : Z_NO_FLUSH);
    }
    return status == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && z->avail_in == 0;
}

/* A level of 1 takes a quarter of the time of zlib's default level with a choice among all filters, for files a fifth
 * larger. In grey pictures zlib looks for runs alone: files of MRI slices and smooth images are then 5 to 7 % smaller.
 */
static bool compress_rows(const png_bands *bands, int64_t b, png_band *band, uint8_t *row)
{
    const png_job *job = bands->job;
    const int64_t first = b * bands->rows, end = first + bands->rows < job->height ? first + bands->rows : job->height;
    const size_t row_bytes = filtered_bytes(job);
    z_stream z = {.next_in = row};
    bool ok = deflateInit2(&z, 1, Z_DEFLATED, b == 0 ? MAX_WBITS : -MAX_WBITS, MAX_MEM_LEVEL - 1,
                           job->channels == 1 ? Z_RLE : Z_FILTERED) == Z_OK;

    if (!ok)
        return false;
    band->filtered = (size_t)(end - first) * row_bytes;
    const size_t room = deflateBound(&z, band->filtered) + SPARE;
    band->checksum = adler32_z(0, NULL, 0);
    band->stream = z.next_out = malloc(room);
    ok = band->stream != NULL;
    for (int64_t y = first; ok && y < end; y++) {
        filter_row(job, y, row);
        band->checksum = adler32_z(band->checksum, row, row_bytes);
        ok = compress_bytes(&z, row, row_bytes,
                            y + 1 < end             ? Z_NO_FLUSH
                            : b == bands->count - 1 ? Z_FINISH
                                                    : Z_SYNC_FLUSH,
                            room);
    }
    band->size = z.total_out;
    deflateEnd(&z);
    return ok;
}

static void compress_band(void *user, int64_t b)
{
    const png_bands *bands = user;
    png_band *band = &bands->band[b];
    uint8_t *row = malloc(filtered_bytes(bands->job));

    if (row == NULL || !compress_rows(bands, b, band, row)) {
        free(band->stream);
        band->stream = NULL;
    }
    free(row);
}

/* Puts the checksum of all rows at the end. zlib did so if there is one band. */
static void end_stream(const png_bands *bands)
{
    png_band *last = &bands->band[bands->count - 1];
    uLong checksum = bands->band[0].checksum;

    for (int64_t b = 1; b < bands->count; b++)
        checksum = adler32_combine(checksum, bands->band[b].checksum, (z_off_t)bands->band[b].filtered);
    if (bands->count > 1) {
        png_save_uint_32(last->stream + last->size, (png_uint_32)checksum);
        last->size += sizeof(png_uint_32);
    }
}

static bool write_header(png_job *job)
{
    static const int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                       PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    png_set_user_limits(job->png, MAX_EDGE, MAX_EDGE);
    png_set_IHDR(job->png, job->info, (png_uint_32)job->width, (png_uint_32)job->height, job->depth,
                 colour_types[job->channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(job->png, job->info);
    return true;
}

static bool write_stream(png_job *job, const png_bands *bands)
{
    if (setjmp(png_jmpbuf(job->png)) != 0)
        return false;
    for (int64_t b = 0; b < bands->count; b++)
        for (size_t at = 0; at < bands->band[b].size; at += PIECE)
            png_write_chunk(job->png, (png_const_bytep) "IDAT", bands->band[b].stream + at,
                            smaller(bands->band[b].size - at, PIECE));
    png_write_chunk(job->png, (png_const_bytep) "IEND", NULL, 0);
    return true;
}

static bool write_pixels(png_job *job)
{
    const int64_t rows = (int64_t)(BAND_BYTES / filtered_bytes(job)) + 1;
    png_bands bands = {job, rows, (job->height + rows - 1) / rows, NULL};

    bands.band = calloc((size_t)bands.count, sizeof *bands.band);
    job->no_memory = bands.band == NULL;
    if (job->no_memory)
        return false;
    threads_share(INT_MAX, bands.count, compress_band, &bands);
    for (int64_t b = 0; b < bands.count; b++)
        job->no_memory = job->no_memory || bands.band[b].stream == NULL;
    if (!job->no_memory)
        end_stream(&bands);
    const bool ok = !job->no_memory && write_stream(job, &bands);
    for (int64_t b = 0; b < bands.count; b++)
        free(bands.band[b].stream);
    free(bands.band);
    return ok;
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
        ok = (write_header(job) && write_pixels(job)) ||
             (job->no_memory ? problem_no_memory(why, job->path, 0)
                             : problem_set(why, EXIT_BROKEN, "%s: cannot be encoded (%s)", job->path, job->message));
    }
    png_destroy_write_struct(&job->png, &job->info);
    if (stream != NULL && !close_memory(stream, &data) && ok)
        ok = problem_no_memory(why, job->path, 0);
    out->data = (uint8_t *)data;
    if (!ok)
        file_bytes_free(out);
    return ok;
}
