/* SPDX-License-Identifier: MIT
 *
 * The elements of an array in rows.
 */
#include "rows.h"

#include "lines.h"
#include "numbers.h"

#include "support/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE_VECTOR = 64, EDGE = 3, WHOLE_ROWS = 8, LONGEST_CELL = 48, GAP = 2 };

array_origin whole_origin(void)
{
    return (array_origin){.step = {1, 1, 1, 1}};
}

/* The rows or columns that are shown: all of `count`, or the first and the last ones with -1 between them. */
typedef struct places {
    int64_t *at;
    int64_t count;
} places;

static places places_of(int64_t count, int64_t most)
{
    const bool whole = count <= most;
    const int64_t shown = whole ? count : most, head = whole ? count : (most + 1) / 2;
    places p = {memory_zeroed((size_t)shown + 1, sizeof *p.at), 0};

    for (int64_t i = 0; i < shown; i++) {
        if (i == head)
            p.at[p.count++] = -1;
        p.at[p.count++] = i < head ? i : count - (shown - i);
    }
    if (shown == 1 && !whole)
        p.at[p.count++] = -1;
    return p;
}

/* ------------------------------------------------------------------------------------------------ vectors ---- */

static void print_elements(FILE *stream, int width, const host_array *array, const places *shown)
{
    size_t bytes;
    char *text;
    FILE *line = memory_stream(&text, &bytes);

    for (int64_t i = 0; i < shown->count; i++)
        fprintf(line, "%s%s", i > 0 ? " " : "", shown->at[i] < 0 ? "..." : number_of_element(array, shown->at[i]).text);
    fclose(line);
    lines_print(stream, width, "  %s", text);
    free(text);
}

static bool fits_on_line(const host_array *array, int width)
{
    const int64_t size = host_array_size(array);
    int64_t used = 1;

    for (int64_t i = 0; i < size && used <= width; i++)
        used += 1 + (int64_t)strlen(number_of_element(array, i).text);
    return used <= width;
}

static void print_vector(FILE *stream, int width, const host_array *array, int64_t most)
{
    const int64_t size = host_array_size(array);
    const bool whole = size <= WHOLE_VECTOR || fits_on_line(array, width);
    places shown = places_of(size, most > 0 ? most : whole ? size : 2 * EDGE);

    print_elements(stream, width, array, &shown);
    free(shown.at);
}

/* ----------------------------------------------------------------------------------------------- matrices ---- */

typedef struct matrix_view {
    const host_array *array; /* whose first matrix it is */
    int64_t first_row, row_step, first_column, column_step, columns;
    places rows;
} matrix_view;

static number_text cell(const matrix_view *v, int64_t row, int64_t column)
{
    if (row < 0 || column < 0)
        return (number_text){"..."};
    return number_of_element(v->array, row * v->columns + column);
}

/* Returns the index of a row or column as text; "..." where i is -1. */
static number_text label(int64_t i, int64_t first, int64_t step)
{
    number_text out = {"..."};

    if (i >= 0)
        snprintf(out.text, sizeof out.text, "%" PRId64, first + i * step);
    return out;
}

static int column_width(const matrix_view *v, int64_t column)
{
    int widest = (int)strlen(label(column, v->first_column, v->column_step).text);

    for (int64_t r = 0; r < v->rows.count; r++) {
        const int length = (int)strlen(cell(v, v->rows.at[r], column).text);
        widest = length > widest ? length : widest;
    }
    return widest;
}

static int label_width(const matrix_view *v)
{
    int widest = EDGE;

    for (int64_t r = 0; r < v->rows.count; r++) {
        const int length = (int)strlen(label(v->rows.at[r], v->first_row, v->row_step).text);
        widest = length > widest ? length : widest;
    }
    return widest;
}

/* As many columns, from both edges inwards, as `room` has place for. */
static places fitting_columns(const matrix_view *v, int room)
{
    places p;

    for (int64_t most = v->columns < room ? v->columns : room; most > 1; most--) {
        int used = 0;
        p = places_of(v->columns, most);
        for (int64_t c = 0; c < p.count && used <= room; c++)
            used += GAP + column_width(v, p.at[c]);
        if (used <= room)
            return p;
        free(p.at);
    }
    return places_of(v->columns, 1);
}

static void print_matrix(FILE *stream, int width, const matrix_view *v)
{
    const int labels = label_width(v);
    places columns = fitting_columns(v, width - 2 - labels);
    int *widths = memory_zeroed((size_t)columns.count + 1, sizeof *widths);

    fprintf(stream, "  %*s", labels, "");
    for (int64_t c = 0; c < columns.count; c++) {
        widths[c] = column_width(v, columns.at[c]);
        fprintf(stream, "%*s", GAP + widths[c], label(columns.at[c], v->first_column, v->column_step).text);
    }
    fputc('\n', stream);
    for (int64_t r = 0; r < v->rows.count; r++) {
        fprintf(stream, "  %*s", labels, label(v->rows.at[r], v->first_row, v->row_step).text);
        for (int64_t c = 0; c < columns.count; c++)
            fprintf(stream, "%*s", GAP + widths[c], cell(v, v->rows.at[r], columns.at[c]).text);
        fputc('\n', stream);
    }
    free(widths);
    free(columns.at);
}

void rows_print_which(FILE *stream, int width, const host_array *array, const array_origin *origin)
{
    char index[96] = "";
    int64_t matrices = 1;

    for (int d = 0; d + 2 < array->ndim; d++) {
        snprintf(index + strlen(index), sizeof index - strlen(index), "%s%" PRId64, d ? ", " : "", origin->first[d]);
        matrices *= array->shape[d];
    }
    if (matrices > 1)
        lines_print(stream, width, "  [%s]: the first of %s matrices; others by --crop=1", index,
                    number_grouped(matrices).text);
}

void rows_print(FILE *stream, int width, const host_array *array, const array_origin *origin, int64_t most)
{
    const int rows = array->ndim - 2, columns = array->ndim - 1;

    if (host_array_size(array) == 0)
        return;
    if (array->ndim < 2) {
        print_vector(stream, width, array, most);
        return;
    }
    rows_print_which(stream, width, array, origin);
    matrix_view v = {.array = array,
                     .first_row = origin->first[rows],
                     .row_step = origin->step[rows],
                     .first_column = origin->first[columns],
                     .column_step = origin->step[columns],
                     .columns = array->shape[columns]};
    const int64_t usual = array->shape[rows] <= WHOLE_ROWS ? WHOLE_ROWS : 2 * EDGE;
    v.rows = places_of(array->shape[rows], most > 0 ? most : usual);
    print_matrix(stream, width, &v);
    free(v.rows.at);
}
