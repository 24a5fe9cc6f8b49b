/* SPDX-License-Identifier: MIT */
#include "fields.h"
#include "json.h"
#include "row.h"

#include "support/statistics.h"

#include <math.h>
#include <string.h>

/* The keys that say whether noise decides a time and what follows from it, and a speed-up. */
#define NOISY "disturbed"
#define NOISY_SPEED_UP "speed_up_disturbed"

const field fields[] = {
    {"exercise", "exercise", .in = IN_COMPARE, .about = "the exercise"},
    {"resource", "backend", .in = IN_RUN | IN_COMPARE | IN_ONCE,
     .about =
         "the device, in a form that `--backend` accepts (`omp:2:v3`); JSON also has `backend`, the plugin's name, and "
         "`backend_requested`, the value given"},
    {"flynn_class", "class", .drop = 6, .in = IN_RUN | IN_COMPARE,
     .about = "its place in Flynn's taxonomy; null or `-` of a library on one core, because it chooses vectors itself"},
    {"variant", "variant", .make = variant_cell, .in = IN_RUN | IN_COMPARE | IN_ONCE,
     .about = "the variant that ran, for example the choice of `auto`"},
    {"dtype", "dtype", .drop = 23, .in = IN_COMPARE, .about = "the type of the result's elements"},
    {"singular_values", "components", AS_COUNT, .in = IN_RUN, .shown = WHERE_IT_DIFFERS,
     .about =
         "how many singular values `svd` or `reconstruct` kept or used. A table shows them where rows differ in it "
         "(`--keep=5,20`); such rows are not compared with each other"},
    {"block", "block", AS_BLOCK, .drop = 22, .in = IN_RUN,
     .about =
         "threads of a block (x, y, z); on a CPU the edges of the cache tile; 0 or `-` if the variant has no blocks"},
    {"tolerance", "tolerance", AS_NUMBER, .drop = 21, .in = IN_RUN | IN_ONCE, .shown = WHERE_GIVEN,
     .about = "the error that `--tolerance` accepts, relative to the largest element of the result, of `svd` and "
              "`reconstruct` to its Frobenius norm; null without it"},
    {"bound", "bound", AS_NUMBER, .drop = 20, .in = IN_RUN | IN_ONCE, .shown = WHERE_GIVEN,
     .about = "the least tolerance that the variant takes for these arguments: its error where no terms cancel; null "
              "without `--tolerance`"},
    {"open_s", "open", AS_SECONDS, .drop = 1, .in = IN_RUN,
     .about = "opening the device: on a GPU the context, and a first kernel that shows whether it works"},
    {"cold_s", "cold", AS_SECONDS, .drop = 7, .in = IN_RUN | IN_COMPARE,
     .about =
         "the first pass after that, from host arrays to host arrays, including allocations, loading of kernels and "
         "copies"},
    {"h2d_s", "h2d", AS_SECONDS, .drop = 12, .in = IN_RUN | IN_COMPARE, .from = MEDIAN_OF, .of = "h2d", .noise = NOISY,
     .about = "copies to the device, between events; 0, in tables `-`, if the arrays are in host memory"},
    {"kernel_s", "kernel", AS_SECONDS, .in = IN_RUN | IN_COMPARE, .from = MEDIAN_OF, .of = "kernel", .noise = NOISY,
     .about =
         "the operation, between events; in host memory by the host's clock, within the pass of `total`. An operation "
         "shorter than 200 us (in host memory 10 us) is queued several times, and a sample is the mean"},
    {"ranks", "ranks", AS_COUNT, .in = IN_RUN | IN_ONCE, .shown = ON_RANKS,
     .about = "how many processes took part. Their times are those of the slowest one, from the moment at which all "
              "start"},
    {"link.link_s", "link", AS_SECONDS, .in = IN_RUN, .shown = ON_RANKS, .noise = NOISY,
     .about = "a part of kernel: exchanging data with other ranks, the copies for that included"},
    {"link.percent_of_ceiling", "of link", AS_PERCENTAGE, .in = IN_RUN, .shown = ON_RANKS, .noise = NOISY,
     .about = "the time that `flynn ceiling` measured for an exchange of as many bytes between as many ranks, over "
              "`link.link_s`; null or `-` before that"},
    {"link.wait_s", "wait", AS_SECONDS, .in = IN_RUN, .shown = ON_RANKS, .noise = NOISY,
     .about = "a part of kernel: waiting for ranks that are not ready yet"},
    {"imbalance", "imbalance", AS_FACTOR, .in = IN_RUN, .shown = ON_RANKS, .noise = NOISY,
     .about = "the longest time that a rank computes, over the mean"},
    {"minimum_s", "minimum", AS_SECONDS, .drop = 27, .in = IN_COMPARE, .from = MINIMUM_OF, .of = "kernel",
     .about = "the least sample of the kernel, which other programs disturbed least"},
    {"d2h_s", "d2h", AS_SECONDS, .drop = 13, .in = IN_RUN | IN_COMPARE, .from = MEDIAN_OF, .of = "d2h", .noise = NOISY,
     .about = "copies from the device, between events; 0, in tables `-`, if the arrays are in host memory"},
    {"total_s", "total", AS_SECONDS, .in = IN_RUN | IN_COMPARE | IN_ONCE, .from = MEDIAN_OF, .of = "total",
     .noise = NOISY,
     .about =
         "a warm pass by the host's clock, from host arrays to host arrays; it is measured, not the sum of the parts. "
         "Where a file of the result is all that is asked for, the only pass, with allocations and loading"},
    {"kernel_interval_s", NULL, AS_SECONDS, .from = INTERVAL_OF, .of = "kernel",
     .about = "holds the median of all passes, of which `kernel_s` is an estimate, with 95 %; empty below six samples"},
    {"total_interval_s", NULL, AS_SECONDS, .from = INTERVAL_OF, .of = "total",
     .about = "the same interval for `total_s`"},
    {"call_s", NULL, AS_SECONDS, .from = MEDIAN_OF, .of = "call",
     .about =
         "with `--wrong-timing`, the time until the call returned, without waiting for the work: on a GPU the time to "
         "queue it, which a clock shows if it is stopped too early; else null"},
    {"times_s", NULL,
     .about =
         "every single sample, `{\"h2d\": [...], \"kernel\": [...], \"d2h\": [...], \"total\": [...]}`, without the "
         "first pass and the warm-ups; `warmup`: the number of these warm-ups"},
    {"spread", "spread", AS_PART, .drop = 26, .in = IN_COMPARE,
     .about = "the interquartile range of the totals over their median, in sweep of the kernel's times; null or `-` of "
              "one sample"},
    {"n", "samples", AS_COUNT, .drop = 27, .in = IN_COMPARE | IN_ONCE, .from = COUNT_OF, .of = "total",
     .about = "how many samples the total has"},
    {"bytes", NULL, AS_BYTES, .about = "compulsory bytes: each input read once and each output written once"},
    {"bytes_requested", NULL, AS_BYTES,
     .about = "bytes of the loads and stores as the variant issues them, before any cache"},
    {"flops", NULL, AS_NUMBER, .about = "the operations of this variant; a multiply-add counts as two"},
    {"gbytes_per_s", "GB/s", AS_COUNT, .drop = 9, .in = IN_RUN | IN_COMPARE, .from = RATE_OF, .of = "bytes",
     .noise = NOISY, .about = "`bytes / kernel_s`, in 10^9 bytes"},
    {"gflops", "GFLOP/s", AS_COUNT, .drop = 2, .in = IN_RUN | IN_COMPARE, .from = RATE_OF, .of = "flops",
     .noise = NOISY,
     .about = "`flops / kernel_s`, in 10^9 operations; null or `-` where there are none, or nobody counted them"},
    {"percent_of_ceiling", "ceiling", AS_PERCENTAGE, .drop = 18, .in = IN_RUN | IN_COMPARE, .noise = NOISY,
     .about =
         "the least time that `bytes` and `flops` take on this device, over `kernel_s`: its roofline as measured by "
         "`flynn ceiling`; null or `-` before that measurement. Above 100 if caches hold the data, or tensor cores compute"},
    {"registers", "registers", AS_COUNT, .drop = 4, .in = IN_RUN | IN_COMPARE, .shown = OF_KERNELS,
     .about = "registers of a thread, as the GPU's runtime reports it for the last kernel with the block shown; null "
              "on a CPU, for "
              "an emulation and for a library's kernels"},
    {"local_bytes", "local", AS_BYTES, .drop = 4, .in = IN_RUN | IN_COMPARE, .shown = OF_KERNELS,
     .about = "local memory of a thread: spilled registers, and arrays outside registers; null where `registers` is"},
    {"occupancy", "occupancy", AS_PART, .drop = 5, .in = IN_RUN | IN_COMPARE, .shown = OF_KERNELS,
     .about = "the threads that a multiprocessor can hold at that block and shared memory, over its maximum; null "
              "where `registers` is"},
    {"speed_up", "speed-up", AS_FACTOR, .in = IN_RUN | IN_COMPARE, .noise = NOISY_SPEED_UP,
     .about = "`kernel_s` of the scalar backend over this backend's; without a scalar backend, of the first one. Wrong "
              "results and emulations have none, and no row has one where one core ran a library alone"},
    {"speed_up_with_copies", "with copies", AS_FACTOR, .drop = 20, .in = IN_RUN | IN_COMPARE, .noise = NOISY_SPEED_UP,
     .about = "the same from `total_s`, which has the copies"},
    {"relative", "relative", AS_FACTOR, .drop = 8, .in = IN_COMPARE, .noise = NOISY,
     .about = "`total_s` over the smallest of the exercise, in sweep `kernel_s` over the smallest of the same size and "
              "backend; null for results without a place"},
    {"place", "place", AS_COUNT, .drop = 3, .in = IN_RUN,
     .about = "the place by `total_s`; wrong results, emulations and noisy rows have none"},
    {"check.max_abs", "max error", AS_NUMBER, .drop = 10, .in = IN_RUN,
     .about = "the largest difference from the expected values"},
    {"check", "check", AS_CHECK, .in = IN_RUN | IN_COMPARE | IN_ONCE,
     .about =
         "`ok`, the place of a wrong element, or `not checked` where nothing says what is right: this is no failure, "
         "and the row has no place"},

    /* The quantities that rows of single commands have, a line each. */
    /* clang-format off */
    {"let_shown", "let", .command = "kernel", .about = "the names of `--let` that have several numbers, with the row's; null without `--let`"},
    {"slice", "slice", .command = "slice", .about = "the part of the array that is copied, such as `2:5,:`"},
    {"variant", "way", .command = "slice", .about = "`whole` copies the whole array, `view` row by row, `packed` after a kernel has put the elements next to each other"},
    {"bytes", "bytes", AS_BYTES, .command = "slice", .about = "the bytes of the slice"},
    {"row_bytes", "row bytes", AS_BYTES, .drop = 14, .command = "slice", .about = "bytes next to each other in the slice. Short rows copy slowly"},
    {"kernel_s", "pack", AS_SECONDS, .drop = 15, .noise = NOISY, .command = "slice", .about = "the time of the kernel that puts the slice's elements next to each other before they are copied"},
    {"d2h_s", "copy", AS_SECONDS, .drop = 19, .noise = NOISY, .command = "slice", .about = "the time to copy the bytes to the host"},
    {"host_s", "host", AS_SECONDS, .drop = 16, .noise = NOISY, .command = "slice", .about = "the time in which the host cuts the slice out of the whole"},
    {"copy_gbytes_per_s", "copy GB/s", AS_COUNT, .drop = 21, .noise = NOISY, .command = "slice", .about = "the bytes that were copied over the time of the copy"},
    {"speed_up_over_whole", "over whole", AS_FACTOR, .noise = NOISY_SPEED_UP, .command = "slice", .about = "how many times as fast as copying the whole array"},
    {"size", "size", AS_NUMBER, .command = "sweep", .about = "the size that was asked for, in tables else the shape; of your own kernels the numbers of `--let`"},
    {"scaling", "scaling", .command = "laws", .about = "how the time changes with the number of workers: `strong` with the same work, `weak` with work that grows with them, `batch` with more matrices on a GPU"},
    {"n", "n", AS_COUNT, .command = "laws", .about = "how many threads, ranks, workers or matrices; the column has their name"},
    {"size", "size", AS_NUMBER, .command = "laws", .about = "the `--size` of the exercise at n"},
    {"speed_up", "speed-up", AS_NUMBER, .noise = NOISY_SPEED_UP, .command = "laws", .about = "how many times as fast as with one worker: `work` times the first point's `kernel_s` over this one's. After `+-`: `speed_up_spread`"},
    {"efficiency", "of n", AS_PART, .drop = 29, .noise = NOISY_SPEED_UP, .command = "laws", .about = "the speed-up over n; 100 % is perfect scaling. Elsewhere called parallel efficiency"},
    {"link_share", "link", AS_PART, .command = "laws", .about = "`link.link_s` over `kernel_s`"},
    {"amdahl", "Amdahl", AS_NUMBER, .drop = 32, .command = "laws", .about = "the value of Amdahl's law at n, with the f that fits best"},
    {"gustafson", "Gustafson", AS_NUMBER, .drop = 31, .command = "laws", .about = "the value of Gustafson's law at n, with the f that fits best"},
    {"deviation", "deviation", AS_NUMBER, .drop = 33, .noise = NOISY_SPEED_UP, .command = "laws", .about = "the measured speed-up over the law's value, minus 1. `not described`: more than its spread and more than 5 %"},
    {"what", "what makes it so", .command = "taxonomy", .about = "the machine's part that gives the row its class, such as vectors of 512 bits"},
    {"instructions_per_element", "instructions/element", AS_NUMBER, .command = "taxonomy", .about = "instructions that the processor executed, over the elements; of the emulation and where no counter exists `-`"},
    {"speed_up", "step", AS_FACTOR, .noise = NOISY_SPEED_UP, .command = "taxonomy", .about = "how many times as fast as the row above"},
    {"kernel.older_s", "kernel", AS_SECONDS, .drop = 25, .noise = "older_disturbed", .command = "compare --against", .about = "the kernel's time in the older file"},
    {"kernel.newer_s", "kernel now", AS_SECONDS, .drop = 26, .noise = "newer_disturbed", .command = "compare --against", .about = "the kernel's time in the newer file"},
    {"kernel.ratio", "ratio", AS_FACTOR, .noise = NOISY, .command = "compare --against", .about = "the older kernel time over the newer one; above 1 the newer one is faster"},
    {"kernel.verdict", "verdict", .command = "compare --against", .about = "of kernels: `faster` or `slower` where the difference is more than the times vary, `noisy` where a row is, else `same` or `unclear`"},
    {"total.older_s", "total", AS_SECONDS, .drop = 1, .noise = "older_disturbed", .command = "compare --against", .about = "the total in the older file"},
    {"total.newer_s", "total now", AS_SECONDS, .drop = 2, .noise = "newer_disturbed", .command = "compare --against", .about = "the total in the newer file"},
    {"total.ratio", "total ratio", AS_FACTOR, .drop = 3, .noise = NOISY, .command = "compare --against", .about = "the older total over the newer one"},
    {"total.verdict", "total verdict", .drop = 24, .command = "compare --against", .about = "the verdict of the totals"},
    {"what", "what", .command = "ceiling", .about = "what is measured"},
    {"per_second", "measured", AS_NUMBER, .noise = NOISY, .command = "ceiling", .about = "the limit that was measured; of a launch its time, in JSON `seconds`"},
    {"times_s", "samples", AS_COUNT, .drop = 28, .command = "ceiling", .about = "how many times were measured; in JSON the times"},
    {"partner", "ranks", .command = "ceiling", .about = "between ranks: rank 0 and its partner, or `all`, in JSON null"},
    {"where", "where", .command = "ceiling", .about = "between ranks: whether they are on one host or on several"},
    {"path", "path", .command = "ceiling", .about = "how elements get from one rank's device to another: `nccl`, `device`, `staged` or `host`"},
    {"bytes", "size", AS_BYTES, .command = "ceiling", .about = "between ranks: of a message, or of each rank's data"},
    {"least_s", "least", AS_SECONDS, .command = "ceiling", .about = "between ranks: the fastest sample"},
    {"seconds", "median", AS_SECONDS, .command = "ceiling", .about = "the median of the samples"},
    {"algbw_bytes_per_s", "algbw", AS_BYTE_RATE, .command = "ceiling", .about = "algorithm bandwidth, as nccl-tests define it: the bytes of each rank's data over the median time"},
    {"busbw_bytes_per_s", "busbw", AS_BYTE_RATE, .command = "ceiling", .about = "bus bandwidth, as nccl-tests define it: algbw times what crosses the link for each byte, so that different exchanges can be compared with the link's limit"},
    {"dtypes", "dtypes", .drop = 40, .command = "list", .about = "the types of elements that a variant takes"},
    {"backends", "backends", .command = "list", .about = "the backends that have the variant"},
    {"summary", "what", .command = "list", .about = "what the variant does"},
    {"pipeline", "pipeline", .command = "batch", .about = "how the stages of the images are ordered: one after the other, or several at a time"},
    {"done", "images", AS_COUNT, .command = "batch", .about = "how many are checked and, if asked for, written"},
    {"failed", "failed", AS_COUNT, .command = "batch", .about = "how many images failed"},
    {"wall_s", "wall", AS_SECONDS, .noise = NOISY, .command = "batch", .about = "the time by a clock, from the first image to the last; of several timed passes the median"},
    {"images_per_s", "images/s", AS_COUNT, .noise = NOISY, .command = "batch", .about = "images over the wall time"},
    {"over_one_by_one.speed_up", "speed-up", AS_FACTOR, .noise = NOISY_SPEED_UP, .command = "batch", .about = "how many times as fast as the pipeline `one-by-one`"},
    {"overlap", "overlap", AS_COUNT, .drop = 17, .command = "batch", .about = "how many stages and engines were busy at a time, on average"},
    {"bound_by", "bound by", .command = "batch", .about = "the threads or the engine that were busy for the largest part of the time. The batch is as fast as these"},
    {"link.limit_s", "link limit", AS_SECONDS, .drop = 27, .command = "batch", .about = "the least time for the bytes that cross the link"},
    {"link.reached", "reached", AS_PART, .drop = 25, .noise = NOISY, .command = "batch", .about = "the link limit over the wall time; 100 % means that the link cannot do more"},
    {"stage", "stage", .command = "batch", .about = "one step of an image: read, decode, decompose, reconstruct, check, encode, write"},
    {"threads", "threads", AS_COUNT, .command = "batch", .about = "how many threads of the host; null or `-` of an engine of the device"},
    {"busy_s", "busy", AS_SECONDS, .command = "batch", .about = "the time that was spent in a stage, added up over its threads"},
    {"utilization", "of wall", AS_PART, .command = "batch", .about = "for which part of the wall time a thread of the stage was busy"},
    {"count", "images", AS_COUNT, .command = "batch", .about = "how many went through the stage"},
    {"each_s", "each", AS_SECONDS, .command = "batch", .about = "the time of a stage for one image"},
    {"bytes_per_s", "moved", AS_BYTE_RATE, .command = "batch", .about = "bytes that a stage read, wrote or copied, over its busy time"},
    {"over_one_by_one.workers", "workers", AS_COUNT, .command = "batch", .about = "how many threads and engines can work at the same time"},
    {"over_one_by_one.amdahl_serial_fraction", "serial by Amdahl", AS_NUMBER, .command = "batch", .about = "the serial fraction that Amdahl's law needs for this speed-up (Karp and Flatt's metric)"},
    {"over_one_by_one.amdahl_limit", "limit", AS_FACTOR, .drop = 24, .command = "batch", .about = "1 / f, the largest speed-up that Amdahl's law allows with this serial fraction"},
    {"over_one_by_one.gustafson_serial_fraction", "serial by Gustafson", AS_NUMBER, .command = "batch", .about = "the serial fraction that Gustafson's law needs for this speed-up"},
    {"engines_together.two_s", "two engines", AS_SECONDS, .command = "batch", .about = "the time in which two of the three engines of a GPU worked at once"},
    {"engines_together.three_s", "all three", AS_SECONDS, .command = "batch", .about = "the time in which all three engines of a GPU (copies to it, kernels, copies from it) worked at once"},
    {"reconstruct_on", "computed on", .drop = 37, .command = "batch", .about = "the backend that reconstructed, or one thread of it"},
    {"launches", "launches", AS_COUNT, .command = "batch", .about = "how many calls of `reconstruct`, each a launch of the kernel on a GPU"},
    {"streams", "chunks", AS_COUNT, .drop = 36, .command = "batch", .about = "how many chunks are under way at a time"},
    {"chunk", "matrices each", AS_COUNT, .drop = 39, .command = "batch", .about = "matrices of the largest chunk"},
    {"memory.device_bytes", "on the device", AS_BYTES, .command = "batch", .about = "memory of the chunks on the device"},
    {"memory.host_bytes", "for copies", AS_BYTES, .drop = 38, .command = "batch", .about = "pinned host memory through which chunks go to the device"},
    {"memory.factors_bytes", "factors", AS_BYTES, .drop = 35, .command = "batch", .about = "the memory of the factors"},
    {"memory.images_on_host", "images at most", AS_COUNT, .drop = 34, .command = "batch", .about = "how many images can be in host memory at a time"},
    {"memory.peak_bytes", "peak of the process", AS_BYTES, .command = "batch", .about = "the largest memory of the process so far"},
    {"rank", "rank", AS_COUNT, .command = "batch", .about = "the number of the process"},
    {"host", "host", .drop = 16, .command = "batch", .about = "the computer of a rank"},
    /* clang-format on */
    {.key = NULL},
};

const field *field_of(const char *command, const char *key)
{
    for (const field *f = fields; key && f->key; f++)
        if (strcmp(f->key, key) == 0 && (!command || (f->command && strcmp(f->command, command) == 0)))
            return f;
    return NULL;
}

/* The lists of times_s from which values come. */
static const char *const timed[] = {"h2d", "kernel", "d2h", "total", "call"};
enum { TIMED = sizeof timed / sizeof *timed };

/* What was measured, and the statistics of each list. */
typedef struct measured {
    const json_t *given;
    fl_bench_statistics of[TIMED];
} measured;

static fl_bench_statistics times_of(const measured *m, const char *list)
{
    for (int i = 0; i < TIMED; i++)
        if (strcmp(timed[i], list) == 0)
            return m->of[i];
    return row_statistics(NULL);
}

/* 1e-9 of the quantity over the kernel's time. */
static json_t *rate_of(const measured *m, const char *key)
{
    const double amount = row_number(m->given, key);

    if (strcmp(key, "flops") == 0 && !(amount > 0)) /* nobody counted them, or there are none */
        return json_null();
    return json_number(amount / times_of(m, "kernel").median / 1e9);
}

static json_t *interval_of(const fl_bench_statistics *s)
{
    return json_numbers((double[]){s->low, s->high}, isnan(s->low) ? 0 : 2);
}

/* A new reference; NULL: it is not given. */
static json_t *value_of(const field *f, const measured *m)
{
    if (f->from == GIVEN)
        return json_incref(json_object_get(m->given, f->key));
    if (f->from == RATE_OF)
        return rate_of(m, f->of);
    const fl_bench_statistics s = times_of(m, f->of);
    return f->from == INTERVAL_OF ? interval_of(&s)
           : f->from == COUNT_OF  ? json_whole(s.count)
                                  : json_number(f->from == MEDIAN_OF ? s.median : s.minimum);
}

void fields_put(json_t *row, const json_t *given)
{
    measured m = {.given = given};

    for (int i = 0; i < TIMED; i++)
        m.of[i] = row_times(given, timed[i]);
    for (const field *f = fields; f->key; f++) {
        json_t *value = f->command ? NULL : value_of(f, &m);
        if (value)
            json_put(row, f->key, value);
    }
}

/* The unit of the value in JSON. */
static const char *unit_of(cell_form as)
{
    switch (as) {
    case AS_SECONDS: return "s";
    case AS_BYTES: return "bytes";
    case AS_BYTE_RATE: return "bytes/s";
    case AS_PERCENTAGE: return "percent";
    case AS_NUMBER:
    case AS_COUNT:
    case AS_FACTOR:
    case AS_PART: return "1";
    default: return NULL;
    }
}

json_t *fields_describe(void)
{
    json_t *list = json_new_list();

    for (const field *f = fields; f->key; f++) {
        json_t *entry = json_new_object();
        json_put(entry, "command", json_text(f->command));
        json_put(entry, "key", json_text(f->key));
        json_put(entry, "title", json_text(f->title));
        json_put(entry, "unit", json_text(unit_of(f->as)));
        json_put(entry, "of_some", json_boolean(f->shown == WHERE_IT_DIFFERS));
        json_put(entry, "whole", json_boolean(f->as == AS_COUNT && f->from != RATE_OF));
        json_put(entry, "interval", json_boolean(f->from == INTERVAL_OF));
        json_put(entry, "about", json_text(f->about));
        json_append(list, entry);
    }
    return list;
}
