/* SPDX-License-Identifier: MIT
 *
 * flynn sweep: an exercise in every combination of backend, variant, size and block, and which is the best where.
 */
#include "commands.h"
#include "keep.h"
#include "offer.h"
#include "show.h"

#include "own/kernel_rows.h"
#include "run/registry.h"
#include "ranks/child.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/progress.h"
#include "support/signals.h"
#include "view/json.h"
#include "view/row.h"
#include "view/stopped.h"
#include "view/titles.h"
#include "view/units.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = MOST_INTEGERS };

/* The values of an option. */
typedef struct value_list {
    char *text;
    const char *word[MOST_VALUES];
    int count;
} value_list;

typedef struct sweep_options {
    const exercise_kind *kind; /* NULL: none is named */
    value_list variants, blocks;
    integer_list sizes, keeps;
    int block[MOST_VALUES][3];
    bool save, forget, with_copies;
    kernel_options kernel; /* options of the exercise `kernel` */
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
            option_fail(option, "'%s' has an empty value; expected one, or several with a comma between them", value);
        if (list->count == MOST_VALUES)
            option_fail(option, "'%s' has too many values; expected at most %d", value, MOST_VALUES);
        list->word[list->count++] = word;
    }
}

static void take_variants(const char *option, const char *value, void *own)
{
    take_list(option, value, &((sweep_options *)own)->variants);
}

static void take_blocks(const char *option, const char *value, void *options)
{
    sweep_options *own = options;

    take_list(option, value, &own->blocks);
    for (int i = 0; i < own->blocks.count; i++)
        option_block(option, own->blocks.word[i], own->block[i]);
}

static const own_option own_options[] = {
    {"variant", OPTION_CUSTOM, 0, "NAME,...", .help = "Variants (default: all that a backend offers)",
     .parse = take_variants},
    {"size", OPTION_INTEGERS, offsetof(sweep_options, sizes), "N,...",
     .help = "Sizes of the input (default: the course's)\vOf primes, N of --upto.", .least = 1, .most = INT64_MAX},
    {"block", OPTION_CUSTOM, 0, "X[xY[xZ]],...",
     .help = "Blocks, or cache tiles on a processor\vDefault: each variant's own.", .parse = take_blocks},
    {"keep", OPTION_INTEGERS, offsetof(sweep_options, keeps), "K,...",
     .help = "Components (singular values), of svd and reconstruct", .least = 1, .most = INT64_MAX, .letter = 'k',
     .also = "components"},
    {"with-copies", OPTION_FLAG, offsetof(sweep_options, with_copies),
     .help = "Say from which size a GPU pays, copies included\vBy the totals, against the processors of the sweep."},
    {"save", OPTION_FLAG, offsetof(sweep_options, save),
     .help = "Keep the fastest: the exercise then runs it for auto"},
    {"forget", OPTION_FLAG, offsetof(sweep_options, forget),
     .help = "Run nothing; remove what --save kept\vOf the exercise that is named, or of all."},
    {0},
};

static const char summary[] =
    "Runs an exercise in every combination of backend, variant, size and block, each in its own process, checks "
    "the results, and shows the fastest combination for each size and backend.\v"
    "A combination that cannot run is listed with the reason. A variant without blocks runs once. Registers and "
    "occupancy come from the GPU's runtime. --save keeps the fastest combination for this device, this dtype and sizes "
    "between the same two powers of two; --variant, --block and their variables beat it. A variant that does not take "
    "every input, or is less accurate, is never kept.\v"
    "reconstruct -b hip --block=8x8,16x16\tall variants in two blocks\n"
    "sort --size=1k,1M --save\tkeep the fastest for each size\n"
    "sort -b omp,hip --size=1k,1M --with-copies\tfrom where a GPU pays\n"
    "kernel a.hip b.hip 0:{n} out --let n=9,99\tkernels of your own\n";

typedef struct sweep {
    const common_options *common;
    const sweep_options *own;
    json_t *rows, *cannot_run;  /* the document's */
    const kernel_rows *kernels; /* rows of the exercise `kernel`; of another exercise one row without words */
    int row;                    /* the row of `kernels` whose combinations run now */
    int64_t keep;               /* likewise; 0: the exercise's own */
    int done, count;            /* combinations */
    json_t *not_run;            /* texts of those that a signal or --max-time left out */
    const json_t *fault;        /* the first combination whose kernel failed, such as by a wild pointer; NULL: none */
    const json_t *broken;       /* the last combination whose process broke; NULL: none */
} sweep;

typedef struct combination {
    const char *backend, *spec, *variant; /* spec: the backend that runs, where `backend` is auto */
    int64_t size;                         /* 0: the course's */
    const int *block;                     /* NULL: the variant's own */
} combination;

static bool is_kernel(const sweep_options *own)
{
    return own->kind == &kernel_exercise;
}

static child_result run_child(const sweep *s, const combination *c)
{
    child_words words = child_words_start(s->own->kind->name);
    common_options one = *s->common;
    const char *size = s->own->kind->size_option;

    one.backends = (char **)&c->spec;
    one.backend_count = 1;
    one.all_backends = false;
    one.variant = c->variant;
    one.has_variant = true;
    one.size = size ? 0 : c->size;
    if (c->block)
        memcpy(one.block, c->block, sizeof one.block);
    child_words_common(
        &words, is_kernel(s->own) ? kernel_rows_takes(s->kernels, s->own->kind, &one) : exercise_takes(s->own->kind),
        &one);
    if (size && c->size)
        child_words_add(&words, "--%s=%" PRId64, size, c->size);
    if (s->keep)
        child_words_add(&words, "--keep=%" PRId64, s->keep);
    if (is_kernel(s->own))
        kernel_rows_words(s->kernels, s->row, &words);
    return child_run(&words);
}

static json_t *json_block(const int *block)
{
    return block ? json_wholes((int64_t[]){block[0], block[1], block[2]}, 3) : json_null();
}

static json_t *json_combination(const sweep *s, const combination *c)
{
    json_t *entry = json_new_object();

    json_put(entry, "backend", json_text(c->backend));
    json_put(entry, "variant", json_text(c->variant));
    json_put(entry, "size", c->size ? json_whole(c->size) : json_null());
    json_put(entry, "keep_asked", s->keep ? json_whole(s->keep) : json_null());
    json_put(entry, "block", json_block(c->block));
    if (is_kernel(s->own))
        kernel_rows_put(s->kernels, s->row, entry);
    return entry;
}

static void add_reason(sweep *s, const combination *c, const child_result *r)
{
    json_t *entry = json_combination(s, c);

    json_put(entry, "exit_code", json_whole(r->exit_code));
    json_put(entry, "reason", json_text(r->message));
    json_append(s->cannot_run, entry);
    if (r->exit_code == EXIT_WRONG_RESULT)
        s->fault = s->fault ? s->fault : entry;
    else if (r->exit_code < EXIT_BAD_INPUT || r->exit_code > EXIT_BROKEN)
        s->broken = entry; /* it died */
}

/* Returns whether the result's variant has no blocks, so that others would give the same again. */
static bool is_blockless(const json_t *row)
{
    return json_integer_value(json_array_get(json_object_get(row, "block"), 0)) == 0;
}

static void add_not_run(sweep *s, const combination *c)
{
    json_t *entry = json_combination(s, c);
    char *text = sweep_text(entry);

    json_append(s->not_run, json_text(text));
    free(text);
    json_decref(entry);
}

/* Runs the combination and keeps its result. false: other blocks need not be tried. */
static bool run_one(sweep *s, const combination *c)
{
    child_result r;
    json_t *row;
    char *choice;
    bool more = true;

    if (stopped_now(s->done)) {
        add_not_run(s, c);
        return true;
    }
    choice = is_kernel(s->own) ? kernel_rows_choice(s->kernels, s->row) : NULL;
    progress("%d of %d: %s %s, size %" PRId64 ", block %s", s->done + 1, s->count, c->backend,
             choice ? choice : c->variant, c->size, c->block ? format_block(c->block).text : "-");
    free(choice);
    progress_part((double)s->done / s->count);
    r = run_child(s, c);
    row = json_array_get(json_object_get(r.document, "results"), 0);
    if (row) {
        json_put(row, "size", c->size ? json_whole(c->size) : json_null());
        json_put(row, "keep_asked", s->keep ? json_whole(s->keep) : json_null());
        json_put(row, "backend_requested", json_text(c->backend));
        json_put(row, "variant_asked", json_text(c->variant));
        json_put(row, "block_asked", json_block(c->block));
        json_put(row, "spread", json_number(row_spread(row, "kernel")));
        if (is_kernel(s->own))
            kernel_rows_put(s->kernels, s->row, row);
        json_append(s->rows, json_incref(row));
        more = strcmp(c->variant, "auto") == 0 || !is_blockless(row);
    } else if (signals_caught()) {
        add_not_run(s, c);
    } else {
        add_reason(s, c, &r);
    }
    json_decref(r.document);
    s->done++;
    return more;
}

static int at_least_one(int count)
{
    return count ? count : 1;
}

static void run_blocks(sweep *s, const json_t *offer, const char *variant, int64_t size)
{
    const sweep_options *own = s->own;
    const char *backend = row_text(offer, "backend"), *spec = row_text(offer, "spec");
    const int before = s->done;
    bool more = own->blocks.count > 0 && (offer_variant(offer, variant) || strcmp(variant, "auto") == 0);

    if (!more)
        run_one(s, &(combination){backend, spec, variant, size, NULL});
    for (int i = 0; i < own->blocks.count && more; i++)
        more = run_one(s, &(combination){backend, spec, variant, size, own->block[i]});
    s->done = before + at_least_one(own->blocks.count);
}

static void run_backend(sweep *s, const json_t *offer, int64_t size)
{
    const value_list *asked = &s->own->variants;
    const char *variant;
    json_t *unused;

    for (int i = 0; i < asked->count; i++)
        run_blocks(s, offer, asked->word[i], size);
    if (asked->count == 0)
        json_object_foreach(offer_variants(offer), variant, unused) run_blocks(s, offer, variant, size);
}

static void run_all(sweep *s, const json_t *offers)
{
    const sweep_options *own = s->own;
    const json_t *offer;
    size_t b;

    json_array_foreach(offers, b, offer) s->count +=
        s->kernels->count * at_least_one(own->sizes.count) * at_least_one(own->keeps.count) *
        at_least_one(own->blocks.count) *
        (own->variants.count ? own->variants.count : (int)json_object_size(offer_variants(offer)));
    for (int i = 0; i < at_least_one(own->sizes.count); i++)
        for (int k = 0; k < at_least_one(own->keeps.count); k++) {
            s->keep = own->keeps.count ? own->keeps.value[k] : 0;
            for (s->row = 0; s->row < s->kernels->count; s->row++)
                json_array_foreach(offers, b, offer) run_backend(s, offer, own->sizes.count ? own->sizes.value[i] : 0);
        }
    progress_end();
}

static void settle(const common_options *common, sweep_options *own)
{
    if (own->forget) {
        option_refuse(common, UINT_MAX, "--forget runs nothing");
        option_refuse_more(common, kernel_own_options, "--forget runs nothing");
        for (const own_option *o = own_options; o->name; o++)
            if (o->place != offsetof(sweep_options, forget))
                option_refuse_own(common, own_options, o->name, "--forget runs nothing");
        return;
    }
    if (!own->kind)
        fail(EXIT_BAD_INPUT, "no exercise is named; `flynn --exercises` lists them");
    if (!own->kind->keeps) {
        option_refuse_own(common, own_options, "keep", "only svd and reconstruct have singular values");
        own->keeps.count = 0; /* FLYNN_RANK */
    }
    if (own->save && own->keeps.count > 1)
        fail(EXIT_BAD_INPUT, "--save: one choice is kept for a size, and --keep names %d; expected one",
             own->keeps.count);
    if (own->save && own->kind->own_methods)
        fail(EXIT_BAD_INPUT, "--save: the variants of %s are methods, and none of them replaces another",
             own->kind->name);
    for (int i = 1; own->save && is_kernel(own) && i < common->argument_count; i++)
        if (kernel_names_block(common->arguments[i]))
            fail(EXIT_BAD_INPUT, "--save: '%s' follows the block, and a later run would have the number of another one",
                 common->arguments[i]);
    exercise_refuse(common, own->kind);
    if (!is_kernel(own))
        option_refuse_more(common, kernel_own_options, "only kernel takes it");
    if (!is_kernel(own) && common->argument_count > 1)
        fail(EXIT_BAD_INPUT, "'%s': one argument too many; expected [EXERCISE]", common->arguments[1]);
    if (!(exercise_takes(own->kind) & TAKES_BLOCK))
        option_refuse_own(common, own_options, "block", "the exercise has no blocks");
}

/* Returns the exit code. A failure gets its line on stderr, which remains with --quiet and --json. */
static int exit_code(const sweep *s)
{
    const json_t *first = json_array_get(s->cannot_run, 0);

    if (s->fault)
        print_error("%s", row_text(s->fault, "reason"));
    if (s->fault || rows_have_wrong(s->rows))
        return EXIT_WRONG_RESULT;
    if (s->broken) {
        print_error("%s", row_text(s->broken, "reason"));
        return EXIT_BROKEN;
    }
    if (json_array_size(s->rows) > 0 || !first)
        return EXIT_DONE;
    print_error("no combination can run: %s", row_text(first, "reason"));
    return (int)json_integer_value(json_object_get(first, "exit_code"));
}

static int run_sweep(const common_options *common, const sweep_options *own)
{
    const kernel_rows kernels = kernel_rows_of(&own->kernel, common->arguments + 1, common->argument_count - 1);
    /* The backends are asked in another process, because this one opens no device. */
    json_t *document = child_ask(offer_document, &(offer_question){common, own->kind}),
           *offers = json_incref(json_object_get(document, "offers")), *best;
    sweep s = {.common = common,
               .own = own,
               .rows = json_object_get(document, "results"),
               .cannot_run = json_new_list(),
               .not_run = json_new_list(),
               .kernels = &kernels};
    size_t i;

    json_object_del(document, "offers");
    json_put(document, "cannot_run", s.cannot_run);
    offer_check_any(common, own->kind, offers);
    for (int v = 0; v < own->variants.count; v++)
        offer_check_variant(own->variants.word[v], own->kind, offers);
    child_catch_signals();
    run_all(&s, offers);
    if (json_array_size(s.rows) == 0)
        stopped_leave();
    stopped_put(document, "combinations", s.count - (int)json_array_size(s.not_run), s.not_run);
    sweep_table_fill(document);
    if (own->with_copies)
        json_put(document, "with_copies", sweep_copies(s.rows));
    if (own->save && !signals_caught())
        json_array_foreach(json_object_get(document, "best"), i, best) sweep_keep(best, offers);
    const bool table = results_write(common, document);
    if (table)
        sweep_table_show(document, own->with_copies || common->columns != NULL); /* --columns may name totals */
    results_say_wrong(s.rows, table);
    const int code = exit_code(&s);
    json_decref(offers);
    json_decref(document);
    return code;
}

int command_sweep(int argc, char **argv)
{
    sweep_options own = {.kernel = KERNEL_DEFAULTS};
    const unsigned takes =
        (TAKES_RUN | TAKES_JSON | TAKES_TABLE) & ~(unsigned)(TAKES_VARIANT | TAKES_SIZE | TAKES_BLOCK);
    const command_line line = {.name = "flynn sweep",
                               .arguments = "[EXERCISE | kernel FILE... [ARGUMENT...]]",
                               .most_arguments = 1 + MOST_KERNEL_WORDS,
                               .summary = summary,
                               .takes = takes,
                               .options = own_options,
                               .own = &own,
                               .more = kernel_own_options,
                               .more_own = &own.kernel,
                               .titles = TITLES_OF(sweep_copies_columns)};
    common_options common;
    int code;

    options_parse(&line, argc, argv, &common);
    if (common.argument_count)
        own.kind = exercise_named(common.arguments[0], "sweep", exercise_runs_among_others);
    settle(&common, &own);
    if (own.forget)
        sweep_forget(own.kind ? own.kind->name : NULL);
    code = own.forget ? EXIT_DONE : run_sweep(&common, &own);
    free(own.variants.text);
    free(own.blocks.text);
    options_free(&common);
    stopped_leave();
    return code;
}
