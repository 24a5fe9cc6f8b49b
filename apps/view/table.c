/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "support/fail.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>

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
