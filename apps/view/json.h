/* SPDX-License-Identifier: MIT
 *
 * json.h - JSON as every command writes it (jansson): keys in the order in which they were set, numbers with 17
 * digits so that they read back the same, a number that is not finite as null, indented by two blanks, control
 * characters as \u001b.
 */
#pragma once

#include "support/host_array.h"
#include "support/problem.h"

#include <jansson.h>
#include <stdint.h>

/* From then on every allocation of jansson ends the command (exit code 4) where memory is short: its reader and its
 * copies would otherwise leave things out without a word. Call once, before other threads run. */
void json_start(void);

/* These end the command (fail) where memory is short; the values are new references. */

/* A real, or null when it is not finite. */
json_t *json_number(double value);
json_t *json_whole(int64_t value);
/* The i-th element of an array; null where i < 0. */
json_t *json_element(const host_array *array, int64_t i);
/* A string, bytes that are not UTF-8 replaced by '?'; null for NULL. */
json_t *json_text(const char *text);
/* Lists. */
json_t *json_numbers(const double *values, int count);
json_t *json_wholes(const int64_t *values, int count);

json_t *json_new_object(void);
json_t *json_new_list(void);
/* The schema of new documents (docs/schema). */
#define JSON_SCHEMA "flynn/2"
/* {"schema": JSON_SCHEMA} */
json_t *json_new_document(void);
/* A copy of an object, which shares its values; an empty object for what is none. */
json_t *json_new_copy(const json_t *object);
/* Takes the reference to `value`. */
void json_put(json_t *object, const char *key, json_t *value);
void json_append(json_t *list, json_t *value);

/* The value in one line, keys in order: equal for equal values. Free it. */
char *json_text_of(const json_t *value);
/* Equal for values that json_equal finds equal, whatever the order of their keys. */
uint64_t json_hash(const json_t *value);

/* Writes the document with a line end to a file (whole or not at all), or to stdout for a NULL path. */
bool json_write(const json_t *document, const char *path, problem *why);
