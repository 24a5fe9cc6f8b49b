/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "view/columns.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"
#include "view/sentence.h"
#include "view/units.h"
#include "support/print.h"

#include <stdio.h>
#include <string.h>

const column taxonomy_step_columns[] = {
    {.key = "flynn_class", .drop = STAYS},
    {.key = "resource"},
    {.key = "what", .command = "taxonomy"},
    {.key = "variant"},
    {.key = "instructions_per_element"},
    {.key = "kernel_s"},
    {.key = "spread"},
    {.key = "total_s"},
    {.key = "speed_up", .command = "taxonomy"},
    {.key = "speed_up_with_copies"},
    {.key = "check"},
    {0},
};

const column taxonomy_misd_columns[] = {{.key = "variant"}, {.key = "check.max_abs"}, {.key = "check"}, {0}};

/* A pair's difference, under the name of the other variant in each one's row. */
static void put_difference(json_t *rows, const json_t *pair)
{
    const bool same = json_is_true(json_object_get(pair, "same_bits"));
    const char *a = row_text(pair, "a"), *b = row_text(pair, "b");
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *variant = row_text(row, "variant");
        const char *other = strcmp(variant, a) == 0 ? b : strcmp(variant, b) == 0 ? a : NULL;
        if (other)
            json_put(row, other, json_text(same ? "same bits" : format_number(row_number(pair, "max_abs")).text));
    }
}

json_t *taxonomy_misd(const json_t *misd, column *columns)
{
    json_t *rows = json_new_list(), *answer, *pair;
    size_t i, count = 0;

    columns[count++] = (column){.key = "variant"};
    json_array_foreach(json_object_get(misd, "answers"), i, answer)
    {
        const char *variant = row_text(answer, "variant");
        json_t *row = json_new_copy(answer);
        json_put(row, variant, json_text(""));
        json_append(rows, row);
        if (count < MISD_COLUMNS - 3)
            columns[count++] = (column){.title = variant, .key = variant, .as = AS_NUMBER};
    }
    columns[count++] = (column){.key = "check.max_abs"};
    columns[count++] = (column){.key = "check"};
    columns[count] = (column){.title = NULL};
    json_array_foreach(json_object_get(misd, "pairs"), i, pair) put_difference(rows, pair);
    return rows;
}

cell taxonomy_title(const json_t *taxonomy)
{
    return cell_print("%.40s, %.0f %.8s", row_text(taxonomy, "exercise"), row_number(taxonomy, "elements"),
                      row_text(taxonomy, "dtype"));
}

void taxonomy_show(const json_t *taxonomy, const json_t *results)
{
    const json_t *steps = json_object_get(taxonomy, "steps"), *first = json_array_get(steps, 0),
                 *misd = json_object_get(taxonomy, "misd");
    column columns[MISD_COLUMNS];
    json_t *rows = taxonomy_misd(misd, columns);

    text_print("%s: the same operation by Flynn's classes\n", taxonomy_title(taxonomy).text);
    sentences_print(sentences_of(results), NULL);
    columns_print(taxonomy_step_columns, steps, TABLE_TEXT, stdout);
    noise_print(steps, NULL);
    text_print("step, with copies: the kernel and the total of the step before over this one's\n");
    if (json_is_string(json_object_get(first, "instructions_reason")))
        text_print("instructions/element is unknown: %s\n", row_text(first, "instructions_reason"));
    if (json_is_string(json_object_get(taxonomy, "scalar")))
        text_print("%s\n", row_text(taxonomy, "scalar"));
    if (json_is_string(json_object_get(taxonomy, "no_gpu")))
        text_print("no GPU shows SIMT here: %s\n", row_text(taxonomy, "no_gpu"));
    text_print("\n");
    text_print("MISD: %s\n", row_text(misd, "means"));
    sentences_print(sentences_of_right(rows), NULL);
    text_print("On %s; a cell is the largest difference of two answers:\n", row_text(misd, "resource"));
    columns_print(columns, rows, TABLE_TEXT, stdout);
    json_decref(rows);
}
