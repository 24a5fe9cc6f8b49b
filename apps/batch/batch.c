/* SPDX-License-Identifier: MIT
 *
 * flynn batch: many images, or their factors, through a pipeline that keeps the device busy.
 */
#include "commands.h"
#include "pool.h"
#include "show.h"

#include "harness/backends.h"
#include "harness/exercise.h"
#include "harness/machine.h"
#include "harness/results.h"
#include "support/fail.h"
#include "support/options.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    COURSE_COUNT = 256,
    COURSE_EDGE = 512,
    COURSE_RANK = 100,
    MODES = 4,
    MOST_PIPELINES = 8,
    MOST_THREADS = 1024,
    DEFAULT_STREAMS = 6,
    CHUNK_IMAGES = 16,
    MOST_CHUNK = 1 << 20,
    CHUNKS_A_STREAM = 4,
    LARGEST_EDGE = 1 << 16,
};
static const int64_t least_chunk_bytes = 1 << 20, most_chunk_bytes = 16 << 20, factor_bytes_most = (int64_t)1 << 30;

/* One of --pipeline. */
typedef struct pipeline_choice {
    pipeline_mode mode;
    int streams;
} pipeline_choice;

/* What only this command has. */
typedef struct batch_options {
    const char **files;
    int64_t file_count;
    int64_t rank; /* 0: not given */
    const char *folder, *factors;
    int64_t synthetic[3]; /* all 0: not given */
    bool resume;
    int64_t threads, chunk;
    const char *decompose_on, *svd;
    int pipeline_count;
    pipeline_choice pipelines[MOST_PIPELINES];
} batch_options;

static const char *const mode_words[] = {"one-by-one", "pinned", "streams", "full", NULL};

/* "streams:8" */
static pipeline_choice parse_pipeline(const char *word)
{
    pipeline_choice choice = {.streams = DEFAULT_STREAMS};
    char name[32];
    const char *colon = strchr(word, ':');
    const size_t length = colon ? (size_t)(colon - word) : strlen(word);

    snprintf(name, sizeof name, "%.*s", (int)length, word);
    choice.mode = (pipeline_mode)option_choice("pipeline", name, mode_words);
    if (colon && choice.mode < PIPELINE_STREAMS)
        option_fail("pipeline", "'%s': %s has one chunk at a time; expected no number", word, name);
    if (colon)
        choice.streams = (int)option_integer("pipeline", colon + 1, 1, MOST_SLOTS);
    return choice;
}

static void parse_pipelines(const char *option, const char *value, void *options)
{
    batch_options *own = options;
    char *words = strdup(value), *rest = words, *word;

    if (!words)
        fail(EXIT_BROKEN, "out of host memory");
    own->pipeline_count = 0;
    if (strcmp(value, "all") == 0) {
        for (int mode = 0; mode < MODES; mode++)
            own->pipelines[own->pipeline_count++] = (pipeline_choice){(pipeline_mode)mode, DEFAULT_STREAMS};
        rest = NULL;
    }
    while (own->pipeline_count < MOST_PIPELINES && (word = strsep(&rest, ",")))
        own->pipelines[own->pipeline_count++] = parse_pipeline(word);
    if (rest)
        option_fail(option, "'%s': too many; expected at most %d", value, MOST_PIPELINES);
    free(words);
}

static void add_file(batch_options *own, const char *file)
{
    const char **grown = realloc(own->files, (size_t)(own->file_count + 1) * sizeof *grown);

    if (!grown)
        fail(EXIT_BROKEN, "out of host memory");
    own->files = grown;
    own->files[own->file_count++] = file;
}

static const own_option own_options[] = {
    {"rank", OPTION_INTEGER, offsetof(batch_options, rank), "K",
     .help = "How many singular values to keep (default: 100, or all where there are fewer)", .least = 1,
     .most = INT32_MAX},
    {"output-dir", OPTION_TEXT, offsetof(batch_options, folder), "DIR",
     .help = "Write each result into this folder, which is made, under its input's name"},
    {"pipeline", OPTION_CUSTOM, 0, "MODE[,MODE...]|all",
     .help = "one-by-one, pinned, streams[:N], full[:N], with N chunks on the device at a time (default: full)",
     .parse = parse_pipelines},
    {"factors", OPTION_TEXT, offsetof(batch_options, factors), "DIR",
     .help = "Reconstruct from u.npy, s.npy and vt.npy in each folder of DIR, or in DIR itself, as `flynn svd "
             "--factors` writes them"},
    {"synthetic", OPTION_NUMBERS, offsetof(batch_options, synthetic), "NxHxW",
     .help = "Reconstruct N matrices from factors that are made here", .least = 3, .most = 3},
    {"resume", OPTION_FLAG, offsetof(batch_options, resume), .help = "Only what is not in --output-dir yet",
     .needs = "output-dir"},
    {"threads", OPTION_INTEGER, offsetof(batch_options, threads), "N",
     .help = "Threads that decompose in mode full; as many encode, a quarter of them decode (default: those of "
             "--backend's processor, or all that the process may use)",
     .least = 1, .most = MOST_THREADS},
    {"chunk", OPTION_INTEGER, offsetof(batch_options, chunk), "N",
     .help = "Matrices that are copied and reconstructed at once (default: of images up to 16 and 1 MiB, else 1 to 16 "
             "MiB)",
     .least = 1, .most = MOST_CHUNK},
    {"decompose-on", OPTION_TEXT, offsetof(batch_options, decompose_on), "SPEC",
     .help = "Backend that decomposes (default: simd, one core for each image)"},
    {"svd", OPTION_TEXT, offsetof(batch_options, svd), "NAME",
     .help = "Variant that decomposes (default: auto, exact; randomized is not)"},
    {0},
};

static const char summary_text[] =
    "Reconstructs many images from their K leading singular values and vectors, as a pipeline: read and decode, "
    "decompose, copy, reconstruct, copy back, check, encode and write.\v"
    "Images are PNGs of any sizes, grey or in colour, of 8 or 16 bits; each is normalised by channel to (x - min) / "
    "(max - min) and written back in its own range, depth and name. One that cannot be read is reported, and the "
    "others "
    "go on. Without a file: --synthetic=256x512x512. Exit status 1 if an image failed.";

/* ----------------------------------------------------------------------------------------------- sources ---- */

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static char *text_of(const char *format, const char *a, const char *b, const char *c)
{
    const size_t size = strlen(a) + strlen(b) + strlen(c) + 8;
    char *text = malloc(size);

    if (!text)
        fail(EXIT_BROKEN, "out of host memory");
    snprintf(text, size, format, a, b, c);
    return text;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_file(const char *folder, const char *name)
{
    struct stat info;
    char *path = text_of("%s/%s%s", folder, name, "");
    const bool found = stat(path, &info) == 0 && S_ISREG(info.st_mode);

    free(path);
    return found;
}

/* The folders with factors in DIR, or DIR itself. */
static void find_factors(batch_options *own)
{
    DIR *folder;
    struct dirent *entry;

    if (own->file_count > 0)
        fail(EXIT_BAD_INPUT, "'%s': images and --factors do not go together", own->files[0]);
    if (is_file(own->factors, "u.npy")) {
        add_file(own, own->factors);
        return;
    }
    folder = opendir(own->factors);
    if (!folder)
        fail(EXIT_BAD_INPUT, "--factors: %s: %s; expected a folder", own->factors, strerror(errno));
    while ((entry = readdir(folder))) {
        char *path = text_of("%s/%s%s", own->factors, entry->d_name, "");
        if (entry->d_name[0] != '.' && is_file(path, "u.npy"))
            add_file(own, path);
        else
            free(path);
    }
    closedir(folder);
    if (own->file_count == 0)
        fail(EXIT_BAD_INPUT, "--factors: %s: neither it nor a folder in it has a u.npy", own->factors);
    qsort(own->files, (size_t)own->file_count, sizeof *own->files, by_name);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* No two results have one name, and none replaces an input. */
static void check_names(const batch_options *own, const char *const *outputs)
{
    const char **sorted = malloc((size_t)(own->file_count + 1) * sizeof *sorted);

    if (!sorted)
        fail(EXIT_BROKEN, "out of host memory");
    memcpy(sorted, outputs, (size_t)own->file_count * sizeof *sorted);
    qsort(sorted, (size_t)own->file_count, sizeof *sorted, by_name);
    for (int64_t i = 0; i + 1 < own->file_count; i++)
        if (strcmp(sorted[i], sorted[i + 1]) == 0)
            fail(EXIT_BAD_INPUT, "%s: two inputs have this result; expected inputs of different names", sorted[i]);
    free(sorted);
    for (int64_t i = 0; i < own->file_count; i++)
        if (same_file(own->files[i], outputs[i]))
            fail(EXIT_BAD_INPUT, "%s: is an input, and would be replaced by its result; expected another --output-dir",
                 outputs[i]);
}

/* A folder's result has its name, also that of "." and of "factors/". */
static char *name_of_factors(const batch_options *own, const char *input)
{
    char *whole = realpath(input, NULL), *name;

    if (!whole)
        fail(EXIT_BAD_INPUT, "%s: %s", input, strerror(errno));
    name = text_of("%s/%s%s", own->folder, last_name(whole), ".npy");
    free(whole);
    return name;
}

/* Where each result goes; NULL for those that are there already and are not wanted again. */
static const char **make_outputs(const batch_options *own, batch_kind kind)
{
    const char **outputs;

    if (!own->folder)
        return NULL;
    outputs = calloc((size_t)own->file_count + 1, sizeof *outputs);
    if (!outputs)
        fail(EXIT_BROKEN, "out of host memory");
    for (int64_t i = 0; i < own->file_count; i++)
        outputs[i] = kind == BATCH_FACTORS ? name_of_factors(own, own->files[i])
                                           : text_of("%s/%s%s", own->folder, last_name(own->files[i]), "");
    check_names(own, outputs);
    for (int64_t i = 0; i < own->file_count && own->resume; i++)
        if (is_file(own->folder, last_name(outputs[i]))) {
            free((char *)outputs[i]);
            outputs[i] = NULL;
        }
    return outputs;
}

/* Once nothing is left that could be refused. */
static void make_folder(const char *folder)
{
    struct stat info;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        fail(EXIT_BAD_INPUT, "--output-dir: %s: cannot make this folder: %s", folder, strerror(errno));
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        fail(EXIT_BAD_INPUT, "--output-dir: %s: is no folder", folder);
}

/* What the factors' files hold, in bytes. */
static int64_t size_of_factors(const batch_options *own)
{
    static const char *const names[FACTORS] = {"u.npy", "s.npy", "vt.npy"};
    int64_t bytes = 0;

    for (int64_t n = 0; n < own->file_count; n++)
        for (int i = 0; i < FACTORS; i++) {
            char *path = text_of("%s/%s%s", own->files[n], names[i], "");
            struct stat info;
            bytes += stat(path, &info) == 0 ? info.st_size : 0;
            free(path);
        }
    return bytes;
}

/* ------------------------------------------------------------------------------------------------ running ---- */

/* What all runs of the command share. */
typedef struct batch_command {
    const common_options *common;
    const batch_options *own;
    backend_list *backends;
    fl_device *decompose_on;
    batch_source source;
    batch_item like; /* a synthetic matrix */
    bool ready;      /* factors are in memory before the clock starts */
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

/* Fills the pool for the device and a pipeline, where the batch has one. */
static void start_pool(batch_command *c, batch_pool *pool)
{
    if (c->source.kind == BATCH_SYNTHETIC)
        batch_pool_make(pool, &c->like, c->source.count, c->common->seed);
    else if (c->ready)
        batch_pool_read(pool, c->own->files, c->own->file_count, c->own->rank);
    c->source.ready = pool->items;
    if (pool->count > 0 && pool->items[0].state == ITEM_GOES_ON)
        c->summary.dtype = pool->items[0].dtype;
    c->source.distinct = pool->count;
    c->summary.pool_bytes = pool->bytes;
}

/* Bytes of a chunk's results: such that there are some chunks for each stream, where that leaves enough to do in each.
 */
static int64_t bytes_of_chunk(const batch_command *c, int streams)
{
    const int64_t all = c->source.count * (int64_t)item_result_bytes(&c->like),
                  part = all / (CHUNKS_A_STREAM * (int64_t)streams);

    if (c->source.kind == BATCH_IMAGES) /* they come one by one from those that decompose: waiting gains nothing */
        return least_chunk_bytes;
    if (c->source.kind == BATCH_FACTORS)
        return most_chunk_bytes;
    return part < least_chunk_bytes ? least_chunk_bytes : part > most_chunk_bytes ? most_chunk_bytes : part;
}

/* Where a processor's threads decompose and encode, they are spent: a reconstruction takes one of them, and does not
 * wait for a team whose members have other work. NULL: the backend's own device does it. */
static fl_device *open_one_thread(const batch_command *c, const fl_device_info *info, pipeline_mode mode)
{
    char resource[64];
    fl_device *device;

    if (!info->host_memory || info->threads < 2 || mode != PIPELINE_FULL || c->ready)
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
    batch_pool pool = {.device = backend->device, .pinned = pinned};
    fl_device *one_thread = open_one_thread(c, info, choice.mode);
    device_plan device = {.device = one_thread ? one_thread : backend->device,
                          .variant = common->has_variant ? common->variant : NULL,
                          .slots = choice.streams,
                          .chunk = c->own->chunk ? c->own->chunk
                                   : c->ready    ? c->source.count
                                                 : CHUNK_IMAGES,
                          .chunk_bytes = c->own->chunk ? INT64_MAX : bytes_of_chunk(c, choice.streams),
                          .pinned = pinned};
    pipeline_plan plan = {.mode = choice.mode,
                          .source = &c->source,
                          .device = &device,
                          .decompose_on = c->decompose_on,
                          .decompose_variant = c->own->svd,
                          .writes = backend == c->backends->open,
                          .rank = c->own->rank,
                          .seed = common->seed,
                          .threads = threads_for(c, info),
                          .timing = measure_plan_of(common)};

    memcpy(device.block, common->block, sizeof device.block);
    start_pool(c, &pool);
    *run = (batch_run){.backend = backend, .link = link_measure(backend->device), .threads = plan.threads};
    snprintf(run->reconstruct_on, sizeof run->reconstruct_on, "%s", fl_device_describe(device.device)->resource);
    run->report = pipeline_run(&plan);
    fl_device_close(one_thread);
    if (c->ready)
        batch_pool_free(&pool);
}

/* Every pipeline on every backend, until one is ended. */
static void run_all(batch_command *c)
{
    batch_summary *s = &c->summary;
    bool ended = false;

    s->runs = calloc((size_t)(c->backends->count * c->own->pipeline_count) + 1, sizeof *s->runs);
    if (!s->runs)
        fail(EXIT_BROKEN, "out of host memory");
    for (int b = 0; b < c->backends->count; b++)
        for (int i = 0; i < c->own->pipeline_count && !ended; i++) {
            batch_run *run = &s->runs[s->count++];
            run_one(c, &c->backends->open[b], c->own->pipelines[i], run);
            ended = run->report.broken || run->report.interrupted;
        }
}

static int exit_code(const batch_summary *s)
{
    for (int i = 0; i < s->count; i++) {
        const pipeline_report *r = &s->runs[i].report;
        if (r->broken)
            return r->why.exit_code;
        if (r->failed > 0 || (r->check.compared > 0 && !r->check.ok) || !batch_same_answers(s, &s->runs[i]))
            return EXIT_WRONG_RESULT;
    }
    return EXIT_DONE;
}

/* How far it came, on stderr, where it did not come to its end; and each image that failed: in a further pipeline only
 * what was wrong there, since files fail in each. */
static void tell_failures(const batch_summary *s)
{
    for (int i = 0; i < s->count; i++) {
        const pipeline_report *r = &s->runs[i].report;
        const int64_t there = r->done + r->already_there;
        const char *others = s->source->outputs && there < s->source->count ? ", --resume does the others" : "";
        for (int64_t f = 0; f < r->failed; f++)
            if (i == 0 || r->failures[f].wrong)
                print_error("%s", r->failures[f].message);
        if (r->broken)
            print_error("%s; %" PRId64 " of %" PRId64 " are done%s", r->why.text, there, s->source->count, others);
        else if (r->interrupted)
            print_error("ended by a signal; %" PRId64 " of %" PRId64 " are done%s", there, s->source->count, others);
    }
}

/* ---------------------------------------------------------------------------------------------- what to do ---- */

static void take_synthetic(batch_command *c, batch_options *own)
{
    const fl_dtype dtype = c->common->has_dtype ? c->common->dtype : FL_F32;
    const int64_t edge = c->common->size ? c->common->size : COURSE_EDGE, course[] = {COURSE_COUNT, edge, edge};
    int64_t least;

    if (own->synthetic[0] == 0)
        memcpy(own->synthetic, course, sizeof course);
    else if (c->common->size)
        fail(EXIT_BAD_INPUT, "--size: --synthetic has a size of its own");
    if (dtype != FL_F32 && dtype != FL_F64)
        fail(EXIT_BAD_INPUT, "--dtype: batch computes in f32 and f64, not in %s", fl_dtype_name(dtype));
    if (own->folder)
        fail(EXIT_BAD_INPUT, "--output-dir: matrices that are made here are not written");
    least = own->synthetic[1] < own->synthetic[2] ? own->synthetic[1] : own->synthetic[2];
    if (own->synthetic[1] > LARGEST_EDGE || own->synthetic[2] > LARGEST_EDGE || own->synthetic[0] > INT32_MAX)
        fail(EXIT_BAD_INPUT,
             "--synthetic: %" PRId64 " matrices of %" PRId64 "x%" PRId64
             " are too many or too large; expected at most %d "
             "of %dx%d",
             own->synthetic[0], own->synthetic[1], own->synthetic[2], INT32_MAX, LARGEST_EDGE, LARGEST_EDGE);
    if (own->rank > least)
        fail(EXIT_BAD_INPUT,
             "--rank: a matrix of %" PRId64 "x%" PRId64 " has no more than %" PRId64 " singular values, not %" PRId64,
             own->synthetic[1], own->synthetic[2], least, own->rank);
    if (own->rank == 0)
        own->rank = least < COURSE_RANK ? least : COURSE_RANK;
    c->source.kind = BATCH_SYNTHETIC;
    c->source.count = own->synthetic[0];
    c->like = (batch_item){.dtype = dtype,
                           .matrices = 1,
                           .rows = own->synthetic[1],
                           .columns = own->synthetic[2],
                           .rank = own->rank,
                           .check = compare_start()};
    c->ready = true;
    c->summary.rows = c->like.rows;
    c->summary.columns = c->like.columns;
}

static void take_source(batch_command *c, batch_options *own)
{
    if (own->synthetic[0] > 0 && (own->file_count > 0 || own->factors))
        fail(EXIT_BAD_INPUT, "--synthetic: does not go together with %s", own->factors ? "--factors" : "images");
    if (own->resume && !own->folder)
        fail(EXIT_BAD_INPUT, "--resume: expected --output-dir beside it: what is there is not done again");
    if (own->factors)
        find_factors(own);
    if (own->file_count == 0) {
        take_synthetic(c, own);
        return;
    }
    if (c->common->size || c->common->has_dtype)
        fail(EXIT_BAD_INPUT, "--%s: is for matrices that are made here", c->common->size ? "size" : "dtype");
    c->source.kind = own->factors ? BATCH_FACTORS : BATCH_IMAGES;
    c->source.count = own->file_count;
    c->source.inputs = own->files;
    c->source.outputs = make_outputs(own, c->source.kind);
    c->ready = own->factors && size_of_factors(own) <= factor_bytes_most;
    if (own->factors && !c->ready)
        note("the factors are more than %" PRId64 " MiB: reading them is part of the time", factor_bytes_most >> 20);
}

/* Can it decompose at all, and by that variant? One singular value, so that no image has to fail for that. */
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

/* What decomposes: a processor's core for each thread, unless another backend was named. */
static void open_decomposer(batch_command *c)
{
    const char *const tried[] = {c->own->decompose_on ? c->own->decompose_on : "simd", "serial"};
    fl_status status;

    if (c->source.kind != BATCH_IMAGES)
        return;
    status = fl_device_open(tried[0], &c->decompose_on);
    if (status != FL_OK && !c->own->decompose_on)
        status = fl_device_open(tried[1], &c->decompose_on);
    must(status);
    try_decomposing(c->decompose_on, c->own->svd);
    c->summary.decompose_on = fl_device_describe(c->decompose_on)->resource;
}

static void free_all(batch_command *c, batch_options *own)
{
    for (int i = 0; i < c->summary.count; i++)
        pipeline_report_free(&c->summary.runs[i].report);
    free(c->summary.runs);
    for (int64_t i = 0; i < own->file_count && c->source.outputs; i++)
        free((char *)c->source.outputs[i]);
    free((void *)c->source.outputs);
    for (int64_t i = 0; i < own->file_count && own->factors; i++)
        if (own->files[i] != own->factors)
            free((char *)own->files[i]);
    free((void *)own->files);
    fl_device_close(c->decompose_on);
}

int command_batch(int argc, char **argv)
{
    batch_options own = {.pipeline_count = 1, .pipelines = {{PIPELINE_FULL, DEFAULT_STREAMS}}};
    const command_line line = {"flynn batch",
                               "[IMAGE.png...]",
                               INT_MAX,
                               summary_text,
                               TAKES_BACKEND | TAKES_VARIANT | TAKES_SIZE | TAKES_BLOCK | TAKES_DTYPE | TAKES_SEED |
                                   TAKES_TIMING | TAKES_TRACE | TAKES_JSON,
                               own_options,
                               &own};
    common_options common;
    int code, signal_number;

    options_parse(&line, argc, argv, &common);
    for (int i = 0; i < common.argument_count; i++)
        add_file(&own, common.arguments[i]);
    backend_list backends = backends_open(&common); /* before any work: one that cannot run ends the command */
    batch_command c = {.common = &common, .own = &own, .backends = &backends};
    take_source(&c, &own);
    open_decomposer(&c);
    if (own.folder)
        make_folder(own.folder);
    pipeline_catch_signals();
    c.summary.source = &c.source;
    c.summary.common = &common;
    c.summary.backends = &backends;
    c.summary.rank = own.rank;
    c.summary.dtype = c.source.kind == BATCH_SYNTHETIC ? c.like.dtype : FL_F32;
    run_all(&c);
    tell_failures(&c.summary);
    batch_show(&c.summary);
    code = exit_code(&c.summary);
    signal_number = pipeline_signal();

    free_all(&c, &own);
    backends_close(&backends);
    options_free(&common);
    if (signal_number) { /* for whoever waits for this process: it ended by the signal */
        fflush(stdout);
        pipeline_let_signals_through();
        raise(signal_number);
    }
    return code;
}
