/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "run/stopped.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/units.h"
#include "support/memory.h"
#include "support/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool same_place(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "size"), json_object_get(b, "size")) &&
           json_integer_value(json_object_get(a, "keep_asked")) ==
               json_integer_value(json_object_get(b, "keep_asked")) &&
           (!row_value(a, "let") || json_equal(row_value(a, "let"), row_value(b, "let"))) &&
           json_equal(json_object_get(a, "backend_requested"), json_object_get(b, "backend_requested"));
}

static bool can_be_best(const json_t *row)
{
    return row_is_ranked(row) && !row_is_noisy(row);
}

/* The fastest of the row's size and backend that can be the best; NULL: there is none. */
static const json_t *best_of(const json_t *rows, const json_t *row)
{
    const json_t *best = NULL;
    size_t i;
    json_t *other;

    json_array_foreach(rows, i, other)
    {
        if (!same_place(row, other) || !can_be_best(other))
            continue;
        if (!best || row_number(other, "kernel_s") < row_number(best, "kernel_s"))
            best = other;
    }
    return best;
}

static void copy_keys(json_t *to, const json_t *from, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_object_get(from, *keys))
            json_put(to, *keys, json_incref(json_object_get(from, *keys)));
}

/* The combinations that may be as fast: the lower quartile of their times is not above the winner's upper one. */
static json_t *ties_of(const json_t *rows, const json_t *best)
{
    json_t *list = json_new_list(), *other;
    double third = row_times(best, "kernel").third_quartile;
    size_t i;

    json_array_foreach(rows, i, other)
    {
        if (other == best || !same_place(best, other) || !can_be_best(other) ||
            !(row_times(other, "kernel").first_quartile <= third))
            continue;
        json_t *entry = json_new_object();
        copy_keys(entry, other, (const char *const[]){"variant", "choice", "block", "block_asked", NULL});
        json_append(list, entry);
    }
    return list;
}

/* The winner's own values. */
static json_t *best_entry(const json_t *rows, const json_t *row)
{
    static const char *const keys[] = {"exercise", "backend_requested", "resource", "device", "dtype",
                                       "size",     "elements",          "variant",  "block",  "block_asked",
                                       "kernel_s", "keep_asked",        "file",     "choice", "define",
                                       "let",      "let_shown",         NULL};
    json_t *entry = json_new_object();

    copy_keys(entry, row, keys);
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
        const json_t *best = can_be_best(row) ? best_of(rows, row) : NULL;
        double relative = best ? row_number(row, "kernel_s") / row_number(best, "kernel_s") : (double)NAN;
        json_put(row, "relative", json_number(relative));
        if (row == best)
            json_append(list, best_entry(rows, row));
    }
    json_put(document, "best", list);
}

static cell block_of(const json_t *entry, const char *key)
{
    const column c = {.title = key, .key = key, .as = AS_BLOCK};
    cell room;

    column_text(&c, entry, &room);
    return room;
}

cell sweep_block(const json_t *entry)
{
    return block_of(entry, "block");
}

cell sweep_size(const json_t *row)
{
    if (json_is_string(row_value(row, "let_shown")))
        return cell_print("%s", row_text(row, "let_shown"));
    const column c = {.title = "size", .key = json_is_integer(json_object_get(row, "size")) ? "size" : "shape"};
    cell room;

    const char *size = column_text(&c, row, &room);
    const json_t *rank = json_object_get(row, "keep_asked");
    if (json_is_integer(rank))
        return cell_print("%.60s, rank %" JSON_INTEGER_FORMAT, size, json_integer_value(rank));
    return cell_print("%s", size);
}

const column sweep_columns[] = {
    {.key = "exercise"},
    {.key = "resource"},
    {.title = "variant", .make = variant_cell},
    {.title = "size", .as = AS_NUMBER, .make = sweep_size},
    {.title = "block", .key = "block", .as = AS_BLOCK},
    {.key = "kernel_s"},
    {.key = "spread"},
    {.key = "gbytes_per_s"},
    {.key = "gflops"},
    {.key = "registers"},
    {.key = "local_bytes"},
    {.key = "occupancy"},
    {.title = "relative", .key = "relative", .as = AS_NUMBER, .drop = 8},
    {.key = "check"},
    {0},
};

const column sweep_best_columns[] = {
    {.key = "exercise"},
    {.key = "resource"},
    {.title = "device", .key = "device", .drop = 11},
    {.key = "dtype"},
    {.title = "size", .as = AS_NUMBER, .make = sweep_size},
    {.title = "variant", .make = variant_cell},
    {.key = "block"},
    {.key = "kernel_s"},
    {.title = "kept", .key = "kept", .drop = 30},
    {0},
};

const column sweep_refused_columns[] = {
    {.title = "backend", .key = "backend"},
    {.title = "variant", .make = variant_cell},
    {.title = "size", .as = AS_NUMBER, .make = sweep_size},
    {.key = "block"},
    {.title = "reason", .key = "reason"},
    {0},
};

static void show_ties(const json_t *best)
{
    const json_t *ties = json_object_get(best, "ties");
    size_t i;
    json_t *other;

    json_array_foreach(ties, i, other)
        text_print("%s%s, block %s", i ? "; " : "    not clearly: ", variant_cell(other).text, sweep_block(other).text);
    if (json_array_size(ties) > 0)
        text_print(" may be as fast\n");
}

/* Names with values need no word before them. */
static const char *size_word(const json_t *row)
{
    return json_is_string(row_value(row, "let_shown")) ? "" : "size ";
}

/* Says how much faster the best combination is than the next one, where it clearly is. */
static void show_gain(const json_t *rows, const json_t *best)
{
    const json_t *row, *next = NULL;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (row != best && same_place(row, best) && can_be_best(row) && best_of(rows, row) == best &&
            (!next || row_number(row, "kernel_s") < row_number(next, "kernel_s")))
            next = row;
    }
    if (next)
        text_print(", %s as fast as %s, block %s", sentence_speed(best, next, "kernel").text, variant_cell(next).text,
                   sweep_block(next).text);
}

static void show_best(const json_t *rows, const json_t *best)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        if (!same_place(row, best))
            continue;
        text_print("best of %s%s on %s: %s, block %s, %s", size_word(row), sweep_size(row).text,
                   row_text(best, "resource"), variant_cell(best).text, sweep_block(best).text,
                   format_seconds(row_number(best, "kernel_s")).text);
        if (json_array_size(json_object_get(best, "ties")) == 0)
            show_gain(rows, best_of(rows, row));
        text_print("%s\n", json_is_true(json_object_get(best, "kept")) ? "; kept" : "");
        break;
    }
    show_ties(best);
}

char *sweep_text(const json_t *entry)
{
    const char *backend =
        row_text(entry, json_is_string(row_value(entry, "backend_requested")) ? "backend_requested" : "backend");

    return memory_print("%s %s, %s%s, block %s", backend, variant_cell(entry).text, size_word(entry),
                        sweep_size(entry).text, sweep_block(entry).text);
}

/* Each reason once, with the first and the last of those in a row that it is the reason of. */
static void show_reasons(const json_t *list)
{
    for (size_t i = 0, next; i < json_array_size(list); i = next) {
        const json_t *first = json_array_get(list, i), *reason = json_object_get(first, "reason");
        next = i + 1;
        while (json_equal(json_object_get(json_array_get(list, next), "reason"), reason))
            next++;
        char *from = sweep_text(first), *to = sweep_text(json_array_get(list, next - 1));
        text_print("cannot run: %s", from);
        if (next - i > 1)
            text_print("%s%s", next - i > 2 ? " ... " : " and ", to);
        free(from);
        free(to);
        text_print(": %s\n", row_text(first, "reason"));
    }
}

/* Says of each wrong kernel with which grid it is right. */
static void show_exchanged(const json_t *rows)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        if (!json_is_array(row_value(row, "right_with_grid")))
            continue;
        char *text = sweep_text(row);
        text_print("%s: right with --grid=%s: its x is the first dimension\n", text,
                   block_of(row, "right_with_grid").text);
        free(text);
    }
}

/* Says once for each emulation why none of its combinations is the best. */
static void show_emulations(const json_t *rows)
{
    json_t *backends = rows_grouped(rows, (const char *const[]){"resource", NULL}), *of;
    const char *key;

    json_object_foreach(backends, key,
                        of) if (json_array_size(of) > 1 && json_is_true(row_value(json_array_get(of, 0), "emulation")))
        text_print("no best on %s: it is an emulation, whose times mean nothing\n",
                   row_text(json_array_get(of, 0), "resource"));
    json_decref(backends);
}

/* Says once for each size and backend without a best combination that noise is the reason. */
static void show_without_best(const json_t *rows)
{
    size_t i, k;
    const json_t *row, *other;

    json_array_foreach(rows, i, row)
    {
        bool first = row_is_ranked(row) && !best_of(rows, row);
        json_array_foreach(rows, k, other) first = first && !(k < i && same_place(row, other) && row_is_ranked(other));
        if (first)
            text_print("no best of %s%s on %s: every row is noisy\n", size_word(row), sweep_size(row).text,
                       row_text(row, "resource"));
    }
}

void sweep_table_show(const json_t *document)
{
    const json_t *rows = json_object_get(document, "results");
    size_t i;
    json_t *entry;

    sentence_print_right(rows);
    json_array_foreach(json_object_get(document, "best"), i, entry) show_best(rows, entry);
    show_without_best(rows);
    columns_print(sweep_columns, rows, TABLE_TEXT, stdout);
    noise_print(rows, NULL);
    show_exchanged(rows);
    show_emulations(rows);
    show_reasons(json_object_get(document, "cannot_run"));
    json_array_foreach(json_object_get(document, "skipped"), i, entry)
        text_print("skipped %s: %s\n", row_text(entry, "backend"), row_text(entry, "reason"));
    stopped_print(document);
}
