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

bool rows_are_right(const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (!row_is_right(row)) return false;
    return true;
}

bool row_is_ranked(const json_t *row)
{
    return row_is_right(row) && !json_is_true(json_object_get(row, "emulation"));
}

statistics row_statistics(const json_t *times)
{
    double *s = memory_zeroed(json_array_size(times), sizeof *s);
    statistics found;
    size_t i;
    json_t *value;

    json_array_foreach(times, i, value) s[i] = json_number_value(value);
    found = statistics_of(s, (int)json_array_size(times));
    free(s);
    return found;
}

statistics row_times(const json_t *row, const char *quantity)
{
    return row_statistics(json_object_get(json_object_get(row, "times_s"), quantity));
}

double row_spread(const json_t *row, const char *quantity)
{
    statistics s = row_times(row, quantity);

    return s.spread / s.median;
}

/* The ranked rows of an exercise, seen from one of its rows. */
typedef struct rivals {
    int faster;
    double least_s;
    const json_t *base; /* what speed-ups are over: of the scalar class, else the first */
} rivals;

static bool is_scalar(const json_t *row)
{
    return strcmp(row_text(row, "flynn_class"), "SISD") == 0;
}

static rivals rivals_of(const json_t *rows, const json_t *row)
{
    rivals r = {.least_s = INFINITY};
    json_t *other;
    size_t i;

    json_array_foreach(rows, i, other)
    {
        if (!row_is_ranked(other) || strcmp(row_text(row, "exercise"), row_text(other, "exercise")) != 0)
            continue;
        r.faster += row_number(other, "total_s") < row_number(row, "total_s");
        r.least_s = fmin(r.least_s, row_number(other, "total_s"));
        if (!r.base || (is_scalar(other) && !is_scalar(r.base)))
            r.base = other;
    }
    return r;
}

static json_t *ratio(double over, double under, bool ranked)
{
    return ranked ? json_number(over / under) : json_null();
}

void rows_rank(json_t *rows)
{
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const rivals r = rivals_of(rows, row);
        const bool ranked = row_is_ranked(row);
        const double kernel = row_number(row, "kernel_s"), total = row_number(row, "total_s");
        json_put(row, "rank", ranked ? json_whole(r.faster + 1) : json_null());
        json_put(row, "relative", ratio(total, r.least_s, ranked));
        json_put(row, "spread", json_number(row_spread(row, "total")));
        json_put(row, "speed_up", ratio(row_number(r.base, "kernel_s"), kernel, ranked));
        json_put(row, "speed_up_with_copies", ratio(row_number(r.base, "total_s"), total, ranked));
    }
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
