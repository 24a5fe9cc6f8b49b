/* SPDX-License-Identifier: MIT
 *
 *     fuzz_<name> INPUTS SEED FOLDER...
 *
 * Gives the target each file of the folders, then INPUTS changed ones: the same number and seed, the same inputs.
 */
#define _GNU_SOURCE 1
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 32768, MOST_SAMPLES = 4096 };

typedef struct sample {
    uint8_t *data;
    size_t size;
} sample;

static sample samples[MOST_SAMPLES];
static size_t sample_count;

/* Where the target does not have one. */
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    (void)seed;
    return LLVMFuzzerMutate(data, size, most);
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
static uint64_t state;

static size_t below(size_t limit)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return limit == 0 ? 0 : (size_t)((z ^ z >> 31) % limit);
}

/* One of: a bit, an odd byte, the end, a piece out, a piece twice, a piece of another input. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, '(', ')', '\'', ',', '-', '9', '{', '}', '\n', ' '};
    const size_t at = below(size), piece = below(16), length = piece < size - at ? piece : size - at;
    const sample *other = &samples[below(sample_count)];
    const size_t from = below(other->size);

    switch (size > 0 ? below(6) : 4) {
    case 0: data[at] ^= (uint8_t)(1u << below(8)); return size;
    case 1: data[at] = odd[below(sizeof odd)]; return size;
    case 2: return at;
    case 3: memmove(data + at, data + at + length, size - at - length); return size - length;
    case 4:
        if (size + length > most)
            return size;
        memmove(data + at + length, data + at, size - at);
        return size + length;
    default:
        memcpy(data + at, other->data + from, length < other->size - from ? length : other->size - from);
        return size;
    }
}

static void read_sample(const char *folder, const char *name)
{
    sample *s = &samples[sample_count];
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    s->data = malloc(MOST_BYTES);
    if (!file || !s->data) {
        perror(path);
        exit(1);
    }
    s->size = fread(s->data, 1, MOST_BYTES, file);
    fclose(file);
    sample_count++;
}

/* In the order of their names. */
static void read_samples(const char *folder)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.' && sample_count < MOST_SAMPLES)
            read_sample(folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count <= 0) {
        fprintf(stderr, "%s: no inputs\n", folder);
        exit(1);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    static uint8_t data[MOST_BYTES];
    FILE *out = fdopen(dup(STDOUT_FILENO), "w"); /* a target may close stdout */

    if (argc < 4 || !out) {
        fprintf(stderr, "usage: %s INPUTS SEED FOLDER...\n", argv[0]);
        return 2;
    }
    const long inputs = strtol(argv[1], NULL, 10);
    state = strtoull(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++)
        read_samples(argv[i]);
    for (size_t i = 0; i < sample_count; i++)
        LLVMFuzzerTestOneInput(samples[i].data, samples[i].size);
    /* A quick test (harness/harness.h) gives the target one of four changed inputs. */
    const char *quick = getenv("FLYNN_TEST_QUICK");
    const long step = quick ? 4 : 1, first = quick ? (long)(strtoull(quick, NULL, 10) % 4) : 0;
    for (long i = 0; i < inputs; i++) {
        const sample *s = &samples[below(sample_count)];
        size_t size = s->size;
        memcpy(data, s->data, size);
        for (size_t n = 1 + below(4); n > 0; n--)
            size = LLVMFuzzerCustomMutator(data, size, sizeof data, (unsigned)below(1u << 31));
        if (i % step == first)
            LLVMFuzzerTestOneInput(data, size);
    }
    for (size_t i = 0; i < sample_count; i++)
        free(samples[i].data);
    fprintf(out, "%zu kept inputs and %ld changed ones, none mishandled\n", sample_count, inputs / step);
    return fclose(out) != 0;
}
