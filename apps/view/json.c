/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "files/file_bytes.h"
#include "files/output.h"
#include "support/fail.h"
#include "support/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *checked(json_t *value)
{
    if (value == NULL)
        fail(EXIT_BROKEN, "out of memory for JSON");
    return value;
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL)
        checked(NULL);
    return memory;
}

void json_start(void)
{
    json_set_alloc_funcs(allocate, free);
}

json_t *json_number(double value)
{
    return isfinite(value) ? checked(json_real(value)) : json_null();
}

json_t *json_whole(int64_t value)
{
    return checked(json_integer(value));
}

json_t *json_element(const host_array *array, int64_t i)
{
    if (i < 0)
        return json_null();
    return fl_dtype_is_float(array->dtype) ? json_number(host_array_get(array, i))
           : array->dtype == FL_I64        ? json_whole(((const int64_t *)array->data)[i])
                                           : json_whole((int64_t)host_array_get(array, i));
}

json_t *json_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    char *plain;

    if (value)
        return value;
    plain = memory_text(text);
    for (char *c = plain; *c; c++)
        *c = (unsigned char)*c < 128 ? *c : '?';
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

json_t *json_new_copy(const json_t *object)
{
    return json_is_object(object) ? checked(json_copy((json_t *)object)) : json_new_object();
}

json_t *json_new_list(void)
{
    return checked(json_array());
}

json_t *json_new_document(void)
{
    json_t *document = json_new_object();
    json_put(document, "schema", json_text(JSON_SCHEMA));
    return document;
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

char *json_text_of(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

    if (!text)
        checked(NULL);
    return text;
}

/* FNV-1a, of a text and of a number. */
static uint64_t mix_text(uint64_t hash, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (number >> shift & 0xff)) * 0x100000001b3u;
    return hash;
}

uint64_t json_hash(const json_t *value)
{
    const double number = json_number_value(value) + 0.0; /* -0 is equal to 0 */
    uint64_t bits, hash, sum = 0;
    const char *key;
    json_t *element;
    size_t i;

    memcpy(&bits, &number, sizeof bits);
    hash = mix((uint64_t)json_typeof(value), bits);
    json_array_foreach(value, i, element) hash = mix(hash, json_hash(element));
    json_object_foreach((json_t *)value, key, element) sum += mix_text(json_hash(element), key, strlen(key));
    if (json_is_string(value))
        hash = mix_text(hash, json_string_value(value), json_string_length(value));
    return mix(hash, sum);
}

/* Writes DEL and the control characters from U+0080 on, which JSON allows in a text, as \u007f. */
static int dump_part(const char *part, size_t size, void *stream)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)part[i], next = i + 1 < size ? (unsigned char)part[i + 1] : 0;
        const bool two = c == 0xC2 && next < 0xA0;
        if (two || c == 0x7F)
            fprintf(stream, "\\u%04x", two ? next : c);
        else
            putc(c, stream);
        i += two;
    }
    return 0; /* output_commit reports what could not be written */
}

static void dump(FILE *stream, const void *document)
{
    if (json_dump_callback(document, dump_part, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0)
        checked(NULL); /* the writer's only other failure */
    fputc('\n', stream);
}

bool json_write(const json_t *document, const char *path, problem *why)
{
    return output_print(path, dump, document, why);
}
