/* SPDX-License-Identifier: MIT
 *
 * flynn taxonomy: one operation as SISD, SIMD, MIMD and SIMT (M. Flynn, "Some computer organizations and their
 * effectiveness", IEEE Transactions on Computers C-21, 1972), and what comes nearest to MISD.
 */
#include "commands.h"
#include "instructions.h"
#include "misd.h"
#include "show.h"

#include "run/registry.h"
#include "run/backends.h"
#include "ranks/child.h"
#include "options/options.h"
#include "support/fail.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"
#include "view/titles.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS = 3 };

typedef struct taxonomy_options {
    int64_t keep; /* 0: not given */
} taxonomy_options;

static const own_option own_options[] = {
    {"keep", OPTION_INTEGER, offsetof(taxonomy_options, keep), "K",
     .help = "Components (singular values), of reconstruct", .least = 1, .most = INT64_MAX, .letter = 'k',
     .also = "components"},
    {0},
};

/* The keys of a step that are copied from its result. */
static const char *const copied[] = {"resource", "flynn_class", "emulation", "kernel_s",
                                     "total_s",  "variant",     "check",     "disturbed"};

static const char summary[] =
    "Runs one operation (default: convolve1d) as SISD, SIMD, MIMD and SIMT, shows what puts each backend into its "
    "class and what each step gains, and then compares the answers of all "
    "variants on one backend.\v"
    "Without --backend: serial, simd with each instruction set of this processor, omp, and the GPU or its emulation. "
    "Without --variant each of them runs naive, the same loop on all. --dtype is f32 or f64. See "
    "docs/commands/taxonomy.md.\v"
    "\tconvolve1d on each kind of processor\n"
    "maximum --size=128\tanother exercise\n"
    "map --function='log(x + y)'\ta function of your own\n";

static void add_name(char *list, size_t size, const char *name, const char *item)
{
    size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s%s%s", used ? "," : "", name, *item ? ":" : "", item);
}

/* A processor's backend, if it can run: with each instruction set if it is one of vectors. */
static void add_processor(char *list, size_t size, const fl_backend_info *b)
{
    int sets = 0;

    for (int i = 0; i < b->probe.isa_count && strcmp(b->flynn_class, "SIMD") == 0; i++) {
        if (b->probe.isa[i].why_not[0])
            continue;
        add_name(list, size, b->name, b->probe.isa[i].name);
        sets++;
    }
    if (!sets)
        add_name(list, size, b->name, "");
}

/* The first usable backend of that class; an emulation, or none. */
static const fl_backend_info *backend_of(const char *flynn_class, bool emulation)
{
    for (size_t i = 0; i < backends_count(); i++) {
        const fl_backend_info *b = fl_backend_get(i);
        if (b->usable && b->emulation == emulation && strcmp(b->flynn_class, flynn_class) == 0)
            return b;
    }
    return NULL;
}

/* Why none of the GPU's plugins can run. */
static void why_no_gpu(char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < fl_backend_count(); i++) {
        const fl_backend_info *b = fl_backend_get(i);
        size_t used = strlen(text);
        if (!b->usable && strncmp(b->name, "hip", 3) == 0)
            snprintf(text + used, size - used, "%s%s: %s", used ? "; " : "", b->name, b->probe.cause);
    }
    if (!text[0])
        snprintf(text, size, "no plugin for a GPU is installed");
}

/* "serial,simd:v2,simd:v3,omp,hip": from SISD to SIMT. */
static void choose_backends(char *list, size_t size, char *no_gpu, size_t no_gpu_size)
{
    static const char *const classes[] = {"SISD", "SIMD", "MIMD"};
    const fl_backend_info *b;

    list[0] = '\0';
    for (int i = 0; i < 3; i++)
        if ((b = backend_of(classes[i], false)) != NULL)
            add_processor(list, size, b);
    if ((b = backend_of("SIMT", false)) != NULL) {
        add_name(list, size, b->name, "");
        return;
    }
    why_no_gpu(no_gpu, no_gpu_size);
    if ((b = backend_of("SIMT", true)) != NULL)
        add_name(list, size, b->name, "");
}

/* The exercise on all backends, in turns in one process. */
static json_t *run_exercise(const exercise_kind *kind, const common_options *common, int64_t keep, char *no_gpu,
                            size_t size)
{
    common_options asked = *common;
    char list[512], *one = list;
    child_words words = child_words_start(kind->name);
    json_t *document;

    if (common->backend_count == 1 && strcmp(common->backends[0], "auto") == 0) {
        choose_backends(list, sizeof list, no_gpu, size);
        asked.backends = &one;
    }
    if (!common->has_variant) {
        asked.has_variant = true;
        asked.variant = "naive";
    }
    child_words_common(&words, exercise_takes(kind), &asked);
    if (keep)
        child_words_add(&words, "--keep=%" PRId64, keep);
    progress("%s on all backends", kind->name);
    document = child_document(&words, kind->name);
    progress_end();
    return document;
}

/* The least of a few calls, after one that starts threads and touches memory; -1: see `reason`. */
static int64_t count_instructions(const exercise *e, fl_device *device, const char *variant,
                                  instruction_counter *counter, const char **reason)
{
    const fl_device_info *d = fl_device_describe(device);
    int64_t least = -1;
    placed p;

    *reason = d->emulation        ? "instructions of an emulation mean nothing"
              : !d->host_memory   ? "a processor cannot count a GPU's instructions"
              : counter->file < 0 ? counter->reason
                                  : NULL;
    if (*reason)
        return -1;
    p = placed_create(e, device);
    for (int i = 0; i < COUNTS + 1; i++) {
        instructions_start(counter);
        (void)placed_call(e, &p, variant); /* it has run already */
        must(fl_device_wait(device));
        int64_t now = instructions_stop(counter);
        if (i > 0 && now >= 0 && (least < 0 || now < least))
            least = now;
    }
    placed_free(&p);
    if (least < 0)
        *reason = "the counter was shared with others";
    return least;
}

/* Describes the hardware that makes the device what it is. */
static json_t *json_what(const fl_device_info *d, int lanes, fl_dtype dtype)
{
    char text[160];

    if (d->warp_size > 0)
        snprintf(text, sizeof text, "warps of %d threads in step, %d multiprocessor%s%s", d->warp_size,
                 d->multiprocessors, d->multiprocessors == 1 ? "" : "s", d->emulation ? ", imitated" : "");
    else if (lanes > 1)
        snprintf(text, sizeof text, "%d thread%s, vectors of %d bits: %d %s an instruction", d->threads,
                 d->threads == 1 ? "" : "s", d->vector_bits, lanes, fl_dtype_name(dtype));
    else
        snprintf(text, sizeof text, "%d thread%s, one number an instruction", d->threads, d->threads == 1 ? "" : "s");
    return json_text(text);
}

static json_t *json_step(const exercise *e, json_t *row, int place, instruction_counter *counter)
{
    const fl_dtype dtype = e->outputs[0].dtype;
    const fl_bench_statistics kernel = row_times(row, "kernel");
    json_t *step = json_new_object();
    const char *reason;
    fl_device *device;

    must(backend_open(row_text(row, "resource"), &device));
    const fl_device_info *d = fl_device_describe(device);
    const int lanes = d->vector_bits > 64 ? d->vector_bits / (8 * (int)fl_dtype_size(dtype)) : 1;
    const int64_t count = count_instructions(e, device, row_text(row, "variant"), counter, &reason);
    json_put(step, "result", json_whole(place));
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        json_put(step, copied[i], json_incref(json_object_get(row, copied[i])));
    json_put(step, "what", json_what(d, lanes, dtype));
    json_put(step, "isa", json_text(d->isa));
    json_put(step, "threads", json_whole(d->threads));
    json_put(step, "vector_bits", json_whole(d->vector_bits));
    json_put(step, "lanes", d->warp_size ? json_null() : json_whole(lanes));
    json_put(step, "warp_size", json_whole(d->warp_size));
    json_put(step, "multiprocessors", json_whole(d->multiprocessors));
    json_put(step, "instructions", reason ? json_null() : json_whole(count));
    json_put(step, "instructions_per_element",
             reason ? json_null() : json_number((double)count / (double)output_size(&e->outputs[0])));
    json_put(step, "instructions_reason", json_text(reason));
    json_put(step, "spread_s", json_number(statistics_range(&kernel)));
    json_put(step, "spread", json_number(statistics_spread(&kernel)));
    json_put(step, "ok", json_incref(row_value(row, "check.ok")));
    fl_device_close(device);
    return step;
}

/* Adds the speed-up over the step before; null for the first, for emulations and wrong ones. */
static void put_speed_ups(json_t *steps)
{
    const json_t *before = NULL;
    json_t *step;
    size_t i;

    json_array_foreach(steps, i, step)
    {
        const bool known = row_is_ranked(step) && before;
        json_put(step, "speed_up",
                 json_number(known ? row_number(before, "kernel_s") / row_number(step, "kernel_s") : (double)NAN));
        json_put(step, "speed_up_with_copies",
                 json_number(known ? row_number(before, "total_s") / row_number(step, "total_s") : (double)NAN));
        json_put(step, "speed_up_disturbed", json_boolean(row_is_noisy(step) || row_is_noisy(before)));
        before = row_is_ranked(step) ? step : before;
    }
}

static json_t *json_steps(const exercise *e, const json_t *rows)
{
    /* Before any device is open: threads that were there already would not be counted. */
    instruction_counter counter = instructions_open();
    json_t *steps = json_new_list(), *row;
    size_t i;

    json_array_foreach(rows, i, row) json_append(steps, json_step(e, row, (int)i, &counter));
    instructions_close(&counter);
    put_speed_ups(steps);
    return steps;
}

/* Why vectors bring nothing, where a reason is known and no step with vectors is much faster than the scalar one. */
static json_t *json_scalar(const exercise *e, const json_t *steps)
{
    const char *why = e->kind->why_scalar ? e->kind->why_scalar(e) : NULL;
    double scalar = 0, vectors = 0;
    const json_t *step;
    char text[400];
    size_t i;

    json_array_foreach(steps, i, step)
    {
        const char *flynn_class = row_text(step, "flynn_class");
        const double kernel = row_number(step, "kernel_s");
        if (strcmp(flynn_class, "SISD") == 0)
            scalar = kernel;
        if (strcmp(flynn_class, "SIMD") == 0 && (vectors == 0 || kernel < vectors))
            vectors = kernel;
    }
    if (!why || scalar == 0 || vectors < 0.7 * scalar)
        return json_null();
    snprintf(text, sizeof text, "SIMD computes one element at a time, as SISD does: %s", why);
    return json_text(text);
}

/* The last backend that is not an emulation. */
static const char *last_resource(const json_t *steps)
{
    size_t last = json_array_size(steps) - 1;

    while (last > 0 && json_is_true(json_object_get(json_array_get(steps, last), "emulation")))
        last--;
    return row_text(json_array_get(steps, last), "resource");
}

int command_taxonomy(int argc, char **argv)
{
    taxonomy_options own = {.keep = 0};
    const command_line line = {.name = "flynn taxonomy",
                               .arguments = "[EXERCISE]",
                               .most_arguments = 1,
                               .summary = summary,
                               .takes = TAKES_RUN | TAKES_JSON | TAKES_TABLE,
                               .options = own_options,
                               .own = &own,
                               .titles = TITLES_OF(taxonomy_step_columns, taxonomy_misd_columns)};
    json_t *taxonomy = json_new_object(), *document, *steps, *misd;
    const exercise_kind *kind;
    common_options common;
    char no_gpu[640] = "";
    exercise e;
    bool right;

    options_parse(&line, argc, argv, &common);
    option_one_variant(&common);
    kind =
        exercise_named(common.argument_count ? common.arguments[0] : "convolve1d", "taxonomy", exercise_shows_taxonomy);
    if (!common.has_dtype && !kind->takes_function) { /* a function may have types of its own */
        common.dtype = FL_F32;
        common.has_dtype = true;
    }
    common.size = common.size ? common.size : kind->taxonomy_size;
    exercise_refuse(&common, kind);
    if (!kind->keeps) {
        option_refuse_own(&common, own_options, "keep", "of these exercises only reconstruct has singular values");
        own.keep = 0; /* FLYNN_KEEP */
    }
    if (common.has_dtype && !fl_dtype_is_float(common.dtype))
        option_fail("dtype", "the classes are shown in f32 and f64, not in %s", fl_dtype_name(common.dtype));
    document = run_exercise(kind, &common, own.keep, no_gpu, sizeof no_gpu);
    exercise_prepare(&e, kind, &common, own.keep);
    steps = json_steps(&e, json_object_get(document, "results"));
    misd = misd_json(&e, last_resource(steps));
    json_put(taxonomy, "exercise", json_text(kind->name));
    json_put(taxonomy, "size", json_whole(common.size));
    json_put(taxonomy, "dtype", json_text(fl_dtype_name(e.outputs[0].dtype)));
    json_put(taxonomy, "elements", json_whole(output_size(&e.outputs[0])));
    json_put(taxonomy, "steps", steps);
    json_put(taxonomy, "scalar", json_scalar(&e, steps));
    json_put(taxonomy, "no_gpu", json_text(no_gpu[0] ? no_gpu : NULL));
    json_put(taxonomy, "misd", misd);
    json_put(document, "taxonomy", taxonomy);
    if (progress_is_late())
        note("--max-time: the time was over before the last pass: %zu steps and %zu answers are there",
             json_array_size(steps), json_array_size(json_object_get(misd, "answers")));
    if (results_write(&common, document))
        taxonomy_show(taxonomy, json_object_get(document, "results"));
    right = !rows_have_wrong(steps) && !rows_have_wrong(json_object_get(misd, "answers"));
    exercise_free(&e);
    json_decref(document);
    options_free(&common);
    return right ? EXIT_DONE : EXIT_WRONG_RESULT;
}
