/* SPDX-License-Identifier: MIT */
#include "row.h"
#include "json.h"

#include "support/fail.h"
#include "support/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *row_value(const json_t *row, const char *key)
{
    const char *dot = strchr(key, '.');
    char outer[64];

    if (!dot)
        return json_object_get(row, key);
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
    return row_value(json_object_get(row, outer), dot + 1);
}

const char *row_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(row_value(row, key));

    return text ? text : "-";
}

double row_number(const json_t *row, const char *key)
{
    const json_t *value = row_value(row, key);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool row_is_right(const json_t *row)
{
    return json_is_true(json_object_get(json_object_get(row, "check"), "ok"));
}

bool row_is_unchecked(const json_t *row)
{
    return json_is_null(row_value(row, "check.ok"));
}

bool row_is_wrong(const json_t *row)
{
    return !row_is_right(row) && !row_is_unchecked(row);
}

bool rows_have_wrong(const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (row_is_wrong(row)) return true;
    return false;
}

bool row_is_ranked(const json_t *row)
{
    return row_is_right(row) && !json_is_true(json_object_get(row, "emulation"));
}

bool row_is_marked(const json_t *row, const char *key)
{
    const json_t *value = row_value(row, key);

    return (json_is_true(value) || json_is_string(value)) && !json_is_true(json_object_get(row, "steady"));
}

bool row_is_noisy(const json_t *row)
{
    return row_is_marked(row, "disturbed");
}

fl_bench_statistics row_statistics(const json_t *times)
{
    double *s = memory_zeroed(json_array_size(times), sizeof *s);
    fl_bench_statistics found;
    size_t i;
    json_t *value;

    json_array_foreach(times, i, value) s[i] = json_number_value(value);
    found = statistics_of(s, (int)json_array_size(times));
    free(s);
    return found;
}

fl_bench_statistics row_times(const json_t *row, const char *quantity)
{
    return row_statistics(json_object_get(json_object_get(row, "times_s"), quantity));
}

double row_spread(const json_t *row, const char *quantity)
{
    const fl_bench_statistics s = row_times(row, quantity);

    return statistics_spread(&s);
}

char *row_key(const json_t *row, const char *const *keys)
{
    json_t *values = json_new_list();
    char *text;

    for (; *keys; keys++) {
        json_t *value = row_value(row, *keys);
        json_append(values, value ? json_incref(value) : json_null());
    }
    text = json_text_of(values);
    json_decref(values);
    return text;
}

json_t *rows_grouped(const json_t *rows, const char *const *keys)
{
    json_t *groups = json_new_object(), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        char *key = row_key(row, keys);
        if (!json_object_get(groups, key))
            json_put(groups, key, json_new_list());
        json_append(json_object_get(groups, key), json_incref(row));
        free(key);
    }
    return groups;
}

json_t *rows_by_work(const json_t *rows)
{
    static const char *const keys[] = {"exercise", "dtype", "shape", "input_shapes", "singular_values", "let", NULL};

    return rows_grouped(rows, keys);
}

static bool is_scalar(const json_t *row)
{
    return strcmp(row_text(row, "flynn_class"), "SISD") == 0;
}

static json_t *ratio(double over, double under, bool ranked)
{
    return ranked ? json_number(over / under) : json_null();
}

/* How many of the sorted values are less. */
static size_t count_below(const double *sorted, size_t count, double value)
{
    size_t first = 0;

    while (first < count) {
        const size_t middle = first + (count - first) / 2;
        if (!(sorted[middle] < value))
            count = middle;
        else
            first = middle + 1;
    }
    return first;
}

/* The rows of one exercise and number of components. Speed-ups are over the first ranked row of the scalar class, or
 * else the first ranked row; over none where a row has no class: it ran on one core, and is no baseline.
 */
static void rank_rows(json_t *rows)
{
    double *totals = memory_zeroed(json_array_size(rows), sizeof *totals);
    const json_t *base = NULL;
    bool unclassed = false;
    size_t i, count = 0;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        unclassed = unclassed || json_is_null(json_object_get(row, "flynn_class"));
        if (!row_is_ranked(row))
            continue;
        if (!isnan(row_number(row, "total_s")) && !row_is_noisy(row))
            totals[count++] = row_number(row, "total_s");
        if (!base || (is_scalar(row) && !is_scalar(base)))
            base = row;
    }
    if (unclassed && !is_scalar(base))
        base = NULL;
    sort_numbers(totals, count);
    json_array_foreach(rows, i, row)
    {
        const bool ranked = row_is_ranked(row), placed = ranked && !row_is_noisy(row);
        const double kernel = row_number(row, "kernel_s"), total = row_number(row, "total_s");
        json_put(row, "place", placed ? json_whole((int64_t)count_below(totals, count, total) + 1) : json_null());
        json_put(row, "relative", ratio(total, count ? totals[0] : (double)INFINITY, placed));
        json_put(row, "spread", json_number(row_spread(row, "total")));
        json_put(row, "speed_up", ratio(row_number(base, "kernel_s"), kernel, ranked));
        json_put(row, "speed_up_with_copies", ratio(row_number(base, "total_s"), total, ranked));
        json_put(row, "speed_up_disturbed", json_boolean(row_is_noisy(row) || row_is_noisy(base)));
    }
    free(totals);
}

void rows_rank(json_t *rows)
{
    json_t *groups = rows_by_work(rows), *group;
    const char *key;

    json_object_foreach(groups, key, group) rank_rows(group);
    json_decref(groups);
}

static void add_missing(json_t *object, json_t *from)
{
    const char *key;
    json_t *value;

    json_object_foreach(from, key, value)
    {
        if (!json_is_object(value) && !json_is_array(value) && !json_object_get(object, key))
            json_put(object, key, json_incref(value));
    }
}

json_t *rows_within(const json_t *rows, const char *key)
{
    json_t *list = json_new_list(), *row, *inner;
    size_t i, k;

    json_array_foreach(rows, i, row) json_array_foreach(json_object_get(row, key), k, inner)
    {
        json_t *copy = json_new_copy(inner);
        add_missing(copy, row);
        json_append(list, copy);
    }
    return list;
}
