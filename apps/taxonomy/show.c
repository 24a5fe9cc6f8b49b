/* SPDX-License-Identifier: MIT */
#include "show.h"

#include "support/memory.h"
#include "support/text.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const column taxonomy_step_columns[] = {
    {"Flynn class", "flynn_class", AS_TEXT, NULL},
    {"backend", "resource", AS_TEXT, NULL},
    {"what makes it so", "what", AS_TEXT, NULL},
    {"variant", "variant", AS_TEXT, NULL},
    {"instructions/element", "instructions_per_element", AS_NUMBER, NULL},
    {"kernel", "kernel_s", AS_SECONDS, NULL},
    {"spread", "spread", AS_PART, NULL},
    {"total", "total_s", AS_SECONDS, NULL},
    {"step", "speed_up", AS_FACTOR, NULL},
    {"with copies", "speed_up_with_copies", AS_FACTOR, NULL},
    {"check", "check", AS_CHECK, NULL},
    {NULL, NULL, AS_TEXT, NULL},
};

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

    columns[count++] = (column){"variant", "variant", AS_TEXT, NULL};
    json_array_foreach(json_object_get(misd, "answers"), i, answer)
    {
        const char *variant = row_text(answer, "variant");
        json_t *row = json_new_copy(answer);
        json_put(row, variant, json_text(""));
        json_append(rows, row);
        if (count < MISD_COLUMNS - 3)
            columns[count++] = (column){variant, variant, AS_NUMBER, NULL};
    }
    columns[count++] = (column){"max error", "check.max_abs", AS_NUMBER, NULL};
    columns[count++] = (column){"check", "check", AS_CHECK, NULL};
    columns[count] = (column){.title = NULL};
    json_array_foreach(json_object_get(misd, "pairs"), i, pair) put_difference(rows, pair);
    return rows;
}

cell taxonomy_title(const json_t *taxonomy)
{
    return cell_print("%.40s, %.0f %.8s", row_text(taxonomy, "exercise"), row_number(taxonomy, "elements"),
                      row_text(taxonomy, "dtype"));
}

static void add_remark(json_t *list, const char *before, const json_t *row, const char *key)
{
    const size_t size = strlen(before) + strlen(row_text(row, key)) + 3;
    char *text;

    if (!json_is_string(json_object_get(row, key)))
        return;
    text = memory_zeroed(size, 1);
    snprintf(text, size, "%s: %s", before, row_text(row, key));
    json_append(list, json_text(text));
    free(text);
}

json_t *taxonomy_remarks(const json_t *taxonomy)
{
    json_t *list = json_new_list();

    json_append(list, json_text("step, with copies: the kernel and the total of the step before over this one's"));
    add_remark(list, "instructions/element is unknown", json_array_get(json_object_get(taxonomy, "steps"), 0),
               "instructions_reason");
    add_remark(list, "no GPU shows SIMT here", taxonomy, "no_gpu");
    return list;
}

void taxonomy_show(const json_t *taxonomy)
{
    const json_t *misd = json_object_get(taxonomy, "misd"), *remark;
    column columns[MISD_COLUMNS];
    json_t *remarks = taxonomy_remarks(taxonomy), *rows = taxonomy_misd(misd, columns);
    size_t i;

    text_print("%s: the same operation by Flynn's classes\n", taxonomy_title(taxonomy).text);
    columns_print(taxonomy_step_columns, json_object_get(taxonomy, "steps"), TABLE_TEXT, stdout);
    json_array_foreach(remarks, i, remark) text_print("%s\n", json_string_value(remark));
    text_print("\n");
    text_print("MISD: %s\n", row_text(misd, "means"));
    text_print("On %s; a cell is the largest difference of two answers:\n", row_text(misd, "resource"));
    columns_print(columns, rows, TABLE_TEXT, stdout);
    json_decref(remarks);
    json_decref(rows);
}
