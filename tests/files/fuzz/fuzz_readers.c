/* SPDX-License-Identifier: MIT
 *
 * Feeds broken files to the readers of .npy and .png. Whatever the bytes, a reader either gives a whole array or a
 * one-line problem. Built with -fsanitize=address,undefined it sees more than that.
 *
 *     fuzz_readers [ITERATIONS [SEED]]    mutates files that it makes itself: the same numbers, the same files
 *
 * With -DFLYNN_LIBFUZZER (clang -fsanitize=fuzzer) libFuzzer makes the files instead.
 */
#define _GNU_SOURCE 1
#include "make_png.h"
#include "files/npy.h"
#include "files/png_file.h"
#include "files/png_planes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_BYTES = 2048, MOST_SAMPLES = 64, DEFAULT_ITERATIONS = 40000 };

typedef bool (*reader)(const char *path, host_array *array, problem *why);

static void demand(bool condition, const char *what, const problem *why)
{
    if (condition)
        return;
    fprintf(stderr, "fuzz_readers: %s (\"%s\")\n", what, why->text);
    abort();
}

static void demand_problem(const problem *why, const char *path)
{
    demand(why->exit_code == EXIT_BAD_INPUT || why->exit_code == EXIT_BROKEN, "a problem has no exit code", why);
    demand(strncmp(why->text, path, strlen(path)) == 0, "a problem does not name the file", why);
    demand(strchr(why->text, '\n') == NULL, "a problem is not one line", why);
}

/* Reads the file; true if it was accepted. */
static bool try_reader(reader read, const char *path)
{
    problem why = {.text = ""};
    host_array array;
    if (!read(path, &array, &why)) {
        demand(array.data == NULL, "a refused file left an array", &why);
        demand_problem(&why, path);
        return false;
    }
    demand(array.data != NULL && array.ndim >= 0 && array.ndim <= FL_MAX_DIMS, "an accepted file gave no array", &why);
    volatile double sum = 0; /* touches every element */
    for (int64_t i = 0; i < host_array_size(&array); i++)
        sum += host_array_get(&array, i);
    host_array_free(&array);
    return true;
}

/* An image that was accepted is the same after it was encoded. */
static void try_again(const char *path, const png_planes *image)
{
    problem why = {.text = ""};
    file_bytes encoded;
    png_planes again;
    demand(png_planes_encode(path, image, &encoded, &why), "an accepted image is not encoded", &why);
    demand(png_planes_decode(path, encoded.data, encoded.size, &again, &why), "an encoded image is refused", &why);
    size_t pixels = (size_t)image->height * (size_t)image->width;
    demand(again.height == image->height && again.width == image->width && again.channels == image->channels &&
               again.depth == image->depth && (again.alpha != NULL) == (image->alpha != NULL),
           "an encoded image has another form", &why);
    demand(memcmp(again.planes, image->planes, pixels * (size_t)image->channels * sizeof *image->planes) == 0,
           "an encoded image has other samples", &why);
    demand(image->alpha == NULL || memcmp(again.alpha, image->alpha, pixels * sizeof *image->alpha) == 0,
           "an encoded image has another alpha", &why);
    file_bytes_free(&encoded);
    png_planes_free(&again);
}

/* Reads the file's bytes and decodes them, which must accept what png_read does. */
static void try_planes(const char *path, bool expected)
{
    problem why = {.text = ""};
    file_bytes bytes;
    png_planes image = {0};
    bool accepted =
        file_bytes_read(path, "a PNG", &bytes, &why) && png_planes_decode(path, bytes.data, bytes.size, &image, &why);
    file_bytes_free(&bytes);
    demand(accepted == expected, "one reader of PNGs accepts what the other refuses", &why);
    demand(accepted == (image.planes != NULL), "a refused file left an image, or an accepted one gave none", &why);
    if (accepted)
        try_again(path, &image);
    else
        demand_problem(&why, path);
    png_planes_free(&image);
}

/* A file in memory that has a path. */
static bool try_bytes(const uint8_t *data, size_t bytes, bool is_png)
{
    static int file = -1;
    char path[64];
    if (file < 0)
        file = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (ftruncate(file, 0) != 0 || pwrite(file, data, bytes, 0) != (ssize_t)bytes) {
        perror("fuzz_readers");
        exit(1);
    }
    bool accepted = try_reader(is_png ? png_read : npy_read, path);
    if (is_png)
        try_planes(path, accepted);
    return accepted;
}

#ifdef FLYNN_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    try_bytes(data, bytes, false);
    try_bytes(data, bytes, true);
    return 0;
}

#else

typedef struct sample {
    uint8_t data[MOST_BYTES];
    size_t bytes;
    bool is_png;
} sample;

static sample samples[MOST_SAMPLES];
static int sample_count;

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
static uint64_t state;

static size_t below(size_t limit)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return limit == 0 ? 0 : (size_t)((z ^ z >> 31) % limit);
}

static void add_sample(const char *path, bool is_png)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || sample_count == MOST_SAMPLES) {
        fprintf(stderr, "fuzz_readers: no sample %s\n", path);
        exit(1);
    }
    sample *s = &samples[sample_count++];
    s->bytes = fread(s->data, 1, sizeof s->data, file);
    s->is_png = is_png;
    fclose(file);
    unlink(path);
}

static void add_npy_text(const char *dictionary, size_t data_bytes)
{
    sample *s = &samples[sample_count++];
    size_t length = strlen(dictionary);
    memcpy(s->data, "\x93NUMPY\x01\x00", 8);
    s->data[8] = (uint8_t)length;
    memcpy(s->data + 10, dictionary, length);
    s->bytes = 10 + length + data_bytes;
}

static void make_samples(void)
{
    char path[] = "/tmp/flynn-fuzz-XXXXXX";
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    for (int k = 0; k < PNG_KINDS; k++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            make_png(path, png_kinds[k], interlaced, 5, 6);
            add_sample(path, true);
        }
    for (int t = 0; t < FL_DTYPE_COUNT; t++) {
        problem why;
        host_array array;
        if (!host_array_create(&array, (fl_dtype)t, 2, (int64_t[]){3, 2}, "sample", &why))
            exit(1);
        memset(array.data, 1, host_array_bytes(&array));
        if (!npy_write(path, &array, &why))
            exit(1);
        host_array_free(&array);
        add_sample(path, false);
    }
    add_npy_text("{'descr': '>f2', 'fortran_order': True, 'shape': (2, 3, 1, 2), }\n", 24);
    add_npy_text("{'descr': '>u4', 'fortran_order': True, 'shape': (2, 3L), }\n", 24);
    add_npy_text("{'descr': '|i1', 'fortran_order': False, 'shape': (), }\n", 1);
}

/* Checksums that fit again, so that what lies behind them is reached: chunks are length, name, data, checksum. */
static void mend_png(sample *s)
{
    for (size_t at = 8; at + 12 <= s->bytes;) {
        uint8_t *chunk = s->data + at;
        size_t length = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
        if (length > s->bytes - at - 12)
            return;
        uLong sum = crc32(0, chunk + 4, (uInt)length + 4);
        for (int i = 0; i < 4; i++)
            chunk[8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += 12 + length;
    }
}

static void mutate(sample *s)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, '(', ')', '\'', ',', '-', '9', '{', '}', '\n', ' '};
    size_t at = below(s->bytes), length = below(16);
    switch (below(6)) {
    case 0: s->data[at] ^= (uint8_t)(1u << below(8)); break;
    case 1: s->data[at] = odd[below(sizeof odd)]; break;
    case 2: /* cut off */ s->bytes = at; break;
    case 3: /* cut out */
        length = length < s->bytes - at ? length : s->bytes - at;
        memmove(s->data + at, s->data + at + length, s->bytes - at - length);
        s->bytes -= length;
        break;
    case 4: /* double */
        if (at + length <= s->bytes && s->bytes + length <= MOST_BYTES) {
            memmove(s->data + at + length, s->data + at, s->bytes - at);
            s->bytes += length;
        }
        break;
    case 5: /* a piece of another file */
        if (at + length <= s->bytes)
            memcpy(s->data + at, samples[below((size_t)sample_count)].data + below(64), length);
        break;
    }
}

int main(int argc, char **argv)
{
    long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_ITERATIONS;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    long accepted = 0;
    make_samples();
    for (int i = 0; i < sample_count; i++)
        if (!try_bytes(samples[i].data, samples[i].bytes, samples[i].is_png)) {
            fprintf(stderr, "fuzz_readers: sample %d is refused\n", i);
            return 1;
        }
    for (long i = 0; i < iterations; i++) {
        sample one = samples[below((size_t)sample_count)];
        for (size_t n = 1 + below(4); n > 0 && one.bytes > 0; n--)
            mutate(&one);
        if (one.is_png && below(2) == 0)
            mend_png(&one);
        accepted += try_bytes(one.data, one.bytes, one.is_png);
    }
    printf("fuzz_readers: %ld files, %ld of them accepted, none mishandled\n", iterations, accepted);
    return 0;
}

#endif
