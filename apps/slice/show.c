/* SPDX-License-Identifier: MIT
 *
 * show.c - the table of slice and the sentences above it: places by time, and the speed-up over copying the whole
 * array.
 */
#include "slice.h"

#include "run/results.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/units.h"
#include "support/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void slice_rank(json_t *rows, size_t first)
{
    const json_t *whole = json_array_get(rows, first);

    for (size_t i = first; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        double total = row_number(row, "total_s"), speed_up = row_number(whole, "total_s") / total;
        bool ranked = row_is_ranked(row), placed = ranked && !row_is_noisy(row);
        int place = 1;
        for (size_t j = first; j < json_array_size(rows); j++) {
            const json_t *other = json_array_get(rows, j);
            place += row_is_ranked(other) && !row_is_noisy(other) && row_number(other, "total_s") < total;
        }
        json_put(row, "place", placed ? json_whole(place) : json_null());
        json_put(row, "speed_up_over_whole", json_number(ranked && row_is_ranked(whole) ? speed_up : (double)NAN));
        json_put(row, "speed_up_disturbed", json_boolean(row_is_noisy(row) || row_is_noisy(whole)));
    }
}

/* The rows of one device, from `first` on: slice by slice, the choices of each slice in their order. */
typedef struct device_rows {
    const json_t *rows;
    size_t first;
    int slices, choices;
} device_rows;

static const json_t *row_of(device_rows all, int slice, slice_choice choice)
{
    return json_array_get(all.rows, all.first + (size_t)(slice * all.choices + (int)choice));
}

__attribute__((format(printf, 3, 4))) static void say(json_t *lines, const json_t *row, const char *format, ...)
{
    char line[400];
    va_list arguments;
    int used = snprintf(line, sizeof line, "%s: ", row_text(row, "resource"));

    va_start(arguments, format);
    vsnprintf(line + used, sizeof line - (size_t)used, format, arguments);
    va_end(arguments);
    json_append(lines, json_text(line));
}

/* "serial: view is faster than whole for 7 of 9 slices, 1 noisy (columns: from 1.20 MiB on)". The size at which both
 * choices are equal is interpolated between two slices of one kind, on a line with both axes logarithmic. Noisy times
 * show neither. */
static void say_who_wins(json_t *lines, device_rows all, slice_choice choice, slice_choice other)
{
    double last_bytes = 0, last = 0;
    const char *last_kind = "";
    char places[128] = "", unknown[32] = "";
    int wins = 0, noisy = 0;

    for (int i = 0; i < all.slices; i++) {
        const json_t *row = row_of(all, i, choice);
        const char *kind = row_text(row, "kind");
        const size_t used = strlen(places);
        if (row_is_noisy(row) || row_is_noisy(row_of(all, i, other))) {
            noisy++;
            continue;
        }
        double bytes = row_number(row, "bytes");
        double advantage = log(row_number(row_of(all, i, other), "total_s") / row_number(row, "total_s"));
        double meet = last_bytes * pow(bytes / last_bytes, last / (last - advantage));
        if (strcmp(kind, last_kind) == 0 && (advantage > 0) != (last > 0))
            snprintf(places + used, sizeof places - used, "%s%s: %s %s%s", used ? ", " : " (", kind,
                     advantage > 0 ? "from" : "up to", format_bytes(meet).text, advantage > 0 ? " on" : "");
        wins += advantage > 0;
        last = advantage;
        last_bytes = bytes;
        last_kind = kind;
    }
    if (noisy)
        snprintf(unknown, sizeof unknown, ", %d noisy", noisy);
    say(lines, row_of(all, 0, choice), "%s is faster than %s for %d of %d slice%s%s%s%s",
        row_text(row_of(all, 0, choice), "variant"), row_text(row_of(all, 0, other), "variant"), wins, all.slices,
        all.slices == 1 ? "" : "s", unknown, places, *places ? ")" : "");
}

static quantity rate_of(const json_t *row)
{
    return format_rate(1e9 * row_number(row, "copy_gbytes_per_s"), "B/s");
}

void slice_explain(const json_t *rows, size_t first, int slices, int choices, json_t *lines)
{
    const device_rows all = {rows, first, slices, choices};
    const json_t *whole = row_of(all, 0, SLICE_WHOLE), *fast = row_of(all, 0, SLICE_VIEW), *slow = fast;

    for (int i = 1; i < slices; i++) {
        const json_t *row = row_of(all, i, SLICE_VIEW);
        double rate = row_number(row, "copy_gbytes_per_s");
        fast = rate > row_number(fast, "copy_gbytes_per_s") ? row : fast;
        slow = rate < row_number(slow, "copy_gbytes_per_s") ? row : slow;
    }
    if (json_is_true(json_object_get(whole, "emulation")))
        say(lines, whole, "an emulation: there is no link, and times mean nothing");
    else if (strcmp(row_text(whole, "host_memory"), "in place") == 0)
        say(lines, whole, "arrays lie in host memory: there is no link, and a view can be read in place");
    say(lines, whole, "whole copies %s in %s (%s), whatever the slice",
        format_bytes(row_number(whole, "bytes_copied")).text, format_seconds(row_number(whole, "d2h_s")).text,
        rate_of(whole).text);
    say(lines, whole, "view copies only the slice, at %s (rows of %s) to %s (rows of %s)", rate_of(slow).text,
        format_bytes(row_number(slow, "row_bytes")).text, rate_of(fast).text,
        format_bytes(row_number(fast, "row_bytes")).text);
    say_who_wins(lines, all, SLICE_VIEW, SLICE_WHOLE);
    if (all.choices == SLICE_CHOICES)
        say_who_wins(lines, all, SLICE_PACKED, SLICE_VIEW);
}

const column slice_columns[] = {
    {.key = "resource"},
    {.key = "slice"},
    {.key = "variant", .command = "slice"},
    {.key = "bytes", .command = "slice"},
    {.key = "row_bytes"},
    {.key = "kernel_s", .command = "slice"},
    {.key = "d2h_s", .command = "slice"},
    {.key = "host_s"},
    {.key = "total_s"},
    {.key = "copy_gbytes_per_s"},
    {.key = "speed_up_over_whole"},
    {.key = "place"},
    {.key = "check"},
    {0},
};

/* How many results are right, and of each device which choice is the fastest. */
static void show_sentences(const json_t *rows)
{
    json_t *devices = rows_grouped(rows, (const char *const[]){"resource", NULL}), *of;
    const bool several = json_object_size(devices) > 1;
    const char *key;

    sentences_print(sentences_of_right(rows), NULL);
    json_object_foreach(devices, key, of) sentences_print(sentences_by(of, "total", "slice", "slices"),
                                                          several ? row_text(json_array_get(of, 0), "resource") : NULL);
    json_decref(devices);
}

void slice_show(json_t *rows, json_t *lines, const host_array *a, const backend_list *backends,
                const common_options *common)
{
    json_t *document = results_document(backends, rows), *line;
    size_t i;

    json_put(document, "explanations", lines);
    if (results_write(common, document)) {
        text_print("slice: of %s %s, %s\n", format_shape(a->ndim, a->shape).text, fl_dtype_name(a->dtype),
                   format_bytes((double)host_array_bytes(a)).text);
        show_sentences(rows);
        columns_print(slice_columns, rows, TABLE_TEXT, stdout);
        noise_print(rows, NULL);
        json_array_foreach(lines, i, line)
        {
            text_print("%s\n", json_string_value(line));
        }
        results_print_skipped(backends);
        text_print("checked against: every element of the array\n");
    }
    json_decref(document);
}
