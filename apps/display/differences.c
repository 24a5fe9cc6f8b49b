/* SPDX-License-Identifier: MIT
 *
 * Which elements differ, as a set of bits that an array of any size has room for.
 */
#include "differences.h"
#include "position.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PIECES = 1 << 16, MOST_PIECES = 1 << 27 };

static bool has(const differences *d, int64_t piece)
{
    return d->bits[piece / 8] >> piece % 8 & 1;
}

/* Marks pieces of twice as many elements. */
static void coarsen(differences *d)
{
    for (int64_t i = 0; i < d->pieces / 8; i++) {
        uint8_t byte = 0;
        for (int b = 0; b < 8 && 2 * i < d->pieces / 8; b++)
            byte |= (uint8_t)((d->bits[2 * i + b / 4] >> (2 * b) % 8 & 3 ? 1 : 0) << b);
        d->bits[i] = byte;
    }
    d->shift++;
}

/* Makes room for the element and returns its piece. */
static int64_t piece_of(differences *d, int64_t index)
{
    int64_t pieces = d->pieces > 0 ? d->pieces : FIRST_PIECES;

    while (index >> d->shift >= MOST_PIECES) {
        if (d->pieces > 0)
            coarsen(d);
        else
            d->shift++;
    }
    while (pieces <= index >> d->shift)
        pieces *= 2;
    if (pieces > d->pieces) {
        d->bits = memory_regrown(d->bits, (size_t)pieces / 8, 1);
        memset(d->bits + d->pieces / 8, 0, (size_t)(pieces - d->pieces) / 8);
        d->pieces = pieces;
    }
    return index >> d->shift;
}

static void add_first(differences *d, const difference *one)
{
    int count = d->count < FIRST_DIFFERENCES ? (int)d->count : FIRST_DIFFERENCES, at = count;

    while (at > 0 && d->first[at - 1].index > one->index)
        at--;
    if (at == FIRST_DIFFERENCES)
        return;
    count = count < FIRST_DIFFERENCES ? count : FIRST_DIFFERENCES - 1;
    memmove(&d->first[at + 1], &d->first[at], (size_t)(count - at) * sizeof *d->first);
    d->first[at] = *one;
}

void differences_add(differences *d, int64_t index, double result, double expected)
{
    if (index >= 0) {
        const int64_t piece = piece_of(d, index);
        d->bits[piece / 8] |= (uint8_t)(1 << piece % 8);
    }
    add_first(d, &(difference){index, result, expected});
    d->count++;
}

void differences_free(differences *d)
{
    free(d->bits);
    *d = (differences){0};
}

/* Which of `cells` parts of `length` the i-th one lies in: part k has those from k * length / cells on. */
static int cell_of(int64_t i, int64_t length, int cells)
{
    return (int)(((i + 1) * cells - 1) / length);
}

static int64_t cell_length(int cell, int64_t length, int cells)
{
    return (int64_t)(cell + 1) * length / cells - (int64_t)cell * length / cells;
}

where_text differences_where(const differences *d, int ndim, const int64_t *shape, int most)
{
    const int64_t width = ndim > 0 ? shape[ndim - 1] : 1;
    int64_t size, height, counts[WHERE_ROWS][WHERE_COLUMNS] = {{0}};
    where_text out = {0};

    shape_bytes(ndim, shape, 1, &size);
    if (size == 0)
        return out;
    height = size / width;
    const int columns = (int)(width < most ? width : most);
    out.rows = (int)(height < WHERE_ROWS ? height : WHERE_ROWS);
    for (int64_t p = 0; p < d->pieces; p++) {
        const int64_t first = p << d->shift, left = size - first, all = INT64_C(1) << d->shift;
        if (d->bits[p / 8] == 0)
            p |= 7; /* to the last one of the byte */
        else if (left > 0 && has(d, p))
            counts[cell_of(first / width, height, out.rows)][cell_of(first % width, width, columns)] +=
                left < all ? left : all;
    }
    for (int r = 0; r < out.rows; r++)
        for (int c = 0; c < columns; c++) {
            const int64_t whole = cell_length(r, height, out.rows) * cell_length(c, width, columns);
            out.row[r][c] = counts[r][c] == 0 ? '.' : counts[r][c] >= whole ? '#' : '+';
        }
    return out;
}

/* The wrong elements of a matrix, whose rows the leading dimensions count. */
typedef struct wrong_places {
    int64_t size, width, height;
    int64_t count, first, second, last;
    int64_t left, right; /* the least and the most column */
    bool even;           /* each is as far from the one before as the second from the first */
} wrong_places;

static void add_place(wrong_places *w, int64_t i)
{
    const int64_t column = i % w->width;

    w->left = w->count == 0 || column < w->left ? column : w->left;
    w->right = w->count == 0 || column > w->right ? column : w->right;
    if (w->count == 0)
        w->first = i;
    else if (w->count == 1)
        w->second = i;
    else
        w->even = w->even && i - w->last == w->second - w->first;
    w->last = i;
    w->count++;
}

static wrong_places places_of(const differences *d, int ndim, const int64_t *shape)
{
    wrong_places w = {.width = ndim > 0 ? shape[ndim - 1] : 1, .even = true};

    shape_bytes(ndim, shape, 1, &w.size);
    w.height = w.size > 0 ? w.size / w.width : 0;
    for (int64_t i = 0; i < d->pieces && i < w.size; i++) {
        if (d->bits[i / 8] == 0)
            i |= 7; /* to the last one of the byte */
        else if (has(d, i))
            add_place(&w, i);
    }
    return w;
}

/* ", a multiple of the block's 256 threads", of what lies before the first wrong element. */
static void add_block(pattern_text *p, int64_t from, int64_t block, const char *what)
{
    const size_t used = strlen(p->text);

    if (block > 1 && from % block == 0)
        snprintf(p->text + used, sizeof p->text - used, ", a multiple of the block's %" PRId64 " %s", block, what);
}

/* The pattern of wrong elements that are one interval, neither the whole array nor a single element. */
static pattern_text interval_text(const wrong_places *w, int ndim, const int64_t *shape, const int *block)
{
    const int64_t row = w->first / w->width;
    const bool whole_rows = ndim > 1 && w->first % w->width == 0 && (w->last + 1) % w->width == 0;
    pattern_text p = {""};

    if (whole_rows && w->count == w->width)
        snprintf(p.text, sizeof p.text, "only the %s row", row == 0 ? "first" : "last");
    else if (w->last == w->size - 1)
        snprintf(p.text, sizeof p.text, "all from %s on", format_index(w->first, ndim, shape).text);
    else
        snprintf(p.text, sizeof p.text, "all up to %s", format_index(w->last, ndim, shape).text);
    if (whole_rows && w->count == w->width && row > 0 && row < w->height - 1)
        snprintf(p.text, sizeof p.text, "only row %" PRId64, row);
    else if (w->last == w->size - 1 && w->count != w->width && ndim == 1)
        add_block(&p, w->first, (int64_t)block[0] * block[1] * block[2], "threads");
    else if (w->last == w->size - 1 && whole_rows && w->count != w->width)
        add_block(&p, row, block[1], "rows");
    return p;
}

static const char *ordinal_end(int64_t n)
{
    return n % 100 / 10 == 1 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

pattern_text differences_pattern(const differences *d, int ndim, const int64_t *shape, const int *block)
{
    static const int no_block[3];
    const wrong_places w = places_of(d, ndim, shape);
    const int64_t step = w.second - w.first;
    pattern_text p = {""};

    if (d->shift > 0 || w.count < 2 || w.count != d->count || w.count == w.size)
        return p;
    block = block ? block : no_block;
    if (w.even && step == 1 && (w.first == 0 || w.last == w.size - 1 || (w.count == w.width && w.first % w.width == 0)))
        return interval_text(&w, ndim, shape, block);
    if (ndim > 1 && w.count == w.height * (w.right - w.left + 1) && (w.left == w.right || w.right == w.width - 1)) {
        if (w.left == w.right)
            snprintf(p.text, sizeof p.text, "only column %" PRId64, w.left);
        else
            snprintf(p.text, sizeof p.text, "in each row all from column %" PRId64 " on", w.left);
        if (w.right == w.width - 1 && w.left != w.right)
            add_block(&p, w.left, block[0], "columns");
    } else if (w.count > 3 && w.even && w.first < step && w.last + step >= w.size) {
        snprintf(p.text, sizeof p.text, "every %" PRId64 "%s from %s on", step, ordinal_end(step),
                 format_index(w.first, ndim, shape).text);
    }
    return p;
}
