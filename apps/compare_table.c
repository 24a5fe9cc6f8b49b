/* SPDX-License-Identifier: MIT */
#include "compare_table.h"

#include "support/fail.h"
#include "support/json_out.h"
#include "support/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "-";
}

/* NaN for null, and for what is not there. */
static double number_of(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool is_right(const json_t *row)
{
    return json_is_true(json_object_get(json_object_get(row, "check"), "ok"));
}

static bool is_ranked(const json_t *row)
{
    return is_right(row) && !json_is_true(json_object_get(row, "emulation"));
}

static bool same_exercise(const json_t *a, const json_t *b)
{
    return strcmp(text_of(a, "exercise"), text_of(b, "exercise")) == 0;
}

/* --------------------------------------------------------------------------------------- beside the others ---- */

/* The interquartile range of the totals over their median. */
static double spread_of(const json_t *row)
{
    const json_t *times = json_object_get(json_object_get(row, "times_s"), "total");
    double s[1000];
    int count = 0;
    size_t i;
    json_t *value;

    json_array_foreach(times, i, value) if (count < 1000) s[count++] = json_number_value(value);
    statistics found = statistics_of(s, count);
    return found.spread / found.median;
}

/* Of the ranked results of the exercise: the least total_s, and the one that speed-ups are over. */
static void find_others(const json_t *rows, const json_t *row, double *least, const json_t **base)
{
    size_t i;
    json_t *other;

    *least = INFINITY;
    *base = NULL;
    json_array_foreach(rows, i, other)
    {
        if (!same_exercise(row, other) || !is_ranked(other))
            continue;
        *least = fmin(*least, number_of(other, "total_s"));
        if (!*base ||
            (strcmp(text_of(*base, "flynn_class"), "SISD") != 0 && strcmp(text_of(other, "flynn_class"), "SISD") == 0))
            *base = other;
    }
}

static double ratio(const json_t *over, const json_t *under, const char *key)
{
    return number_of(over, key) / number_of(under, key);
}

void compare_table_fill(json_t *document)
{
    json_t *rows = json_object_get(document, "results"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        bool ranked = is_ranked(row);
        const json_t *base;
        double least;
        find_others(rows, row, &least, &base);
        json_put(row, "relative", ranked ? json_number(number_of(row, "total_s") / least) : json_null());
        json_put(row, "spread", json_number(spread_of(row)));
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

    put(&c, &column, text_of(row, "exercise"));
    put(&c, &column, text_of(row, "resource"));
    put(&c, &column, text_of(row, "flynn_class"));
    put(&c, &column, text_of(row, "variant"));
    put(&c, &column, text_of(row, "dtype"));
    for (int i = 0; i < 5; i++)
        put(&c, &column, format_seconds(number_of(row, times[i])).text);
    put_number(&c, &column, "%.1f %%", 100 * number_of(row, "spread"));
    put_number(&c, &column, "%.3g", number_of(row, "gbytes_per_s"));
    put_number(&c, &column, "%.3g", number_of(row, "gflops"));
    put_number(&c, &column, number_of(row, "percent_of_ceiling") >= 100 ? "%.0f %%" : "%.3g %%",
               number_of(row, "percent_of_ceiling"));
    put(&c, &column, format_factor(number_of(row, "speed_up")).text);
    put(&c, &column, format_factor(number_of(row, "speed_up_with_copies")).text);
    put_number(&c, &column, "%.2f", number_of(row, "relative"));
    put(&c, &column, !is_right(row) ? "WRONG" : is_ranked(row) ? "ok" : "ok (emulation)");
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
        printf("skipped %s: %s\n", text_of(entry, "backend"), text_of(entry, "reason"));
    json_array_foreach(json_object_get(document, "failed"), i, entry)
        printf("failed %s: %s\n", text_of(entry, "exercise"), text_of(entry, "message"));
}
