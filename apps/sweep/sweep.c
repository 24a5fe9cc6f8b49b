/* SPDX-License-Identifier: MIT
 *
 * flynn sweep: an exercise in every combination of backend, variant, size and block, and which is the best where.
 */
#include "commands.h"
#include "show.h"

#include "exercises/registry.h"
#include "harness/child.h"
#include "harness/results.h"
#include "harness/tuned.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/row.h"
#include "view/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 32, MOST_NAME = 40 };

/* The values of an option. */
typedef struct value_list {
    char *text;
    const char *word[MOST_VALUES];
    int count;
} value_list;

typedef struct sweep_options {
    const exercise_kind *kind; /* NULL: none is named */
    const char *exercise;      /* its name */
    value_list variants, sizes, blocks;
    int64_t size[MOST_VALUES];
    int block[MOST_VALUES][3];
    int64_t rank; /* 0: not given */
    bool save, forget;
} sweep_options;

/* Splits "8x8,16x16". */
static void take_list(const char *option, const char *value, value_list *list)
{
    char *rest;

    free(list->text);
    *list = (value_list){.text = memory_text(value)};
    for (rest = list->text; rest;) {
        const char *word = strsep(&rest, ",");
        if (!*word)
            option_fail(option, "'%s' lacks a value; expected one, or several with a comma between them", value);
        if (list->count == MOST_VALUES)
            option_fail(option, "'%s' has too many values; expected at most %d", value, MOST_VALUES);
        list->word[list->count++] = word;
    }
}

static void take_variants(const char *option, const char *value, void *own)
{
    take_list(option, value, &((sweep_options *)own)->variants);
}

static void take_sizes(const char *option, const char *value, void *options)
{
    sweep_options *own = options;

    take_list(option, value, &own->sizes);
    for (int i = 0; i < own->sizes.count; i++)
        own->size[i] = option_integer(option, own->sizes.word[i], 1, INT64_MAX);
}

static void take_blocks(const char *option, const char *value, void *options)
{
    sweep_options *own = options;

    take_list(option, value, &own->blocks);
    for (int i = 0; i < own->blocks.count; i++)
        option_block(option, own->blocks.word[i], own->block[i]);
}

static const own_option own_options[] = {
    {"variant", OPTION_CUSTOM, 0, "NAME[,NAME...]", .help = "Variants (default: all that a backend offers)",
     .parse = take_variants},
    {"size", OPTION_CUSTOM, 0, "N[,N...]", .help = "Sizes of the input; of primes, N of --upto (default: the course's)",
     .parse = take_sizes},
    {"block", OPTION_CUSTOM, 0, "X[xY[xZ]][,...]",
     .help = "Blocks, or cache tiles on a CPU (default: each variant's own)", .parse = take_blocks},
    {"rank", OPTION_INTEGER, offsetof(sweep_options, rank), "K",
     .help = "Singular values, of svd and reconstruct (default: theirs)", .least = 1, .most = INT64_MAX},
    {"save", OPTION_FLAG, offsetof(sweep_options, save),
     .help = "Keep the fastest: from then on the exercise runs it in place of auto"},
    {"forget", OPTION_FLAG, offsetof(sweep_options, forget),
     .help = "Run nothing; remove what --save kept, of the exercise or of all"},
    {0},
};

static const char summary[] =
    "Runs an exercise in every combination of backend, variant, size and block, each in a process of its own, checks "
    "the answers, and tells which is the best of each size and backend.\v"
    "A combination that cannot run is listed with the reason. A variant without blocks runs once. Registers and "
    "occupancy are the GPU runtime's. What --save keeps is for this device and dtype, and for sizes between the same "
    "two powers of two; --variant, --block and their variables beat it. Variants that do not take every input, or are "
    "less accurate, are never kept.";

/* ------------------------------------------------------------------------------------------ what there is ---- */

/* A backend of the sweep. */
typedef struct offered {
    char name[64]; /* as it was asked for */
    int count;
    struct {
        char name[MOST_NAME];
        bool restricted; /* fl_variant_info's */
    } variant[MOST_VALUES];
} offered;

static bool is_wanted(const fl_variant_info *v, const common_options *common, const sweep_options *own)
{
    return strcmp(v->operation, own->exercise) == 0 && strcmp(v->variant, "auto") != 0 &&
           strcmp(v->variant, "reference") != 0 && (!common->has_dtype || v->dtypes & 1u << common->dtype);
}

/* The variant's index; -1: not offered. */
static int find_variant(const offered *o, const char *variant)
{
    for (int i = 0; i < o->count; i++)
        if (strcmp(o->variant[i].name, variant) == 0)
            return i;
    return -1;
}

static bool has(const offered *o, const char *variant)
{
    return find_variant(o, variant) >= 0;
}

static json_t *json_variant(const fl_variant_info *v)
{
    json_t *entry = json_new_object();

    json_put(entry, "name", json_text(v->variant));
    json_put(entry, "restricted", json_boolean(v->restricted));
    return entry;
}

/* The variants that the device offers, in its own order. */
static json_t *json_offer(const open_backend *b, const common_options *common, const sweep_options *own)
{
    json_t *entry = json_new_object(), *variants = json_new_list();
    fl_variant_info v;

    for (size_t i = 0; fl_variant_get(b->device, i, &v) == FL_OK; i++)
        if (is_wanted(&v, common, own))
            json_append(variants, json_variant(&v));
    json_put(entry, "backend", json_text(b->requested));
    json_put(entry, "variants", variants);
    return entry;
}

typedef struct question {
    const common_options *common;
    const sweep_options *own;
} question;

/* The document of this machine, with what its backends offer. */
static json_t *ask_backends(const void *more)
{
    const question *q = more;
    backend_list backends = backends_open(q->common);
    json_t *document = results_document(&backends, json_new_list()), *offers = json_new_list();

    for (int i = 0; i < backends.count; i++)
        json_append(offers, json_offer(&backends.open[i], q->common, q->own));
    json_put(document, "offers", offers);
    backends_close(&backends);
    return document;
}

static offered read_offer(const json_t *entry)
{
    offered o = {.count = 0};
    size_t i;
    json_t *variant;

    snprintf(o.name, sizeof o.name, "%s", row_text(entry, "backend"));
    json_array_foreach(json_object_get(entry, "variants"), i, variant)
    {
        if (has(&o, row_text(variant, "name")) || o.count == MOST_VALUES)
            continue;
        snprintf(o.variant[o.count].name, MOST_NAME, "%s", row_text(variant, "name"));
        o.variant[o.count++].restricted = json_is_true(json_object_get(variant, "restricted"));
    }
    return o;
}

static void check_offered(const common_options *common, const sweep_options *own, const offered *list, int count)
{
    for (int b = 0; b < count; b++)
        if (list[b].count > 0)
            return;
    fail(EXIT_BAD_INPUT, "no backend here computes %s%s%s; `flynn list` shows who does", own->exercise,
         common->has_dtype ? " in " : "", common->has_dtype ? fl_dtype_name(common->dtype) : "");
}

/* A variant that none of the backends has is a mistake; one that only some have is listed for the others. */
static void check_variant(const char *wanted, const char *exercise, const offered *list, int count)
{
    const char *nearest = NULL, *names[MOST_VALUES];

    if (strcmp(wanted, "auto") == 0 || strcmp(wanted, "reference") == 0)
        return;
    for (int b = 0; b < count; b++)
        if (has(&list[b], wanted))
            return;
    for (int b = 0; b < count && !nearest; b++) {
        for (int i = 0; i < list[b].count; i++)
            names[i] = list[b].variant[i].name;
        nearest = fl_nearest_name(wanted, names, (size_t)list[b].count);
    }
    option_fail("variant", "'%s' is no variant of %s here%s%s%s; `flynn list` shows them", wanted, exercise,
                nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* ----------------------------------------------------------------------------------------------- running ---- */

typedef struct sweep {
    const common_options *common;
    const sweep_options *own;
    json_t *rows, *cannot_run; /* the document's */
    int done, count;           /* combinations */
    int worst;                 /* exit code of a process that broke */
    int first;                 /* exit code of the first that could not run */
} sweep;

typedef struct combination {
    const char *backend, *variant;
    int64_t size;     /* 0: the course's */
    const int *block; /* NULL: the variant's own */
} combination;

static child_result run_child(const sweep *s, const combination *c)
{
    child_words words = child_words_start(s->own->exercise);
    common_options one = *s->common;
    const char *size = s->own->kind->size_option;

    one.backends = (char **)&c->backend;
    one.backend_count = 1;
    one.all_backends = false;
    one.variant = c->variant;
    one.has_variant = true;
    one.size = size ? 0 : c->size;
    if (c->block)
        memcpy(one.block, c->block, sizeof one.block);
    child_words_common(&words, exercise_takes(s->own->kind), &one);
    if (size && c->size)
        child_words_add(&words, "--%s=%" PRId64, size, c->size);
    if (s->own->rank)
        child_words_add(&words, "--rank=%" PRId64, s->own->rank);
    return child_run(&words);
}

static json_t *json_block(const int *block)
{
    return block ? json_wholes((int64_t[]){block[0], block[1], block[2]}, 3) : json_null();
}

static void add_reason(sweep *s, const combination *c, const child_result *r)
{
    json_t *entry = json_new_object();

    json_put(entry, "backend", json_text(c->backend));
    json_put(entry, "variant", json_text(c->variant));
    json_put(entry, "size", c->size ? json_whole(c->size) : json_null());
    json_put(entry, "block", json_block(c->block));
    json_put(entry, "exit_code", json_whole(r->exit_code));
    json_put(entry, "reason", json_text(r->message));
    json_append(s->cannot_run, entry);
    s->first = s->first ? s->first : r->exit_code;
    if (r->exit_code < EXIT_BAD_INPUT || r->exit_code > EXIT_BROKEN)
        s->worst = EXIT_BROKEN; /* it died */
}

/* Has the result's variant no blocks, so that other ones would be the same again? */
static bool is_blockless(const json_t *row)
{
    return json_integer_value(json_array_get(json_object_get(row, "block"), 0)) == 0;
}

/* Runs it and keeps what came of it. false: other blocks need not be tried. */
static bool run_one(sweep *s, const combination *c)
{
    child_result r;
    json_t *row;
    bool more = true;

    progress("%d of %d: %s %s, size %" PRId64 ", block %s", s->done + 1, s->count, c->backend, c->variant, c->size,
             c->block ? format_block(c->block).text : "-");
    r = run_child(s, c);
    row = json_array_get(json_object_get(r.document, "results"), 0);
    if (row) {
        json_put(row, "size", c->size ? json_whole(c->size) : json_null());
        json_put(row, "variant_asked", json_text(c->variant));
        json_put(row, "block_asked", json_block(c->block));
        json_put(row, "spread", json_number(row_spread(row, "kernel")));
        json_array_append(s->rows, row);
        more = strcmp(c->variant, "auto") == 0 || !is_blockless(row);
    } else {
        add_reason(s, c, &r);
    }
    json_decref(r.document);
    s->done++;
    return more;
}

static void run_blocks(sweep *s, const offered *o, const char *variant, int64_t size)
{
    const sweep_options *own = s->own;
    int count = own->blocks.count ? own->blocks.count : 1, before = s->done;
    bool more = own->blocks.count > 0 && (has(o, variant) || strcmp(variant, "auto") == 0);

    if (!more)
        run_one(s, &(combination){o->name, variant, size, NULL});
    for (int i = 0; i < count && more; i++)
        more = run_one(s, &(combination){o->name, variant, size, own->block[i]});
    s->done = before + count;
}

static void run_backend(sweep *s, const offered *o, int64_t size)
{
    const value_list *asked = &s->own->variants;
    int count = asked->count ? asked->count : o->count;

    for (int i = 0; i < count; i++)
        run_blocks(s, o, asked->count ? asked->word[i] : o->variant[i].name, size);
}

static void run_all(sweep *s, const offered *list, int backends)
{
    const sweep_options *own = s->own;
    int sizes = own->sizes.count ? own->sizes.count : 1, blocks = own->blocks.count ? own->blocks.count : 1;

    for (int b = 0; b < backends; b++)
        s->count += sizes * blocks * (own->variants.count ? own->variants.count : list[b].count);
    for (int i = 0; i < sizes; i++)
        for (int b = 0; b < backends; b++)
            run_backend(s, &list[b], own->sizes.count ? own->size[i] : 0);
    progress_end();
}

/* ---------------------------------------------------------------------------------------------- keeping ---- */

/* The variant may run in place of `auto`: it takes every input, and is as accurate as the others for each. Never
 * `reference`, which a sweep does not offer by itself. */
static bool may_replace_auto(const json_t *best, const offered *list, int count)
{
    for (int b = 0; b < count; b++) {
        if (strcmp(list[b].name, row_text(best, "backend_requested")) != 0)
            continue;
        int i = find_variant(&list[b], row_text(best, "variant"));
        return i >= 0 && !list[b].variant[i].restricted;
    }
    return false;
}

static void keep_one(json_t *best, const offered *list, int count)
{
    const json_t *block = json_object_get(best, "block_asked");
    tuned_work work = {row_text(best, "exercise"), row_text(best, "dtype"),
                       json_integer_value(json_object_get(best, "elements")), row_text(best, "resource"),
                       row_text(best, "device")};
    tuned_way way = {.variant = ""};
    problem why;

    if (!may_replace_auto(best, list, count)) {
        note("not kept: %s is not for every input, or less accurate; auto takes it where it may",
             row_text(best, "variant"));
        return;
    }
    snprintf(way.variant, sizeof way.variant, "%s", row_text(best, "variant"));
    for (size_t i = 0; i < 3; i++)
        way.block[i] = (int)json_integer_value(json_array_get(block, i));
    must_do(tuned_save(&work, &way, &why), &why);
    json_put(best, "kept", json_boolean(true));
}

static void keep_winners(const json_t *document, const offered *list, int count)
{
    size_t i;
    json_t *best;

    json_array_foreach(json_object_get(document, "best"), i, best) keep_one(best, list, count);
}

static int forget(const sweep_options *own)
{
    problem why;
    int count;

    must_do(tuned_forget(own->exercise, &count, &why), &why);
    printf("%d forgotten of what %s keeps%s%s\n", count, *tuned_path() ? tuned_path() : "no file",
           own->exercise ? " for " : "", own->exercise ? own->exercise : "");
    return EXIT_DONE;
}

/* ---------------------------------------------------------------------------------------------- command ---- */

static void settle(const common_options *common, const sweep_options *own)
{
    /* They are lists here, which an exercise would not understand. */
    unsetenv("FLYNN_VARIANT");
    unsetenv("FLYNN_SIZE");
    unsetenv("FLYNN_BLOCK");
    if (own->forget)
        return;
    if (!own->exercise)
        fail(EXIT_BAD_INPUT, "no exercise; expected increment, sqrt ... as `flynn --help` lists them");
    if (own->rank && !exercise_has_option(own->kind, "rank"))
        fail(EXIT_BAD_INPUT, "--rank: %s has no rank; expected an exercise with --rank, such as svd or reconstruct",
             own->exercise);
    if (own->save && own->kind->own_methods)
        fail(EXIT_BAD_INPUT, "--save: the variants of %s are methods, and none of them replaces another",
             own->exercise);
    exercises_refuse(common, exercise_takes(own->kind));
}

/* The document without results, and what the backends offer, of which this process opens none. */
static json_t *prepare(const common_options *common, const sweep_options *own, offered **list, int *count)
{
    json_t *document = child_ask(ask_backends, &(question){common, own});
    const json_t *offers = json_object_get(document, "offers");

    *count = (int)json_array_size(offers);
    *list = memory_zeroed((size_t)*count, sizeof **list);
    for (int i = 0; i < *count; i++)
        (*list)[i] = read_offer(json_array_get(offers, (size_t)i));
    json_object_del(document, "offers");
    check_offered(common, own, *list, *count);
    for (int i = 0; i < own->variants.count; i++)
        check_variant(own->variants.word[i], own->exercise, *list, *count);
    json_put(document, "cannot_run", json_new_list());
    return document;
}

static int exit_code(const sweep *s)
{
    size_t i;
    json_t *row;

    json_array_foreach(s->rows, i, row)
    {
        if (!row_is_right(row))
            return EXIT_WRONG_RESULT;
    }
    if (s->worst)
        return s->worst;
    return json_array_size(s->rows) > 0 ? EXIT_DONE : s->first;
}

static int run_sweep(const common_options *common, const sweep_options *own)
{
    offered *list;
    int count, code;
    json_t *document = prepare(common, own, &list, &count);
    sweep s = {.common = common,
               .own = own,
               .rows = json_object_get(document, "results"),
               .cannot_run = json_object_get(document, "cannot_run")};

    run_all(&s, list, count);
    sweep_table_fill(document);
    if (own->save)
        keep_winners(document, list, count);
    if (results_write(common, document))
        sweep_table_show(document);
    code = exit_code(&s);
    json_decref(document);
    free(list);
    return code;
}

int command_sweep(int argc, char **argv)
{
    sweep_options own = {.exercise = NULL};
    const command_line line = {"flynn sweep",
                               "[EXERCISE]",
                               1,
                               summary,
                               (TAKES_RUN & ~(unsigned)(TAKES_VARIANT | TAKES_SIZE | TAKES_BLOCK)) | TAKES_JSON,
                               own_options,
                               &own};
    common_options common;
    int code;

    options_parse(&line, argc, argv, &common);
    if (common.argument_count) {
        own.kind = exercise_named(common.arguments[0], "sweep", exercise_runs_among_others);
        own.exercise = own.kind->name;
    }
    settle(&common, &own);
    code = own.forget ? forget(&own) : run_sweep(&common, &own);
    free(own.variants.text);
    free(own.sizes.text);
    free(own.blocks.text);
    options_free(&common);
    return code;
}
