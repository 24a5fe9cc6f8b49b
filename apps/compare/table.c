/* SPDX-License-Identifier: MIT */
#include "table.h"

#include "support/fail.h"
#include "view/json.h"
#include "view/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool same_exercise(const json_t *a, const json_t *b)
{
    return strcmp(row_text(a, "exercise"), row_text(b, "exercise")) == 0;
}

/* --------------------------------------------------------------------------------------- beside the others ---- */

/* Of the ranked results of the exercise: the least total_s, and the one that speed-ups are over. */
static void find_others(const json_t *rows, const json_t *row, double *least, const json_t **base)
{
    size_t i;
    json_t *other;

    *least = INFINITY;
    *base = NULL;
    json_array_foreach(rows, i, other)
    {
        if (!same_exercise(row, other) || !row_is_ranked(other))
            continue;
        *least = fmin(*least, row_number(other, "total_s"));
        if (!*base || (strcmp(row_text(*base, "flynn_class"), "SISD") != 0 &&
                       strcmp(row_text(other, "flynn_class"), "SISD") == 0))
            *base = other;
    }
}

static double ratio(const json_t *over, const json_t *under, const char *key)
{
    return row_number(over, key) / row_number(under, key);
}

void compare_table_fill(json_t *document)
{
    json_t *rows = json_object_get(document, "results"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        bool ranked = row_is_ranked(row);
        const json_t *base;
        double least;
        find_others(rows, row, &least, &base);
        json_put(row, "relative", ranked ? json_number(row_number(row, "total_s") / least) : json_null());
        json_put(row, "spread", json_number(row_spread(row, "total")));
        json_put(row, "speed_up", ranked ? json_number(ratio(base, row, "kernel_s")) : json_null());
        json_put(row, "speed_up_with_copies", ranked ? json_number(ratio(base, row, "total_s")) : json_null());
    }
}

/* ----------------------------------------------------------------------------------------------- the table ---- */

const table_column compare_table_columns[COMPARE_COLUMNS + 1] = {
    {"exercise", 0}, {"backend", 0},     {"class", 0},    {"variant", 0}, {"dtype", 0}, {"cold", 1},    {"h2d", 1},
    {"kernel", 1},   {"d2h", 1},         {"total", 1},    {"spread", 1},  {"GB/s", 1},  {"GFLOP/s", 1}, {"ceiling", 1},
    {"faster", 1},   {"with copies", 1}, {"relative", 1}, {"check", 0},   {NULL, 0},
};

static void put(compare_cells *c, int *column, const char *text)
{
    snprintf(c->text[(*column)++], sizeof c->text[0], "%s", text);
}

static void put_number(compare_cells *c, int *column, const char *format, double number)
{
    char text[64] = "-";

    if (isfinite(number))
        snprintf(text, sizeof text, format, number);
    put(c, column, text);
}

compare_cells compare_table_cells(const json_t *row)
{
    static const char *const times[] = {"cold_s", "h2d_s", "kernel_s", "d2h_s", "total_s"};
    compare_cells c;
    int column = 0;

    put(&c, &column, row_text(row, "exercise"));
    put(&c, &column, row_text(row, "resource"));
    put(&c, &column, row_text(row, "flynn_class"));
    put(&c, &column, row_text(row, "variant"));
    put(&c, &column, row_text(row, "dtype"));
    for (int i = 0; i < 5; i++)
        put(&c, &column, format_seconds(row_number(row, times[i])).text);
    put_number(&c, &column, "%.1f %%", 100 * row_number(row, "spread"));
    put_number(&c, &column, "%.3g", row_number(row, "gbytes_per_s"));
    put_number(&c, &column, "%.3g", row_number(row, "gflops"));
    put_number(&c, &column, row_number(row, "percent_of_ceiling") >= 100 ? "%.0f %%" : "%.3g %%",
               row_number(row, "percent_of_ceiling"));
    put(&c, &column, format_factor(row_number(row, "speed_up")).text);
    put(&c, &column, format_factor(row_number(row, "speed_up_with_copies")).text);
    put_number(&c, &column, "%.2f", row_number(row, "relative"));
    put(&c, &column, !row_is_right(row) ? "WRONG" : row_is_ranked(row) ? "ok" : "ok (emulation)");
    return c;
}

static void print_table(const json_t *rows, bool markdown)
{
    table *t = table_create(compare_table_columns);
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        compare_cells c = compare_table_cells(row);
        const char *cells[COMPARE_COLUMNS];
        for (int n = 0; n < COMPARE_COLUMNS; n++)
            cells[n] = c.text[n];
        table_add(t, cells);
    }
    (markdown ? table_print_markdown : table_print)(t, stdout);
    table_free(t);
}

void compare_table_show(const json_t *document, bool markdown)
{
    const json_t *rows = json_object_get(document, "results");
    size_t i;
    json_t *entry;

    print_table(rows, markdown);
    if (markdown)
        printf("\n");
    printf("faster, with copies: the scalar backend's (or the first one's) kernel and total over this one's; relative: "
           "total over the fastest one's\n");
    json_array_foreach(json_object_get(document, "skipped"), i, entry)
        printf("skipped %s: %s\n", row_text(entry, "backend"), row_text(entry, "reason"));
    json_array_foreach(json_object_get(document, "failed"), i, entry)
        printf("failed %s: %s\n", row_text(entry, "exercise"), row_text(entry, "message"));
}
