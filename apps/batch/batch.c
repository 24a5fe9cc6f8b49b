/* SPDX-License-Identifier: MIT
 *
 * flynn batch: many images, or their factors, go through a pipeline that keeps the device busy.
 *
 * batch.c reads the options, pipeline.c puts the stages together, stages.c and device.c do them, show.c shows the
 * result.
 */
#include "commands.h"
#include "inputs.h"
#include "pool.h"
#include "show.h"
#include "signals.h"

#include "harness/backends.h"
#include "harness/exercise.h"
#include "harness/machine.h"
#include "harness/results.h"
#include "support/fail.h"
#include "support/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_RANK = KEY_OWN,
    KEY_FOLDER,
    KEY_PIPELINE,
    KEY_FACTORS,
    KEY_SYNTHETIC,
    KEY_RESUME,
    KEY_THREADS,
    KEY_CHUNK,
    KEY_DECOMPOSE,
    KEY_SVD
};
enum {
    COURSE_COUNT = 256,
    COURSE_EDGE = 512,
    COURSE_RANK = 100,
    MOST_PIPELINES = 8,
    MOST_THREADS = 1024,
    DEFAULT_STREAMS = 6,
    CHUNK_IMAGES = 16,
    MOST_CHUNK = 1 << 20,
    CHUNKS_A_STREAM = 4,
    LARGEST_EDGE = 1 << 16,
};
static const int64_t least_chunk_bytes = 1 << 20, most_chunk_bytes = 16 << 20, most_factor_bytes = (int64_t)1 << 30;

/* One of --pipeline. */
typedef struct pipeline_choice {
    pipeline_mode mode;
    int streams;
} pipeline_choice;

typedef struct batch_options {
    int64_t rank; /* 0: not given */
    const char *folder, *factors;
    int64_t synthetic[3]; /* all 0: not given */
    bool resume;
    int64_t threads, chunk;
    const char *decompose_on, *svd;
    int pipeline_count;
    pipeline_choice pipelines[MOST_PIPELINES];
    const char **files;
    int file_count;
} batch_options;

static const struct argp_option own_options[] = {
    {"rank", KEY_RANK, "K", 0, "How many singular values to keep (default: 100, or all where there are fewer)", 0},
    {"output-dir", KEY_FOLDER, "DIR", 0, "Write each result into this folder, which is made, under its input's name",
     0},
    {"pipeline", KEY_PIPELINE, "MODE[,MODE...]|all", 0,
     "one-by-one, pinned, streams[:N], full[:N], with N chunks on the device at a time (default: full)", 0},
    {"factors", KEY_FACTORS, "DIR", 0,
     "Reconstruct from u.npy, s.npy and vt.npy in each folder of DIR, or in DIR itself, as `flynn svd --factors` "
     "writes "
     "them",
     0},
    {"synthetic", KEY_SYNTHETIC, "NxHxW", 0, "Reconstruct N matrices from factors that are made here", 0},
    {"resume", KEY_RESUME, NULL, 0, "Only what is not in --output-dir yet", 0},
    {"threads", KEY_THREADS, "N", 0,
     "Threads that decompose in mode full; as many encode, a quarter of them decode (default: those of --backend's "
     "processor, or all that the process may use)",
     0},
    {"chunk", KEY_CHUNK, "N", 0,
     "Matrices that are copied and reconstructed at once (default: of images up to 16 and 1 MiB, else 1 to 16 MiB)", 0},
    {"decompose-on", KEY_DECOMPOSE, "SPEC", 0, "Backend that decomposes (default: simd, one core for each image)", 0},
    {"svd", KEY_SVD, "NAME", 0, "Variant that decomposes (default: auto, exact; randomized is not)", 0},
    {0},
};

/* "streams:8" */
static pipeline_choice parse_pipeline(const char *word)
{
    pipeline_choice choice = {.streams = DEFAULT_STREAMS};
    char name[32];
    const char *colon = strchr(word, ':');
    const size_t length = colon ? (size_t)(colon - word) : strlen(word);

    snprintf(name, sizeof name, "%.*s", (int)length, word);
    choice.mode = (pipeline_mode)option_choice("pipeline", name, pipeline_mode_names, 4);
    if (colon && choice.mode < PIPELINE_STREAMS)
        option_fail("pipeline", "'%s': %s takes no number, since it has one chunk at a time", word, name);
    if (colon)
        choice.streams = (int)option_integer("pipeline", colon + 1, 1, MOST_SLOTS);
    return choice;
}

static void parse_pipelines(const char *value, batch_options *own)
{
    char *words = strdup(value), *rest = words, *word;

    own->pipeline_count = 0;
    if (strcmp(value, "all") == 0) {
        for (int mode = 0; mode <= PIPELINE_FULL; mode++)
            own->pipelines[own->pipeline_count++] = (pipeline_choice){(pipeline_mode)mode, DEFAULT_STREAMS};
        rest = NULL;
    }
    while (own->pipeline_count < MOST_PIPELINES && (word = strsep(&rest, ",")))
        own->pipelines[own->pipeline_count++] = parse_pipeline(word);
    if (rest)
        option_fail("pipeline", "'%s' has too many pipelines; expected at most %d", value, MOST_PIPELINES);
    free(words);
}

static void add_file(batch_options *own, const char *file)
{
    own->files = reallocate((void *)own->files, (size_t)(own->file_count + 1), sizeof *own->files);
    own->files[own->file_count++] = file;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    batch_options *own = state->input;

    switch (key) {
    case KEY_RANK: own->rank = option_integer("rank", value, 1, INT32_MAX); return 0;
    case KEY_FOLDER: own->folder = value; return 0;
    case KEY_PIPELINE: parse_pipelines(value, own); return 0;
    case KEY_FACTORS: own->factors = value; return 0;
    case KEY_SYNTHETIC:
        option_numbers("synthetic", value, 3, 3, "NxHxW, such as 256x512x512", own->synthetic);
        return 0;
    case KEY_RESUME: own->resume = true; return 0;
    case KEY_THREADS: own->threads = option_integer("threads", value, 1, MOST_THREADS); return 0;
    case KEY_CHUNK: own->chunk = option_integer("chunk", value, 1, MOST_CHUNK); return 0;
    case KEY_DECOMPOSE: own->decompose_on = value; return 0;
    case KEY_SVD: own->svd = value; return 0;
    case ARGP_KEY_ARG: add_file(own, value); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char summary_text[] =
    "Reconstructs many images from their K leading singular values and vectors, as a pipeline: read and decode, "
    "decompose, copy, reconstruct, copy back, check, encode and write.\v"
    "Images are PNGs of any sizes, grey or in colour, of 8 or 16 bits; each is normalised by channel to (x - min) / "
    "(max - min) and written back in its own range, depth and name. One that cannot be read is reported, and the "
    "others "
    "go on. Without a file: --synthetic=256x512x512. Exit status 1 if an image failed.";

/* ------------------------------------------------------------------------------------------------ running ---- */

/* What all runs of the command share. */
typedef struct batch_command {
    const common_options *common;
    const batch_options *own;
    backend_list backends;
    fl_device *decompose_on;
    batch_source source;
    bool in_memory; /* factors are in memory before the clock starts */
    batch_summary summary;
} batch_command;

static int threads_for(const batch_command *c, const fl_device_info *info)
{
    const int machine = machine_threads();

    if (c->own->threads > 0)
        return (int)c->own->threads;
    if (info->host_memory && info->threads > 0)
        return info->threads;
    return machine > 0 ? machine : 1;
}

/* Puts the factors into memory that suits the device and the pipeline. */
static void fill_pool(batch_command *c, batch_pool *pool)
{
    if (c->source.kind == BATCH_SYNTHETIC)
        batch_pool_make(pool, &c->summary.shape, c->source.count, c->common->seed);
    else if (c->in_memory)
        batch_pool_read(pool, c->source.inputs, c->source.count, c->own->rank);
    c->source.ready = pool->items;
    c->source.distinct = pool->count;
    c->summary.pool_bytes = pool->bytes;
}

/* Bytes of a chunk's results: images come one by one from their decomposition, so that waiting for many gains nothing;
 * random matrices get some chunks for each stream, unless chunks would be too small. */
static int64_t bytes_of_chunk(const batch_command *c, int streams)
{
    const int64_t all = c->source.count * (int64_t)bytes_of_array(&c->summary.shape, RESULT),
                  part = all / (CHUNKS_A_STREAM * (int64_t)streams);

    if (c->source.kind != BATCH_SYNTHETIC)
        return c->source.kind == BATCH_IMAGES ? least_chunk_bytes : most_chunk_bytes;
    return part < least_chunk_bytes ? least_chunk_bytes : part > most_chunk_bytes ? most_chunk_bytes : part;
}

/* In mode full on a CPU the threads decompose and encode: one of them reconstructs, since a team would wait for its
 * busy members. NULL: the backend's own device reconstructs. */
static fl_device *open_one_thread(const batch_command *c, const fl_device_info *info, pipeline_mode mode)
{
    char resource[64];
    fl_device *device;

    if (!info->host_memory || info->threads < 2 || mode != PIPELINE_FULL || c->in_memory)
        return NULL;
    snprintf(resource, sizeof resource, "%s:1%s%s", info->backend, info->isa[0] ? ":" : "", info->isa);
    must(fl_device_open(resource, &device));
    return device;
}

static void run_one(batch_command *c, const open_backend *backend, pipeline_choice choice, batch_run *run)
{
    const fl_device_info *info = fl_device_describe(backend->device);
    const common_options *common = c->common;
    const bool pinned = choice.mode > PIPELINE_ONE_BY_ONE && !common->pageable;
    const int64_t chunk = c->in_memory ? c->source.count : CHUNK_IMAGES;
    batch_pool pool = {.device = backend->device, .pinned = pinned};
    fl_device *one_thread = open_one_thread(c, info, choice.mode);
    device_plan device = {.device = one_thread ? one_thread : backend->device,
                          .variant = common->has_variant ? common->variant : NULL,
                          .slots = choice.streams,
                          .chunk = c->own->chunk ? c->own->chunk : chunk,
                          .chunk_bytes = c->own->chunk ? INT64_MAX : bytes_of_chunk(c, choice.streams),
                          .pinned = pinned};
    pipeline_plan plan = {.mode = choice.mode,
                          .source = &c->source,
                          .device = &device,
                          .decompose_on = c->decompose_on,
                          .decompose_variant = c->own->svd,
                          .writes = backend == c->backends.open,
                          .prints_files = c->summary.count == 1,
                          .rank = c->own->rank,
                          .seed = common->seed,
                          .threads = threads_for(c, info),
                          .timing = measure_plan_of(common)};

    memcpy(device.block, common->block, sizeof device.block);
    fill_pool(c, &pool);
    *run = (batch_run){.backend = backend, .link = link_measure(backend->device), .threads = plan.threads};
    snprintf(run->reconstruct_on, sizeof run->reconstruct_on, "%s", fl_device_describe(device.device)->resource);
    run->report = pipeline_run(&plan);
    fl_device_close(one_thread);
    if (c->in_memory)
        batch_pool_free(&pool);
}

/* Every pipeline on every backend, until one ends early. */
static void run_all(batch_command *c)
{
    batch_summary *s = &c->summary;
    bool ended = false;

    s->runs = allocate((size_t)(c->backends.count * c->own->pipeline_count), sizeof *s->runs);
    for (int b = 0; b < c->backends.count; b++)
        for (int i = 0; i < c->own->pipeline_count && !ended; i++) {
            batch_run *run = &s->runs[s->count++];
            run_one(c, &c->backends.open[b], c->own->pipelines[i], run);
            ended = run->report.broken || run->report.interrupted;
        }
}

/* Prints how far a batch that ended early got; the exit code. */
static int report_end(const batch_summary *s)
{
    int code = EXIT_DONE;

    for (int i = 0; i < s->count; i++) {
        const pipeline_report *r = &s->runs[i].report;
        const int64_t there = r->done + r->already_there;
        const char *others = s->source->outputs && there < s->source->count ? "; --resume does the others" : "";
        if (r->broken || r->interrupted)
            print_error("%s; %" PRId64 " of %" PRId64 " are done%s", r->broken ? r->why.text : "ended by a signal",
                        there, s->source->count, others);
        if (code == EXIT_DONE && r->broken)
            code = r->why.exit_code;
        else if (code == EXIT_DONE && !batch_is_right(s, &s->runs[i]))
            code = EXIT_WRONG_RESULT;
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------- what to do ---- */

static void take_synthetic(batch_command *c, batch_options *own)
{
    const common_options *common = c->common;
    const int64_t edge = common->size ? common->size : COURSE_EDGE, course[] = {COURSE_COUNT, edge, edge};
    int64_t least, *n = own->synthetic;

    if (n[0] == 0)
        memcpy(n, course, sizeof course);
    else if (common->size)
        fail(EXIT_BAD_INPUT, "--size: has no effect: --synthetic has a size of its own");
    if (common->has_dtype && common->dtype != FL_F32 && common->dtype != FL_F64)
        fail(EXIT_BAD_INPUT, "--dtype: batch computes in f32 and f64, not in %s", fl_dtype_name(common->dtype));
    if (own->folder)
        fail(EXIT_BAD_INPUT, "--output-dir: has no effect: random matrices are not written");
    least = n[1] < n[2] ? n[1] : n[2];
    if (n[1] > LARGEST_EDGE || n[2] > LARGEST_EDGE || n[0] > INT32_MAX)
        fail(EXIT_BAD_INPUT, "--synthetic: %" PRId64 "x%" PRId64 "x%" PRId64 " is too large; expected at most %dx%dx%d",
             n[0], n[1], n[2], INT32_MAX, LARGEST_EDGE, LARGEST_EDGE);
    if (own->rank > least)
        fail(EXIT_BAD_INPUT,
             "a matrix of %" PRId64 "x%" PRId64 " has %" PRId64 " singular values; --rank=%" PRId64 " asks for more",
             n[1], n[2], least, own->rank);
    c->source = (batch_source){.kind = BATCH_SYNTHETIC, .count = n[0]};
    c->in_memory = true;
    c->summary.shape = (matrix_shape){common->has_dtype ? common->dtype : FL_F32, n[1], n[2],
                                      own->rank             ? own->rank
                                      : least < COURSE_RANK ? least
                                                            : COURSE_RANK};
}

static void take_source(batch_command *c, batch_options *own)
{
    const bool synthetic = own->synthetic[0] > 0;

    if (own->factors && own->file_count > 0)
        fail(EXIT_BAD_INPUT, "'%s': images and --factors exclude each other", own->files[0]);
    if (synthetic && (own->file_count > 0 || own->factors))
        fail(EXIT_BAD_INPUT, "--synthetic: excludes %s", own->factors ? "--factors" : "images");
    if (own->resume && !own->folder)
        fail(EXIT_BAD_INPUT, "--resume: has no effect without --output-dir; expected --output-dir=DIR as well");
    if (!own->factors && own->file_count == 0) {
        take_synthetic(c, own);
        return;
    }
    if (c->common->size || c->common->has_dtype)
        fail(EXIT_BAD_INPUT, "--%s: has no effect: it is for random matrices", c->common->size ? "size" : "dtype");
    c->source = own->factors ? inputs_factors(own->factors) : inputs_images(own->files, own->file_count);
    c->summary.shape = (matrix_shape){.dtype = FL_F32, .rank = own->rank};
    if (own->folder)
        inputs_name_outputs(&c->source, own->folder, own->resume);
    c->in_memory = own->factors && inputs_bytes(&c->source) <= most_factor_bytes;
    if (own->factors && !c->in_memory)
        note("the factors are larger than %" PRId64 " MiB: the times include reading them", most_factor_bytes >> 20);
}

/* Fails before any image does if the device cannot decompose by that variant. */
static void try_decomposing(fl_device *device, const char *variant)
{
    static const int64_t shape[] = {1, 1};
    static const float one = 1;
    fl_array *a, *factors[FACTORS];

    must(fl_array_from_host(device, FL_F32, 2, shape, &one, &a));
    for (int i = 0; i < FACTORS; i++)
        must(fl_array_create(device, FL_F32, i == 1 ? 1 : 2, shape, &factors[i]));
    must(fl_svd(device, a, 1, factors[0], factors[1], factors[2], &(fl_run){.variant = variant}));
    must(fl_device_wait(device));
    for (int i = 0; i < FACTORS; i++)
        fl_array_free(factors[i]);
    fl_array_free(a);
}

/* A processor's core for each thread decomposes, unless another backend was named. */
static void open_decomposer(batch_command *c)
{
    const char *named = c->own->decompose_on;
    fl_status status;

    if (c->source.kind != BATCH_IMAGES)
        return;
    status = fl_device_open(named ? named : "simd", &c->decompose_on);
    if (status != FL_OK && !named)
        status = fl_device_open("serial", &c->decompose_on);
    must(status);
    try_decomposing(c->decompose_on, c->own->svd);
    c->summary.decompose_on = fl_device_describe(c->decompose_on)->resource;
}

static void free_all(batch_command *c)
{
    for (int i = 0; i < c->summary.count; i++)
        pipeline_report_free(&c->summary.runs[i].report);
    free(c->summary.runs);
    inputs_free(&c->source);
    fl_device_close(c->decompose_on);
    backends_close(&c->backends);
}

int command_batch(int argc, char **argv)
{
    batch_options own = {.pipeline_count = 1, .pipelines = {{PIPELINE_FULL, DEFAULT_STREAMS}}};
    const command_line line = {
        "flynn batch", "[IMAGE.png...]", summary_text, TAKES_BACKEND | TAKES_RUN | TAKES_JSON, own_options, parse,
        &own};
    common_options common;
    int code;

    options_parse(&line, argc, argv, &common);
    batch_command c = {.common = &common, .own = &own, .backends = backends_open(&common)};
    take_source(&c, &own);
    open_decomposer(&c);
    if (own.folder)
        inputs_make_folder(own.folder);
    signals_catch();
    c.summary.source = &c.source;
    c.summary.common = &common;
    c.summary.backends = &c.backends;
    run_all(&c);
    code = report_end(&c.summary);
    batch_show(&c.summary);

    free_all(&c);
    free((void *)own.files);
    options_free(&common);
    if (signals_caught()) {
        fflush(stdout);
        signals_raise(signals_caught());
    }
    return code;
}
