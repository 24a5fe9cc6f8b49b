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
    {"variant", "variant", .in = IN_RUN | IN_COMPARE | IN_ONCE,
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
    {"n", "n", AS_COUNT, .drop = 27, .in = IN_COMPARE | IN_ONCE, .from = COUNT_OF, .of = "total",
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
    {"local_bytes", "spilled", AS_BYTES, .drop = 4, .in = IN_RUN | IN_COMPARE, .shown = OF_KERNELS,
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
     .about = "`total_s` over the smallest of the exercise; null for results without a place"},
    {"place", "place", AS_COUNT, .drop = 3, .in = IN_RUN,
     .about = "the place by `total_s`; wrong results, emulations and noisy rows have none"},
    {"check.max_abs", "max error", AS_NUMBER, .drop = 10, .in = IN_RUN,
     .about = "the largest difference from the expected values"},
    {"check", "check", AS_CHECK, .in = IN_RUN | IN_COMPARE | IN_ONCE,
     .about =
         "`ok`, the place of a wrong element, or `not checked` where nothing says what is right: this is no failure, "
         "and the row has no place"},
    {.key = NULL},
};

const field *field_of(const char *key)
{
    for (const field *f = fields; key && f->key; f++)
        if (strcmp(f->key, key) == 0)
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
        json_t *value = value_of(f, &m);
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
