/* SPDX-License-Identifier: MIT */
#include "sentence.h"
#include "columns.h"
#include "json.h"
#include "row.h"
#include "units.h"

#include "support/memory.h"
#include "support/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_SAMPLES = 3, MOST_NAMES = 4 };

/* ------------------------------------------------------------------------------------------------ names ---- */

/* The keys that tell the rows of a table apart, as few as do. */
static const char *const name_keys[][6] = {
    {"resource", NULL},
    {"choice", "variant", NULL},
    {"resource", "choice", "variant", NULL},
    {"choice", "variant", "block_asked", "block", NULL},
    {"resource", "choice", "variant", "block_asked", "block", NULL},
};
enum { NAMES = sizeof name_keys / sizeof *name_keys };

static bool are_told_apart(const json_t *rows, const char *const *keys)
{
    json_t *groups = rows_grouped(rows, keys);
    const bool are = json_object_size(groups) == json_array_size(rows);

    json_decref(groups);
    return are;
}

static const char *const *keys_of(const json_t *rows)
{
    for (int i = 0; i < NAMES - 1; i++)
        if (are_told_apart(rows, name_keys[i]))
            return name_keys[i];
    return name_keys[NAMES - 1];
}

static bool has_key(const char *const *keys, const char *key)
{
    for (; *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

/* "simd:v4 tiled, block 8x8", of which the keys are. */
static cell name_of(const json_t *row, const char *const *keys)
{
    const bool resource = has_key(keys, "resource"), variant = has_key(keys, "variant");
    const column block = {.key = "block", .as = AS_BLOCK};
    cell room, name;

    name = cell_print("%s%s%s", resource ? row_text(row, "resource") : "", resource && variant ? " " : "",
                      variant ? variant_cell(row).text : "");
    return has_key(keys, "block") ? cell_print("%.80s, block %s", name.text, column_text(&block, row, &room)) : name;
}

/* Adds to a text, which is replaced. */
__attribute__((format(printf, 2, 3))) static void extend(char **text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *more = memory_vprint(format, arguments), *longer = memory_print("%s%s", *text, more);
    va_end(arguments);
    free(more);
    free(*text);
    *text = longer;
}

/* "a, b and c"; to be freed. Of many names the first ones. */
static char *names_of(const json_t *rows, const char *const *keys)
{
    const size_t count = json_array_size(rows), shown = count > MOST_NAMES ? MOST_NAMES - 1 : count;
    char *text = memory_text("");

    for (size_t i = 0; i < shown; i++)
        extend(&text, "%s%s",
               i == 0          ? ""
               : i + 1 < count ? ", "
                               : " and ",
               name_of(json_array_get(rows, i), keys).text);
    if (shown < count)
        extend(&text, " and %zu others", count - shown);
    return text;
}

/* ---------------------------------------------------------------------------------------------- results ---- */

static json_t *rows_with(const json_t *rows, bool (*has)(const json_t *row))
{
    json_t *list = json_new_list(), *row;
    size_t i;

    json_array_foreach(rows, i, row) if (has(row)) json_append(list, json_incref(row));
    return list;
}

/* Names rows of several exercises. */
static char *wrong_names(const json_t *rows, const json_t *wrong)
{
    json_t *exercises = rows_grouped(rows, (const char *const[]){"exercise", NULL});
    const json_t *first = json_array_get(wrong, 0);
    char *names = json_object_size(exercises) == 1 ? names_of(wrong, keys_of(rows))
                  : json_array_size(wrong) == 1
                      ? memory_print("%s on %s", row_text(first, "exercise"), row_text(first, "resource"))
                      : memory_print("%s on %s and %zu more", row_text(first, "exercise"), row_text(first, "resource"),
                                     json_array_size(wrong) - 1);

    json_decref(exercises);
    return names;
}

static void add(json_t *sentences, char *text)
{
    json_append(sentences, json_text(text));
    free(text);
}

/* "3 of 4 results are right; wrong: omp:2:v4". */
static void add_right(json_t *sentences, const json_t *rows)
{
    json_t *right = rows_with(rows, row_is_right), *wrong = rows_with(rows, row_is_wrong);
    const size_t all = json_array_size(rows), good = json_array_size(right), bad = json_array_size(wrong),
                 unknown = all - good - bad;
    char *text = memory_text("");

    if (unknown == all && all == 2)
        extend(&text, "neither result is checked");
    else if (unknown == all)
        extend(&text, "none of the %zu results is checked", all);
    else if (good < all && bad < all)
        extend(&text, "%zu of %zu results %s right", good, all, good == 1 ? "is" : "are");
    else if (all == 2)
        extend(&text, "both results are %s", good == all ? "right" : "wrong");
    else
        extend(&text, "all %zu results are %s", all, good == all ? "right" : "wrong");
    if (unknown && unknown < all)
        extend(&text, ", %zu %s not checked", unknown, unknown == 1 ? "is" : "are");
    if (bad && bad < all) {
        char *names = wrong_names(rows, wrong);
        extend(&text, "; wrong: %s", names);
        free(names);
    }
    add(sentences, text);
    json_decref(right);
    json_decref(wrong);
}

/* ---------------------------------------------------------------------------------------------- fastest ---- */

static bool is_steady(const json_t *row)
{
    return row_is_ranked(row) && !row_is_noisy(row);
}

static bool is_ranked_but_noisy(const json_t *row)
{
    return row_is_ranked(row) && row_is_noisy(row);
}

/* The times of a row that has one quantity alone are a list. Of a row without samples all times are its median. */
static fl_bench_statistics times_of(const json_t *row, const char *quantity)
{
    const json_t *times = json_object_get(row, "times_s");
    fl_bench_statistics s = json_is_array(times) ? row_statistics(times) : row_times(row, quantity);
    char key[32];

    if (s.count == 0) {
        snprintf(key, sizeof key, "%s_s", quantity);
        s.median = s.first_quartile = s.third_quartile = row_number(row, key);
    }
    return s;
}

speed_text sentence_speed(const json_t *row, const json_t *other, const char *quantity)
{
    const fl_bench_statistics a = times_of(row, quantity), b = times_of(other, quantity);
    const double ratio = b.median / a.median,
                 part = hypot(statistics_range(&a) / a.median, statistics_range(&b) / b.median) / 2,
                 uncertainty = fmax(ratio * part, 0.001);
    /* The uncertainty has one digit, the ratio as many decimals. */
    const int decimals = (int)fmin(fmax(-floor(log10(uncertainty)), 0), 3);
    speed_text t;

    if (a.count < FEWEST_SAMPLES || b.count < FEWEST_SAMPLES)
        snprintf(t.text, sizeof t.text, "%.3g times", ratio);
    else
        snprintf(t.text, sizeof t.text, "%.*f +- %.*f times", decimals, ratio, decimals, uncertainty);
    return t;
}

static bool may_be_as_fast(const fl_bench_statistics *row, const fl_bench_statistics *best)
{
    return !(row->first_quartile > best->third_quartile && row->median >= 1.02 * best->median);
}

bool sentence_may_be_as_fast(const json_t *row, const json_t *best, const char *quantity)
{
    const fl_bench_statistics a = times_of(row, quantity), b = times_of(best, quantity);

    return may_be_as_fast(&a, &b);
}

/* What rows of the same work show by one quantity. */
typedef struct outcome {
    const json_t *best, *next; /* of the steady rows, by their medians; NULL: there are fewer */
    json_t *ties;              /* the best and those that may be as fast */
    int ranked;                /* rows, with the noisy ones */
    bool noise_decides;        /* a noisy row may be as fast as the best */
} outcome;

static outcome outcome_of(const json_t *rows, const char *quantity)
{
    outcome o = {.ties = json_new_list()};
    fl_bench_statistics *times = memory_zeroed(json_array_size(rows), sizeof *times);
    size_t i, best = 0, next = 0;
    const json_t *row;

    json_array_foreach(rows, i, row)
    {
        times[i] = times_of(row, quantity);
        o.ranked += row_is_ranked(row);
        if (!is_steady(row) || isnan(times[i].median))
            continue;
        if (!o.best || times[i].median < times[best].median) {
            o.next = o.best;
            next = best;
            o.best = row;
            best = i;
        } else if (!o.next || times[i].median < times[next].median) {
            o.next = row;
            next = i;
        }
    }
    json_array_foreach(rows, i, row)
    {
        const bool may_be = !o.best || may_be_as_fast(&times[i], &times[best]);
        if (o.best && is_steady(row) && (row == o.best || may_be))
            json_append(o.ties, json_incref((json_t *)row));
        o.noise_decides = o.noise_decides || (is_ranked_but_noisy(row) && may_be);
    }
    free(times);
    return o;
}

/* Returns whether copies take a part of the total. */
static bool has_copies(const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (row_is_ranked(row) &&
                                         (row_number(row, "h2d_s") > 0 || row_number(row, "d2h_s") > 0)) return true;
    return false;
}

/* "simd:v4 is the fastest: 3.26 +- 0.04 times as fast as serial". `before` stands before the name. */
static char *fastest_text(const outcome *o, const char *const *keys, const char *quantity, const char *before)
{
    const bool few =
        times_of(o->best, quantity).count < FEWEST_SAMPLES || times_of(o->next, quantity).count < FEWEST_SAMPLES;
    char *text, *names;

    if (json_array_size(o->ties) > 1) {
        names = names_of(o->ties, keys);
        text = memory_print("no clear winner%s: %s differ by less than their spreads", before, names);
        free(names);
        return text;
    }
    return memory_print("%s %s the fastest%s%s: %s as fast as %s%s", name_of(o->best, keys).text, few ? "was" : "is",
                        o->noise_decides ? " of those that are steady" : "", before,
                        sentence_speed(o->best, o->next, quantity).text, name_of(o->next, keys).text,
                        few ? ", in fewer than 3 passes, of which no spread is known" : "");
}

/* Says of the winner by its kernel what it is with its copies. */
static void add_with_copies(json_t *sentences, const outcome *kernel, const outcome *total, const char *const *keys)
{
    const double all = row_number(kernel->best, "total_s"), part = 1 - row_number(kernel->best, "kernel_s") / all,
                 copied = row_number(kernel->best, "h2d_s") + row_number(kernel->best, "d2h_s");

    if (json_array_size(kernel->ties) == 1 && json_array_size(total->ties) == 1 && kernel->best == total->best)
        add(sentences,
            memory_print("with the copies it is, too: %s as fast as %s",
                         sentence_speed(total->best, total->next, "total").text, name_of(total->next, keys).text));
    else
        add(sentences, fastest_text(total, keys, "total", " with the copies"));
    if (copied > 0 && part >= 0.5)
        add(sentences,
            memory_print("%s of the %s of %s is not the kernel: keep the data on the device (`flynn slice`)",
                         format_percent(part).text, format_seconds(all).text, name_of(kernel->best, keys).text));
}

static void add_noisy(json_t *sentences, const json_t *rows, const char *const *keys, bool has_fastest)
{
    json_t *noisy = rows_with(rows, is_ranked_but_noisy);

    if (json_array_size(noisy) > 0) {
        char *names = names_of(noisy, keys);
        add(sentences,
            memory_print("%s: %s", has_fastest ? "noisy, and not ranked" : "too noisy to say which is the fastest",
                         names));
        free(names);
    }
    json_decref(noisy);
}

/* The sentences about rows of the same work, by that quantity; if `copies`, by the kernel first. */
static void add_fastest(json_t *sentences, const json_t *rows, const char *quantity, bool copies)
{
    json_t *ranked = rows_with(rows, row_is_ranked);
    const char *const *keys = keys_of(ranked);
    outcome kernel = outcome_of(ranked, "kernel"), all = outcome_of(ranked, quantity);

    if (all.next && kernel.next && copies) {
        add(sentences, fastest_text(&kernel, keys, "kernel", " by the kernel"));
        add_with_copies(sentences, &kernel, &all, keys);
    } else if (all.next) {
        add(sentences, fastest_text(&all, keys, quantity, ""));
    }
    if (json_array_size(ranked) > 1)
        add_noisy(sentences, ranked, keys, all.next);
    json_decref(kernel.ties);
    json_decref(all.ties);
    json_decref(ranked);
}

/* ------------------------------------------------------------------------------------- several exercises ---- */

/* Adds "simd:v4 in 9, omp:2:v4 in 2", from the most wins to the fewest. */
static void extend_wins(char **text, json_t *wins)
{
    const char *between = ": ", *key, *most = "";
    json_t *count;

    while (json_object_size(wins) > 0) {
        json_int_t highest = 0;
        json_object_foreach(wins, key, count) if (json_integer_value(count) > highest)
        {
            highest = json_integer_value(count);
            most = key;
        }
        extend(text, "%s%s in %d", between, most, (int)highest);
        json_object_del(wins, most);
        between = ", ";
    }
}

/* "fastest: simd:v4 in 9, omp:2:v4 in 2, no clear winner in 1, too noisy in 1 of 13 exercises". Groups of which fewer
 * than two rows are ranked count for nothing. */
static void add_counts(json_t *sentences, json_t *groups, const char *const *keys, const char *of, const char *quantity,
                       const char *title)
{
    size_t all = 0, unclear = 0, noisy = 0;
    json_t *wins = json_new_object(), *rows;
    char *text = memory_text(title);
    const char *key;

    json_object_foreach(groups, key, rows)
    {
        outcome o = outcome_of(rows, quantity);
        const cell name = o.best ? name_of(o.best, keys) : (cell){""};
        const bool counts = o.ranked > 1;
        all += counts;
        noisy += counts && o.noise_decides;
        unclear += counts && !o.noise_decides && json_array_size(o.ties) > 1;
        if (counts && !o.noise_decides && json_array_size(o.ties) == 1)
            json_put(wins, name.text, json_whole(json_integer_value(json_object_get(wins, name.text)) + 1));
        json_decref(o.ties);
    }
    const bool won = json_object_size(wins) > 0;
    extend_wins(&text, wins);
    if (unclear)
        extend(&text, "%s no clear winner in %zu", won ? "," : ":", unclear);
    if (noisy)
        extend(&text, "%s too noisy in %zu", won || unclear ? "," : ":", noisy);
    extend(&text, " of %zu %s", all, of);
    if (all > 0)
        add(sentences, text);
    else
        free(text);
    json_decref(wins);
}

/* Which keys name the winners of several groups. */
static const char *const *keys_of_wins(const json_t *rows)
{
    json_t *resources = rows_grouped(rows, (const char *const[]){"resource", NULL});
    const char *const *keys = name_keys[json_object_size(resources) > 1 ? 0 : 1];

    json_decref(resources);
    return keys;
}

json_t *sentences_of_right(const json_t *rows)
{
    json_t *sentences = json_new_list();

    if (json_array_size(rows) >= 2)
        add_right(sentences, rows);
    return sentences;
}

json_t *sentences_of_fastest(const json_t *rows)
{
    json_t *sentences = json_new_list(), *groups = rows_by_work(rows),
           *exercises = rows_grouped(rows, (const char *const[]){"exercise", NULL});
    const bool copies = has_copies(rows);
    const char *of = json_object_size(exercises) == json_object_size(groups) ? "exercises" : "cases";
    const char *const *keys = keys_of_wins(rows);

    if (json_object_size(groups) == 1) {
        add_fastest(sentences, rows, "total", copies);
    } else {
        add_counts(sentences, groups, keys, of, copies ? "kernel" : "total", copies ? "fastest kernel" : "fastest");
        if (copies)
            add_counts(sentences, groups, keys, of, "total", "fastest with the copies");
    }
    json_decref(groups);
    json_decref(exercises);
    return sentences;
}

json_t *sentences_of(const json_t *rows)
{
    json_t *sentences = sentences_of_right(rows), *fastest;

    if (json_array_size(rows) >= 2) {
        fastest = sentences_of_fastest(rows);
        json_array_extend(sentences, fastest);
        json_decref(fastest);
    }
    return sentences;
}

json_t *sentences_by(const json_t *rows, const char *quantity, const char *work, const char *of)
{
    json_t *sentences = json_new_list(), *groups = rows_grouped(rows, (const char *const[]){work, NULL});

    if (json_object_size(groups) == 1)
        add_fastest(sentences, rows, quantity, false);
    else
        add_counts(sentences, groups, keys_of_wins(rows), of, quantity, "fastest");
    json_decref(groups);
    return sentences;
}

void sentences_print(json_t *sentences, const char *about)
{
    const json_t *one;
    size_t i;

    json_array_foreach(sentences, i, one)
        text_print("%s%s%s\n", about ? about : "", about ? ": " : "", json_string_value(one));
    json_decref(sentences);
}
