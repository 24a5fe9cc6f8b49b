/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include "support/fail.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        fail(EXIT_BROKEN, "out of host memory for a name");
    va_end(arguments);
    return text;
}

/* The size of a regular file; -1: there is none. */
static int64_t size_of(const char *folder, const char *name)
{
    char *path = text_of("%s/%s", folder, name);
    struct stat info;
    const bool found = stat(path, &info) == 0 && S_ISREG(info.st_mode);

    free(path);
    return found ? info.st_size : -1;
}

static void add(batch_source *source, char *name)
{
    char **names = reallocate((void *)source->inputs, (size_t)source->count + 1, sizeof *names);

    names[source->count++] = name;
    source->inputs = (const char *const *)names;
}

batch_source inputs_images(const char *const *files, int count)
{
    batch_source source = {.kind = BATCH_IMAGES};

    for (int i = 0; i < count; i++)
        add(&source, text_of("%s", files[i]));
    return source;
}

batch_source inputs_factors(const char *folder)
{
    batch_source source = {.kind = BATCH_FACTORS};
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);

    if (count < 0)
        fail(EXIT_BAD_INPUT, "--factors: %s: %s; expected a folder", folder, strerror(errno));
    const bool itself = size_of(folder, "u.npy") >= 0;
    if (itself)
        add(&source, text_of("%s", folder));
    for (int i = 0; i < count; i++) {
        char *path = text_of("%s/%s", folder, entries[i]->d_name);
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

int64_t inputs_bytes(const batch_source *source)
{
    int64_t bytes = 0;

    for (int64_t n = 0; n < source->count; n++)
        for (int i = 0; i < FACTORS; i++) {
            const int64_t size = size_of(source->inputs[n], factor_files[i]);
            bytes += size > 0 ? size : 0;
        }
    return bytes;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* No two outputs have one name, and none replaces an input. */
static void check_names(const batch_source *source)
{
    const char **sorted = allocate((size_t)source->count, sizeof *sorted);

    memcpy(sorted, source->outputs, (size_t)source->count * sizeof *sorted);
    qsort(sorted, (size_t)source->count, sizeof *sorted, by_name);
    for (int64_t i = 0; i + 1 < source->count; i++)
        if (strcmp(sorted[i], sorted[i + 1]) == 0)
            fail(EXIT_BAD_INPUT, "%s: two inputs have this output; expected inputs of different names", sorted[i]);
    free(sorted);
    for (int64_t i = 0; i < source->count; i++)
        if (same_file(source->inputs[i], source->outputs[i]))
            fail(EXIT_BAD_INPUT, "%s: the output would replace this input; expected another --output-dir",
                 source->outputs[i]);
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* An image's own name; of factors the folder's, also that of "." and of "factors/". */
static char *output_of(const batch_source *source, const char *input, const char *folder)
{
    char *whole, *name;

    if (source->kind == BATCH_IMAGES)
        return text_of("%s/%s", folder, last_name(input));
    whole = realpath(input, NULL);
    if (!whole)
        fail(EXIT_BAD_INPUT, "%s: %s", input, strerror(errno));
    name = text_of("%s/%s.npy", folder, last_name(whole));
    free(whole);
    return name;
}

void inputs_name_outputs(batch_source *source, const char *folder, bool resume)
{
    char **outputs = allocate((size_t)source->count, sizeof *outputs);

    source->outputs = (const char *const *)outputs;
    for (int64_t i = 0; i < source->count; i++)
        outputs[i] = output_of(source, source->inputs[i], folder);
    check_names(source);
    for (int64_t i = 0; i < source->count && resume; i++)
        if (size_of(folder, last_name(outputs[i])) >= 0) {
            free(outputs[i]);
            outputs[i] = NULL;
        }
}

void inputs_make_folder(const char *folder)
{
    struct stat info;

    if (mkdir(folder, 0777) != 0 && (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)))
        fail(EXIT_BAD_INPUT, "--output-dir: %s: cannot make this folder: %s", folder, strerror(errno));
}

void inputs_free(batch_source *source)
{
    for (int64_t i = 0; i < source->count && source->inputs; i++) {
        free((void *)source->inputs[i]);
        free(source->outputs ? (void *)source->outputs[i] : NULL);
    }
    free((void *)source->inputs);
    free((void *)source->outputs);
}
