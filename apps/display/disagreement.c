/* SPDX-License-Identifier: MIT
 *
 * How two arrays differ, as text.
 */
#include "disagreement.h"

#include "lines.h"
#include "numbers.h"
#include "position.h"

#include <string.h>

enum { TABLE_COLUMNS = 3 };

typedef struct table_row {
    char cell[TABLE_COLUMNS][128];
} table_row;

/* Element k of a difference: exact where its array is there. */
static number_text element(const disagreement *d, const difference *one, int k)
{
    const host_array *array = d->arrays[k];

    if (array && one->index >= 0 && one->index < host_array_size(array))
        return number_of_element(array, one->index);
    return number_in(d->dtype, k == 0 ? one->result : one->expected);
}

static void print_table(FILE *stream, const disagreement *d, int count)
{
    table_row rows[FIRST_DIFFERENCES + 1];
    int widths[TABLE_COLUMNS] = {0};

    strcpy(rows[0].cell[0], "index");
    for (int k = 0; k < 2; k++)
        snprintf(rows[0].cell[1 + k], sizeof rows[0].cell[0], "%s", d->names[k]);
    for (int i = 0; i < count; i++) {
        const difference *one = &d->found->first[i];
        strcpy(rows[1 + i].cell[0], format_index(one->index, d->ndim, d->shape).text);
        for (int k = 0; k < 2; k++)
            strcpy(rows[1 + i].cell[1 + k], element(d, one, k).text);
    }
    for (int i = 0; i <= count; i++)
        for (int c = 0; c < TABLE_COLUMNS; c++) {
            const int length = lines_length(rows[i].cell[c]);
            widths[c] = length > widths[c] ? length : widths[c];
        }
    for (int i = 0; i <= count; i++) {
        fprintf(stream, "  %s%*s", rows[i].cell[0], widths[0] - lines_length(rows[i].cell[0]), "");
        for (int c = 1; c < TABLE_COLUMNS; c++)
            fprintf(stream, "  %*s%s", widths[c] - lines_length(rows[i].cell[c]), "", rows[i].cell[c]);
        fputc('\n', stream);
    }
}

void disagreement_print(FILE *stream, int width, const disagreement *d)
{
    const int64_t count = d->found->count;
    const int shown = count < FIRST_DIFFERENCES ? (int)count : FIRST_DIFFERENCES;
    int64_t size;

    print_table(stream, d, shown);
    if (count > shown)
        lines_print(stream, width, "  and %s more", number_grouped(count - shown).text);
    const pattern_text pattern = differences_pattern(d->found, d->ndim, d->shape, d->block);
    if (*pattern.text)
        lines_print(stream, width, "  pattern: %s", pattern.text);
    shape_bytes(d->ndim, d->shape, 1, &size);
    const where_text where =
        differences_where(d->found, d->ndim, d->shape, width - 2 < WHERE_COLUMNS ? width - 2 : WHERE_COLUMNS);
    if (size < 2)
        return;
    lines_print(stream, width, "  where (. none differs, + some differ, # all differ):");
    for (int r = 0; r < where.rows; r++)
        fprintf(stream, "  %s\n", where.row[r]);
}
