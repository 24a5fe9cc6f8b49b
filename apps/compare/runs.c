/* SPDX-License-Identifier: MIT
 *
 * runs.c - saved documents side by side: which results are of the same work, and how their times differ.
 */
#include "compare.h"

#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "support/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The keys in which two results that are compared are alike: the work, and the backend or else the class. */
#define WORK "exercise", "dtype", "shape", "input_shapes", "singular_values", "file", "define", "let", "block_asked"
static const char *const same_backend[] = {WORK, "backend_requested", NULL}, *const same_class[] = {WORK, "flynn_class",
                                                                                                    "emulation", NULL};

/* Returns whether only few exercises have the key. */
static bool is_of_few(const char *key)
{
    static const char *const few[] = {"singular_values", "file", "define", "let", "block_asked", NULL};

    for (const char *const *k = few; *k; k++)
        if (strcmp(*k, key) == 0)
            return true;
    return false;
}

/* The first row of the group that `row` would be in; NULL: there is none, or the row lacks one of the keys. */
static const json_t *first_alike(const json_t *groups, const json_t *row, const char *const *keys)
{
    const json_t *found;
    char *key;

    for (const char *const *k = keys; *k; k++)
        if (!json_object_get(row, *k) && !is_of_few(*k))
            return NULL;
    key = row_key(row, keys);
    found = json_array_get(json_object_get(groups, key), 0);
    free(key);
    return found;
}

static const char *verdict_of(const fl_bench_statistics *older, const fl_bench_statistics *newer)
{
    const double ratio = older->median / newer->median;

    if (!(ratio > 0))
        return "unclear";
    if (newer->third_quartile < older->first_quartile && ratio >= 1.02)
        return "faster";
    if (newer->first_quartile > older->third_quartile && ratio <= 1 / 1.02)
        return "slower";
    if (fabs(ratio - 1) < 0.05 && statistics_range(older) < 0.05 * older->median &&
        statistics_range(newer) < 0.05 * newer->median)
        return "same";
    return "unclear";
}

static bool can_be_judged(const json_t *row, const char *quantity)
{
    return row_is_right(row) && json_array_size(json_object_get(json_object_get(row, "times_s"), quantity)) >= 3;
}

static json_t *compare_times(const json_t *older, const json_t *newer, const char *key)
{
    const fl_bench_statistics a = row_times(older, key), b = row_times(newer, key);
    const bool judged = can_be_judged(older, key) && can_be_judged(newer, key);
    json_t *times = json_new_object();

    json_put(times, "older_s", json_number(a.median));
    json_put(times, "newer_s", json_number(b.median));
    json_put(times, "ratio", json_number(a.median / b.median));
    json_put(times, "verdict",
             json_text(row_is_noisy(older) || row_is_noisy(newer) ? "noisy"
                       : judged                                   ? verdict_of(&a, &b)
                                                                  : "unclear"));
    return times;
}

static json_t *copy_of(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return value ? json_incref(value) : json_null();
}

static json_t *pair(const json_t *older, const json_t *newer)
{
    static const char *const keys[] = {"exercise", "dtype", "shape", "choice", "let_shown", "block", NULL};
    const bool kernels = json_object_get(newer, "choice");
    json_t *entry = json_new_object();

    for (int i = 0; keys[i] && (i < 3 || kernels); i++)
        json_put(entry, keys[i], copy_of(newer, keys[i]));
    json_put(entry, "older", copy_of(older, "resource"));
    json_put(entry, "newer", copy_of(newer, "resource"));
    json_put(entry, "older_disturbed", json_boolean(row_is_noisy(older)));
    json_put(entry, "newer_disturbed", json_boolean(row_is_noisy(newer)));
    json_put(entry, "disturbed", copy_of(row_is_noisy(newer) ? newer : older, "disturbed"));
    json_put(entry, "kernel", compare_times(older, newer, "kernel"));
    json_put(entry, "total", compare_times(older, newer, "total"));
    return entry;
}

json_t *compare_runs(const json_t *older, const json_t *newer)
{
    json_t *document = json_new_document(), *pairs = json_new_list(), *unpaired = json_new_list(), *row;
    json_t *by_backend = rows_grouped(json_object_get(older, "results"), same_backend),
           *by_class = rows_grouped(json_object_get(older, "results"), same_class);
    size_t i;

    json_array_foreach(json_object_get(newer, "results"), i, row)
    {
        const json_t *other = first_alike(by_backend, row, same_backend);
        other = other ? other : first_alike(by_class, row, same_class);
        if (other)
            json_append(pairs, pair(other, row));
        else
            json_append(unpaired, json_pack("{s:O, s:O}", "exercise", json_object_get(row, "exercise"), "resource",
                                            json_object_get(row, "resource")));
    }
    json_decref(by_backend);
    json_decref(by_class);
    json_put(document, "older", copy_of(older, "machine"));
    json_put(document, "newer", copy_of(newer, "machine"));
    json_put(document, "pairs", pairs);
    json_put(document, "unpaired", unpaired);
    return document;
}

/* "omp:2:v4"; "hip-nvidia:0, now hip-amd:0" of a pair on two backends. */
static cell backends_cell(const json_t *pair)
{
    const char *older = row_text(pair, "older"), *newer = row_text(pair, "newer");

    return strcmp(older, newer) == 0 ? cell_print("%s", older) : cell_print("%.60s, now %.60s", older, newer);
}

const column compare_pair_columns[] = {
    {.key = "exercise", .make = work_cell},
    {.key = "dtype"},
    {.key = "resource", .make = backends_cell},
    {.key = "kernel.older_s"},
    {.key = "kernel.newer_s"},
    {.key = "kernel.ratio"},
    {.key = "kernel.verdict"},
    {.key = "total.older_s"},
    {.key = "total.newer_s"},
    {.key = "total.ratio"},
    {.key = "total.verdict"},
    {0},
};

static void print_machine(const char *which, const json_t *machine)
{
    text_print("%s: %s, %s, %s, commit %s\n", which, row_text(machine, "host"), row_text(machine, "processor"),
               row_text(machine, "gpu"), row_text(machine, "commit"));
}

/* "of 9 kernels 2 are faster, 1 is slower, 5 are the same, 1 is unclear", and of the totals. */
static void print_verdicts(const json_t *pairs, table_style style)
{
    static const char *const verdicts[] = {"faster", "slower", "same", "noisy", "unclear", NULL};
    static const char *const quantities[][2] = {{"kernel.verdict", "kernels"}, {"total.verdict", "totals"}};
    const size_t all = json_array_size(pairs);

    for (int q = 0; q < 2 && all > 1; q++) {
        const char *between = "";
        text_print("of %zu %s ", all, quantities[q][1]);
        for (const char *const *verdict = verdicts; *verdict; verdict++) {
            const json_t *pair;
            size_t i, count = 0;
            json_array_foreach(pairs, i, pair) count += strcmp(row_text(pair, quantities[q][0]), *verdict) == 0;
            if (count > 0)
                text_print("%s%zu %s%s %s", between, count, count == 1 ? "is" : "are",
                           strcmp(*verdict, "same") == 0 ? " the" : "", *verdict);
            between = count > 0 ? ", " : between;
        }
        text_print("\n");
    }
    if (all > 1 && style == TABLE_MARKDOWN)
        text_print("\n");
}

void compare_runs_show(const json_t *verdicts, table_style style)
{
    size_t i;
    json_t *entry;

    print_verdicts(json_object_get(verdicts, "pairs"), style);
    columns_print(compare_pair_columns, json_object_get(verdicts, "pairs"), style, stdout);
    if (style == TABLE_MARKDOWN)
        text_print("\n");
    noise_print(json_object_get(verdicts, "pairs"), "a verdict is noisy where one of the two rows is");
    print_machine("older", json_object_get(verdicts, "older"));
    print_machine("newer", json_object_get(verdicts, "newer"));
    text_print("ratio: older over newer, above 1 is faster\n");
    json_array_foreach(json_object_get(verdicts, "unpaired"), i, entry)
        text_print("only in the newer run: %s on %s\n", row_text(entry, "exercise"), row_text(entry, "resource"));
}
