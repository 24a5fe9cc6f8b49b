/* SPDX-License-Identifier: MIT
 *
 * Which elements differ, as a set of bits that an array of any size has room for.
 */
#include "differences.h"

#include "support/memory.h"

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
