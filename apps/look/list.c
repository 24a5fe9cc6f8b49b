/* SPDX-License-Identifier: MIT
 *
 * flynn list: operations, variants and dtypes, and which backends have them.
 */
#include "commands.h"

#include "support/fail.h"
#include "support/options.h"
#include "view/json.h"
#include "view/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1024 };

/* A variant, with the backends that have it in the same dtypes. */
typedef struct listed {
    char operation[32], variant[32], dtypes[32], backends[128], summary[256];
} listed;

static listed describe(const fl_variant_info *v)
{
    listed row = {0};

    snprintf(row.operation, sizeof row.operation, "%s", v->operation);
    snprintf(row.variant, sizeof row.variant, "%s", v->variant);
    snprintf(row.summary, sizeof row.summary, "%s", v->summary);
    for (int d = 0; d < FL_DTYPE_COUNT; d++)
        if (v->dtypes & 1u << d)
            snprintf(row.dtypes + strlen(row.dtypes), sizeof row.dtypes - strlen(row.dtypes), "%s%s",
                     *row.dtypes ? " " : "", fl_dtype_name((fl_dtype)d));
    return row;
}

static bool same(const listed *a, const listed *b)
{
    return strcmp(a->operation, b->operation) == 0 && strcmp(a->variant, b->variant) == 0 &&
           strcmp(a->dtypes, b->dtypes) == 0 && strcmp(a->summary, b->summary) == 0;
}

/* Adds what the device offers; `count` rows are there already. */
static int add_device(listed *rows, int count, const char *backend, const fl_device *device)
{
    for (size_t i = 0; i < fl_variant_count(device); i++) {
        fl_variant_info v;
        listed row;
        int at = 0;
        must(fl_variant_get(device, i, &v));
        row = describe(&v);
        while (at < count && !same(&rows[at], &row))
            at++;
        if (at == count && count < MOST_ROWS)
            rows[count++] = row;
        if (at < count) {
            char *list = rows[at].backends;
            snprintf(list + strlen(list), sizeof rows[at].backends - strlen(list), "%s%s", *list ? " " : "", backend);
        }
    }
    return count;
}

static int by_operation(const void *a, const void *b)
{
    return strcmp(((const listed *)a)->operation, ((const listed *)b)->operation);
}

/* Every variant of every backend that can be opened here; the plainest backends first. */
static int collect(listed *rows)
{
    int count = 0;

    for (size_t i = fl_backend_count(); i-- > 0;) {
        const fl_backend_info *backend = fl_backend_get(i);
        fl_device *device;
        if (!backend->usable)
            continue;
        if (fl_device_open(backend->name, &device) != FL_OK) {
            note("%s is left out: %s", backend->name, fl_last_error());
            continue;
        }
        count = add_device(rows, count, backend->name, device);
        fl_device_close(device);
    }
    qsort(rows, (size_t)count, sizeof *rows, by_operation);
    return count;
}

static void print_rows(const listed *rows, int count)
{
    static const table_column columns[] = {{"operation", 0}, {"variant", 0}, {"dtypes", 0},
                                           {"backends", 0},  {"what", 0},    {NULL, 0}};
    table *t = table_create(columns);

    for (int i = 0; i < count; i++)
        table_add(t, (const char *const[]){rows[i].operation, rows[i].variant, rows[i].dtypes, rows[i].backends,
                                           rows[i].summary});
    table_print(t, stdout);
    table_free(t);
}

/* "serial simd" as ["serial", "simd"]. */
static json_t *json_words(char *words)
{
    json_t *list = json_new_list();
    char *word;

    while ((word = strsep(&words, " ")))
        json_append(list, json_text(word));
    return list;
}

static void write_json(listed *rows, int count, const char *path)
{
    json_t *document = json_new_object(), *variants = json_new_list();
    problem why;

    for (int i = 0; i < count; i++) {
        json_t *entry = json_new_object();
        json_put(entry, "operation", json_text(rows[i].operation));
        json_put(entry, "variant", json_text(rows[i].variant));
        json_put(entry, "dtypes", json_words(rows[i].dtypes));
        json_put(entry, "backends", json_words(rows[i].backends));
        json_put(entry, "summary", json_text(rows[i].summary));
        json_append(variants, entry);
    }
    json_put(document, "schema", json_text("flynn/1"));
    json_put(document, "variants", variants);
    if (!json_write(document, path, &why))
        fail_problem(&why);
    json_decref(document);
}

static const char summary[] =
    "Shows the operations and their variants, in which dtypes they compute, and which backends that can "
    "run here have them.";

int command_list(int argc, char **argv)
{
    const command_line line = {.name = "flynn list", .summary = summary, .takes = TAKES_JSON};
    listed *rows = calloc(MOST_ROWS, sizeof *rows);
    common_options common;
    int count;

    options_parse(&line, argc, argv, &common);
    if (!rows)
        fail(EXIT_BROKEN, "out of host memory");
    count = collect(rows);
    if (!common.json || common.json_file)
        print_rows(rows, count);
    if (common.json)
        write_json(rows, count, common.json_file);
    free(rows);
    options_free(&common);
    return EXIT_DONE;
}
