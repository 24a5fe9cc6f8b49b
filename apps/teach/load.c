/* SPDX-License-Identifier: MIT
 *
 * Reads as much of an array as is shown.
 */
#include "load.h"

#include "own/map_inputs.h"
#include "run/inputs.h"
#include "support/fail.h"
#include "support/memory.h"
#include "words/source.h"

#include <inttypes.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 };

/* An array that is read in pieces, or lies in memory. */
typedef struct reading {
    const array_source *source;
    npy_layout layout; /* dtype and shape as they are shown; of a file, `file` has those in it */
    npy_layout file;
    host_array whole, piece; /* whole: with data where it is in memory */
    int64_t piece_bytes;
    selection chosen;
    char *next; /* where the next elements go */
} reading;

static size_t element_bytes(const reading *r)
{
    return fl_dtype_size(r->layout.dtype);
}

/* The elements of a row of dimension d, that is of one index there. */
static int64_t row_elements(const reading *r, int d)
{
    int64_t elements = 1;

    while (++d < FL_MAX_DIMS)
        elements *= r->layout.shape[d];
    return elements;
}

/* `count` elements from `first` on; valid until the next call. */
static const char *elements_from(reading *r, int64_t first, int64_t count)
{
    problem why;

    if (r->whole.data)
        return (const char *)r->whole.data + (size_t)first * element_bytes(r);
    host_array_free(&r->piece);
    must_do(source_elements(r->source, &r->file, first, count, &r->piece, &why), &why);
    return r->piece.data;
}

/* Copies what is selected of dimensions d and above from elements in memory. */
static void copy_chosen(reading *r, int d, const char *from)
{
    const selection *s = &r->chosen;
    const size_t row = (size_t)row_elements(r, d) * element_bytes(r);

    if (d >= FL_MAX_DIMS) {
        memcpy(r->next, from, element_bytes(r));
        r->next += element_bytes(r);
        return;
    }
    for (int64_t i = 0; i < s->count[d]; i++)
        copy_chosen(r, d + 1, from + (size_t)(s->first[d] + i * s->step[d]) * row);
}

/* Reads what is selected of dimension d and above, whose first element is `start`: rows that are larger than a piece
 * one by one, others as many as a piece has. */
static void read_chosen(reading *r, int d, int64_t start)
{
    const selection *s = &r->chosen;
    const int64_t row = row_elements(r, d), bytes = row * (int64_t)element_bytes(r);
    const int64_t most = bytes < r->piece_bytes ? r->piece_bytes / bytes : 1; /* rows */

    for (int64_t i = 0; i < s->count[d];) {
        const int64_t first = s->first[d] + i * s->step[d];
        if (bytes > r->piece_bytes && d + 1 < FL_MAX_DIMS) {
            read_chosen(r, d + 1, start + first * row);
            i++;
            continue;
        }
        const int64_t fit = (most - 1) / s->step[d] + 1, left = s->count[d] - i, rows = fit < left ? fit : left;
        const char *from = elements_from(r, start + first * row, ((rows - 1) * s->step[d] + 1) * row);
        for (int64_t k = 0; k < rows; k++)
            copy_chosen(r, d + 1, from + (size_t)(k * s->step[d]) * (size_t)bytes);
        i += rows;
    }
}

/* Whole numbers alone are i64, others f64, as in map. */
static bool is_range(const common_options *common, const char *word, host_array *array)
{
    const bool whole = strspn(word, "+-0123456789:") == strlen(word);

    return numbers_from(word, common->has_dtype ? common->dtype : whole ? FL_I64 : FL_F64, array);
}

/* Returns whether the file is decoded from its start: a picture, or a stream without a name. */
static bool is_read_whole(const char *word)
{
    return !made_is_word(word) &&
           (file_ends_in(word, ".png") || strcmp(word, "-") == 0 || strncmp(word, "/dev/", 5) == 0);
}

static void take_layout(reading *r, const common_options *common, const show_options *own)
{
    const char *word = r->source->word;
    problem why;

    if (is_range(common, word, &r->whole)) {
        /* it is in memory */
    } else if (is_read_whole(word) || !own->has_crop) {
        must_do(source_read(r->source, &r->whole, &why), &why);
    } else {
        must_do(source_look(r->source, &r->file, &why), &why);
        r->layout = r->file;
        return;
    }
    r->layout = (npy_layout){.dtype = r->whole.dtype, .ndim = r->whole.ndim};
    memcpy(r->layout.shape, r->whole.shape, sizeof r->layout.shape);
}

static void reshape(npy_layout *layout, const show_options *own, const char *word)
{
    int64_t is, wanted;

    if (own->shape_ndim == 0)
        return;
    shape_bytes(layout->ndim, layout->shape, 1, &is);
    if (!shape_bytes(own->shape_ndim, own->shape, 1, &wanted) || is != wanted)
        fail(EXIT_BAD_INPUT, "--shape: %s does not have the %" PRId64 " elements of %s, which is %s",
             format_shape(own->shape_ndim, own->shape).text, is, word, format_shape(layout->ndim, layout->shape).text);
    layout->ndim = own->shape_ndim;
    memcpy(layout->shape, own->shape, sizeof layout->shape);
}

/* Cuts what is selected out of the array. */
static void crop(reading *r, const char *word, shown_array *shown)
{
    int64_t shape[FL_MAX_DIMS] = {1, 1, 1, 1}, bytes;
    const int ndim = selection_shape(&r->chosen, shape, &shown->origin);
    problem why;

    if (!shape_bytes(ndim, shape, element_bytes(r), &bytes))
        bytes = INT64_MAX;
    must_do(memory_allows(word, (double)bytes, &why) &&
                host_array_create(&shown->array, r->layout.dtype, ndim, shape, word, &why),
            &why);
    r->next = shown->array.data;
    if (bytes > 0)
        read_chosen(r, 0, 0);
    host_array_free(&r->piece);
    host_array_free(&r->whole);
}

shown_array show_load(const common_options *common, const show_options *own, int i)
{
    const char *word = common->arguments[i];
    const array_source source = {word, common->seed + source_made_before(common->arguments, i),
                                 common->has_dtype ? &common->dtype : NULL};
    shown_array shown = {.name = word, .origin = whole_origin()};
    reading r = {.source = &source, .piece_bytes = PIECE_BYTES};

    if (common->max_memory > 0 && common->max_memory < r.piece_bytes)
        r.piece_bytes = common->max_memory;
    take_layout(&r, common, own);
    reshape(&r.layout, own, word);
    if (own->has_crop) {
        r.chosen = slices_select(&own->crop, r.layout.ndim, r.layout.shape, word);
        crop(&r, word, &shown);
    } else {
        shown.array = (host_array){.dtype = r.layout.dtype, .ndim = r.layout.ndim, .data = r.whole.data};
        memcpy(shown.array.shape, r.layout.shape, sizeof shown.array.shape);
    }
    if (common->has_dtype)
        exercise_convert(&shown.array, common->dtype);
    return shown;
}
