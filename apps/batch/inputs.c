/* SPDX-License-Identifier: MIT
 *
 * inputs.c - what a batch works on: image files, files of factors, or made ones.
 */
#include "batch.h"

#include "files/files.h"
#include "ranks/group.h"
#include "run/reference.h"
#include "options/paths.h"
#include "support/fail.h"
#include "support/memory.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { COURSE_COUNT = 256, COURSE_EDGE = 512, COURSE_KEEP = 100, LARGEST_EDGE = 1 << 16 };
static const int64_t most_factor_bytes = (int64_t)1 << 30; /* of factors that are read before the clock starts */

/* The size of a regular file; -1: there is none. */
static int64_t size_of(const char *folder, const char *name)
{
    char *path = memory_print("%s/%s", folder, name);
    struct stat info;
    const bool found = stat(path, &info) == 0 && S_ISREG(info.st_mode);

    free(path);
    return found ? info.st_size : -1;
}

static void add(batch_source *source, char *name)
{
    char **names = memory_regrown((void *)source->inputs, (size_t)source->count + 1, sizeof *names);

    names[source->count++] = name;
    source->inputs = (const char *const *)names;
}

static batch_source find_factors(const char *folder)
{
    batch_source source = {.kind = BATCH_FACTORS};
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);

    if (count < 0)
        fail(exit_code_of_errno(errno), "--factors: %s: %s; expected a folder", folder, strerror(errno));
    const bool itself = size_of(folder, "u.npy") >= 0;
    if (itself)
        add(&source, memory_text(folder));
    for (int i = 0; i < count; i++) {
        char *path = memory_print("%s/%s", folder, entries[i]->d_name);
        if (!itself && entries[i]->d_name[0] != '.' && size_of(path, "u.npy") >= 0)
            add(&source, path);
        else
            free(path);
        free(entries[i]);
    }
    free(entries);
    if (source.count == 0)
        fail(EXIT_BAD_INPUT, "--factors: %s: neither this folder nor a folder in it has a u.npy", folder);
    return source;
}

static int64_t bytes_of_factors(const batch_source *source)
{
    int64_t bytes = 0;

    for (int64_t n = 0; n < source->count; n++)
        for (int i = 0; i < FACTORS; i++)
            bytes += int64_larger(size_of(source->inputs[n], factor_files[i]), 0);
    return bytes;
}

static batch_source make_random(const batch_options *own, const common_options *common)
{
    const int64_t edge = common->size ? common->size : COURSE_EDGE, course[] = {COURSE_COUNT, edge, edge},
                  *n = own->synthetic[0] > 0 ? own->synthetic : course, least = n[1] < n[2] ? n[1] : n[2],
                  usual = least < COURSE_KEEP ? least : COURSE_KEEP;
    const fl_dtype dtype = common->has_dtype ? common->dtype : FL_F32;

    if (dtype != FL_F32 && dtype != FL_F64)
        fail(EXIT_BAD_INPUT, "--dtype: batch computes in f32 and f64, not in %s", fl_dtype_name(dtype));
    if (n[1] > LARGEST_EDGE || n[2] > LARGEST_EDGE || n[0] > INT32_MAX)
        fail(EXIT_BAD_INPUT, "--synthetic: %" PRId64 "x%" PRId64 "x%" PRId64 " is too large; expected at most %dx%dx%d",
             n[0], n[1], n[2], INT32_MAX, LARGEST_EDGE, LARGEST_EDGE);
    if (own->keep > least)
        fail(EXIT_BAD_INPUT,
             "a matrix of %" PRId64 "x%" PRId64 " has %" PRId64 " singular values; --keep=%" PRId64 " asks for more",
             n[1], n[2], least, own->keep);
    return (batch_source){.kind = BATCH_SYNTHETIC,
                          .count = n[0],
                          .in_memory = true,
                          .shape = {dtype, n[1], n[2], own->keep ? own->keep : usual}};
}

/* The images in a folder, in the order of their names; the folder itself where it has none. */
static void add_images(batch_source *source, const char *folder)
{
    const int64_t before = source->count;
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);

    if (count < 0)
        fail(exit_code_of_errno(errno), "%s: %s; expected a folder with PNGs", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(folder);
        if (file_ends_in(entries[i]->d_name, ".png") && entries[i]->d_name[0] != '.')
            add(source,
                memory_print("%s%s%s", folder, length && folder[length - 1] == '/' ? "" : "/", entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    if (source->count == before)
        add(source, memory_text(folder)); /* reported when it is read */
}

static batch_source find_images(const common_options *common)
{
    batch_source source = {.kind = BATCH_IMAGES};
    struct stat info;

    for (int i = 0; i < common->argument_count; i++)
        if (stat(common->arguments[i], &info) == 0 && S_ISDIR(info.st_mode))
            add_images(&source, common->arguments[i]);
        else
            add(&source, memory_text(common->arguments[i]));
    return source;
}

batch_source inputs_find(const batch_options *own, const common_options *common)
{
    batch_source source;

    if (common->argument_count == 0 && !own->factors)
        return make_random(own, common);
    source = common->argument_count ? find_images(common) : find_factors(own->factors);
    source.shape = (matrix_shape){.dtype = FL_F32, .keep = own->keep};
    source.in_memory =
        source.kind == BATCH_FACTORS && !group_is_distributed() && bytes_of_factors(&source) <= most_factor_bytes;
    return source;
}

static void claim_files(const batch_source *source)
{
    for (int64_t n = 0; n < source->count && source->kind == BATCH_IMAGES; n++)
        path_claim(PATH_READ, source->inputs[n], "the input %s", source->inputs[n]);
    for (int64_t n = 0; n < source->count && source->kind == BATCH_FACTORS; n++)
        for (int i = 0; i < FACTORS; i++) {
            char *path = memory_print("%s/%s", source->inputs[n], factor_files[i]);
            path_claim(PATH_READ, path, "the input %s", path);
            free(path);
        }
    for (int64_t n = 0; n < source->count && source->outputs; n++)
        path_claim(PATH_WRITTEN, source->outputs[n], "the output of %s, %s", source->inputs[n], source->outputs[n]);
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* An image's own name; of factors the folder's, also that of "." and of "factors/". */
static char *output_of(const batch_source *source, const char *input, const char *folder)
{
    char *whole = source->kind == BATCH_IMAGES ? memory_text(input) : realpath(input, NULL), *name;

    if (!whole)
        fail(exit_code_of_errno(errno), "%s: %s", input, strerror(errno));
    name = memory_print("%s/%s%s", folder, last_name(whole), source->kind == BATCH_IMAGES ? "" : ".npy");
    free(whole);
    return name;
}

void inputs_name_outputs(batch_source *source, const batch_options *own)
{
    char **outputs;

    outputs =
        own->folder && source->kind != BATCH_SYNTHETIC ? memory_zeroed((size_t)source->count, sizeof *outputs) : NULL;
    source->outputs = (const char *const *)outputs;
    for (int64_t i = 0; i < source->count && outputs; i++)
        outputs[i] = output_of(source, source->inputs[i], own->folder);
    claim_files(source);
    for (int64_t i = 0; i < source->count && outputs && own->resume; i++)
        if (size_of(own->folder, last_name(outputs[i])) >= 0) {
            free(outputs[i]);
            outputs[i] = NULL;
        }
}

void inputs_make_folder(const char *folder)
{
    struct stat info;

    const int error = mkdir(folder, 0777) == 0 ? 0 : errno;
    if (error != 0 && (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)))
        fail(exit_code_of_errno(error), "--output-dir: %s: cannot make this folder: %s", folder, strerror(error));
}

void inputs_free(batch_source *source)
{
    for (int64_t i = 0; i < source->count && source->outputs; i++)
        free((void *)source->outputs[i]);
    free((void *)source->outputs);
    for (int64_t i = 0; i < source->count && source->inputs; i++)
        free((void *)source->inputs[i]);
    free((void *)source->inputs);
}
