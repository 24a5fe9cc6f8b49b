/* SPDX-License-Identifier: MIT */
#include "columns.h"
#include "row.h"
#include "units.h"

#include "support/fail.h"
#include "support/text.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

cell cell_print(const char *format, ...)
{
    va_list arguments;
    cell c;

    va_start(arguments, format);
    vsnprintf(c.text, sizeof c.text, format, arguments);
    va_end(arguments);
    return c;
}

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
        append_list(c, value, json_is_string(json_array_get(value, 0)) ? " " : "x");
    else
        append(c, json_is_string(value)    ? json_string_value(value)
                  : json_is_number(value)  ? number
                  : json_is_boolean(value) ? (json_is_true(value) ? "yes" : "no")
                                           : "-");
}

cell cell_value(const json_t *value)
{
    cell c = {""};

    append_value(&c, value);
    return c;
}

static cell block_cell(const json_t *block)
{
    int edges[3] = {0};

    for (size_t i = 0; i < 3; i++)
        edges[i] = (int)json_integer_value(json_array_get(block, i));
    return cell_print("%s", format_block(edges).text);
}

static cell check_cell(const json_t *row)
{
    const json_t *worst = row_value(row, "check.worst_index");
    cell where = {""};

    if (row_is_right(row))
        return cell_print(row_is_ranked(row) ? "ok" : "ok (emulation)");
    append_list(&where, worst, ", ");
    return json_array_size(worst) > 0 ? cell_print("WRONG at [%.100s]", where.text) : cell_print("WRONG");
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

    if (c->make)
        *room = c->make(row);
    else if (c->as == AS_CHECK)
        *room = check_cell(row);
    else if (c->as == AS_BLOCK)
        *room = block_cell(value);
    else if (json_is_string(value) && (c->as == AS_TEXT || c->as == AS_NUMBER))
        return json_string_value(value);
    else if (c->as == AS_TEXT || (c->as == AS_NUMBER && json_is_integer(value)))
        *room = cell_value(value);
    else if (c->as == AS_COUNT && json_is_array(value))
        *room = cell_print("%zu", json_array_size(value));
    else
        *room = cell_print("%s", format_as(json_is_number(value) ? json_number_value(value) : (double)NAN, c->as).text);
    return room->text;
}

bool column_is_number(const column *c)
{
    return c->as != AS_TEXT && c->as != AS_BLOCK && c->as != AS_CHECK;
}

static void print_markdown(const column *columns, const json_t *rows, FILE *stream)
{
    const json_t *row;
    cell room;
    size_t i;

    for (const column *c = columns; c->title; c++)
        fprintf(stream, "| %s ", c->title);
    fprintf(stream, "|\n");
    for (const column *c = columns; c->title; c++)
        fprintf(stream, column_is_number(c) ? "|---:" : "|---");
    fprintf(stream, "|\n");
    json_array_foreach(rows, i, row)
    {
        for (const column *c = columns; c->title; c++) {
            fputs("| ", stream);
            text_write(stream, column_text(c, row, &room));
            fputc(' ', stream);
        }
        fprintf(stream, "|\n");
    }
}

/* libsmartcols fails here only where memory is short. */
static void check(bool done)
{
    if (!done)
        fail(EXIT_BROKEN, "out of memory for a table");
}

static void print_text(const column *columns, const json_t *rows, FILE *stream)
{
    struct libscols_table *table = scols_new_table();
    const json_t *row;
    cell room;
    size_t i;

    check(table);
    /* libsmartcols fits tables into a terminal by cutting cells off. */
    check(scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER) == 0);
    for (const column *c = columns; c->title; c++)
        check(scols_table_new_column(table, c->title, 0, column_is_number(c) ? SCOLS_FL_RIGHT : 0));
    json_array_foreach(rows, i, row)
    {
        struct libscols_line *line = scols_table_new_line(table, NULL);
        check(line);
        for (size_t c = 0; columns[c].title; c++)
            check(scols_line_set_data(line, c, column_text(&columns[c], row, &room)) == 0);
    }
    errno = 0; /* it leaves a cell empty for which it has no memory, and says nothing */
    check(scols_table_set_stream(table, stream) == 0 && scols_print_table(table) == 0 && errno != ENOMEM);
    scols_unref_table(table);
}

void columns_print(const column *columns, const json_t *rows, table_style style, FILE *stream)
{
    (style == TABLE_MARKDOWN ? print_markdown : print_text)(columns, rows, stream);
}
