/* SPDX-License-Identifier: MIT */
#include "cells.h"
#include "row.h"

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

cell variant_cell(const json_t *row)
{
    return cell_print("%s", row_text(row, json_is_string(row_value(row, "choice")) ? "choice" : "variant"));
}

static quantity block_text(const json_t *block)
{
    int edges[3] = {0};

    for (size_t i = 0; i < 3; i++)
        edges[i] = (int)json_integer_value(json_array_get(block, i));
    return format_block(edges);
}

/* "8x12"; "8x8 as 8x12" where the variant took another block than was asked for. */
static cell block_cell(const column *c, const json_t *row)
{
    const quantity used = block_text(row_value(row, c->key)), asked = block_text(row_value(row, "block_asked"));
    const bool other = strcmp(c->key, "block") == 0 && strcmp(asked.text, "-") != 0 && strcmp(used.text, "-") != 0 &&
                       strcmp(asked.text, used.text) != 0;

    return cell_print("%s%s%s", other ? asked.text : "", other ? " as " : "", used.text);
}

cell work_cell(const json_t *entry)
{
    const bool let = json_is_string(row_value(entry, "let_shown"));
    const column block = {.key = "block", .as = AS_BLOCK};
    cell room;

    if (!json_is_string(row_value(entry, "choice")))
        return cell_print("%s", row_text(entry, "exercise"));
    return cell_print("%s %.60s%s%.30s, block %s", row_text(entry, "exercise"), row_text(entry, "choice"),
                      let ? ", " : "", let ? row_text(entry, "let_shown") : "", column_text(&block, entry, &room));
}

static cell check_cell(const json_t *row)
{
    const json_t *worst = row_value(row, "check.worst_index");
    cell where = {""};

    if (row_is_right(row))
        return cell_print(row_is_ranked(row) ? "ok" : "ok (emulation)");
    if (row_is_unchecked(row))
        return cell_print("not checked");
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

/* Returns whether the value stands for what does not exist: the time of a copy that is none, operations that nobody
 * counted. */
static bool is_absent(const column *c, const json_t *value)
{
    return json_is_number(value) && json_number_value(value) == 0 &&
           (c->as == AS_SECONDS || (c->key && strcmp(c->key, "gflops") == 0));
}

static const char *plain_text(const column *c, const json_t *row, cell *room)
{
    const json_t *value = c->key ? row_value(row, c->key) : NULL;

    if (is_absent(c, value))
        *room = cell_print("-");
    else if (c->make)
        *room = c->make(row);
    else if (c->as == AS_CHECK)
        *room = check_cell(row);
    else if (c->as == AS_BLOCK)
        *room = block_cell(c, row);
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

const char *column_text(const column *c, const json_t *row, cell *room)
{
    const char *text = plain_text(c, row, room);

    if (!c->noise || !row_is_marked(row, c->noise) || strcmp(text, "-") == 0)
        return text;
    const cell plain = cell_print("%s", text);
    *room = cell_print("~%.120s", plain.text);
    return room->text;
}

bool column_is_number(const column *c)
{
    return c->as != AS_TEXT && c->as != AS_BLOCK && c->as != AS_CHECK;
}
