/* SPDX-License-Identifier: MIT */
#include "row.h"

#include <math.h>
#include <stdio.h>
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

bool row_is_ranked(const json_t *row)
{
    return row_is_right(row) && !json_is_true(json_object_get(row, "emulation"));
}

statistics row_times(const json_t *row, const char *quantity)
{
    enum { MOST = 1000 };
    const json_t *times = json_object_get(json_object_get(row, "times_s"), quantity);
    double s[MOST];
    int count = 0;
    size_t i;
    json_t *value;

    json_array_foreach(times, i, value)
    {
        if (count < MOST)
            s[count++] = json_number_value(value);
    }
    return statistics_of(s, count);
}

double row_spread(const json_t *row, const char *quantity)
{
    statistics s = row_times(row, quantity);

    return s.spread / s.median;
}
