/* SPDX-License-Identifier: MIT
 *
 * flynn batch: many images, or their factors, go through a pipeline that keeps the device busy.
 *
 * batch.c reads the options, pipeline.c puts the stages together, stages.c and device.c do them, show.c shows the
 * result.
 */
#include "batch.h"
#include "columns.h"
#include "commands.h"
#include "distributed.h"

#include "run/exercise.h"
#include "ranks/launch.h"
#include "kept/machine.h"
#include "support/processors.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/signals.h"
#include "view/titles.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 1024, DEFAULT_STREAMS = 6, CHUNK_IMAGES = 16, MOST_CHUNK = 1 << 20, CHUNKS_A_STREAM = 4 };
static const int64_t least_chunk_bytes = 1 << 20, most_chunk_bytes = 16 << 20;

/* "streams:8" */
static pipeline_choice parse_pipeline(const char *option, const char *word)
{
    pipeline_choice choice = {.streams = DEFAULT_STREAMS};
    const char *colon = strchr(word, ':');
    char name[32];

    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - word : (ptrdiff_t)strlen(word)), word);
    choice.mode = (pipeline_mode)option_choice(option, name, pipeline_mode_names);
    if (colon && choice.mode < PIPELINE_STREAMS)
        option_fail(option, "'%s': %s takes no number, since it has one chunk at a time", word, name);
    if (colon)
        choice.streams = (int)option_integer(option, colon + 1, 1, MOST_SLOTS);
    return choice;
}

static void parse_pipelines(const char *option, const char *value, void *user)
{
    batch_options *own = user;
    char *words = memory_text(strcmp(value, "all") == 0 ? "one-by-one,pinned,streams,full" : value), *rest = words,
         *word;

    own->pipeline_count = 0;
    while (own->pipeline_count < MOST_PIPELINES && (word = strsep(&rest, ",")))
        own->pipelines[own->pipeline_count++] = parse_pipeline(option, word);
    if (rest)
        option_fail(option, "'%s' has too many pipelines; expected at most %d", value, MOST_PIPELINES);
    free(words);
}

static const own_option own_options[] = {
    {"keep", OPTION_INTEGER, offsetof(batch_options, keep), "K",
     .help = "Components (singular values) to keep (100, or all)", .least = 1, .most = INT32_MAX, .letter = 'k',
     .also = "components"},
    {"output-dir", OPTION_TEXT, offsetof(batch_options, folder), "DIR",
     .help = "Write each result to this folder under its name\vThe folder is made if needed."},
    {"pipeline", OPTION_CUSTOM, 0, "MODE,...",
     .help = "one-by-one, pinned, streams[:N], full[:N] or all\vWith N chunks on the device at a time; default: "
             "full.",
     .parse = parse_pipelines},
    {"factors", OPTION_TEXT, offsetof(batch_options, factors), "DIR",
     .help = "Reconstruct from the factors in DIR, or its folders\vu.npy, s.npy and vt.npy, as `flynn svd --factors` "
             "writes them, in DIR or in each folder in DIR.",
     .void_with = 1},
    {"synthetic", OPTION_NUMBERS, offsetof(batch_options, synthetic), "NxHxW",
     .help = "Reconstruct N random matrices of HxW (256x512x512)", .least = 3, .most = 3, .void_with = 1},
    {"resume", OPTION_FLAG, offsetof(batch_options, resume),
     .help = "Skip inputs whose result is in --output-dir already", .needs = "output-dir"},
    {"threads", OPTION_INTEGER, offsetof(batch_options, threads), "N",
     .help = "Threads that decompose in mode full\vAs many encode, and a quarter of them decode. Default: those of "
             "--backend's processor, or all that the process may use.",
     .least = 1, .most = MOST_THREADS},
    {"chunk", OPTION_INTEGER, offsetof(batch_options, chunk), "N",
     .help = "Matrices that are reconstructed at once\vIn modes streams and full. Default: of images up to "
             "16 with 1 MiB, else 1 to 16 MiB.",
     .least = 1, .most = MOST_CHUNK},
    {"decompose-on", OPTION_TEXT, offsetof(batch_options, decompose_on), "SPEC",
     .help = "Backend that decomposes images, one core for each\vDefault: the first processor that --backend names; "
             "serial if it names GPUs alone; simd for auto and all."},
    {"svd", OPTION_TEXT, offsetof(batch_options, svd), "NAME",
     .help = "Variant of svd that decomposes images\vDefault: auto, which is exact; randomized is approximate."},
    {0},
};

static const unsigned taken = TAKES_BACKEND | TAKES_TRACE | TAKES_VARIANT | TAKES_BLOCK | TAKES_SIZE | TAKES_DTYPE |
                              TAKES_SEED | (TAKES_TIMING & ~TAKES_FLUSH) | TAKES_JSON | TAKES_TABLE | TAKES_FILES |
                              TAKES_MAX_MEMORY | TAKES_RANKS;

static const char summary_text[] =
    "Reconstructs many images from their K leading singular values and vectors.\v"
    "The pipeline: read and decode, decompose, copy, reconstruct, copy back, check, encode and write. Images are PNGs, "
    "or "
    "all .png of a folder, of any sizes, grey or in colour, of 8 or 16 bits. Each channel is normalised to (x - min) / "
    "(max - min) and written back in its own range; an image keeps its depth and its name. One that cannot be read is "
    "reported, and the others go on. Exit status 1 if an image is bad, 4 if the machine could not do one.\v"
    "mri/ --output-dir=out\tyour own images\n";

static int threads_for(const batch_command *c, const fl_device_info *info)
{
    const int machine = processors_count();

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
        batch_pool_make(pool, &c->source.shape, c->source.count, c->common->seed);
    else if (c->source.in_memory)
        batch_pool_read(pool, c->source.inputs, c->source.count, c->own->keep);
    c->source.ready = pool->items;
    c->source.distinct = pool->count;
    c->pool_bytes = pool->bytes;
}

/* Bytes of a chunk's results: images come one by one from their decomposition, so that waiting for many gains nothing;
 * random matrices get some chunks for each stream, unless chunks would be too small. */
static int64_t bytes_of_chunk(const batch_command *c, int streams)
{
    const int64_t all = c->source.count * (int64_t)bytes_of_array(&c->source.shape, RESULT),
                  part = all / (CHUNKS_A_STREAM * (int64_t)streams);

    if (c->source.kind != BATCH_SYNTHETIC)
        return c->source.kind == BATCH_IMAGES ? least_chunk_bytes : most_chunk_bytes;
    return part < least_chunk_bytes ? least_chunk_bytes : part > most_chunk_bytes ? most_chunk_bytes : part;
}

typedef char one_thread_resource[64];

/* The name of the same processor with one thread. */
static const char *name_one_thread(const fl_device_info *info, one_thread_resource *resource)
{
    if (info->threads < 2)
        return info->resource;
    snprintf(*resource, sizeof *resource, "%s:1%s%s", info->backend, info->isa[0] ? ":" : "", info->isa);
    return *resource;
}

/* In mode full on a CPU the threads decompose and encode: one of them reconstructs, since a team would wait for its
 * busy members. NULL: the backend's own device reconstructs. */
static fl_device *open_one_thread(const batch_command *c, const fl_device_info *info, pipeline_mode mode)
{
    one_thread_resource resource;
    fl_device *device;

    if (!info->host_memory || info->threads < 2 || mode != PIPELINE_FULL || c->source.in_memory)
        return NULL;
    must(backend_open(name_one_thread(info, &resource), &device));
    return device;
}

/* Where images are decomposed: on one thread of the first processor that --backend names, on serial if it names GPUs
 * alone, so that no other plugin is loaded; NULL: nothing is named, and the best is taken. */
static const char *place_to_decompose(const batch_command *c, one_thread_resource *resource)
{
    if (c->own->decompose_on)
        return c->own->decompose_on;
    for (int i = 0; i < c->backends.count; i++) {
        const fl_device_info *info = fl_device_describe(c->backends.open[i].device);
        if (c->common->all_backends || strcmp(c->backends.open[i].requested, "auto") == 0)
            return NULL;
        if (info->host_memory && !info->emulation)
            return name_one_thread(info, resource);
    }
    return "serial";
}

static void run_one(batch_command *c, const open_backend *backend, pipeline_choice choice, batch_run *run)
{
    const fl_device_info *info = fl_device_describe(backend->device);
    const common_options *common = c->common;
    const bool pinned = choice.mode > PIPELINE_ONE_BY_ONE && !common->pageable;
    const int64_t chunk = c->source.in_memory ? c->source.count : CHUNK_IMAGES;
    batch_pool pool = {.device = backend->device, .pinned = pinned};
    fl_device *one_thread = open_one_thread(c, info, choice.mode);
    device_plan device = {.device = one_thread ? one_thread : backend->device,
                          .variant = common->has_variant ? common->variant : NULL,
                          .slots = choice.streams,
                          .chunk = c->own->chunk ? c->own->chunk : chunk,
                          .chunk_bytes = c->own->chunk ? INT64_MAX : bytes_of_chunk(c, choice.streams),
                          .pinned = pinned};
    pipeline_plan plan = {.command = c,
                          .mode = choice.mode,
                          .device = &device,
                          .writes = backend == c->backends.open,
                          .threads = threads_for(c, info)};

    memcpy(device.block, common->block, sizeof device.block);
    fill_pool(c, &pool);
    *run = (batch_run){.backend = backend, .link = link_measure(backend->device), .threads = plan.threads};
    snprintf(run->reconstruct_on, sizeof run->reconstruct_on, "%s", fl_device_describe(device.device)->resource);
    run->report = pipeline_run(&plan);
    fl_device_close(one_thread);
    if (c->source.in_memory)
        batch_pool_free(&pool);
}

/* Every pipeline on every backend, until one ends early. */
static void run_all(batch_command *c)
{
    bool ended = false;

    c->runs = memory_zeroed((size_t)(c->backends.count * c->own->pipeline_count), sizeof *c->runs);
    for (int b = 0; b < c->backends.count; b++)
        for (int i = 0; i < c->own->pipeline_count && !ended; i++) {
            batch_run *run = &c->runs[c->count++];
            run_one(c, &c->backends.open[b], c->own->pipelines[i], run);
            ended = run->report.broken || run->report.interrupted || progress_is_late();
        }
}

/* Notes what --max-time left out, of the last pipeline and of the others. */
static void note_late(const batch_command *c)
{
    const int all = c->backends.count * c->own->pipeline_count;
    const pipeline_report *r = &c->runs[c->count - 1].report;
    const int64_t there = r->done + r->already_there;

    if (r->late)
        note("--max-time: the time was over; %" PRId64 " of %" PRId64 " are done%s", there, c->source.count,
             c->source.outputs ? "; --resume does the others" : "");
    else if (c->source.in_memory)
        note("--max-time: the time was over after %d timed passes", r->wall.count);
    if (c->count < all || !(r->late || c->source.in_memory))
        note("--max-time: the time was over after %d of %d pipelines", c->count, all);
}

/* Prints how far a batch that ended early got; the exit code. */
static int report_end(const batch_command *c)
{
    int code = EXIT_DONE;

    for (int i = 0; i < c->count; i++) {
        const pipeline_report *r = &c->runs[i].report;
        const int64_t there = r->done + r->already_there;
        const char *others = c->source.outputs && there < c->source.count ? "; --resume does the others" : "";
        if (r->machine_failed && !r->broken && group_prints())
            print_error("%s", r->why.text);
        if ((r->broken || r->interrupted) && group_prints())
            print_error("%s; %" PRId64 " of %" PRId64 " are done%s", r->broken ? r->why.text : "ended by a signal",
                        there, c->source.count, others);
        if (code == EXIT_DONE && r->broken)
            code = r->why.exit_code;
        else if (r->machine_failed)
            code = EXIT_BROKEN;
        else if (code == EXIT_DONE && !batch_is_right(c, &c->runs[i]))
            code = EXIT_WRONG_RESULT;
    }
    return code;
}

/* Refuses options on the command line that have no effect for this source and these pipelines. */
static void refuse_void(const batch_command *c)
{
    const batch_options *own = c->own;
    const common_options *o = c->common;
    const bool synthetic = c->source.kind == BATCH_SYNTHETIC;
    pipeline_mode most = PIPELINE_ONE_BY_ONE;

    for (int i = 0; i < own->pipeline_count; i++)
        most = own->pipelines[i].mode > most ? own->pipelines[i].mode : most;
    if (!c->source.in_memory)
        option_refuse(o, o->given & (TAKES_REPEAT | TAKES_WARMUP | TAKES_MIN_TIME | TAKES_UNTIL),
                      "files that are read during the run go through once");
    if (!synthetic)
        option_refuse(o, o->given & (TAKES_SIZE | TAKES_DTYPE), "it is for random matrices");
    else if (own->synthetic[0] > 0)
        option_refuse(o, TAKES_SIZE, "--synthetic has its own size");
    if (most == PIPELINE_ONE_BY_ONE)
        option_refuse(o, TAKES_PAGEABLE, "one-by-one always uses pageable memory");
    if (most < PIPELINE_STREAMS)
        option_refuse_own(o, own_options, "chunk", "one-by-one and pinned have one item on the device at a time");
    if (most < PIPELINE_FULL || c->source.in_memory)
        option_refuse_own(o, own_options, "threads", "only full has threads, for items that are read during the run");
    for (int i = 0; i < 2 && c->source.kind != BATCH_IMAGES; i++)
        option_refuse_own(o, own_options, i == 0 ? "decompose-on" : "svd", "only images are decomposed");
    if (synthetic)
        option_refuse(o, TAKES_MAX_MEMORY, "random matrices are made, and no file is read");
    if (synthetic)
        option_refuse_own(o, own_options, "output-dir", "random matrices are not written");
    else
        option_refuse_own(o, own_options, "synthetic", "--factors is given");
}

static void free_all(batch_command *c)
{
    for (int i = 0; i < c->count; i++)
        pipeline_report_free(&c->runs[i].report);
    free(c->runs);
    inputs_free(&c->source);
    fl_device_close(c->decompose_on);
    backends_close(&c->backends);
}

int command_batch(int argc, char **argv)
{
    batch_options own = {.pipeline_count = 1, .pipelines = {{PIPELINE_FULL, DEFAULT_STREAMS}}};
    const command_line line = {"flynn batch",
                               "[IMAGE.png|FOLDER...]",
                               INT_MAX,
                               summary_text,
                               taken,
                               own_options,
                               .own = &own,
                               .titles = TITLES_OF(batch_run_columns, batch_stage_columns, batch_memory_columns,
                                                   batch_rank_columns, batch_law_columns)};
    one_thread_resource resource;
    common_options common;
    int code;

    options_parse(&line, argc, argv, &common);
    launch_ranks(common.ranks, argc, argv, own.folder);
    option_one_variant(&common);
    batch_command c = {.common = &common, .own = &own};
    ranks_refuse(&c);
    c.backends = backends_open(&common);
    backends_keep(&c.backends, &common, "reconstruct");
    if (group_prints()) {
        c.source = inputs_find(&own, &common);
        refuse_void(&c);
        inputs_name_outputs(&c.source, &own);
    }
    ranks_share_source(&c.source);
    if (c.source.kind == BATCH_FACTORS && !c.source.in_memory && !group_is_distributed())
        note("the factors are larger than 1 GiB: the times include reading them");
    if (c.source.kind == BATCH_IMAGES)
        c.decompose_on = decomposer_open_device(place_to_decompose(&c, &resource), own.svd);
    if (c.source.outputs)
        inputs_make_folder(own.folder);
    signals_catch(NULL);
    if (group_is_distributed()) /* another rank may have a result when --max-time is over */
        progress_has_result();
    run_all(&c);
    code = report_end(&c);
    if (progress_is_late() && !signals_caught())
        note_late(&c);
    if (group_prints())
        batch_show(&c);

    free_all(&c);
    options_free(&common);
    if (signals_caught() && !group_is_distributed()) { /* one rank's death would end the others */
        fflush(stdout);
        signals_raise(signals_caught());
    }
    return code;
}
