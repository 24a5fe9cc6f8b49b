/* SPDX-License-Identifier: MIT */
#include "csv.h"
#include "json.h"

#include "files/output.h"
#include "support/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether all elements are whole numbers; so for an empty list. */
static bool is_wholes(const json_t *list)
{
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value) if (!json_is_integer(value)) return false;
    return true;
}

/* Copies what has a cell from `from` into `flat`, keys of objects within joined by a dot. */
static void flatten(json_t *from, const char *prefix, json_t *flat)
{
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value)
    {
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, key);
        if (json_is_object(value)) {
            strncat(name, ".", sizeof name - strlen(name) - 1);
            flatten(value, name, flat);
        } else if (!json_is_array(value) || is_wholes(value)) {
            json_put(flat, name, json_incref(value));
        }
    }
}

static void write_text(FILE *stream, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void write_cell(FILE *stream, const json_t *value)
{
    size_t i;
    json_t *part;
    switch (value == NULL ? JSON_NULL : json_typeof(value)) {
    case JSON_STRING: write_text(stream, json_string_value(value)); break;
    case JSON_INTEGER: fprintf(stream, "%" JSON_INTEGER_FORMAT, json_integer_value(value)); break;
    case JSON_REAL: fprintf(stream, "%.17g", json_real_value(value)); break;
    case JSON_TRUE: fputs("true", stream); break;
    case JSON_FALSE: fputs("false", stream); break;
    case JSON_ARRAY:
        json_array_foreach(value, i, part)
            fprintf(stream, "%s%" JSON_INTEGER_FORMAT, i > 0 ? "x" : "", json_integer_value(part));
        break;
    case JSON_OBJECT:
    case JSON_NULL: break;
    }
}

/* A line for the names (`row` NULL) or for one object. */
static void write_line(FILE *stream, json_t *columns, const json_t *row)
{
    const char *name;
    json_t *unused;
    bool first = true;
    json_object_foreach(columns, name, unused)
    {
        (void)unused;
        if (!first)
            fputc(',', stream);
        first = false;
        if (row == NULL)
            write_text(stream, name);
        else
            write_cell(stream, json_object_get(row, name));
    }
    fputc('\n', stream);
}

static void dump(FILE *stream, const void *results)
{
    json_t *rows = json_new_list(), *columns = json_new_object(), *value;
    size_t i;
    json_array_foreach(results, i, value)
    {
        json_t *row = json_new_object();
        flatten(value, "", row);
        if (json_object_update_missing(columns, row) != 0)
            fail(EXIT_BROKEN, "out of memory for CSV");
        json_append(rows, row);
    }
    write_line(stream, columns, NULL);
    json_array_foreach(rows, i, value) write_line(stream, columns, value);
    json_decref(rows);
    json_decref(columns);
}

bool csv_write(const json_t *results, const char *path, problem *why)
{
    return output_print(path, dump, results, why);
}
