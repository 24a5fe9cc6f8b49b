/* SPDX-License-Identifier: MIT
 *
 * flynn laws: how an exercise scales over threads, over ranks, or over the batch on a GPU, and what the laws make of
 * it.
 */
#include "batch.h"
#include "commands.h"

#include "run/registry.h"
#include "run/backends.h"
#include "ranks/child.h"
#include "ranks/launch.h"
#include "kept/machine.h"
#include "options/options.h"
#include "support/processors.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "view/json.h"
#include "view/row.h"
#include "view/stopped.h"
#include "view/titles.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COURSE_RECONSTRUCT = 512, FEWEST_POINTS = 2, MOST_THREADS = 4096, LARGEST_BATCH = 65536, MOST_RANKS = 1 << 20 };

typedef struct laws_options {
    const char *exercise, *threads, *batch, *ranks; /* NULL: not given */
    int64_t keep;                                   /* 0: not given */
    /* The settings that follow from these options: */
    const exercise_kind *what;
    int count;
    int64_t n[MOST_POINTS];
    int64_t size;
    const char *spec;       /* of the backend: "omp:v3" */
    char name[48], isa[48]; /* "omp", ":v3" */
    char of_rank[128];      /* the device of each rank: "omp:2:v3" */
    int64_t room;           /* how many threads or ranks have processors, or a GPU, of their own; 0: not known */
    fl_device_info device;
} laws_options;

static const own_option own_options[] = {
    {"threads", OPTION_TEXT, offsetof(laws_options, threads), "1,N,...",
     .help = "Threads to measure with (default: up to all)\vAt least two numbers that start with 1; all are those "
             "that the process may use. Four and more show whether a law holds."},
    {"batch", OPTION_TEXT, offsetof(laws_options, batch), "1,N,...",
     .help = "Batches to measure on a GPU (default: 1,2,4,8,16)"},
    {"ranks", OPTION_TEXT, offsetof(laws_options, ranks), "1,N,...",
     .help =
         "Numbers of processes to measure with\vStarted by MPI or Slurm (docs/cluster.md), each with a device and its "
         "share of the data. They take the place of threads."},
    {"keep", OPTION_INTEGER, offsetof(laws_options, keep), "K",
     .help = "Components (singular values), of svd and reconstruct", .least = 1, .most = INT64_MAX, .letter = 'k',
     .also = "components"},
    {0},
};

static const char summary[] =
    "Measures how an exercise (convolve, if none is named) scales over threads, and fits Amdahl's and Gustafson's laws "
    "to it.\v"
    "Strong scaling: --size stays, and the numbers of threads take turns in one process. Weak scaling: the work grows "
    "with the threads, and is that of --size with the most of them. --size of primes is its --upto. On a GPU "
    "(--backend=hip) reconstruct is measured, its batch in place of the threads. `batch` and images: the workers of "
    "flynn batch's pipeline. docs/commands/laws.md says how the laws are fitted.\v"
    "\tconvolve over threads\n"
    "sort --threads=1,2,4,8 -b omp\tanother exercise\n"
    "-b hip\treconstruct over batches on a GPU\n"
    "sort --ranks=1,2,4\tover processes\n"
    "batch photos/ --keep=20\timages over a pipeline's workers\n";

/* "1,2,4,8". */
static void parse_list(const char *option, const char *value, int64_t most, laws_options *own)
{
    static const char expected[] =
        "expected at least two ascending whole numbers, the first of them 1, such as 1,2,4,8";
    char *copy = memory_text(value), *rest = copy, *word;

    for (own->count = 0; (word = strsep(&rest, ",")) != NULL; own->count++) {
        if (own->count == MOST_POINTS)
            option_fail(option, "'%s' has too many numbers; expected at most %d", value, MOST_POINTS);
        own->n[own->count] = option_integer(option, word, 1, most);
        if (own->count ? own->n[own->count] <= own->n[own->count - 1] : own->n[0] != 1)
            option_fail(option, "'%s' is not ascending from 1; %s", value, expected);
    }
    free(copy);
    if (own->count < FEWEST_POINTS)
        option_fail(option, "'%s' has one number, and a law needs two; %s", value, expected);
}

/* Sets the default numbers of threads: all up to eight processors; of more the powers of two, and all of them at
 * once. */
static void default_threads(laws_options *own)
{
    const int processors = own->device.threads;

    for (int n = 1; n < processors && own->count < MOST_POINTS - 1; n = processors <= 8 ? n + 1 : 2 * n)
        own->n[own->count++] = n;
    own->n[own->count++] = processors;
    if (own->count < FEWEST_POINTS)
        fail(EXIT_BAD_INPUT,
             "--threads: this process may use 1 processor, and a law needs two points; name more, such as "
             "--threads=1,2,3,4 (points with more threads than processors are marked as oversubscribed)");
}

/* Returns whether one of the items after the name is a number. */
static bool has_number(const char *items)
{
    for (; items; items = strchr(items + 1, ':'))
        if (items[1] >= '0' && items[1] <= '9')
            return true;
    return false;
}

/* "omp:v3" is "omp" and ":v3"; how many threads is what is measured. */
static void split_backend(const char *spec, laws_options *own)
{
    const char *colon = strchr(spec, ':');
    size_t length = colon ? (size_t)(colon - spec) : strlen(spec);

    if (!own->ranks && strcmp(own->device.flynn_class, "MIMD") == 0 && has_number(colon))
        option_fail("backend", "'%s' has a number of threads; expected %.*s alone, and --threads", spec, (int)length,
                    spec);
    snprintf(own->name, sizeof own->name, "%.*s", (int)length, spec);
    snprintf(own->isa, sizeof own->isa, "%s", colon ? colon : "");
}

/* Opens the backend to see what it is, and closes it: each measurement is its own process. */
static void look_at_backend(const common_options *common, laws_options *own)
{
    const char *spec = common->backend_count == 1 ? common->backends[0] : NULL;
    fl_device *device;

    if (!spec)
        option_fail("backend", "laws measures one backend; expected one, such as omp");
    if (strcmp(spec, "auto") == 0)
        spec = "omp";
    fl_status status = backend_open(spec, &device);
    if (status != FL_OK)
        fail(exit_code_of(status), "--backend: %s", fl_last_error());
    own->device = *fl_device_describe(device);
    fl_device_close(device);
    own->spec = spec;
    split_backend(spec, own);
}

static bool is_gpu(const laws_options *own)
{
    return strcmp(own->device.flynn_class, "SIMT") == 0;
}

static bool by_batches(const laws_options *own)
{
    return is_gpu(own) && !own->ranks;
}

static int64_t gpus(const char *backend)
{
    const fl_backend_info *info;

    for (size_t i = 0; (info = fl_backend_get(i)); i++)
        if (strcmp(info->name, backend) == 0)
            return info->probe.device_count;
    return 0;
}

/* Gives each rank the same number of threads, unless it has a GPU or --backend says how many: in an allocation of
 * Slurm's the processors of a task, else this host's processors divided by the largest number of ranks. */
static void settle_ranks(laws_options *own)
{
    const char *of_task = getenv("SLURM_CPUS_PER_TASK");
    const bool allocated = getenv("SLURM_JOB_ID") != NULL;
    int64_t most, threads = own->device.threads;

    parse_list("ranks", own->ranks, MOST_RANKS, own);
    launch_refuse_nested();
    most = own->n[own->count - 1];
    snprintf(own->of_rank, sizeof own->of_rank, "%s", own->spec);
    if (strcmp(own->device.flynn_class, "MIMD") == 0 && !has_number(own->isa)) {
        threads = allocated ? (of_task ? atoi(of_task) : 1) : processors_count() / most;
        threads = threads > 1 ? threads : 1;
        snprintf(own->of_rank, sizeof own->of_rank, "%s:%" PRId64 "%s", own->name, threads, own->isa);
    }
    if (allocated)
        return;
    own->room = is_gpu(own) ? gpus(own->device.backend) : processors_count() / threads;
    if (most > own->room && !is_gpu(own))
        launch_note_shared(most * threads);
}

/* The backends and exercises that scale, and over what. */
static void settle_kind(laws_options *own)
{
    if (own->ranks && (own->threads || own->batch))
        option_fail(own->threads ? "threads" : "batch", "--ranks takes its place; expected one of the two");
    if (own->ranks && !own->what->distributed)
        fail(EXIT_BAD_INPUT, "--ranks: %s does not run on several ranks; docs/cluster.md names the commands that do",
             own->what->name);
    if (own->ranks)
        return;
    if (!is_gpu(own) && strcmp(own->device.flynn_class, "MIMD") != 0)
        option_fail("backend", "%s has one thread; expected one with threads (omp) or a GPU", own->device.resource);
    if (is_gpu(own) ? own->threads != NULL : own->batch != NULL)
        option_fail(is_gpu(own) ? "threads" : "batch", "%s scales over %s; expected --%s", own->device.resource,
                    is_gpu(own) ? "batches" : "threads", is_gpu(own) ? "batch" : "threads");
    if (is_gpu(own) && strcmp(own->what->name, "reconstruct") != 0)
        fail(EXIT_BAD_INPUT, "'%s' has no batch: on %s laws varies the batch, which only reconstruct has",
             own->what->name, own->device.resource);
}

/* Settles what is measured, with which backend, and on how much data. */
static void settle(const common_options *common, laws_options *own)
{
    option_refuse(common, TAKES_MAX_MEMORY, "no file is read; it is for batch");
    look_at_backend(common, own);
    own->what = exercise_named(own->exercise     ? own->exercise
                               : by_batches(own) ? "reconstruct"
                                                 : "convolve",
                               "laws", exercise_runs_among_others);
    exercise_refuse(common, own->what);
    if (!own->what->keeps) {
        option_refuse_own(common, own_options, "keep", "only svd and reconstruct have singular values");
        own->keep = 0; /* FLYNN_KEEP */
    }
    own->size = common->size ? common->size : by_batches(own) ? COURSE_RECONSTRUCT : own->what->laws.size;
    settle_kind(own);
    own->room = is_gpu(own) ? 0 : own->device.threads;
    if (own->ranks)
        settle_ranks(own);
    else if (is_gpu(own))
        parse_list("batch", own->batch ? own->batch : "1,2,4,8,16", LARGEST_BATCH, own);
    else if (own->threads)
        parse_list("threads", own->threads, MOST_THREADS, own);
    else
        default_threads(own);
}

/* ------------------------------------------------------------------------------------------- flynn laws batch ---- */

/* Settles which workers are measured, and on which images. The caller frees the images. */
static laws_batch settle_batch(const common_options *common, laws_options *own)
{
    laws_batch b = {.common = common, .keep = own->keep};

    look_at_backend(common, own);
    option_refuse(common, TAKES_RUN & ~(LAWS_BATCH_TAKES | TAKES_BACKEND | TAKES_REPEAT), "batch does not take it");
    option_refuse_own(common, own_options, "batch", "the workers of the pipeline are measured: --threads");
    option_refuse_own(common, own_options, "ranks", "the workers of the pipeline are measured: --threads");
    own->device.threads = processors_count();
    if (own->threads)
        parse_list("threads", own->threads, MOST_THREADS, own);
    else
        default_threads(own);
    b.backend = own->name;
    b.isa = own->isa;
    b.threaded = strcmp(own->device.flynn_class, "MIMD") == 0;
    b.n = own->n;
    b.count = own->count;
    b.processors = processors_count();
    laws_batch_find(&b);
    return b;
}

/* The document with what was found. */
static json_t *measure_batch(const common_options *common, laws_options *own, laws_found *found)
{
    laws_batch b = settle_batch(common, own);
    json_t *document;

    *found = (laws_found){.exercise = "batch",
                          .backend = own->spec,
                          .device = own->device.name,
                          .emulation = own->device.emulation,
                          .unit = "workers",
                          .processors = b.processors,
                          .kinds = 2};
    document = laws_batch_measure(&b, found->points);
    inputs_free(&b.source);
    laws_fit_all(found);
    return document;
}

/* The state that all processes of the command share. */
typedef struct laws_run {
    const common_options *common;
    const laws_options *own;
    json_t *document, *rows; /* that of the first process; all results */
    json_t *not_run;         /* texts of the points that a signal or --max-time left out */
    int done, processes;
} laws_run;

/* Runs the exercise on the backends of a list, and adds its results. 0: no batch, no ranks. false: it is stopped. */
static bool run_exercise(laws_run *run, const char *backends, int64_t size, int64_t batch, int64_t ranks)
{
    common_options common = *run->common;
    child_words w = child_words_start(run->own->what->name);
    json_t *row;
    char what[64 * MOST_POINTS];
    size_t i;

    if (stopped_now(run->done))
        return false;
    progress("%d of %d", run->done + 1, run->processes);
    progress_part((double)run->done / run->processes);
    common.backends = (char *[]){(char *)backends};
    common.backend_count = 1;
    common.size = 0;
    child_words_common(&w, exercise_takes(run->own->what) & ~TAKES_MAX_MEMORY, &common);
    child_words_add(&w, "--%s=%" PRId64, run->own->what->size_option ? run->own->what->size_option : "size", size);
    if (run->own->what->laws.option && strcmp(common.variant, "auto") == 0)
        child_words_add(&w, "%s", run->own->what->laws.option);
    if (run->own->ranks && run->own->what->distributed_variant && strcmp(common.variant, "auto") == 0)
        child_words_add(&w, "--variant=%s", run->own->what->distributed_variant);
    if (run->own->keep)
        child_words_add(&w, "--keep=%" PRId64, run->own->keep);
    if (batch)
        child_words_add(&w, "--batch=%" PRId64, batch);
    if (ranks)
        child_words_add(&w, "--ranks=%" PRId64, ranks);
    snprintf(what, sizeof what, "%s on %s", run->own->what->name, backends);
    child_result r = child_run(&w);
    if (!r.document && stopped_now(run->done))
        return false;
    child_must(&r, what);
    json_array_foreach(json_object_get(r.document, "results"), i, row)
    {
        if (row_is_wrong(row))
            fail(EXIT_WRONG_RESULT, "%s: the result is wrong, and no law is fitted to it", what);
        json_append(run->rows, json_incref(row));
    }
    if (run->document)
        json_decref(r.document);
    else
        run->document = r.document;
    run->done++;
    progress_end();
    return true;
}

static void add_not_run(laws_run *run, const law_points *points, int64_t n)
{
    json_append(run->not_run, json_text(cell_print("%s scaling, n = %" PRId64, points->kind, n).text));
}

/* The point of a result. */
static law_point point_of(const laws_run *run, int result, int64_t n, int64_t size, double work)
{
    const json_t *row = json_array_get(run->rows, (size_t)result);
    const fl_bench_statistics kernel = row_times(row, "kernel");
    law_point p = {.result = result,
                   .n = n,
                   .size = size,
                   .work = work,
                   .kernel = kernel,
                   .bytes_per_s = row_number(row, "bytes") / kernel.median,
                   .percent_of_ceiling = row_number(row, "percent_of_ceiling"),
                   .imbalance = row_number(row, "imbalance"),
                   .link_share = row_number(row, "link.link_s") / kernel.median,
                   .oversubscribed = run->own->room && n > run->own->room};

    law_point_disturb(&p, row);
    return p;
}

/* "omp:1:v3,omp:2:v3 ...", in turns in one process. */
static void measure_strong(laws_run *run, law_points *points)
{
    const laws_options *own = run->own;
    char list[MOST_POINTS * 64] = "";

    for (int i = 0; i < own->count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s:%" PRId64 "%s", i ? "," : "", own->name,
                 own->n[i], own->isa);
    points->kind = "strong";
    points->law = AMDAHL;
    int first = (int)json_array_size(run->rows);
    points->count = run_exercise(run, list, own->size, 0, 0) ? (int)json_array_size(run->rows) - first : 0;
    for (int i = points->count; i < own->count; i++)
        add_not_run(run, points, own->n[i]);
    for (int i = 0; i < points->count; i++)
        points->list[i] = point_of(run, first + i, own->n[i], own->size, 1);
}

/* Work that is n times that of one thread or rank, to the nearest whole size; a process, or a launch, for each. */
static void measure_weak(laws_run *run, law_points *points)
{
    const laws_options *own = run->own;
    const double most = (double)own->n[own->count - 1];

    points->kind = "weak";
    points->law = GUSTAFSON;
    for (int i = 0; i < own->count; i++) {
        char backend[128];
        double edge = (double)own->size * pow((double)own->n[i] / most, 1.0 / own->what->laws.power);
        int64_t size = (int64_t)fmax(1, round(edge));
        int first = (int)json_array_size(run->rows);
        snprintf(backend, sizeof backend, "%s:%" PRId64 "%s", own->name, own->n[i], own->isa);
        if (!run_exercise(run, own->ranks ? own->of_rank : backend, size, 0, own->ranks ? own->n[i] : 0)) {
            add_not_run(run, points, own->n[i]);
            continue;
        }
        double work = i ? pow((double)size / (double)points->list[0].size, own->what->laws.power) : 1;
        points->list[points->count++] = point_of(run, first, own->n[i], size, work);
    }
}

/* Batches, or ranks for work that stays. */
static void measure_each(laws_run *run, law_points *points)
{
    const laws_options *own = run->own;

    points->kind = own->ranks ? "strong" : "batch";
    points->law = AMDAHL;
    for (int i = 0; i < own->count; i++) {
        int first = (int)json_array_size(run->rows);
        if (!run_exercise(run, own->ranks ? own->of_rank : own->spec, own->size, own->ranks ? 0 : own->n[i],
                          own->ranks ? own->n[i] : 0)) {
            add_not_run(run, points, own->n[i]);
            continue;
        }
        points->list[points->count++] = point_of(run, first, own->n[i], own->size, own->ranks ? 1 : (double)own->n[i]);
    }
}

static laws_found *measure_all(laws_run *run)
{
    static laws_found found;
    const laws_options *own = run->own;

    found = (laws_found){.exercise = own->what->name,
                         .backend = own->ranks ? own->of_rank : own->spec,
                         .device = own->device.name,
                         .emulation = own->device.emulation,
                         .unit = own->ranks    ? "ranks"
                                 : is_gpu(own) ? "batch"
                                               : "threads",
                         .processors = is_gpu(own) ? 0 : own->device.threads,
                         .kinds = by_batches(own) ? 1 : 2};
    run->processes = own->ranks ? 2 * own->count : is_gpu(own) ? own->count : own->count + 1;
    if (own->ranks || is_gpu(own))
        measure_each(run, &found.points[0]);
    else
        measure_strong(run, &found.points[0]);
    if (!by_batches(own))
        measure_weak(run, &found.points[1]);
    laws_fit_all(&found);
    return &found;
}

static json_t *measure_exercise(const common_options *common, laws_options *own, laws_found *found)
{
    settle(common, own);
    laws_run run = {.common = common, .own = own, .rows = json_new_list(), .not_run = json_new_list()};
    child_catch_signals();
    *found = *measure_all(&run);
    if (!run.document)
        stopped_leave();
    json_put(run.document, "results", run.rows);
    stopped_put(run.document, "points", (int)json_array_size(run.rows), run.not_run);
    return run.document;
}

int command_laws(int argc, char **argv)
{
    laws_options own = {.exercise = NULL};
    const command_line line = {"flynn laws",
                               "[EXERCISE | batch IMAGE...]",
                               INT_MAX,
                               summary,
                               TAKES_RUN | TAKES_JSON | TAKES_TABLE | TAKES_MAX_MEMORY,
                               own_options,
                               .own = &own,
                               .titles = TITLES_OF(laws_point_columns(NULL), laws_unit_columns)};
    static laws_found found;
    common_options common;
    json_t *document;

    options_parse(&line, argc, argv, &common);
    option_one_variant(&common);
    own.exercise = common.argument_count ? common.arguments[0] : NULL;
    const bool batch = own.exercise && strcmp(own.exercise, "batch") == 0;
    if (common.argument_count > 1 && !batch)
        fail(EXIT_BAD_INPUT, "'%s': one argument too many; expected one exercise, or batch and images",
             common.arguments[1]);
    document = (batch ? measure_batch : measure_exercise)(&common, &own, &found);
    json_put(document, "laws", laws_json(&found));
    if (results_write(&common, document)) {
        laws_show(&found, json_object_get(document, "laws"), json_object_get(document, "results"));
        stopped_print(document);
    }
    json_decref(document);
    options_free(&common);
    stopped_leave();
    return EXIT_DONE;
}
