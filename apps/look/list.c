/* SPDX-License-Identifier: MIT
 *
 * flynn list: exercises and their variants; of those that are named, and with --long of every operation, each variant
 * with its dtypes and the backends that have it.
 */
#include "commands.h"

#include "options/typed.h"
#include "run/backends.h"
#include "run/registry.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/row.h"
#include "view/titles.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static json_t *json_dtypes(uint32_t dtypes)
{
    json_t *list = json_new_list();

    for (int d = 0; d < FL_DTYPE_COUNT; d++)
        if (dtypes & 1u << d)
            json_append(list, json_text(fl_dtype_name((fl_dtype)d)));
    return list;
}

/* The row of a variant in the same dtypes and with the same summary; a new one is inserted in the order of the
 * operations. */
static json_t *find_row(json_t *rows, const fl_variant_info *v)
{
    json_t *dtypes = json_dtypes(v->dtypes), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        int order = strcmp(row_text(row, "operation"), v->operation);
        if (order > 0)
            break;
        if (order == 0 && strcmp(row_text(row, "variant"), v->variant) == 0 &&
            strcmp(row_text(row, "summary"), v->summary) == 0 && json_equal(row_value(row, "dtypes"), dtypes)) {
            json_decref(dtypes);
            return row;
        }
    }
    row = json_new_object();
    json_put(row, "operation", json_text(v->operation));
    json_put(row, "variant", json_text(v->variant));
    json_put(row, "dtypes", dtypes);
    json_put(row, "backends", json_new_list());
    json_put(row, "summary", json_text(v->summary));
    if (json_array_insert_new(rows, i, row) != 0)
        fail(EXIT_BROKEN, "out of memory for the list");
    return row;
}

static void add_device(json_t *rows, fl_device *device, const char *backend)
{
    fl_variant_info v;

    for (size_t n = 0; fl_variant_get(device, n, &v) == FL_OK; n++)
        if (fl_variant_ready(device, n) == FL_OK)
            json_append(row_value(find_row(rows, &v), "backends"), json_text(backend));
}

/* The variants of the backends that --backend names. */
static json_t *list_named(const common_options *common)
{
    json_t *rows = json_new_list();
    backend_list backends = backends_open(common);

    for (int i = 0; i < backends.count; i++)
        add_device(rows, backends.open[i].device, fl_device_describe(backends.open[i].device)->backend);
    backends_close(&backends);
    return rows;
}

/* Every variant of every backend that can be opened here; the plainest backends first. */
static json_t *list_variants(void)
{
    json_t *rows = json_new_list();

    for (size_t i = backends_count(); i-- > 0;) {
        const fl_backend_info *backend = fl_backend_get(i);
        fl_device *device;
        if (!backend->usable)
            continue;
        fl_status status = backend_open(backend->name, &device);
        if (status == FL_E_MEMORY)
            must(status);
        if (status != FL_OK) {
            note("%s is not listed: %s", backend->name, fl_last_error());
            continue;
        }
        add_device(rows, device, backend->name);
        fl_device_close(device);
    }
    return rows;
}

/* Keeps the rows of the named operations. A name that no row has ends the command. */
static json_t *keep_named(json_t *rows, const char *const *names, int count)
{
    json_t *kept = json_new_list(), *row;
    const char **known = memory_zeroed(json_array_size(rows) + 1, sizeof *known), *nearest;
    size_t i;

    json_array_foreach(rows, i, row) known[i] = row_text(row, "operation");
    for (int n = 0; n < count; n++) {
        const size_t before = json_array_size(kept);
        json_array_foreach(rows, i, row) if (strcmp(names[n], known[i]) == 0) json_append(kept, json_incref(row));
        if (json_array_size(kept) > before)
            continue;
        nearest = typed_nearest(names[n], known, json_array_size(rows));
        if (!nearest)
            fail(EXIT_BAD_INPUT, "no backend that is listed has the operation '%s'; `flynn list` shows them", names[n]);
        typed_change(names[n], nearest);
        typed_refuse("no backend that is listed has the operation '%s'; did you mean '%s'?", names[n], nearest);
    }
    free(known);
    json_decref(rows);
    return kept;
}

static bool has_word(const json_t *words, const json_t *word)
{
    const json_t *known;
    size_t i;

    json_array_foreach(words, i, known) if (json_equal(known, word)) return true;
    return false;
}

static bool has_same(const json_t *one, const json_t *other, const char *key)
{
    return json_equal(row_value(one, key), row_value(other, key));
}

/* Adds the words of a list that are not in `without`. */
static void add_words(json_t *to, const json_t *from, const json_t *without)
{
    json_t *word;
    size_t i;

    json_array_foreach(from, i, word) if (!has_word(without, word)) json_append(to, json_incref(word));
}

/* Joins the rows of a variant that differ in their dtypes alone: fft of f32 and of f64 need a library each. */
static void join_dtypes(json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t k = json_array_size(rows); --k > i;) {
            json_t *const one = json_array_get(rows, i), *const other = json_array_get(rows, k);
            if (!has_same(one, other, "operation") || !has_same(one, other, "variant") ||
                !has_same(one, other, "summary") || !has_same(one, other, "backends"))
                continue;
            add_words(row_value(one, "dtypes"), row_value(other, "dtypes"), row_value(one, "dtypes"));
            json_array_remove(rows, k);
        }
}

/* A row for each exercise that has variants here, in the order of `flynn --help`. The variant `reference` is left out:
 * the others are checked with it. */
static json_t *overview_of(const json_t *variants)
{
    json_t *rows = json_new_list(), *v;
    size_t n;

    for (int i = 0; exercises[i]; i++) {
        json_t *row = json_new_object(), *names = json_new_list(), *backends = json_new_list();
        uint32_t dtypes = 0;
        json_array_foreach(variants, n, v)
        {
            if (strcmp(row_text(v, "operation"), exercises[i]->name) != 0)
                continue;
            if (strcmp(row_text(v, "variant"), "reference") != 0 && !has_word(names, row_value(v, "variant")))
                json_append(names, json_incref(row_value(v, "variant")));
            add_words(backends, row_value(v, "backends"), backends);
            for (int d = 0; d < FL_DTYPE_COUNT; d++) {
                json_t *dtype = json_text(fl_dtype_name((fl_dtype)d));
                dtypes |= has_word(row_value(v, "dtypes"), dtype) ? 1u << d : 0;
                json_decref(dtype);
            }
        }
        json_put(row, "exercise", json_text(exercises[i]->name));
        json_put(row, "variants", names);
        json_put(row, "dtypes", json_dtypes(dtypes));
        json_put(row, "backends", backends);
        if (json_array_size(backends) > 0)
            json_append(rows, json_incref(row));
        json_decref(row);
    }
    return rows;
}

/* Prints where the exercises run: on which backends, and which of them lack some of these. */
static void print_backends(const json_t *overview)
{
    json_t *all = json_new_list(), *row;
    size_t i;

    json_array_foreach(overview, i, row) add_words(all, row_value(row, "backends"), all);
    text_print("%s%s", json_array_size(all) ? "on " : "no backend can run here",
               json_array_size(all) ? cell_value(all).text : "");
    json_array_foreach(overview, i, row)
    {
        json_t *lacks = json_new_list();
        add_words(lacks, all, row_value(row, "backends"));
        if (json_array_size(lacks) > 0)
            text_print("; %s not on %s", row_text(row, "exercise"), cell_value(lacks).text);
        json_decref(lacks);
    }
    text_print("\n");
    json_decref(all);
}

static const column overview_columns[] = {
    {.key = "exercise"},
    {.title = "variants", .key = "variants"},
    {.key = "dtypes", .drop = 1},
    {0},
};

static void print_overview(const json_t *variants)
{
    json_t *rows = overview_of(variants);

    columns_print(overview_columns, rows, TABLE_TEXT, stdout);
    print_backends(rows);
    text_print("what variants do: `flynn list NAME...`; all operations: `flynn list --long`\n");
    json_decref(rows);
}

static const column columns[] = {
    {.title = "operation", .key = "operation"},
    {.key = "variant"},
    {.key = "dtypes"},
    {.key = "backends"},
    {.key = "summary"},
    {0},
};

typedef struct list_options {
    bool details;
} list_options;

static const own_option own_options[] = {
    {"long", OPTION_FLAG, offsetof(list_options, details),
     .help = "A line for each variant, of all operations\vAlso of those that only serve others, such as merge."},
    {0},
};

static const char summary[] =
    "Shows the exercises and their variants on the backends that can run here; of operations that are named, what each "
    "variant does, its dtypes and the backends that have it.\v\v"
    "\tall exercises\n"
    "sort scan\twhat the variants of some do\n"
    "-b omp\twhat a backend has\n"
    "--json\tfor a program\n";

int command_list(int argc, char **argv)
{
    list_options own = {.details = false};
    const command_line line = {.name = "flynn list",
                               .arguments = "[OPERATION...]",
                               .most_arguments = INT_MAX,
                               .summary = summary,
                               .takes = TAKES_BACKEND | TAKES_JSON | TAKES_TABLE,
                               .options = own_options,
                               .own = &own,
                               .titles = TITLES_OF(columns)};
    json_t *document = json_new_document(), *rows;
    common_options common;

    options_parse(&line, argc, argv, &common);
    if (common.json && !common.json_file)
        option_refuse_own(&common, own_options, "long", "--json has all of it");
    own.details = own.details || common.argument_count > 0 || common.columns;
    rows = common.given & TAKES_BACKEND ? list_named(&common) : list_variants();
    if (common.argument_count > 0)
        rows = keep_named(rows, common.arguments, common.argument_count);
    join_dtypes(rows);
    json_put(document, "variants", rows);
    if (results_write(&common, document))
        own.details ? columns_print(columns, rows, TABLE_TEXT, stdout) : print_overview(rows);
    json_decref(document);
    options_free(&common);
    return EXIT_DONE;
}
