/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "view/json.h"
#include "view/row.h"
#include "view/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool same_place(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "size"), json_object_get(b, "size")) &&
           json_equal(json_object_get(a, "backend_requested"), json_object_get(b, "backend_requested"));
}

/* The fastest of the row's size and backend that can be ranked; NULL: there is none. */
static const json_t *best_of(const json_t *rows, const json_t *row)
{
    const json_t *best = NULL;
    size_t i;
    json_t *other;

    json_array_foreach(rows, i, other)
    {
        if (!same_place(row, other) || !row_is_ranked(other))
            continue;
        if (!best || row_number(other, "kernel_s") < row_number(best, "kernel_s"))
            best = other;
    }
    return best;
}

/* Those that may be as fast: the lower quartile of their times is not above the winner's upper one. */
static json_t *ties_of(const json_t *rows, const json_t *best)
{
    json_t *list = json_new_list(), *other;
    double third = row_times(best, "kernel").third;
    size_t i;

    json_array_foreach(rows, i, other)
    {
        if (other == best || !same_place(best, other) || !row_is_ranked(other) ||
            !(row_times(other, "kernel").first <= third))
            continue;
        json_t *entry = json_new_object();
        json_put(entry, "variant", json_incref(json_object_get(other, "variant")));
        json_put(entry, "block", json_incref(json_object_get(other, "block")));
        json_append(list, entry);
    }
    return list;
}

/* The winner's own values. */
static json_t *best_entry(const json_t *rows, const json_t *row)
{
    static const char *const keys[] = {"exercise", "backend_requested", "resource", "device",      "dtype",   "size",
                                       "elements", "variant",           "block",    "block_asked", "kernel_s"};
    json_t *entry = json_new_object();

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_put(entry, keys[i], json_incref(json_object_get(row, keys[i])));
    json_put(entry, "ties", ties_of(rows, row));
    json_put(entry, "kept", json_boolean(false));
    return entry;
}

void sweep_table_fill(json_t *document)
{
    json_t *rows = json_object_get(document, "results"), *list = json_new_list(), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *best = row_is_ranked(row) ? best_of(rows, row) : NULL;
        double relative = best ? row_number(row, "kernel_s") / row_number(best, "kernel_s") : (double)NAN;
        json_put(row, "relative", json_number(relative));
        if (row == best)
            json_append(list, best_entry(rows, row));
    }
    json_put(document, "best", list);
}

/* ----------------------------------------------------------------------------------------------- the table ---- */

static const table_column columns[] = {
    {"exercise", 0}, {"backend", 0}, {"variant", 0},   {"size", 1},      {"block", 0},    {"kernel", 1}, {"spread", 1},
    {"GB/s", 1},     {"GFLOP/s", 1}, {"registers", 1}, {"occupancy", 1}, {"relative", 1}, {"check", 0},  {NULL, 0},
};

typedef struct cell {
    char text[48];
} cell;

static cell number_cell(const char *format, double number)
{
    cell c = {"-"};

    if (isfinite(number))
        snprintf(c.text, sizeof c.text, format, number);
    return c;
}

static quantity block_cell(const json_t *entry, const char *key)
{
    const json_t *list = json_object_get(entry, key);
    int block[3] = {0};

    for (size_t i = 0; i < 3; i++)
        block[i] = (int)json_integer_value(json_array_get(list, i));
    return format_block(block);
}

/* The size that was asked for, else the result's shape. */
static cell size_cell(const json_t *row)
{
    const json_t *size = json_object_get(row, "size"), *shape = json_object_get(row, "shape");
    cell c = {"-"};
    size_t used = 0;

    if (json_is_integer(size))
        snprintf(c.text, sizeof c.text, "%" PRId64, (int64_t)json_integer_value(size));
    for (size_t i = 0; !json_is_integer(size) && i < json_array_size(shape) && used < sizeof c.text; i++)
        used += (size_t)snprintf(c.text + used, sizeof c.text - used, "%s%" PRId64, i ? "x" : "",
                                 (int64_t)json_integer_value(json_array_get(shape, i)));
    return c;
}

static void add_row(table *t, const json_t *row)
{
    const char *check = !row_is_right(row) ? "WRONG" : row_is_ranked(row) ? "ok" : "ok (emulation)";

    table_add(t, (const char *const[]){row_text(row, "exercise"), row_text(row, "resource"), row_text(row, "variant"),
                                       size_cell(row).text, block_cell(row, "block").text,
                                       format_seconds(row_number(row, "kernel_s")).text,
                                       number_cell("%.1f %%", 100 * row_number(row, "spread")).text,
                                       number_cell("%.3g", row_number(row, "gbytes_per_s")).text,
                                       number_cell("%.3g", row_number(row, "gflops")).text,
                                       number_cell("%.0f", row_number(row, "registers")).text,
                                       number_cell("%.0f %%", 100 * row_number(row, "occupancy")).text,
                                       number_cell("%.2f", row_number(row, "relative")).text, check});
}

static void show_ties(const json_t *best)
{
    const json_t *ties = json_object_get(best, "ties");
    size_t i;
    json_t *other;

    json_array_foreach(ties, i, other) printf(
        "%s%s, block %s", i ? "; " : "    not clearly: ", row_text(other, "variant"), block_cell(other, "block").text);
    if (json_array_size(ties) > 0)
        printf(" may be as fast\n");
}

static void show_best(const json_t *rows, const json_t *best)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        if (!same_place(row, best))
            continue;
        printf("best of size %s on %s: %s, block %s, %s%s\n", size_cell(row).text, row_text(best, "resource"),
               row_text(best, "variant"), block_cell(best, "block").text,
               format_seconds(row_number(best, "kernel_s")).text,
               json_is_true(json_object_get(best, "kept")) ? "; kept" : "");
        break;
    }
    show_ties(best);
}

static void print_combination(const json_t *entry)
{
    printf("%s %s, size %s, block %s", row_text(entry, "backend"), row_text(entry, "variant"), size_cell(entry).text,
           block_cell(entry, "block").text);
}

/* Each reason once, with the first and the last of those in a row that it is the reason of. */
static void show_reasons(const json_t *list)
{
    for (size_t i = 0, next; i < json_array_size(list); i = next) {
        const json_t *first = json_array_get(list, i), *reason = json_object_get(first, "reason");
        next = i + 1;
        while (json_equal(json_object_get(json_array_get(list, next), "reason"), reason))
            next++;
        printf("cannot run: ");
        print_combination(first);
        if (next - i > 1) {
            printf(next - i > 2 ? " ... " : " and ");
            print_combination(json_array_get(list, next - 1));
        }
        printf(": %s\n", row_text(first, "reason"));
    }
}

void sweep_table_show(const json_t *document)
{
    const json_t *rows = json_object_get(document, "results");
    table *t = table_create(columns);
    size_t i;
    json_t *entry;

    json_array_foreach(rows, i, entry) add_row(t, entry);
    if (json_array_size(rows) > 0)
        table_print(t, stdout);
    table_free(t);
    json_array_foreach(json_object_get(document, "best"), i, entry) show_best(rows, entry);
    show_reasons(json_object_get(document, "cannot_run"));
    json_array_foreach(json_object_get(document, "skipped"), i, entry)
        printf("skipped %s: %s\n", row_text(entry, "backend"), row_text(entry, "reason"));
}
