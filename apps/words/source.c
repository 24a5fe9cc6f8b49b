/* SPDX-License-Identifier: MIT
 *
 * Arrays by words: of files, or made.
 */
#include "source.h"

#include "numbers.h"
#include "options/typed.h"
#include "support/memory.h"

#include <string.h>
#include <unistd.h>

uint64_t source_made_before(const char *const *words, int i)
{
    uint64_t count = 0;

    for (int k = 0; k < i; k++)
        count += made_is_word(words[k]);
    return count;
}

bool source_is_made(const char *word)
{
    return made_is_word(word) || number_is_range(word);
}

/* Files that people have, and the program that makes a file of them that can be read: "convert a.jpg a.png". */
#define NUMPY(loaded) "python3 -c 'import numpy as np, sys; f, to = sys.argv[1:]; np.save(to, " loaded ")'"
static const struct {
    const char *ending, *is, *makes, *program;
} foreign[] = {
    {".jpg", "a JPEG picture", ".png", "convert"},
    {".jpeg", "a JPEG picture", ".png", "convert"},
    {".bmp", "a BMP picture", ".png", "convert"},
    {".gif", "a GIF picture", ".png", "convert"},
    {".tif", "a TIFF picture", ".png", "convert"},
    {".tiff", "a TIFF picture", ".png", "convert"},
    {".webp", "a WebP picture", ".png", "convert"},
    {".csv", "text", ".npy", NUMPY("np.loadtxt(f, delimiter=\",\")")},
    {".txt", "text", ".npy", NUMPY("np.loadtxt(f)")},
    {".npz", "an archive of arrays", ".npy", NUMPY("next(iter(np.load(f).values()))")},
};

void source_refuse_foreign(const char *path)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        if (!file_ends_in(path, foreign[i].ending) || access(path, R_OK) != 0)
            continue;
        char *made = memory_print("%.*s%s", (int)(strlen(path) - strlen(foreign[i].ending)), path, foreign[i].makes);
        char *from = typed_quote(path), *to = typed_quote(made);
        typed_put_before(memory_print("%s %s %s && ", foreign[i].program, from, to));
        typed_change(path, to);
        typed_refuse("%s: is %s; expected a .npy or .png file (another program converts it)", path, foreign[i].is);
    }
}

bool source_look(const array_source *source, npy_layout *layout, problem *why)
{
    made_array made;

    if (!source_is_made(source->word)) {
        source_refuse_foreign(source->word);
        return file_look(source->word, layout, why);
    }
    if (!made_read(source->word, source->seed, source->dtype, &made, why))
        return false;
    *layout = (npy_layout){.dtype = made.dtype, .ndim = made.ndim};
    memcpy(layout->shape, made.shape, sizeof layout->shape);
    return true;
}

bool source_elements(const array_source *source, const npy_layout *layout, int64_t first, int64_t count,
                     host_array *array, problem *why)
{
    made_array made;

    if (!source_is_made(source->word))
        return file_read_elements(source->word, layout, first, count, array, why);
    return made_read(source->word, source->seed, source->dtype, &made, why) &&
           made_elements(&made, first, count, source->word, array, why);
}

bool source_read(const array_source *source, host_array *array, problem *why)
{
    npy_layout layout;
    int64_t count;

    if (!source_is_made(source->word)) {
        source_refuse_foreign(source->word);
        return file_read(source->word, array, why);
    }
    *array = (host_array){0};
    if (!source_look(source, &layout, why))
        return false;
    if (!shape_bytes(layout.ndim, layout.shape, 1, &count))
        return problem_set(why, EXIT_BAD_INPUT, "%s: an array of shape %s is larger than a machine can address",
                           source->word, format_shape(layout.ndim, layout.shape).text);
    if (!source_elements(source, &layout, 0, count, array, why))
        return false;
    array->ndim = layout.ndim;
    memcpy(array->shape, layout.shape, sizeof array->shape);
    return true;
}
