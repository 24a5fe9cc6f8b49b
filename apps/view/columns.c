/* SPDX-License-Identifier: MIT */
#include "columns.h"
#include "row.h"
#include "table.h"
#include "units.h"

#include "support/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Appends to a cell; what it has no room for is cut off. */
static void append(cell *c, const char *text)
{
    const size_t used = strlen(c->text);

    snprintf(c->text + used, sizeof c->text - used, "%s", text);
}

static void append_value(cell *c, const json_t *value);

static void append_list(cell *c, const json_t *list, const char *between)
{
    const json_t *element;
    size_t i;

    json_array_foreach(list, i, element)
    {
        append(c, i > 0 ? between : "");
        append_value(c, element);
    }
}

static void append_value(cell *c, const json_t *value)
{
    char number[32];

    if (json_is_integer(value))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(number, sizeof number, "%.6g", json_number_value(value));
    if (json_is_array(value))
        append_list(c, value, "x");
    else
        append(c, json_is_string(value)    ? json_string_value(value)
                  : json_is_number(value)  ? number
                  : json_is_boolean(value) ? (json_is_true(value) ? "yes" : "no")
                                           : "-");
}

static cell block_cell(const json_t *block)
{
    int edges[3] = {0};

    for (size_t i = 0; i < 3; i++)
        edges[i] = (int)json_integer_value(json_array_get(block, i));
    cell c = {""};
    append(&c, format_block(edges).text);
    return c;
}

static cell check_cell(const json_t *row)
{
    const json_t *worst = row_value(row, "check.worst_index");
    cell c = {"ok"};

    if (!row_is_right(row)) {
        strcpy(c.text, "WRONG");
        if (json_array_size(worst) > 0) {
            append(&c, " at [");
            append_list(&c, worst, ", ");
            append(&c, "]");
        }
    } else if (!row_is_ranked(row)) {
        strcpy(c.text, "ok (emulation)");
    }
    return c;
}

static quantity format_as(double number, cell_form as)
{
    switch (as) {
    case AS_SECONDS: return format_seconds(number);
    case AS_BYTES: return format_bytes(number);
    case AS_BYTE_RATE: return format_rate(number, "B/s");
    case AS_FLOP_RATE: return format_rate(number, "FLOP/s");
    case AS_COUNT: return format_count(number);
    case AS_FACTOR: return format_factor(number);
    case AS_PART: return format_percent(number);
    case AS_PERCENTAGE: return format_percent(number / 100);
    default: return format_number(number);
    }
}

const char *column_text(const column *c, const json_t *row, cell *room)
{
    const json_t *value = c->key ? row_value(row, c->key) : NULL;

    *room = (cell){""};
    if (c->make)
        *room = c->make(row);
    else if (c->as == AS_CHECK)
        *room = check_cell(row);
    else if (c->as == AS_BLOCK)
        *room = block_cell(value);
    else if (c->as == AS_TEXT && json_is_string(value))
        return json_string_value(value);
    else if (c->as == AS_TEXT || (c->as == AS_NUMBER && json_is_integer(value)))
        append_value(room, value);
    else if (c->as == AS_COUNT && json_is_array(value))
        append(room, format_count((double)json_array_size(value)).text);
    else
        append(room, format_as(json_is_number(value) ? json_number_value(value) : (double)NAN, c->as).text);
    return room->text;
}

bool column_is_number(const column *c)
{
    return c->as != AS_TEXT && c->as != AS_BLOCK && c->as != AS_CHECK;
}

void columns_print(const column *columns, const json_t *rows, table_style style, FILE *stream)
{
    int count = 0;
    while (columns[count].title)
        count++;
    table_column heads[count + 1];
    const char *texts[count + 1];
    cell *rooms = calloc((size_t)count + 1, sizeof *rooms);
    const json_t *row;
    size_t i;

    if (!rooms)
        fail(EXIT_BROKEN, "out of memory for a table");
    for (int c = 0; c <= count; c++)
        heads[c] = (table_column){columns[c].title, column_is_number(&columns[c])};
    table *t = table_create(heads);
    json_array_foreach(rows, i, row)
    {
        for (int c = 0; c < count; c++)
            texts[c] = column_text(&columns[c], row, &rooms[c]);
        table_add(t, texts);
    }
    (style == TABLE_MARKDOWN ? table_print_markdown : table_print)(t, stream);
    table_free(t);
    free(rooms);
}
