/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include "display/lines.h"
#include "files/colormap.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 2, MOST_LINES = 40 };

/* Ink for the smallest to the largest number. The smallest one is no blank, so that the array's edges show. */
static const char ink[] = ".:-=+*#%@";

/* Finds how many characters and lines show a matrix: 2 characters a column where they fit, for a character is twice as
 * high as wide; of a tall one fewer, because its lines are limited. */
static void fit(const int64_t shape[2], int room, int64_t *lines, int64_t *columns)
{
    *columns = 2 * shape[1] <= room ? 2 * shape[1] : shape[1] < room ? shape[1] : room;
    *lines = (int64_t)ceil((double)shape[0] / (double)shape[1] * (double)*columns / 2);
    if (*lines > MOST_LINES) {
        *lines = MOST_LINES;
        *columns = (int64_t)((double)shape[1] / (double)shape[0] * 2 * MOST_LINES);
    }
    *lines = *lines < 1 ? 1 : *lines;
    *columns = *columns < 1 ? 1 : *columns;
}

/* The elements of a dimension that part i of `parts` has: at least one. */
static void part_of(int64_t i, int64_t parts, int64_t elements, int64_t *first, int64_t *end)
{
    *first = (int64_t)((double)i / (double)parts * (double)elements);
    *end = (int64_t)((double)(i + 1) / (double)parts * (double)elements);
    *end = *end > elements ? elements : *end;
    *first = *first < elements ? *first : elements - 1;
    *end = *end > *first ? *end : *first + 1;
}

/* The mean of the elements of a cell; not finite if one of them is not. */
static double mean_of(const host_array *array, const int64_t shape[2], const int64_t cells[2], int64_t row,
                      int64_t column)
{
    int64_t rows[2], columns[2];
    double mean = 0;

    part_of(row, cells[0], shape[0], &rows[0], &rows[1]);
    part_of(column, cells[1], shape[1], &columns[0], &columns[1]);
    const double count = (double)(rows[1] - rows[0]) * (double)(columns[1] - columns[0]);
    for (int64_t y = rows[0]; y < rows[1]; y++)
        for (int64_t x = columns[0]; x < columns[1]; x++)
            mean += host_array_get(array, y * shape[1] + x) / count; /* the sum might overflow */
    return mean;
}

/* The means of all cells, f64. */
static host_array shrink(const host_array *array, const int64_t shape[2], int64_t height, int64_t width)
{
    host_array cells;
    problem why;

    must_do(host_array_create(&cells, FL_F64, 2, (int64_t[]){height, width}, "--picture", &why), &why);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            ((double *)cells.data)[y * width + x] = mean_of(array, shape, cells.shape, y, x);
    return cells;
}

static void print_ink(FILE *stream, const host_array *cells, double low, double high)
{
    const int levels = (int)sizeof ink - 1;

    for (int64_t y = 0; y < cells->shape[0]; y++) {
        fprintf(stream, "%*s", INDENT, "");
        for (int64_t x = 0; x < cells->shape[1]; x++) {
            const double value = host_array_get(cells, y * cells->shape[1] + x);
            /* Halves, because the difference of two finite numbers can overflow. */
            const double part = low < high ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0;
            fputc(isnan(value) ? '?' : ink[(int)fmin(fmax(part, 0) * levels, levels - 1)], stream);
        }
        fputc('\n', stream);
    }
}

/* Sets the colour of the text (38) or of what is behind it (48): one of 2^24 where the terminal says that it has them,
 * else of the cube of 6 x 6 x 6 that those with 256 colours have. */
static void set_colour(FILE *stream, int what, const uint8_t *rgb)
{
    const char *const kind = getenv("COLORTERM");

    if (kind && (strcmp(kind, "truecolor") == 0 || strcmp(kind, "24bit") == 0))
        fprintf(stream, "\033[%d;2;%d;%d;%dm", what, rgb[0], rgb[1], rgb[2]);
    else
        fprintf(stream, "\033[%d;5;%dm", what,
                16 + 36 * ((rgb[0] * 5 + 127) / 255) + 6 * ((rgb[1] * 5 + 127) / 255) + (rgb[2] * 5 + 127) / 255);
}

static void print_colours(FILE *stream, const host_array *cells)
{
    picture p;
    problem why;

    must_do(colormap_draw(cells, (int64_t[]){0, 0}, 1, &p, "--picture", &why), &why);
    for (int64_t y = 0; y < p.height; y += 2) {
        fprintf(stream, "%*s", INDENT, "");
        for (int64_t x = 0; x < p.width; x++) {
            set_colour(stream, 38, p.rgb + (y * p.width + x) * 3);
            set_colour(stream, 48, p.rgb + ((y + 1) * p.width + x) * 3);
            fputs("▀", stream);
        }
        fputs("\033[0m\n", stream);
    }
    picture_free(&p);
}

/* Says what the ink or the colours are, and how many elements a number is the mean of. */
static void print_key(FILE *stream, int width, const host_array *cells, const int64_t shape[2], bool coloured,
                      const double range[2], bool has_nan)
{
    char *const first = coloured ? memory_text("violet") : memory_print("%c", ink[0]);
    char *const last = coloured ? memory_text("yellow") : memory_print("%c", ink[sizeof ink - 2]);
    char *text = memory_text("no finite number");

    if (range[0] <= range[1]) {
        free(text);
        text = range[0] < range[1] ? memory_print("%s %.6g to %s %.6g", first, range[0], last, range[1])
                                   : memory_print("%s %.6g", first, range[0]);
    }
    char *const mean = cells->shape[0] < shape[0] || cells->shape[1] < shape[1]
                           ? memory_print("; each is the mean of %.3g x %.3g elements",
                                          fmax(1, (double)shape[0] / (double)cells->shape[0]),
                                          fmax(1, (double)shape[1] / (double)cells->shape[1]))
                           : memory_text("");
    lines_print(stream, width, "  %s%s%s", text, has_nan ? coloured ? ", grey NaN" : ", ? NaN" : "", mean);
    free(first);
    free(last);
    free(text);
    free(mean);
}

void picture_print(FILE *stream, int width, const host_array *array, const array_origin *origin)
{
    const bool coloured = text_has_colour(stream) && lines_are_utf8();
    const int64_t shape[2] = {array->ndim > 1 ? array->shape[array->ndim - 2] : 1,
                              array->ndim > 0 ? array->shape[array->ndim - 1] : 1};
    double range[2] = {INFINITY, -INFINITY};
    int64_t lines, columns;
    bool has_nan = false;

    if (host_array_size(array) == 0)
        return;
    rows_print_which(stream, width, array, origin);
    fit(shape, width - INDENT, &lines, &columns);
    host_array cells = shrink(array, shape, coloured ? 2 * lines : lines, columns);
    for (int64_t i = 0, size = host_array_size(&cells); i < size; i++) {
        const double value = host_array_get(&cells, i);
        has_nan = has_nan || isnan(value);
        range[0] = isfinite(value) ? fmin(range[0], value) : range[0];
        range[1] = isfinite(value) ? fmax(range[1], value) : range[1];
    }
    if (coloured)
        print_colours(stream, &cells);
    else
        print_ink(stream, &cells, range[0], range[1]);
    print_key(stream, width, &cells, shape, coloured, range, has_nan);
    host_array_free(&cells);
}
