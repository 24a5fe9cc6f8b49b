/* SPDX-License-Identifier: MIT */
#include "saved.h"

#include "json.h"

#include "files/file_bytes.h"
#include "support/fail.h"

#include <stdbool.h>
#include <string.h>

/* A key of the objects at `in`, a path from the document: each an object, or a list of objects. */
static const struct renaming {
    const char *in[3]; /* ended by NULL */
    const char *old, *now;
} renamings[] = {
    {{"results"}, "rank", "place"},
    {{"results"}, "rank_asked", "keep_asked"},
    {{"results"}, "told_error", "implied_error"},
    {{"best"}, "rank_asked", "keep_asked"},
    {{"cannot_run"}, "rank_asked", "keep_asked"},
    {{"batch"}, "rank", "singular_values"},
    {{"batch", "runs"}, "told_wall_s", "last_wall_s"},
};

static void rename_key(json_t *object, const struct renaming *r)
{
    json_t *value = json_object_get(object, r->old);

    if (!value)
        return;
    json_put(object, r->now, json_incref(value));
    json_object_del(object, r->old);
}

/* Renames the keys of a document of schema flynn/1 to those of flynn/2, so that no other code knows the old names. */
static void update(json_t *document)
{
    for (size_t i = 0; i < sizeof renamings / sizeof *renamings; i++) {
        const struct renaming *r = &renamings[i];
        json_t *at = document, *element;
        size_t place;

        for (const char *const *key = r->in; *key; key++)
            at = json_object_get(at, *key);
        rename_key(at, r);
        json_array_foreach(at, place, element) rename_key(element, r);
    }
    json_put(document, "schema", json_text(JSON_SCHEMA));
}

static bool has_any(const json_t *document, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_object_get(document, *keys))
            return true;
    return false;
}

static bool are_objects(const json_t *list)
{
    size_t i;
    json_t *element;

    json_array_foreach(list, i, element) if (!json_is_object(element)) return false;
    return list == NULL || json_is_array(list);
}

json_t *saved_read(const char *path, const char *const *keys, const char *writers)
{
    file_bytes bytes;
    problem why;

    must_do(file_bytes_read(path, "a file that --json wrote", &bytes, &why), &why);
    json_error_t error;
    json_t *document = json_loadb((const char *)bytes.data, bytes.size, 0, &error);
    const char *schema = json_string_value(json_object_get(document, "schema"));
    const bool is_old = schema && strcmp(schema, "flynn/1") == 0;

    if (!document)
        fail(EXIT_BAD_INPUT, "%s: line %d: %s; expected a file that --json wrote", path, error.line, error.text);
    file_bytes_free(&bytes);
    if (!schema || (!is_old && strcmp(schema, JSON_SCHEMA) != 0) || !has_any(document, keys) ||
        !are_objects(json_object_get(document, "results")))
        fail(EXIT_BAD_INPUT, "%s: is not a document of schema %s or flynn/1; expected one that %s wrote with --json",
             path, JSON_SCHEMA, writers);
    if (is_old)
        update(document);
    return document;
}
