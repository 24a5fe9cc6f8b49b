/* SPDX-License-Identifier: MIT */
#include "csv.h"
#include "json.h"
#include "row.h"

#include "files/output.h"
#include "support/text.h"

#include <stdio.h>
#include <string.h>

/* Lists have one if all their elements are whole numbers. */
static bool has_cell(const json_t *value)
{
    size_t i;
    json_t *element;
    json_array_foreach(value, i, element) if (!json_is_integer(element)) return false;
    return true;
}

/* Adds the names of the cells of `from`, keys of objects within joined by a dot, to the keys of `names`. */
static void add_names(json_t *from, const char *prefix, json_t *names)
{
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value)
    {
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, key);
        if (json_is_object(value)) {
            strncat(name, ".", sizeof name - strlen(name) - 1);
            add_names(value, name, names);
        } else if (has_cell(value)) {
            json_put(names, name, json_null());
        }
    }
}

static void write_text(FILE *stream, const char *text)
{
    const char *quote = strpbrk(text, ",\"") != NULL ? "\"" : "";
    char one[LONGEST_SHOWN];

    fputs(quote, stream);
    while (*text != '\0') {
        const int bytes = text_next(&text, one);
        fprintf(stream, "%s%.*s", *one == '"' ? "\"" : "", bytes, one);
    }
    fputs(quote, stream);
}

static void write_cell(FILE *stream, const json_t *value)
{
    size_t i;
    json_t *part;
    switch (value == NULL || !has_cell(value) ? JSON_NULL : json_typeof(value)) {
    case JSON_STRING: write_text(stream, json_string_value(value)); break;
    case JSON_INTEGER: fprintf(stream, "%" JSON_INTEGER_FORMAT, json_integer_value(value)); break;
    case JSON_REAL: fprintf(stream, "%.17g", json_real_value(value)); break;
    case JSON_TRUE: fputs("true", stream); break;
    case JSON_FALSE: fputs("false", stream); break;
    case JSON_ARRAY:
        json_array_foreach(value, i, part)
            fprintf(stream, "%s%" JSON_INTEGER_FORMAT, i > 0 ? "x" : "", json_integer_value(part));
        break;
    default: break;
    }
}

/* A line for the names (`row` NULL) or for one object. */
static void write_line(FILE *stream, json_t *names, const json_t *row)
{
    const char *name, *comma = "";
    json_t *unused;
    json_object_foreach(names, name, unused)
    {
        (void)unused;
        fputs(comma, stream);
        comma = ",";
        if (row == NULL)
            write_text(stream, name);
        else
            write_cell(stream, row_value(row, name));
    }
    fputc('\n', stream);
}

static void dump(FILE *stream, const void *results)
{
    json_t *names = json_new_object(), *row;
    size_t i;
    json_array_foreach(results, i, row) add_names(row, "", names);
    write_line(stream, names, NULL);
    json_array_foreach(results, i, row) write_line(stream, names, row);
    json_decref(names);
}

bool csv_write(const json_t *results, const char *path, problem *why)
{
    return output_print(path, dump, results, why);
}
