/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "support/fail.h"

#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct libscols_table *table;
};

/* libsmartcols fails for want of memory alone here. */
static void check(int error)
{
    if (error != 0)
        fail(EXIT_BROKEN, "out of memory for a table");
}

table *table_create(const table_column *columns)
{
    table *rows = malloc(sizeof *rows);
    check(rows == NULL);
    rows->table = scols_new_table();
    check(rows->table == NULL);
    /* libsmartcols fits tables into a terminal by cutting cells off. */
    check(scols_table_set_termforce(rows->table, SCOLS_TERMFORCE_NEVER));
    for (; columns->title != NULL; columns++)
        check(scols_table_new_column(rows->table, columns->title, 0, columns->is_number ? SCOLS_FL_RIGHT : 0) == NULL);
    return rows;
}

void table_add(table *rows, const char *const *cells)
{
    struct libscols_line *line = scols_table_new_line(rows->table, NULL);
    check(line == NULL);
    size_t columns = scols_table_get_ncols(rows->table);
    for (size_t i = 0; i < columns; i++)
        check(scols_line_set_data(line, i, cells[i] != NULL ? cells[i] : ""));
}

void table_print(table *rows, FILE *stream)
{
    check(scols_table_set_stream(rows->table, stream));
    check(scols_print_table(rows->table));
}

/* A column's title, or what is in a line of it. */
static void print_cell(struct libscols_cell *cell, FILE *stream)
{
    const char *text = scols_cell_get_data(cell);
    fprintf(stream, "| %s ", text != NULL ? text : "");
}

void table_print_markdown(table *rows, FILE *stream)
{
    size_t columns = scols_table_get_ncols(rows->table), lines = scols_table_get_nlines(rows->table);
    for (size_t i = 0; i < columns; i++)
        print_cell(scols_column_get_header(scols_table_get_column(rows->table, i)), stream);
    fprintf(stream, "|\n");
    for (size_t i = 0; i < columns; i++)
        fprintf(stream, "|%s", scols_column_is_right(scols_table_get_column(rows->table, i)) ? "---:" : "---");
    fprintf(stream, "|\n");
    for (size_t line = 0; line < lines; line++) {
        for (size_t i = 0; i < columns; i++)
            print_cell(scols_line_get_cell(scols_table_get_line(rows->table, line), i), stream);
        fprintf(stream, "|\n");
    }
}

void table_free(table *rows)
{
    scols_unref_table(rows->table);
    free(rows);
}

/* Three significant digits of a value from 1 to below 1000, so many decimals as that takes. */
static int decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

typedef struct scale {
    double by;
    const char *unit;
} scale;

/* In the first unit (they fall, a NULL ends them) in which the value is at least 1 as printed, else in the last one. */
static quantity in_units(double value, const scale *scales)
{
    quantity out = {"-"};
    if (isnan(value))
        return out;
    double size = fabs(value);
    while (scales[1].unit != NULL && size < 0.9995 * scales->by)
        scales++;
    double scaled = value / scales->by;
    if (fabs(scaled) < 0.9995 || fabs(scaled) >= 1e6)
        snprintf(out.text, sizeof out.text, "%.3g %s", scaled, scales->unit);
    else
        snprintf(out.text, sizeof out.text, "%.*f %s", decimals(fabs(scaled)), scaled, scales->unit);
    return out;
}

quantity format_seconds(double seconds)
{
    static const scale scales[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, NULL}};
    return seconds == 0 ? (quantity){"0 s"} : in_units(seconds, scales);
}

quantity format_bytes(double bytes)
{
    static const scale scales[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"},
                                   {0x1p10, "KiB"}, {1, "B"},        {0, NULL}};
    return in_units(bytes, scales);
}

quantity format_rate(double per_second, const char *unit)
{
    static const scale scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};
    quantity out = in_units(per_second, scales);
    if (!isnan(per_second)) {
        size_t used = strlen(out.text);
        snprintf(out.text + used, sizeof out.text - used, "%s", unit);
    }
    return out;
}

quantity format_block(const int *block)
{
    quantity q = {"-"};

    if (block[2] > 1)
        snprintf(q.text, sizeof q.text, "%dx%dx%d", block[0], block[1], block[2]);
    else if (block[1] > 1)
        snprintf(q.text, sizeof q.text, "%dx%d", block[0], block[1]);
    else if (block[0] > 0)
        snprintf(q.text, sizeof q.text, "%d", block[0]);
    return q;
}

quantity format_factor(double factor)
{
    quantity out = {"-"};
    double size = fabs(factor);
    if (size >= 0.9995 && size < 1e6)
        snprintf(out.text, sizeof out.text, "%.*fx", decimals(size), factor);
    else if (!isnan(factor))
        snprintf(out.text, sizeof out.text, "%.3gx", factor);
    return out;
}

quantity format_number(double number)
{
    quantity out = {"-"};
    if (!isnan(number))
        snprintf(out.text, sizeof out.text, "%.3g", number);
    return out;
}

quantity format_count(double count)
{
    quantity out = {"-"};
    if (isfinite(count))
        snprintf(out.text, sizeof out.text, count >= 1000 ? "%.0f" : "%.3g", count);
    return out;
}

quantity format_percent(double part)
{
    quantity out = {"-"};
    if (isfinite(part))
        snprintf(out.text, sizeof out.text, "%.3g %%", 100 * part);
    return out;
}
