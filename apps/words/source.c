/* SPDX-License-Identifier: MIT
 *
 * Arrays by words: of files, or made.
 */
#include "source.h"

#include "numbers.h"

#include <string.h>

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

bool source_look(const array_source *source, npy_layout *layout, problem *why)
{
    made_array made;

    if (!source_is_made(source->word))
        return file_look(source->word, layout, why);
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

    if (!source_is_made(source->word))
        return file_read(source->word, array, why);
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
