/* SPDX-License-Identifier: MIT */
#include "exercise.h"

#include "choices.h"
#include "distributed.h"
#include "ranks/launch.h"
#include "passes.h"
#include "reference.h"

#include "files/files.h"
#include "files/output.h"
#include "options/options.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/columns.h"
#include "view/json.h"
#include "view/titles.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *exercise_operation(const exercise_kind *kind)
{
    return kind->operation ? kind->operation : kind->name;
}

unsigned exercise_takes(const exercise_kind *kind)
{
    const unsigned all = TAKES_BACKEND | TAKES_VARIANT | TAKES_SIZE | TAKES_BLOCK | TAKES_DTYPE | TAKES_SEED |
                         TAKES_TIMING | TAKES_WRONG_TIMING | TAKES_CHECK | TAKES_OUTPUT | TAKES_RESULT | TAKES_SHOW;

    return (all & ~kind->lacks) | (kind->input_count > 0 ? TAKES_MAX_MEMORY : 0) |
           (kind->takes_function ? TAKES_FUNCTION : 0) | (kind->tolerates ? TAKES_TOLERANCE : 0) |
           (kind->distributed ? TAKES_RANKS | TAKES_PATH : 0);
}

static void start(exercise *e, const exercise_kind *kind)
{
    *e = (exercise){.kind = kind, .own = memory_zeroed(1, kind->own_size), .distributed = kind->distributed};
    if (kind->own)
        memcpy(e->own, kind->own, kind->own_size);
}

static const integer_list *keeps_of(const exercise *e)
{
    static const integer_list none = {0};

    return e->kind->keeps ? e->own : &none;
}

static void parse(exercise *e, int argc, char **argv)
{
    const exercise_kind *kind = e->kind;
    static char name[64]; /* messages start with it as long as the command runs */
    const command_line line = {.name = name,
                               .arguments = kind->arguments,
                               .most_arguments =
                                   (kind->most_words ? kind->most_words : kind->input_count) + kind->first_is_text,
                               .summary = kind->help,
                               .takes = exercise_takes(kind) | TAKES_FILES | (kind->hand_over ? TAKES_BLOCKS : 0),
                               .options = kind->options,
                               .own = e->own,
                               .titles = TITLES_OF(columns_known(IN_RUN)),
                               .number_option = kind->numbers || kind->first_is_text ? NULL
                                                : kind->size_option                  ? kind->size_option
                                                : kind->lacks & TAKES_SIZE           ? NULL
                                                                                     : "size"};

    snprintf(name, sizeof name, "flynn %s", kind->name);
    options_parse(&line, argc, argv, &e->common);
    launch_ranks(e->common.ranks, argc, argv, e->common.output);
    if (e->common.path)
        must(fl_group_path(group_of_all(), e->common.path));
    if (kind->first_is_text && e->common.argument_count > 0) {
        const char **words = e->common.arguments;
        e->word = words[0];
        memmove(words, words + 1, (size_t)--e->common.argument_count * sizeof *words);
    }
    if (kind->hand_over)
        kind->hand_over(e, argv);
}

/* Refuses what the command line alone shows to be wrong. */
static void refuse(exercise *e)
{
    const exercise_kind *kind = e->kind;
    common_options *c = &e->common;
    const char *file = c->argument_count ? c->arguments[0] : NULL;

    if (c->has_dtype && !(kind->dtypes & 1u << c->dtype))
        fail(EXIT_BAD_INPUT, "--dtype: %s computes in %s, not in %s", kind->name, dtypes_text(kind->dtypes).text,
             fl_dtype_name(c->dtype));
    if (file && c->argument_count < kind->least_files)
        fail(EXIT_BAD_INPUT, "%d argument%s given; expected %.*s, or none for %s", c->argument_count,
             c->argument_count == 1 ? " is" : "s are", (int)strlen(kind->arguments) - 2, kind->arguments + 1,
             kind->made);
    if (file) {
        option_refuse(c, TAKES_SIZE, "it is the size of %s, and '%s' is given instead", kind->made, file);
        c->size = 0;
    }
    if (!file)
        option_refuse(c, TAKES_MAX_MEMORY, "no file is given");
    for (int i = 0; kind->options && kind->options[i].name; i++)
        if (kind->options[i].says_size && c->set_own >> i & 1)
            option_refuse(c, TAKES_SIZE, "--%s says the size", kind->options[i].name);
    if (c->argument_count == kind->input_count && !kind->seeds_calls)
        exercise_refuse_seed(c);
    if (kind->largest && c->size > kind->largest)
        fail(EXIT_BAD_INPUT, "--size: %" PRId64 " is too large for %s; expected at most %" PRId64, c->size, kind->made,
             kind->largest);
    if (c->output && keeps_of(e)->count > 1)
        fail(EXIT_BAD_INPUT, "--output: needs a single value of --keep; %d are given", keeps_of(e)->count);
    if (group_is_distributed())
        distributed_refuse(c);
    if ((c->json && !c->json_file) || (c->csv && !c->csv_file))
        option_refuse(c, TAKES_SHOW, "--%s takes the place of all text", c->json && !c->json_file ? "json" : "csv");
    if (kind->settle)
        kind->settle(e);
    if (group_is_distributed() && kind->distributed_variant)
        distributed_take_variant(c, kind->distributed_variant);
    e->once = c->output && !option_measures(c) && !kind->watched; /* a kernel's passes that differ show its mistakes */
}

/* Checks, before long work, that every file that is asked for can be written. */
static void check_outputs(const exercise *e)
{
    problem why;

    if (!group_prints()) /* rank 0 writes */
        return;
    results_check_output(&e->common);
    for (const own_option *o = e->kind->options; o && o->name; o++) {
        const char *path = o->type == OPTION_WRITTEN ? *(const char *const *)((const char *)e->own + o->place) : NULL;
        if (path)
            must_do((strcmp(o->name, "png") == 0 ? file_check_picture : file_check_writable)(path, &why), &why);
    }
}

void exercise_title(exercise *e, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(e->title, sizeof e->title, format, arguments);
    va_end(arguments);
}

/* Prepares the outputs and the expected results of the i-th number of singular values. */
static void prepare_keep(exercise *e, int i)
{
    const bool png = e->common.output && file_ends_in(e->common.output, ".png");

    e->keep = keeps_of(e)->value[i];
    e->output_count = 0;
    e->kind->steps.plan(e);
    e->output_rows = group_count(e->outputs[0].shape[0]);
    if (png && e->outputs[0].ndim != 2)
        fail(EXIT_BAD_INPUT,
             "%s: the result has %d dimension%s, and a picture has two; expected a name that ends in .npy",
             e->common.output, e->outputs[0].ndim, e->outputs[0].ndim == 1 ? "" : "s");
    if (png && e->output_rows * e->outputs[0].shape[1] == 0)
        fail(EXIT_BAD_INPUT,
             "%s: the result has no elements, and a picture has pixels; expected a name that ends in .npy",
             e->common.output);
    if (e->kind->steps.expect)
        e->kind->steps.expect(e);
    else if (!e->kind->steps.check)
        reference_expect(e, e->kind->ulps > 0 ? REFERENCE_MOST : REFERENCE_MOST_EQUAL, 0);
}

/* Inputs, outputs, and what is expected. */
static void prepare(exercise *e, bool random)
{
    e->keep = keeps_of(e)->value[0]; /* for generated inputs */
    (e->kind->take ? e->kind->take : exercise_take_inputs)(e);
    if (random && !e->kind->ordered) {
        host_array made = e->inputs[0];
        e->inputs[0] = exercise_random(made.dtype, made.ndim, made.shape, -1, 1, e->common.seed);
        host_array_free(&made);
    }
    for (int i = 0; i < e->input_count; i++)
        e->input_rows[i] = e->distributed & 1u << i ? group_count(e->inputs[i].shape[0]) : e->inputs[i].shape[0];
    prepare_keep(e, 0);
}

void exercise_prepare(exercise *e, const exercise_kind *kind, const common_options *common, int64_t keep)
{
    start(e, kind);
    if (kind->keeps && keep)
        *(integer_list *)e->own = (integer_list){.count = 1, .value = {keep}};
    e->common = *common;
    e->common.argument_count = 0;
    e->common.output = NULL;
    prepare(e, true);
}

void exercise_free(exercise *e)
{
    if (e->kind->steps.release)
        e->kind->steps.release(e);
    else
        reference_free(e);
    for (int i = 0; i < e->input_count; i++)
        host_array_free(&e->inputs[i]);
    free(e->own);
}

/* Returns whether the arrays of all backends fit into memory together: into a quarter of the host's, since each array
 * exists up to three times. */
static bool fit_together(const exercise *e, int choices)
{
    double bytes = 0, memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < e->input_count; i++)
        bytes += (double)host_array_bytes(&e->inputs[i]);
    for (int i = 0; i < e->output_count; i++)
        bytes += (double)output_size(&e->outputs[i]) * (double)fl_dtype_size(e->outputs[i].dtype);
    return bytes * choices < memory / 4;
}

/* Checks the results from the `first` one on. */
static bool check_all(const exercise *e, result_list *results, int first)
{
    bool ok = true;

    for (int i = first; i < results->count; i++) {
        measurement *m = &results->list[i];
        fl_trace_mark mark;
        progress("%s: checking", m->requested);
        must(fl_trace_begin("check", &mark));
        compare_watch(group_is_distributed() ? NULL : &m->wrong);
        m->check = (e->kind->steps.check ? e->kind->steps.check : reference_check)(e, m, m->check_method,
                                                                                   sizeof m->check_method);
        compare_watch(NULL);
        if (group_is_distributed())
            m->check = distributed_check(e, m);
        if (output_size(&e->outputs[0]) == 0 && !group_is_distributed()) /* there is nothing to compare */
            m->check.ok = m->check.failed == 0;
        fl_trace_end(mark);
        ok = ok && (m->check.ok || m->check.unknown);
    }
    progress_end();
    return ok;
}

void exercise_check_count(const measurement *m, int64_t count, compare_result *found)
{
    const int64_t got = *(const int64_t *)m->results[1].data;

    if (got != count)
        compare_add(found, count, (double)got, (double)count, 0);
    found->ok = found->failed == 0;
}

const host_array *exercise_right_output(const result_list *results, int i, const char *path)
{
    const measurement *first = &results->list[0];

    if (first->check.ok || first->check.unknown)
        return &first->results[i];
    print_error("the result of %s is wrong: %s was not written", first->requested, path);
    return NULL;
}

/* Returns whether the exercise has --png. */
static bool draws(const exercise_kind *kind)
{
    for (const own_option *o = kind->options; o && o->name; o++)
        if (strcmp(o->name, "png") == 0)
            return true;
    return false;
}

static void write_outputs(const exercise *e, const result_list *results)
{
    const char *path = e->common.output, *how = draws(e->kind) ? "--png=FILE scales its colours" : NULL;
    const host_array *result;

    if (e->kind->write)
        e->kind->write(e, results);
    if (!path || e->kind->own_output)
        return;
    result = exercise_right_output(results, 0, path);
    if (result && results->output)
        async_output_finish(results->output, how);
    else if (results->output)
        async_output_discard(results->output);
    else if (result && group_is_distributed())
        distributed_write(&results->list[0], path);
    else if (result)
        file_put(path, result, how);
}

static int passes_of(const result_list *results)
{
    int passes = 0;

    for (int i = 0; i < results->count; i++)
        passes += results->list[i].total.count;
    return passes;
}

/* Runs all choices with the prepared number of singular values and adds their results. Returns whether they are right.
 */
static bool run_keep(exercise *e, choice_list choices, result_list *results)
{
    const int first = results->count;

    passes_run(e, choices.list, choices.count, choices.count > 1 && fit_together(e, choices.count), results);
    if (e->once && results->count > 0 && !group_is_distributed() && !e->kind->own_output)
        results->output = async_output_start(e->common.output, &results->list[0].results[0]);
    const bool ok = check_all(e, results, first);
    results_add_rows(results, e, first);
    free(choices.list);
    return ok;
}

static int run(exercise *e)
{
    const int keeps = keeps_of(e)->count > 1 ? keeps_of(e)->count : 1;
    choice_list choices = choices_for(e);
    const int rows = keeps * choices.count;
    result_list results = {&e->common,      e->backends, 0, memory_zeroed((size_t)rows, sizeof(measurement)),
                           json_new_list(), NULL};
    bool ok = run_keep(e, choices, &results);

    for (int i = 1; i < keeps && !(results.count > 0 && progress_is_late()); i++) {
        prepare_keep(e, i);
        ok = run_keep(e, choices_for(e), &results) && ok;
    }
    if (progress_is_late() && !e->once)
        note("--max-time: the time was over after %d timed passes; %d of %d rows are there", passes_of(&results),
             results.count, rows);
    if (results.count == 0)
        fail(EXIT_CANNOT_RUN, "--variant: none of '%s' can run here on this input", e->common.variant);
    if (group_prints())
        results_show(&results, e);
    write_outputs(e, &results);
    result_list_free(&results);
    return !ok ? EXIT_WRONG_RESULT : e->kind->exit_code ? e->kind->exit_code(e) : EXIT_DONE;
}

int exercise_main(const exercise_kind *kind, int argc, char **argv)
{
    backend_list backends;
    int64_t elements = 0;
    exercise e;
    int code;

    start(&e, kind);
    parse(&e, argc, argv);
    refuse(&e);
    check_outputs(&e);
    backends = backends_open_untested(&e.common); /* before any work: one that cannot run ends the command */
    backends_keep(&backends, &e.common, exercise_operation(kind));
    e.backends = &backends;
    prepare(&e, false);
    for (int i = 0; i < e.input_count; i++)
        elements += host_array_size(&e.inputs[i]);
    if (e.input_count == 0 || elements >= 1000) /* sums over all pairs of fewer take 10 us, on one thread */
        backends_prefer_faster(&backends);
    code = run(&e);
    exercise_free(&e);
    backends_close(&backends);
    options_free(&e.common);
    return code;
}
