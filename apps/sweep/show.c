/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/stopped.h"
#include "view/units.h"
#include "support/memory.h"
#include "support/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_work(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "size"), json_object_get(b, "size")) &&
           json_integer_value(json_object_get(a, "keep_asked")) ==
               json_integer_value(json_object_get(b, "keep_asked")) &&
           (!row_value(a, "let") || json_equal(row_value(a, "let"), row_value(b, "let")));
}

static bool same_place(const json_t *a, const json_t *b)
{
    return same_work(a, b) &&
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

/* ------------------------------------------------------------------------------------------ with the copies ---- */

static bool has_own_memory(const json_t *row)
{
    return strcmp(row_text(row, "host_memory"), "in place") != 0;
}

/* The least total of the same work: on that device, or on any processor if it is NULL. NULL: there is none. */
static const json_t *least_total(const json_t *rows, const json_t *work, const char *resource)
{
    const json_t *least = NULL, *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (!can_be_best(row) || !same_work(row, work) || isnan(row_number(row, "total_s")) ||
            (resource ? strcmp(row_text(row, "resource"), resource) != 0 : has_own_memory(row)))
            continue;
        if (!least || row_number(row, "total_s") < row_number(least, "total_s"))
            least = row;
    }
    return least;
}

/* A size at which a device was compared with the processors. */
typedef struct compared {
    const json_t *device, *processor;
    double elements;
    bool pays;
} compared;

static int by_elements(const void *a, const void *b)
{
    const double x = ((const compared *)a)->elements, y = ((const compared *)b)->elements;

    return (x > y) - (x < y);
}

/* "1.30 +- 0.02 times as fast as omp:16:v4 tiled". */
static cell speed_at(const compared *c)
{
    return cell_print("%s as fast as %.40s", sentence_speed(c->device, c->processor, "total").text,
                      row_text(c->processor, "resource"));
}

static char *device_text(const char *resource, compared *list, size_t count)
{
    size_t from = count;

    if (count == 0)
        return memory_print("with the copies nothing says whether %s pays: no size has steady rows of it and of a "
                            "processor",
                            resource);
    qsort(list, count, sizeof *list, by_elements);
    while (from > 0 && list[from - 1].pays)
        from--;
    if (from == count)
        return memory_print("with the copies %s does not pay at size %s: it is %s", resource,
                            sweep_size(list[count - 1].device).text, speed_at(&list[count - 1]).text);
    if (from == 0)
        return memory_print("with the copies %s pays from the least size on: at %s it is %s", resource,
                            sweep_size(list[0].device).text, speed_at(&list[0]).text);
    return memory_print("with the copies %s pays from size %s on: there it is %s; at %s it is %s", resource,
                        sweep_size(list[from].device).text, speed_at(&list[from]).text,
                        sweep_size(list[from - 1].device).text, speed_at(&list[from - 1]).text);
}

/* Each size once: that of a row which has no other before it. */
static bool is_first_of_work(const json_t *rows, size_t i, const json_t *row)
{
    for (size_t k = 0; k < i; k++)
        if (same_work(json_array_get(rows, k), row))
            return false;
    return true;
}

json_t *sweep_copies(const json_t *rows)
{
    json_t *texts = json_new_list(), *devices = rows_grouped(rows, (const char *const[]){"resource", NULL}), *of;
    compared *list = memory_zeroed(json_array_size(rows) + 1, sizeof *list);
    const char *key;

    json_object_foreach(devices, key, of)
    {
        const char *resource = row_text(json_array_get(of, 0), "resource");
        const json_t *row;
        size_t i, count = 0;
        if (!has_own_memory(json_array_get(of, 0)) || json_is_true(row_value(json_array_get(of, 0), "emulation")))
            continue;
        json_array_foreach(rows, i, row)
        {
            const json_t *device = least_total(rows, row, resource), *processor = least_total(rows, row, NULL);
            if (is_first_of_work(rows, i, row) && device && processor)
                list[count++] = (compared){device, processor, row_number(device, "elements"),
                                           row_number(device, "total_s") < row_number(processor, "total_s")};
        }
        char *text = device_text(resource, list, count);
        json_append(texts, json_text(text));
        free(text);
    }
    if (json_array_size(texts) == 0)
        json_append(texts, json_text("with the copies: no GPU is among these backends, and processors copy nothing"));
    free(list);
    json_decref(devices);
    return texts;
}

static void copy_keys(json_t *to, const json_t *from, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_object_get(from, *keys))
            json_put(to, *keys, json_incref(json_object_get(from, *keys)));
}

/* The combinations that may be as fast. */
static json_t *ties_of(const json_t *rows, const json_t *best)
{
    json_t *list = json_new_list(), *other;
    size_t i;

    json_array_foreach(rows, i, other)
    {
        if (other == best || !same_place(best, other) || !can_be_best(other) ||
            !sentence_may_be_as_fast(other, best, "kernel"))
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
                                       "let",      "let_shown",         "text_key", NULL};
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
    const json_t *keep = json_object_get(row, "keep_asked");
    if (json_is_integer(keep))
        return cell_print("%.60s, %s", size, format_components(json_number_value(keep)).text);
    return cell_print("%s", size);
}

enum { OF_TOTAL = 6 };

const column sweep_copies_columns[] = {
    {.key = "exercise"},
    {.key = "resource"},
    {.key = "variant"},
    {.key = "size", .command = "sweep", .make = sweep_size},
    {.key = "block", .drop = STAYS},
    {.key = "kernel_s"},
    [OF_TOTAL] = {.key = "total_s"},
    {.key = "spread"},
    {.key = "gbytes_per_s"},
    {.key = "gflops"},
    {.key = "registers"},
    {.key = "local_bytes"},
    {.key = "occupancy"},
    {.key = "relative"},
    {.key = "check"},
    {0},
};

const column *sweep_columns(void)
{
    enum { COLUMNS = sizeof sweep_copies_columns / sizeof *sweep_copies_columns };
    static column without_total[COLUMNS];
    int count = 0;

    for (int i = 0; i < COLUMNS; i++)
        if (i != OF_TOTAL)
            without_total[count++] = sweep_copies_columns[i];
    return without_total;
}

const column sweep_best_columns[] = {
    {.key = "exercise"},
    {.key = "resource"},
    {.title = "device", .key = "device", .drop = 11},
    {.key = "dtype"},
    {.key = "size", .command = "sweep", .make = sweep_size},
    {.key = "variant"},
    {.key = "block"},
    {.key = "kernel_s"},
    {.title = "kept", .key = "kept", .drop = 30},
    {0},
};

const column sweep_refused_columns[] = {
    {.title = "backend", .key = "backend"},
    {.key = "variant"},
    {.key = "size", .command = "sweep", .make = sweep_size},
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

void sweep_table_show(const json_t *document, bool totals)
{
    const json_t *rows = json_object_get(document, "results"), *copies = json_object_get(document, "with_copies");
    size_t i;
    json_t *entry;

    sentences_print(sentences_of_right(rows), NULL);
    json_array_foreach(json_object_get(document, "best"), i, entry) show_best(rows, entry);
    show_without_best(rows);
    json_array_foreach(copies, i, entry) text_print("%s\n", json_string_value(entry));
    columns_print(totals ? sweep_copies_columns : sweep_columns(), rows, TABLE_TEXT, stdout);
    noise_print(rows, NULL);
    show_exchanged(rows);
    show_emulations(rows);
    show_reasons(json_object_get(document, "cannot_run"));
    json_array_foreach(json_object_get(document, "skipped"), i, entry)
        text_print("skipped %s: %s\n", row_text(entry, "backend"), row_text(entry, "reason"));
    stopped_print(document);
}
