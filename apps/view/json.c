/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "json.h"

#include "files/output.h"
#include "support/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *checked(json_t *value)
{
    if (value == NULL)
        fail(EXIT_BROKEN, "out of memory for JSON");
    return value;
}

json_t *json_number(double value)
{
    return isfinite(value) ? checked(json_real(value)) : json_null();
}

json_t *json_whole(int64_t value)
{
    return checked(json_integer(value));
}

json_t *json_text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    char *plain = strdup(text);
    if (plain == NULL)
        return checked(NULL);
    for (char *c = plain; *c != '\0'; c++)
        if ((unsigned char)*c >= 128)
            *c = '?';
    value = json_string(plain);
    free(plain);
    return checked(value);
}

json_t *json_numbers(const double *values, int count)
{
    json_t *list = json_new_list();
    for (int i = 0; i < count; i++)
        json_append(list, json_number(values[i]));
    return list;
}

json_t *json_wholes(const int64_t *values, int count)
{
    json_t *list = json_new_list();
    for (int i = 0; i < count; i++)
        json_append(list, json_whole(values[i]));
    return list;
}

json_t *json_new_object(void)
{
    return checked(json_object());
}

json_t *json_new_list(void)
{
    return checked(json_array());
}

void json_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        checked(NULL);
}

void json_append(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0)
        checked(NULL);
}

static void dump(FILE *stream, const void *document)
{
    json_dumpf(document, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', stream);
}

bool json_write(const json_t *document, const char *path, problem *why)
{
    return output_print(path, dump, document, why);
}
