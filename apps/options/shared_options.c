/* SPDX-License-Identifier: MIT */
#include "shared_options.h"

#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

/* Splits "serial,omp:2"; the pointers and their text are one piece of memory. */
static char **split(const char *option, const char *value, const char *expected, int *count)
{
    const size_t bytes = strlen(value) + 1;

    *count = 1;
    for (const char *at = value; *at != '\0'; at++)
        *count += *at == ',';
    char **words = memory_zeroed(1, (size_t)*count * sizeof *words + bytes);
    char *rest = memcpy(words + *count, value, bytes);
    for (int i = 0; i < *count; i++) {
        words[i] = strsep(&rest, ",");
        if (words[i][0] == '\0')
            option_fail(option, "'%s' has an empty name; expected %s", value, expected);
        if (strcmp(words[i], "all") == 0 && *count > 1)
            option_fail(option, "'%s' names all and others; expected all alone, or names", value);
    }
    return words;
}

static void parse_backends(const char *option, const char *value, void *common)
{
    common_options *c = common;

    free(c->backends);
    c->backends = split(option, value, "SPEC[,SPEC...] or all, such as serial,omp:2", &c->backend_count);
    c->all_backends = strcmp(value, "all") == 0;
    c->backend_count = c->all_backends ? 0 : c->backend_count;
}

static void parse_variants(const char *option, const char *value, void *common)
{
    common_options *c = common;

    c->variant = option_text(option, value);
    free(c->variants);
    c->variants = split(option, value, "NAME[,NAME...] or all, such as naive,tiled", &c->variant_count);
}

static void parse_block(const char *option, const char *value, void *common)
{
    common_options *c = common;
    char *copy, *rest, *word;

    if (!c->takes_blocks) {
        option_block(option, value, c->block);
        return;
    }
    copy = rest = memory_text(value);
    for (c->block_count = 0; (word = strsep(&rest, ",")) != NULL; c->block_count++) {
        if (c->block_count == MOST_INTEGERS)
            option_fail(option, "'%s' has too many values; expected at most %d", value, MOST_INTEGERS);
        option_block(option, word, c->blocks[c->block_count]);
    }
    memcpy(c->block, c->blocks[0], sizeof c->block);
    free(copy);
}

static void parse_max_memory(const char *option, const char *value, void *common)
{
    ((common_options *)common)->max_memory = option_bytes(option, value);
}

static void parse_until(const char *option, const char *value, void *common)
{
    ((common_options *)common)->until = option_percentage(option, value);
}

static void parse_dtype(const char *option, const char *value, void *common)
{
    ((common_options *)common)->dtype = option_dtype(option, value);
}

#define COMMON(member) offsetof(common_options, member)

static const char *const check_names[] = {
    [CHECK_AUTO] = "auto", [CHECK_FULL] = "full", [CHECK_SAMPLED] = "sampled", NULL};

/* The names that a shell completes; a user may write others. */
static const char *const backend_names[] = {"auto",       "all",     "serial", "simd", "omp", "hip-cpu",
                                            "hip-nvidia", "hip-amd", "cuda",   "rocm", "hip", NULL};
static const char *const until_examples[] = {"1%", "2%", "5%", NULL};
static const char *const dtype_names[] = {"u8", "i32", "i64", "f32", "f64", NULL};

/* The i-th one has bit 1 << i. Places are in common_options. */
const own_option shared_options[SHARED] = {
    {"backend", OPTION_CUSTOM, 0, "SPEC,...",
     .help = "serial, simd, omp, hip, all (default: the best one)\v"
             "With items: omp:8 has 8 threads, simd:v2 (on Arm simd:sve) an instruction set, hip:1 is the second GPU. "
             "hip is the GPU that "
             "is there; hip-nvidia (or cuda), hip-amd (or rocm) and the emulation hip-cpu name one. all is every one "
             "that can run here.",
     .group = GROUP_WHAT, .letter = 'b', .names = backend_names, .parse = parse_backends},
    {"trace", OPTION_WRITTEN, COMMON(trace_file), "FILE", .group = GROUP_OUTPUT,
     .help = "Record who did what when (open it in ui.perfetto.dev)\vA Chrome trace of each thread and device."},
    {"variant", OPTION_CUSTOM, 0, "NAME,...", .group = GROUP_WHAT, .parse = parse_variants,
     .help = "Variants, or all; `flynn list` shows them\vDefault: the fastest variant of a saved sweep, or "
             "auto."},
    {"size", OPTION_INTEGER, COMMON(size), "N", .group = GROUP_WHAT, .least = 1, .most = INT64_MAX,
     .help = "Size of the generated input: 1e6, 1M, 64Ki, 2^20\vDefault: the course's. k, M, G and T are powers "
             "of 1000, Ki, Mi, Gi and Ti of 1024, in every option that takes a whole number."},
    {"block", OPTION_CUSTOM, 0, "X[xY[xZ]]", .group = GROUP_WHAT, .parse = parse_block,
     .help = "Threads of a block, or the cache tile on a processor\vDefault: the variant's own."},
    {"dtype", OPTION_CUSTOM, 0, "TYPE", .group = GROUP_WHAT, .names = dtype_names, .parse = parse_dtype,
     .help = "Compute in u8, i32, i64, f32 or f64\vDefault: as the input."},
    {"repeat", OPTION_COUNT, COMMON(repeat), "N", .group = GROUP_HOW, .least = 1, .most = 1000000,
     .help = "Timed passes (default: by --min-time, at least 3)"},
    {"warmup", OPTION_COUNT, COMMON(warmup), "N", .group = GROUP_HOW, .most = 1000000,
     .help = "Passes between the first one and the timed ones (1)"},
    {"min-time", OPTION_REAL, COMMON(min_time_s), "SECONDS", .group = GROUP_HOW, .most = 86400,
     .help = "Time passes for at least this long (0.2)"},
    {"seed", OPTION_INTEGER, COMMON(seed), "N", .group = GROUP_WHAT, .most = INT64_MAX,
     .help = "Start of the random numbers (1)"},
    {"pageable", OPTION_FLAG, COMMON(pageable), .group = GROUP_HOW,
     .help = "Copy from ordinary host memory, not from pinned one"},
    {"wrong-timing", OPTION_FLAG, COMMON(wrong_timing), .group = GROUP_HOW,
     .help =
         "Also show the time until the call returned\vIts work is not done then: to time it so is a usual mistake."},
    {"check", OPTION_CHOICE, COMMON(check), "HOW", .group = GROUP_HOW, .names = check_names,
     .help = "full, sampled or auto: what of the result is checked\vDefault: auto, all where that is cheap."},
    {"json", OPTION_STREAM, COMMON(json_file), "FILE", .group = GROUP_OUTPUT,
     .help = "Results as JSON, to FILE or in place of the table"},
    {"csv", OPTION_STREAM, COMMON(csv_file), "FILE", .group = GROUP_OUTPUT,
     .help = "Results as CSV, to FILE or in place of the table"},
    {"output", OPTION_WRITTEN, COMMON(output), "FILE", .group = GROUP_OUTPUT, .letter = 'o',
     .help = "Write the result as .npy, or a matrix as a grey .png\vA .png is clipped to 0..1. - is stdout: the table "
             "then goes to stderr. Without an option that measures (--repeat, --json, several backends) there is one "
             "pass."},
    {"max-memory", OPTION_CUSTOM, 0, "SIZE", .group = GROUP_SELDOM, .parse = parse_max_memory,
     .help = "Refuse files whose data need more bytes, such as 8G\vDefault: what is free."},
    {"wide", OPTION_FLAG, COMMON(wide), .group = GROUP_OUTPUT,
     .help =
         "All columns of the table\vElse as many as fit the terminal, or 100 characters where there is none, and none "
         "that says nothing."},
    {"columns", OPTION_TEXT, COMMON(columns), "NAME,...", .group = GROUP_OUTPUT,
     .help = "These columns of the table, such as backend,kernel"},
    {"max-time", OPTION_REAL, COMMON(max_time_s), "SECONDS", .group = GROUP_SELDOM, .most = 86400 * 365,
     .help = "Begin no pass after this time, and show what there is"},
    {"function", OPTION_TEXT, COMMON(function), "FUNCTION", .group = GROUP_WHAT,
     .help = "Of map: an expression, or a file of C"},
    {"ranks", OPTION_INTEGER, COMMON(ranks), "N", .group = GROUP_WHAT, .least = 1, .most = 1 << 20,
     .help = "Run N processes, each with its share (MPI, Slurm)\vAs mpirun -n N flynn ..., or in an allocation of "
             "Slurm's srun -n N flynn ...; see docs/cluster.md."},
    {"path", OPTION_TEXT, COMMON(path), "PATH", .group = GROUP_SELDOM,
     .help = "Between ranks: host, staged, device, nccl\vHow elements get to other ranks; default: the best that their "
             "devices have."},
    {"until", OPTION_CUSTOM, 0, "PERCENT", .group = GROUP_SELDOM, .parse = parse_until, .names = until_examples,
     .help = "Go on until the median is known this well, as 2%\vPasses go on, for at most 100 times --min-time, until "
             "the 95 % interval of the median, of kernel and of total, lies within this part of it."},
    {"flush", OPTION_FLAG, COMMON(flush), .group = GROUP_SELDOM,
     .help = "Empty the last-level cache before each pass\vAs a program finds it that reads new data each time. Short "
             "kernels are then not queued several times."},
    {"show", OPTION_AMOUNT, COMMON(show), "N", .group = GROUP_OUTPUT, .least = 1, .most = INT64_MAX,
     .help = "Also show the first result, as flynn show does\vAt most N elements of a vector, or N rows of a matrix."},
    {"tolerance", OPTION_REAL, COMMON(tolerance), "X", .group = GROUP_WHAT, .most = 1,
     .help = "Accept this error, relative to the result: 1e-6\vOf the largest element, of svd and reconstruct the "
             "Frobenius norm; auto takes the fastest variant that is known to be within it. Default: 0, as exact as "
             "docs/accuracy.md says."},
};

void shared_options_default(common_options *common)
{
    *common = (common_options){.variant = "auto", .warmup = 1, .min_time_s = 0.2, .seed = 1, .show = -1};
    parse_backends("backend", "auto", common);
}
