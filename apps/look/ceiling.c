/* SPDX-License-Identifier: MIT
 *
 * flynn ceiling: the most that a device can do, measured through the same library as everything else: its memory, its
 * arithmetic, the link to it, and what a launch costs. The room look/ shows what there is: operations, backends,
 * devices.
 */
#include "ceiling.h"
#include "commands.h"

#include "run/backends.h"
#include "kept/ceilings.h"
#include "ranks/group.h"
#include "ranks/launch.h"
#include "kept/machine.h"
#include "run/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/print.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 1000, FEWEST_SAMPLES = 5 };

/* The ways of a copy between the host's memory and a device's own. */
enum { TO_DEVICE = 1, TO_HOST = 2, BOTH = 3, PAGEABLE = 4 };

/* What the measurements of one device share. */
typedef struct bench {
    fl_device *device;
    const fl_device_info *info;
    const common_options *common;
    int64_t bytes; /* of each of the following arrays and buffers */
    fl_stream *stream, *other;
    fl_event *start, *stop;
    fl_array *from, *to; /* of u8 */
    void *pinned[2], *pageable;
    int link; /* TO_DEVICE ... */
    const char *variant;
    fl_array *elements;
    int64_t steps;
} bench;

typedef struct quantity_kind quantity_kind;
struct quantity_kind {
    const char *key, *title;
    const char *unit;                                    /* "byte", "flop"; NULL: the time itself is the result */
    double (*prepare)(bench *b, const quantity_kind *q); /* returns the bytes or the operations of the work */
    void (*queue)(bench *b);                             /* the work, once, in b->stream */
    double (*seconds)(bench *b, const quantity_kind *q); /* of q->launches of it */
    int launches;
    const char *operation; /* whose fastest variant is kept; NULL: there is one way only */
    fl_dtype dtype;
    int link; /* TO_DEVICE ...; 0: within the device */
};

static void queue_copy(bench *b)
{
    must(fl_copy_array(b->device, b->from, b->to, &(fl_run){.variant = b->variant, .stream = b->stream}));
}

static double prepare_copy(bench *b, const quantity_kind *q)
{
    (void)q;
    return 2 * (double)b->bytes; /* read and written */
}

static void queue_link(bench *b)
{
    if (b->link & TO_DEVICE)
        must(fl_array_write(b->to, b->link & PAGEABLE ? b->pageable : b->pinned[0], b->stream));
    if (b->link & TO_HOST)
        must(fl_array_read(b->from, b->link & PAGEABLE ? b->pageable : b->pinned[1], b->other));
}

static double prepare_link(bench *b, const quantity_kind *q)
{
    b->link = q->link;
    if (b->link & PAGEABLE && !b->pageable) {
        b->pageable = memory_zeroed(1, (size_t)b->bytes);
        memset(b->pageable, 1, (size_t)b->bytes);
    }
    return (double)b->bytes * (b->link == BOTH ? 2 : 1);
}

static void queue_steps(bench *b)
{
    /* The values stay near 1, whatever the steps: no infinities, no denormals, which cost more on some processors. */
    must(fl_multiply_add(b->device, b->elements, 0.5, 0.5, b->steps, b->elements,
                         &(fl_run){.variant = b->variant, .stream = b->stream}));
}

static void make_elements(bench *b, fl_dtype dtype, int64_t count)
{
    double *zeros = memory_zeroed((size_t)count, sizeof *zeros); /* of either dtype */

    must(fl_array_from_host(b->device, dtype, 1, &count, zeros, &b->elements));
    free(zeros);
}

static double by_events(bench *b, const quantity_kind *q)
{
    double seconds;

    must(fl_event_record(b->start, b->stream));
    for (int i = 0; i < q->launches; i++)
        q->queue(b);
    must(fl_event_record(b->stop, b->stream));
    must(fl_event_elapsed(b->start, b->stop, &seconds));
    return seconds;
}

static double by_clock(bench *b, const quantity_kind *q)
{
    double start = seconds_now();

    for (int i = 0; i < q->launches; i++)
        q->queue(b);
    must(fl_stream_wait(b->stream));
    must(fl_stream_wait(b->other));
    return seconds_now() - start;
}

/* As many steps as take 5 ms in the best of three launches, so that the launch itself takes little beside them. */
static double prepare_steps(bench *b, const quantity_kind *q)
{
    const int64_t count = b->info->host_memory ? 1 << 15 : 1 << 22;
    double least = 0;

    make_elements(b, q->dtype, count);
    for (b->steps = 32; least < 5e-3 && b->steps < (int64_t)1 << 40;) {
        b->steps *= 2;
        least = INFINITY;
        for (int i = 0; i < 3; i++)
            least = fmin(least, by_events(b, q));
    }
    return 2 * (double)count * (double)b->steps;
}

/* A kernel for one element and no steps is all launch; this variant's is the smallest. */
static double prepare_launch(bench *b, const quantity_kind *q)
{
    make_elements(b, q->dtype, 1);
    b->variant = "naive";
    b->steps = 0;
    return NAN;
}

static const quantity_kind kinds[] = {
    {"copy", "copy on the device", "byte", prepare_copy, queue_copy, by_events, 1, "copy", FL_U8, 0},
    {"h2d", "host to device, pinned", "byte", prepare_link, queue_link, by_clock, 1, NULL, FL_U8, TO_DEVICE},
    {"d2h", "device to host, pinned", "byte", prepare_link, queue_link, by_clock, 1, NULL, FL_U8, TO_HOST},
    {"both", "both ways at once, pinned", "byte", prepare_link, queue_link, by_clock, 1, NULL, FL_U8, BOTH},
    {"h2d_pageable", "host to device, pageable", "byte", prepare_link, queue_link, by_clock, 1, NULL, FL_U8,
     TO_DEVICE | PAGEABLE},
    {"d2h_pageable", "device to host, pageable", "byte", prepare_link, queue_link, by_clock, 1, NULL, FL_U8,
     TO_HOST | PAGEABLE},
    {"f32", "multiply-add, f32", "flop", prepare_steps, queue_steps, by_events, 1, "multiply_add", FL_F32, 0},
    {"f64", "multiply-add, f64", "flop", prepare_steps, queue_steps, by_events, 1, "multiply_add", FL_F64, 0},
    {"launch", "launch, one after the other", NULL, prepare_launch, queue_steps, by_events, 1000, NULL, FL_F32, 0},
    {"launch_and_wait", "launch, and wait for it", NULL, prepare_launch, queue_steps, by_clock, 1, NULL, FL_F32, 0},
};

/* The first time is not counted. `variant` is null where there is one way only. */
static json_t *sample(bench *b, const quantity_kind *q, double amount, const char *variant)
{
    json_t *entry = json_new_object();
    const int repeat = b->common->repeat, least = repeat ? repeat : FEWEST_SAMPLES;
    double begin, times[MOST_SAMPLES];
    int count = 0;

    q->queue(b);
    must(fl_device_wait(b->device));
    begin = seconds_now();
    while (count < MOST_SAMPLES && (count < least || (!repeat && seconds_now() - begin < b->common->min_time_s)))
        times[count++] = q->seconds(b, q) / q->launches;
    const fl_bench_statistics s = statistics_of(times, count);
    json_put(entry, "key", json_text(q->key));
    json_put(entry, "what", json_text(q->title));
    json_put(entry, "variant", json_text(variant));
    json_put(entry, "seconds", json_number(s.median));
    json_put(entry, "spread_s", json_number(statistics_range(&s)));
    json_put(entry, "amount", json_number(amount));
    json_put(entry, "per_second", json_number(amount / s.median));
    json_put(entry, "unit", json_text(q->unit));
    json_put(entry, "times_s", json_numbers(times, count));
    return entry;
}

static json_t *sample_variants(bench *b, const quantity_kind *q, double amount)
{
    json_t *fastest = NULL;
    fl_variant_info v;

    for (size_t i = 0; fl_variant_get(b->device, i, &v) == FL_OK; i++) {
        if (strcmp(v.operation, q->operation) != 0 || !(v.dtypes & 1u << q->dtype) ||
            fl_variant_ready(b->device, i) != FL_OK)
            continue;
        b->variant = v.variant;
        json_t *tried = sample(b, q, amount, v.variant);
        if (fastest && row_number(fastest, "seconds") <= row_number(tried, "seconds")) {
            json_decref(tried);
            continue;
        }
        json_decref(fastest);
        fastest = tried;
    }
    return fastest;
}

static json_t *measure_quantity(bench *b, const quantity_kind *q)
{
    progress("%s: %s", b->info->resource, q->title);
    b->variant = NULL;
    const double amount = q->prepare(b, q);
    json_t *found = q->operation ? sample_variants(b, q, amount) : sample(b, q, amount, NULL);
    fl_array_free(b->elements);
    b->elements = NULL;
    return found;
}

static void bench_start(bench *b, fl_device *device, const common_options *common)
{
    const fl_device_info *info = fl_device_describe(device);
    const int64_t most = info->host_memory ? (int64_t)512 << 20 : (int64_t)1 << 30;

    *b = (bench){.device = device, .info = info, .common = common, .bytes = common->size};
    if (!common->size) /* far larger than any cache, and small beside the memory */
        b->bytes = info->memory_bytes / 16 < most ? info->memory_bytes / 16 : most;
    must(fl_stream_create(device, &b->stream));
    must(fl_stream_create(device, &b->other));
    must(fl_event_create(device, &b->start));
    must(fl_event_create(device, &b->stop));
    for (int i = 0; i < 2; i++) {
        must(fl_host_alloc(device, (size_t)b->bytes, &b->pinned[i]));
        memset(b->pinned[i], 1, (size_t)b->bytes); /* untouched pages are all read from one page of zeros */
    }
    must(fl_array_from_host(device, FL_U8, 1, &b->bytes, b->pinned[0], &b->from));
    must(fl_array_from_host(device, FL_U8, 1, &b->bytes, b->pinned[0], &b->to));
}

static void bench_end(bench *b)
{
    fl_array_free(b->from);
    fl_array_free(b->to);
    for (int i = 0; i < 2; i++)
        fl_host_free(b->device, b->pinned[i]);
    free(b->pageable);
    fl_event_free(b->start);
    fl_event_free(b->stop);
    fl_stream_free(b->stream);
    fl_stream_free(b->other);
}

double ceiling_rate(const json_t *device, const char *key)
{
    double rate = NAN;
    json_t *q;
    size_t i;

    json_array_foreach(json_object_get(device, "quantities"), i, q) rate =
        strcmp(row_text(q, "key"), key) == 0 ? row_number(q, "per_second") : rate;
    return rate;
}

/* Of a rate that was measured on a quiet machine the times are alike. */
static const double steady = 0.25;

enum { MOST_TRIES = 3 };

bool ceiling_is_steady(const json_t *quantity)
{
    return row_number(quantity, "spread_s") <= steady * row_number(quantity, "seconds");
}

/* Again where the times vary, since other programs ran meanwhile; the try whose times vary least. */
static json_t *measure_steadily(bench *b, const quantity_kind *q)
{
    json_t *found = measure_quantity(b, q);

    for (int i = 1; i < MOST_TRIES && q->unit && !b->info->emulation && found && !ceiling_is_steady(found); i++) {
        json_t *again = measure_quantity(b, q);
        const bool better = row_number(again, "spread_s") / row_number(again, "seconds") <
                            row_number(found, "spread_s") / row_number(found, "seconds");
        json_decref(better ? found : again);
        found = better ? again : found;
    }
    return found;
}

/* NaN, with a note, where the times do not show the device's speed. */
static double kept_rate(const json_t *device, const char *key)
{
    const double rate = ceiling_rate(device, key);
    json_t *q;
    size_t i;

    json_array_foreach(json_object_get(device, "quantities"), i,
                       q) if (strcmp(row_text(q, "key"), key) == 0 && !ceiling_is_steady(q))
    {
        note("%s: %s: its times vary by %.0f %%, since other programs run here: it is not kept; measure it again on a "
             "quiet machine",
             row_text(device, "resource"), row_text(q, "what"),
             100 * row_number(q, "spread_s") / row_number(q, "seconds"));
        return NAN;
    }
    return rate;
}

/* What is kept: no rate that is not steady, and none of two that contradict each other. */
static ceilings worth_keeping(const json_t *device, const fl_device_info *info)
{
    ceilings c = {kept_rate(device, "copy"), kept_rate(device, "f32"), kept_rate(device, "f64")};

    if (c.f32_flops_per_s < 0.9 * c.f64_flops_per_s) {
        note("%s: multiply-adds in f32 (%s) are slower than in f64 (%s), which no processor's are: neither is kept; "
             "measure "
             "them again on a quiet machine",
             info->resource, format_rate(c.f32_flops_per_s, "FLOP/s").text,
             format_rate(c.f64_flops_per_s, "FLOP/s").text);
        c.f32_flops_per_s = c.f64_flops_per_s = NAN;
    }
    return c;
}

/* A device of the document's "ceilings". */
static json_t *measure_device(fl_device *device, const common_options *common)
{
    const fl_device_info *info = fl_device_describe(device);
    json_t *row = json_new_object(), *quantities = json_new_list();
    problem why;
    bench b;

    bench_start(&b, device, common);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!kinds[i].link || !info->host_memory)
            json_append(quantities, measure_steadily(&b, &kinds[i]));
    progress_end();
    bench_end(&b);
    json_put(row, "backend", json_text(info->backend));
    json_put(row, "resource", json_text(info->resource));
    json_put(row, "device", json_text(info->name));
    json_put(row, "emulation", json_boolean(info->emulation));
    json_put(row, "quantities", quantities);
    if (info->emulation)
        return row; /* its times mean nothing */
    const ceilings roofline = worth_keeping(row, info);
    if (!ceilings_save(info, &roofline, &why))
        note("the ceilings of %s are not kept: %s", info->resource, why.text);
    return row;
}

static cell measured(const json_t *quantity)
{
    const double seconds = row_number(quantity, "seconds"), rate = row_number(quantity, "per_second");
    const char *unit = strcmp(row_text(quantity, "unit"), "byte") == 0 ? "B/s" : "FLOP/s";

    return cell_print("%s", (isnan(rate) ? format_seconds(seconds) : format_rate(rate, unit)).text);
}

static cell spread(const json_t *quantity)
{
    return cell_print("%s", format_percent(row_number(quantity, "spread_s") / row_number(quantity, "seconds")).text);
}

const column ceiling_columns[] = {
    {.key = "resource"},
    {.title = "what", .key = "what"},
    {.key = "variant"},
    {.title = "measured", .as = AS_NUMBER, .make = measured},
    {.title = "spread", .as = AS_PART, .make = spread, .drop = 26},
    {.title = "samples", .key = "times_s", .as = AS_COUNT, .drop = 28},
    {0},
};

static void show(const json_t *devices)
{
    json_t *quantities = rows_within(devices, "quantities"), *device;
    size_t i;

    columns_print(ceiling_columns, quantities, TABLE_TEXT, stdout);
    json_decref(quantities);
    json_array_foreach(devices, i, device) text_print(
        "%s: %s%s\n", row_text(device, "resource"), row_text(device, "device"),
        json_is_true(row_value(device, "emulation")) ? " (emulation: its times mean nothing, not kept)" : "");
    text_print("kept in %s: other commands give the percentage of these ceilings that a result reached\n",
               ceilings_path());
}

static const char summary[] =
    "Measures the most that each device can do: copies in its memory, copies to and from it, multiply-adds, and what a "
    "launch costs.\v"
    "The numbers are kept, and other commands report the percentage of the roofline that an exercise reached: the "
    "longer of bytes / bandwidth and operations / rate, over its time. --size is in bytes; it should be far beyond the "
    "caches. On several ranks (docs/cluster.md) it measures the link between them instead: ping-pong, exchange and "
    "all-reduce of messages up to --size bytes (64Mi).\v"
    "\tof the best device\n"
    "-b all\tof every device\n"
    "--ranks=2\tof the link between two processes\n";

int command_ceiling(int argc, char **argv)
{
    const command_line line = {.name = "flynn ceiling",
                               .summary = summary,
                               .takes = TAKES_BACKEND | TAKES_TRACE | TAKES_SIZE | TAKES_REPEAT | TAKES_MIN_TIME |
                                        TAKES_JSON | TAKES_TABLE | TAKES_RANKS};
    common_options common;

    options_parse(&line, argc, argv, &common);
    launch_ranks(common.ranks, argc, argv, NULL);
    if (group_is_distributed()) {
        const int code = ceiling_of_network(&common);
        options_free(&common);
        return code;
    }
    backend_list backends = backends_open(&common);
    json_t *document = json_new_document(), *devices = json_new_list();
    for (int i = 0; i < backends.count; i++)
        json_append(devices, measure_device(backends.open[i].device, &common));
    json_put(document, "machine", machine_describe());
    json_put(document, "ceilings", devices);
    if (results_write(&common, document))
        show(devices);
    json_decref(document);
    backends_close(&backends);
    options_free(&common);
    return EXIT_DONE;
}
