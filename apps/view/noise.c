/* SPDX-License-Identifier: MIT */
#include "noise.h"
#include "cells.h"
#include "json.h"
#include "row.h"

#include "support/print.h"

#include <string.h>

static const double most_spread = 0.5;

/* "its totals vary by 73 %", of the times that vary most; "" where they vary little, or are too few to show it. */
static cell varying(const json_t *row)
{
    static const struct {
        const char *quantity, *words;
    } kinds[] = {{"kernel", "its kernel's times"}, {"total", "its totals"}, {NULL, "its times"}};
    const json_t *times = json_object_get(row, "times_s");
    const char *words = "";
    double most = most_spread;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const fl_bench_statistics s =
            row_statistics(kinds[i].quantity ? json_object_get(times, kinds[i].quantity) : times);
        const double spread = statistics_spread(&s);
        if (s.count > 2 && spread > most) {
            most = spread;
            words = kinds[i].words;
        }
    }
    return *words ? cell_print("%s vary by %.0f %%", words, 100 * most) : (cell){""};
}

void noise_put(json_t *row, const char *counted)
{
    const cell varies = varying(row);
    const char *cause = *counted ? counted : varies.text;

    json_put(row, "disturbed", json_text(*cause && !json_is_true(json_object_get(row, "emulation")) ? cause : NULL));
}

/* "sort on omp:2:v4", "copy on the device, omp:2:v4", "strong scaling, n = 4", "omp:2:v4". */
static cell name_of(const json_t *row)
{
    if (json_is_string(json_object_get(row, "exercise")))
        return cell_print("%.70s on %.40s", work_cell(row).text,
                          row_text(row, json_object_get(row, "resource") ? "resource" : "newer"));
    if (json_is_string(json_object_get(row, "key")))
        return cell_print("%.60s, %.40s", row_text(row, "what"), row_text(row, "resource"));
    if (json_is_string(json_object_get(row, "scaling")))
        return cell_print("%.20s scaling, n = %.0f", row_text(row, "scaling"), row_number(row, "n"));
    return cell_print("%.100s", row_text(row, "resource"));
}

void noise_print(const json_t *rows, const char *more)
{
    const size_t count = json_array_size(rows);
    const json_t *row, *first = NULL;
    size_t i, noisy = 0;

    json_array_foreach(rows, i, row)
    {
        first = first || !row_is_noisy(row) ? first : row;
        noisy += row_is_noisy(row);
    }
    if (!first)
        return;
    text_print("~: %zu of %zu row%s %s noisy, %s%s: %s; measure again on a quiet machine, or for longer "
               "(--min-time=2)%s%s\n",
               noisy, count, count == 1 ? "" : "s", noisy == 1 ? "is" : "are", noisy == 1 ? "" : "such as ",
               name_of(first).text, row_text(first, "disturbed"), more ? "; " : "", more ? more : "");
}
