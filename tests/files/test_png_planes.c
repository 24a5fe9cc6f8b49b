/* SPDX-License-Identifier: MIT
 *
 * PNGs as planes: every colour type and depth there and back, broken files, and a file's bytes read and written.
 */
#define _GNU_SOURCE 1
#include "make_png.h"
#include "files/png_planes.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <float.h>
#include <math.h>
#include <png.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { HEIGHT = 11, WIDTH = 13, PIXELS = HEIGHT * WIDTH, THREADS = 4 };

TestSuite(png_planes, .init = scratch_start, .fini = scratch_end);

static file_bytes load(const char *name)
{
    problem why;
    file_bytes bytes;
    cr_assert(file_bytes_read(name, "a PNG", &bytes, &why), "%s", why.text);
    return bytes;
}

static file_bytes make(png_kind kind, bool interlaced)
{
    make_png("made.png", kind, interlaced, HEIGHT, WIDTH);
    return load("made.png");
}

static png_planes decode(const void *data, size_t size)
{
    problem why;
    png_planes image;
    cr_assert(png_planes_decode("a.png", data, size, &image, &why), "%s", why.text);
    return image;
}

static file_bytes encode(const png_planes *image)
{
    problem why;
    file_bytes bytes;
    cr_assert(png_planes_encode("a.png", image, &bytes, &why), "%s", why.text);
    return bytes;
}

static void expect_problem(const problem *why, const char *name, int exit_code, const char *words)
{
    cr_assert(eq(int, why->exit_code, exit_code), "%s", why->text);
    cr_assert(strncmp(why->text, name, strlen(name)) == 0, "no file name in: %s", why->text);
    cr_assert(strstr(why->text, words) != NULL, "'%s' is not in: %s", words, why->text);
    cr_assert(strchr(why->text, '\n') == NULL, "%s", why->text);
}

/* From a block of exactly that size, so that valgrind sees a byte read behind it. */
static bool decode_copy(const uint8_t *data, size_t size, problem *why)
{
    uint8_t *copy = malloc(size + (size == 0));
    png_planes image;
    memcpy(copy, data, size);
    bool ok = png_planes_decode("a.png", copy, size, &image, why);
    free(copy);
    cr_assert(ok == (image.planes != NULL));
    if (!ok)
        cr_assert(image.alpha == NULL && image.height == 0);
    png_planes_free(&image);
    return ok;
}

/* ---------------------------------------------------------------------------------- what is expected ---- */

static bool becomes_8_bits(png_kind kind)
{
    return kind.depth < 8 && (kind.type == PNG_COLOR_TYPE_PALETTE || kind.transparent);
}

static int expected_depth(png_kind kind)
{
    return becomes_8_bits(kind) ? 8 : kind.depth;
}

static int expected_channels(png_kind kind)
{
    return (kind.type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
}

static int expected_sample(png_kind kind, int y, int x, int c)
{
    if (kind.type == PNG_COLOR_TYPE_PALETTE) {
        unsigned char rgb[3];
        made_colour(made_sample(kind, y, x, 0), rgb);
        return rgb[c];
    }
    int sample = (int)made_sample(kind, y, x, c);
    return becomes_8_bits(kind) ? sample * 255 / ((1 << kind.depth) - 1) : sample;
}

static void expect_image(png_kind kind, const png_planes *image)
{
    bool has_alpha = made_alpha(kind, 0, 0) >= 0;
    cr_assert(image->height == HEIGHT && image->width == WIDTH);
    cr_assert(eq(int, image->channels, expected_channels(kind)), "type %d", kind.type);
    cr_assert(eq(int, image->depth, expected_depth(kind)), "type %d, depth %d", kind.type, kind.depth);
    cr_assert(eq(int, image->alpha != NULL, has_alpha), "type %d, depth %d", kind.type, kind.depth);
    for (int i = 0; i < PIXELS; i++) {
        int y = i / WIDTH, x = i % WIDTH;
        for (int c = 0; c < image->channels; c++)
            cr_assert(image->planes[c * PIXELS + i] == (float)expected_sample(kind, y, x, c),
                      "type %d, depth %d, channel %d, pixel %d", kind.type, kind.depth, c, i);
        if (has_alpha)
            cr_assert(eq(int, image->alpha[i], made_alpha(kind, y, x)), "type %d, depth %d, pixel %d", kind.type,
                      kind.depth, i);
    }
}

static int bits_at(png_const_bytep row, int depth, int sample)
{
    if (depth == 16)
        return row[2 * sample] << 8 | row[2 * sample + 1];
    int bit = sample * depth;
    return row[bit / 8] >> (8 - depth - bit % 8) & ((1 << depth) - 1);
}

/* What libpng finds in the file, without the code that is tested. */
static void expect_file(png_kind kind, const char *name)
{
    bool has_alpha = made_alpha(kind, 0, 0) >= 0;
    int channels = expected_channels(kind), all = channels + has_alpha, depth = expected_depth(kind);
    FILE *file = fopen(name, "rb");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    fclose(file);
    cr_assert(png_get_image_height(png, info) == HEIGHT && png_get_image_width(png, info) == WIDTH);
    cr_assert(eq(int, png_get_color_type(png, info),
                 (channels == 3 ? PNG_COLOR_MASK_COLOR : 0) | (has_alpha ? PNG_COLOR_MASK_ALPHA : 0)));
    cr_assert(eq(int, png_get_bit_depth(png, info), depth));
    png_bytepp rows = png_get_rows(png, info);
    for (int i = 0; i < PIXELS; i++) {
        int y = i / WIDTH, x = i % WIDTH;
        for (int c = 0; c < all; c++)
            cr_assert(eq(int, bits_at(rows[y], depth, x * all + c),
                         c < channels ? expected_sample(kind, y, x, c) : made_alpha(kind, y, x)),
                      "type %d, depth %d, channel %d, pixel %d", kind.type, kind.depth, c, i);
    }
    png_destroy_read_struct(&png, &info, NULL);
}

/* -------------------------------------------------------------------------------------- there and back ---- */

Test(png_planes, every_colour_type_depth_and_interlacing)
{
    for (int k = 0; k < PNG_KINDS; k++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            problem why;
            file_bytes made = make(png_kinds[k], interlaced);
            png_planes image = decode(made.data, made.size);
            expect_image(png_kinds[k], &image);
            file_bytes encoded = encode(&image);
            cr_assert(file_bytes_write("b.png", &encoded, &why), "%s", why.text);
            expect_file(png_kinds[k], "b.png");
            png_planes again = decode(encoded.data, encoded.size);
            expect_image(png_kinds[k], &again);
            file_bytes_free(&made);
            file_bytes_free(&encoded);
            png_planes_free(&image);
            png_planes_free(&again);
        }
}

/* Made by Python's zlib from the numbers below, row by row: what libpng itself does to samples is checked too. */
static const unsigned char grey_4[] = {
    137, 80, 78, 71, 13,  10,  26,  10,  0,   0,   0, 13, 73, 72, 68, 82, 0,  0,   0,   3,   0,   0,   0,  2,
    4,   0,  0,  0,  0,   125, 239, 212, 199, 0,   0, 0,  14, 73, 68, 65, 84, 120, 218, 99,  144, 103, 96, 168,
    48,  0,  0,  1,  193, 0,   200, 64,  135, 131, 8, 0,  0,  0,  0,  73, 69, 78,  68,  174, 66,  96,  130};
/* Colour 1 is transparent. */
static const unsigned char grey_2[] = {137, 80, 78, 71,  13,  10,  26, 10,  0,  0,   0,   13,  73,  72,  68,  82,  0,
                                       0,   0,  3,  0,   0,   0,   1,  2,   0,  0,   0,   0,   116, 59,  83,  201, 0,
                                       0,   0,  2,  116, 82,  78,  83, 0,   1,  1,   148, 253, 174, 0,   0,   0,   10,
                                       73,  68, 65, 84,  120, 218, 99, 184, 0,  0,   0,   210, 0,   209, 118, 81,  116,
                                       58,  0,  0,  0,   0,   73,  69, 78,  68, 174, 66,  96,  130};
/* With a gAMA chunk; (1, 2, 65535) is transparent. */
static const unsigned char rgb_16[] = {
    137, 80,  78,  71,  13,  10,  26,  10,  0,   0,   0,   13,  73,  72,  68, 82, 0,   0,  0,   2,   0,
    0,   0,   2,   16,  2,   0,   0,   0,   173, 68,  70,  48,  0,   0,   0,  4,  103, 65, 77,  65,  0,
    0,   177, 143, 11,  252, 97,  5,   0,   0,   0,   6,   116, 82,  78,  83, 0,  1,   0,  2,   255, 255,
    238, 100, 232, 176, 0,   0,   0,   31,  73,  68,  65,  84,  120, 218, 99, 96, 100, 98, 102, 249, 255,
    143, 129, 145, 129, 233, 255, 127, 166, 255, 255, 254, 252, 102, 98,  98, 0,  3,   0,  112, 153, 8,
    3,   152, 146, 118, 126, 0,   0,   0,   0,   73,  69,  78,  68,  174, 66, 96, 130};

static void expect_numbers(const unsigned char *file, size_t size, int channels, int depth, int pixels,
                           const float *planes, const uint16_t *alpha)
{
    png_planes image = decode(file, size);
    cr_assert(image.channels == channels && image.depth == depth && image.height * image.width == pixels);
    cr_assert(memcmp(image.planes, planes, (size_t)(channels * pixels) * sizeof *planes) == 0);
    cr_assert(eq(int, image.alpha != NULL, alpha != NULL));
    if (alpha != NULL)
        cr_assert(memcmp(image.alpha, alpha, (size_t)pixels * sizeof *alpha) == 0);
    png_planes_free(&image);
}

Test(png_planes, numbers_that_python_wrote)
{
    expect_numbers(grey_4, sizeof grey_4, 1, 4, 6, (float[]){1, 15, 0, 7, 8, 3}, NULL);
    expect_numbers(grey_2, sizeof grey_2, 1, 8, 3, (float[]){255, 85, 0}, (uint16_t[]){255, 0, 255});
    expect_numbers(rgb_16, sizeof rgb_16, 3, 16, 4, (float[]){258, 1, 0, 1, 772, 2, 65535, 2, 65534, 65535, 256, 65535},
                   (uint16_t[]){65535, 0, 65535, 0});
}

Test(png_planes, samples_are_clipped_and_rounded)
{
    static const int depths[] = {1, 2, 4, 8, 16};
    for (int d = 0; d < 5; d++) {
        float largest = (float)((1 << depths[d]) - 1);
        float values[] = {0,        largest, 0.49999997f,    0.5f,          -0.4f, -3,
                          1e30f,    NAN,     INFINITY,       -INFINITY,     -NAN,  largest - 0.4f,
                          -FLT_MAX, -0.0f,   largest + 0.4f, largest - 0.6f};
        float expected[] = {0, largest, 0, 1, 0, 0, largest, 0, largest, 0, 0, largest, 0, 0, largest, largest - 1};
        file_bytes bytes = encode(&(png_planes){4, 4, 1, depths[d], values, NULL});
        png_planes image = decode(bytes.data, bytes.size);
        cr_assert(eq(int, image.depth, depths[d]));
        for (int i = 0; i < 16; i++)
            cr_assert(image.planes[i] == expected[i], "depth %d: %g became %g", depths[d], values[i], image.planes[i]);
        file_bytes_free(&bytes);
        png_planes_free(&image);
    }
}

static void expect_not_encoded(const png_planes *image, int exit_code, const char *words)
{
    problem why = {0};
    file_bytes bytes;
    cr_assert(not(png_planes_encode("a.png", image, &bytes, &why)));
    cr_assert(bytes.data == NULL && bytes.size == 0);
    expect_problem(&why, "a.png", exit_code, words);
}

Test(png_planes, encodes_only_what_the_format_has)
{
    float planes[3] = {0};
    uint16_t alpha[1] = {0};
    expect_not_encoded(&(png_planes){0, 1, 1, 8, planes, NULL}, 2, "an image of 0x1");
    expect_not_encoded(&(png_planes){1, 0, 1, 8, planes, alpha}, 2, "an image of 1x0");
    expect_not_encoded(&(png_planes){1, 1, 3, 4, planes, NULL}, 4, "IHDR");
    expect_not_encoded(&(png_planes){1, 1, 1, 4, planes, alpha}, 4, "IHDR");
}

/* The bytes of all IDAT chunks, one after the other. */
static uint8_t *stream_of(const file_bytes *png, size_t *size)
{
    uint8_t *stream = malloc(png->size);
    size_t length;

    *size = 0;
    for (size_t at = 8; at + 12 <= png->size; at += 12 + length) {
        length = png_get_uint_32(png->data + at);
        if (memcmp(png->data + at + 4, "IDAT", 4) != 0)
            continue;
        memcpy(stream + *size, png->data + at + 8, length);
        *size += length;
    }
    return stream;
}

/* Rows are compressed in bands of about 2^20 bytes: together they must be one zlib stream, whose checksum libpng does
 * not insist on. */
static void expect_bands(int64_t height, int64_t width, int channels, int depth, bool has_alpha)
{
    const int64_t pixels = height * width;
    const int samples = channels + has_alpha;
    png_planes image = {height,
                        width,
                        channels,
                        depth,
                        malloc((size_t)(pixels * channels) * sizeof(float)),
                        has_alpha ? malloc((size_t)pixels * sizeof(uint16_t)) : NULL};
    uLongf bytes = (uLongf)(height * (1 + (width * samples * depth + 7) / 8)), expected = bytes;
    uint8_t *rows = malloc(bytes);
    size_t size;

    srand(1);
    for (int64_t i = 0; i < pixels * channels; i++)
        image.planes[i] = (float)((i / 7 + rand() % 5) % (1 << depth));
    for (int64_t i = 0; has_alpha && i < pixels; i++)
        image.alpha[i] = (uint16_t)(rand() % (1 << depth));
    file_bytes png = encode(&image);
    uint8_t *stream = stream_of(&png, &size);
    cr_assert(eq(int, uncompress(rows, &bytes, stream, (uLong)size), Z_OK), "%dx%d", (int)height, (int)width);
    cr_assert(bytes == expected);
    png_planes back = decode(png.data, png.size);
    cr_assert(back.height == height && back.width == width && back.channels == channels && back.depth == depth);
    cr_assert(memcmp(back.planes, image.planes, (size_t)(pixels * channels) * sizeof(float)) == 0);
    cr_assert(image.alpha == NULL || memcmp(back.alpha, image.alpha, (size_t)pixels * sizeof(uint16_t)) == 0);
    free(rows);
    free(stream);
    file_bytes_free(&png);
    png_planes_free(&image);
    png_planes_free(&back);
}

Test(png_planes, bands_are_one_stream)
{
    enum { BAND = 1 << 20 };

    expect_bands(1, 1, 1, 8, false);
    for (int more = -1; more <= 1; more++) { /* rows of 1024 bytes with the filter's, of which 1025 are a band */
        expect_bands(1025 + more, 1023, 1, 8, false);
        expect_bands(2 * 1025 + more, 1023, 1, 8, false);
    }
    expect_bands(3, BAND + 5, 1, 8, false);
    expect_bands(1200, 700, 3, 8, false);
    expect_bands(900, 333, 3, 16, true);
    expect_bands(800, 701, 1, 16, false);
    expect_bands(900, 700, 1, 8, true);
    expect_bands(5001, 1003, 1, 1, false);
    expect_bands(1501, 1003, 1, 4, false);
}

/* --------------------------------------------------------------------------------------- broken files ---- */

Test(png_planes, refuses_what_is_cut_off)
{
    for (int k = 0; k < PNG_KINDS; k++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            file_bytes made = make(png_kinds[k], interlaced);
            for (size_t cut = 0; cut < made.size; cut += 7) {
                problem why = {0};
                cr_assert(not(decode_copy(made.data, cut, &why)), "%d of %d bytes", (int)cut, (int)made.size);
                expect_problem(&why, "a.png", 2, "is a damaged PNG file (truncated)");
            }
            file_bytes_free(&made);
        }
}

/* A sound image or a problem, whatever the bytes. */
Test(png_planes, bits_that_flip)
{
    unsigned random = 1;
    int refused = 0;
    for (int k = 0; k < PNG_KINDS; k++)
        for (int n = 0; n < 100; n++) {
            file_bytes made = make(png_kinds[k], n % 2);
            for (int flips = n % 3; flips >= 0; flips--) {
                random = random * 1664525 + 1013904223; /* Knuth's linear congruence */
                made.data[random / 8 % made.size] ^= (uint8_t)(1u << (random >> 29));
            }
            problem why = {0};
            if (!decode_copy(made.data, made.size, &why)) {
                expect_problem(&why, "a.png", 2, " PNG file");
                refused++;
            }
            file_bytes_free(&made);
        }
    cr_assert(refused > 1000, "%d", refused);
}

/* The header claims a picture of many GB, with a sound checksum: no memory may be taken for it. */
Test(png_planes, refuses_absurd_sizes)
{
    problem why = {0};
    file_bytes made = make(png_kinds[3], false);
    memcpy(made.data + 16, "\x00\x0f\x00\x00\x00\x0f\x00\x00", 8);
    png_save_uint_32(made.data + 29, 0xb554ae13);
    cr_assert(not(decode_copy(made.data, made.size, &why)));
    expect_problem(&why, "a.png", 2, "claims 983040x983040 pixels");
    file_bytes_free(&made);
}

/* ---------------------------------------------------------------------------------- several at a time ---- */

/* Each thread has kinds of its own; asserting is left to the test's thread. */
typedef struct worker {
    pthread_t thread;
    file_bytes made[PNG_KINDS];
    int wrong;
} worker;

static bool same_again(const file_bytes *made)
{
    problem why;
    png_planes image, again = {0};
    file_bytes encoded = {0};
    bool ok = png_planes_decode("a.png", made->data, made->size, &image, &why) &&
              png_planes_encode("a.png", &image, &encoded, &why) &&
              png_planes_decode("a.png", encoded.data, encoded.size, &again, &why) &&
              memcmp(image.planes, again.planes, (size_t)image.channels * PIXELS * sizeof *image.planes) == 0;
    png_planes_free(&image);
    png_planes_free(&again);
    file_bytes_free(&encoded);
    return ok;
}

static void *work(void *argument)
{
    worker *w = argument;
    problem why;
    png_planes image;
    for (int round = 0; round < 10; round++)
        for (int k = 0; k < PNG_KINDS; k++) {
            w->wrong += !same_again(&w->made[k]);
            w->wrong += png_planes_decode("a.png", w->made[k].data, w->made[k].size / 2, &image, &why);
        }
    return NULL;
}

Test(png_planes, several_threads)
{
    worker workers[THREADS] = {0};
    for (int t = 0; t < THREADS; t++)
        for (int k = 0; k < PNG_KINDS; k++)
            workers[t].made[k] = make(png_kinds[k], t % 2);
    for (int t = 0; t < THREADS; t++)
        cr_assert(pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        cr_assert(eq(int, workers[t].wrong, 0));
        for (int k = 0; k < PNG_KINDS; k++)
            file_bytes_free(&workers[t].made[k]);
    }
}

/* -------------------------------------------------------------------------------------- a file's bytes ---- */

TestSuite(file_bytes, .init = scratch_start, .fini = scratch_end);

static void expect_not_read(const char *name, const char *words)
{
    problem why = {0};
    file_bytes bytes;
    cr_assert(not(file_bytes_read(name, "a PNG", &bytes, &why)));
    cr_assert(bytes.data == NULL && bytes.size == 0);
    expect_problem(&why, name, 2, words);
}

Test(file_bytes, there_and_back)
{
    problem why;
    uint8_t data[70000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i >> 3);
    cr_assert(file_bytes_write("a", &(file_bytes){data, sizeof data}, &why), "%s", why.text);
    file_bytes bytes = load("a");
    cr_assert(bytes.size == sizeof data && memcmp(bytes.data, data, sizeof data) == 0);
    file_bytes_free(&bytes);
    cr_assert(bytes.data == NULL && bytes.size == 0);
    cr_assert(eq(int, scratch_count(), 1));
}

Test(file_bytes, only_whole_regular_files)
{
    scratch_write("empty", "", 0);
    cr_assert(mkdir("folder", 0777) == 0 && mkfifo("pipe", 0666) == 0);
    expect_not_read("empty", "is empty; expected a PNG");
    expect_not_read("folder", "is a folder");
    expect_not_read("pipe", "a pipe, socket or device");
    expect_not_read("missing", "No such file");
}

Test(file_bytes, written_whole_or_not_at_all)
{
    problem why;
    file_bytes bytes = {(uint8_t[]){1, 2, 3}, 3};
    cr_assert(not(file_bytes_write("missing/a", &bytes, &why)));
    expect_problem(&why, "missing/a", 4, "No such file");
    cr_assert(not(file_bytes_write("/dev/full", &bytes, &why)));
    expect_problem(&why, "/dev/full", 4, "No space left on device");
    cr_assert(eq(int, scratch_count(), 0));
}

static void *write_some(void *argument)
{
    const char *letter = argument;
    problem why;
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c%d", *letter, i);
        if (!file_bytes_write(name, &(file_bytes){(uint8_t *)letter, 1}, &why))
            return "failed";
    }
    return NULL;
}

Test(file_bytes, written_by_several_threads)
{
    static char letters[THREADS] = "abcd";
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        cr_assert(pthread_create(&threads[t], NULL, write_some, &letters[t]) == 0);
    for (int t = 0; t < THREADS; t++) {
        void *words;
        pthread_join(threads[t], &words);
        cr_assert(eq(ptr, words, NULL));
    }
    cr_assert(eq(int, scratch_count(), 20 * THREADS));
}
