/* SPDX-License-Identifier: MIT
 *
 * flynn ceiling: the most that a device can do, measured through the same library as everything else: its memory, its
 * arithmetic, the link to it, and what a launch costs.
 */
#include "ceiling.h"
#include "commands.h"

#include "harness/backends.h"
#include "harness/ceilings.h"
#include "harness/machine.h"
#include "harness/results.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/row.h"
#include "view/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 1000, FEWEST_SAMPLES = 5 };

/* ---------------------------------------------------------------------------------------------- measuring ---- */

/* Arrays and streams that the measurements of one device share, and what they found. */
typedef struct bench {
    fl_device *device;
    const fl_device_info *info;
    double min_time_s;
    int repeat;
    fl_stream *stream, *other;
    fl_event *start, *stop;
    fl_array *from, *to; /* of u8, as large as `bytes` */
    int64_t bytes;
    void *host, *host_too;
    const char *variant;
    fl_array *elements;
    int64_t steps;
    json_t *quantities;
} bench;

/* Work that is measured: queues it once, in b->stream. */
typedef void (*work)(bench *b);

/* The seconds of that many launches of the work. */
typedef double (*timer)(bench *b, work queue, int launches);

/* What is measured. */
typedef struct quantity_measured {
    const char *key, *title;
    const char *unit; /* "byte", "flop"; NULL: the time itself is the result */
    double amount;    /* bytes or operations of the work */
    work queue;
    timer seconds;
    int launches;
    const char *operation; /* of which the fastest variant is kept; NULL: there is one way only */
    fl_dtype dtype;        /* that the variants compute in */
} quantity_measured;

static double by_events(bench *b, work queue, int launches)
{
    double seconds;

    must(fl_event_record(b->start, b->stream));
    for (int i = 0; i < launches; i++)
        queue(b);
    must(fl_event_record(b->stop, b->stream));
    must(fl_event_elapsed(b->start, b->stop, &seconds));
    return seconds;
}

static double by_clock(bench *b, work queue, int launches)
{
    double start = seconds_now();

    for (int i = 0; i < launches; i++)
        queue(b);
    must(fl_stream_wait(b->stream));
    must(fl_stream_wait(b->other));
    return seconds_now() - start;
}

static bool wanted(const bench *b, int count, double spent)
{
    if (b->repeat > 0)
        return count < b->repeat && count < MOST_SAMPLES;
    return count < FEWEST_SAMPLES || (count < MOST_SAMPLES && spent < b->min_time_s);
}

/* The first time is not counted. */
static json_t *sample(bench *b, const quantity_measured *q, const char *variant)
{
    json_t *entry = json_new_object();
    double begin, times[MOST_SAMPLES];
    int count = 0;

    q->queue(b);
    must(fl_device_wait(b->device));
    begin = seconds_now();
    while (wanted(b, count, seconds_now() - begin))
        times[count++] = q->seconds(b, q->queue, q->launches) / q->launches;
    const statistics s = statistics_of(times, count);
    json_put(entry, "key", json_text(q->key));
    json_put(entry, "what", json_text(q->title));
    json_put(entry, "variant", json_text(variant));
    json_put(entry, "seconds", json_number(s.median));
    json_put(entry, "spread_s", json_number(s.spread));
    json_put(entry, "amount", q->unit ? json_number(q->amount) : json_null());
    json_put(entry, "per_second", q->unit ? json_number(q->amount / s.median) : json_null());
    json_put(entry, "unit", json_text(q->unit));
    json_put(entry, "times_s", json_numbers(times, count));
    return entry;
}

static json_t *sample_variants(bench *b, const quantity_measured *q)
{
    json_t *fastest = NULL;

    for (size_t i = 0; i < fl_variant_count(b->device); i++) {
        fl_variant_info v;
        must(fl_variant_get(b->device, i, &v));
        if (strcmp(v.operation, q->operation) != 0 || !(v.dtypes & 1u << q->dtype))
            continue;
        b->variant = v.variant;
        json_t *tried = sample(b, q, v.variant);
        if (fastest && row_number(fastest, "seconds") <= row_number(tried, "seconds")) {
            json_decref(tried);
            continue;
        }
        json_decref(fastest);
        fastest = tried;
    }
    return fastest;
}

static void measure_quantity(bench *b, const quantity_measured *q)
{
    progress("%s: %s", b->info->resource, q->title);
    json_append(b->quantities, q->operation ? sample_variants(b, q) : sample(b, q, NULL));
}

/* ------------------------------------------------------------------------------------------------- memory ---- */

static void queue_copy(bench *b)
{
    must(fl_copy_array(b->device, b->from, b->to, &(fl_run){.variant = b->variant, .stream = b->stream}));
}

static void queue_to_device(bench *b)
{
    must(fl_array_write(b->to, b->host, b->stream));
}

static void queue_to_host(bench *b)
{
    must(fl_array_read(b->from, b->host_too, b->stream));
}

static void queue_both_ways(bench *b)
{
    must(fl_array_write(b->to, b->host, b->stream));
    must(fl_array_read(b->from, b->host_too, b->other));
}

static void measure_copy(bench *b, const char *key, const char *title, int times, work queue)
{
    measure_quantity(
        b, &(quantity_measured){key, title, "byte", times * (double)b->bytes, queue, by_clock, 1, NULL, FL_U8});
}

/* From the one memory to the other, pinned, pageable, and both ways at once. */
static void measure_link(bench *b)
{
    void *pinned = b->host, *pinned_too = b->host_too, *pageable = memory_zeroed(1, (size_t)b->bytes);

    memset(pageable, 1, (size_t)b->bytes);
    measure_copy(b, "h2d", "host to device, pinned", 1, queue_to_device);
    measure_copy(b, "d2h", "device to host, pinned", 1, queue_to_host);
    measure_copy(b, "both", "both ways at once, pinned", 2, queue_both_ways);
    b->host = b->host_too = pageable;
    measure_copy(b, "h2d_pageable", "host to device, pageable", 1, queue_to_device);
    measure_copy(b, "d2h_pageable", "device to host, pageable", 1, queue_to_host);
    b->host = pinned;
    b->host_too = pinned_too;
    free(pageable);
}

/* ---------------------------------------------------------------------------------------------- arithmetic ---- */

static void queue_steps(bench *b)
{
    /* The values stay near 1, whatever the steps: no infinities, no denormals, which cost more on some processors. */
    must(fl_multiply_add(b->device, b->elements, 0.5, 0.5, b->steps, b->elements,
                         &(fl_run){.variant = b->variant, .stream = b->stream}));
}

/* As many steps as take 5 ms in the best of three launches, so that the launch itself takes little beside them. */
static void choose_steps(bench *b)
{
    double least = 0;

    for (b->steps = 32; least < 5e-3 && b->steps < (int64_t)1 << 40;) {
        b->steps *= 2;
        least = INFINITY;
        for (int i = 0; i < 3; i++)
            least = fmin(least, by_events(b, queue_steps, 1));
    }
}

static void measure_arithmetic(bench *b, fl_dtype dtype, const char *key, const char *title)
{
    const int64_t count = b->info->host_memory ? 1 << 15 : 1 << 22;
    double *zeros = memory_zeroed((size_t)count, sizeof *zeros); /* of either dtype */

    must(fl_array_from_host(b->device, dtype, 1, &count, zeros, &b->elements));
    free(zeros);
    b->variant = NULL;
    choose_steps(b);
    measure_quantity(b, &(quantity_measured){key, title, "flop", 2 * (double)count * (double)b->steps, queue_steps,
                                             by_events, 1, "multiply_add", dtype});
    fl_array_free(b->elements);
}

/* A kernel for one element and no steps is all launch. */
static void measure_launch(bench *b)
{
    float one = 1;

    must(fl_array_from_host(b->device, FL_F32, 1, (int64_t[]){1}, &one, &b->elements));
    b->variant = "naive"; /* the smallest kernel */
    b->steps = 0;
    measure_quantity(b, &(quantity_measured){.key = "launch",
                                             .title = "launch, one after the other",
                                             .queue = queue_steps,
                                             .seconds = by_events,
                                             .launches = 1000});
    measure_quantity(b, &(quantity_measured){.key = "launch_and_wait",
                                             .title = "launch, and wait for it",
                                             .queue = queue_steps,
                                             .seconds = by_clock,
                                             .launches = 1});
    fl_array_free(b->elements);
}

/* ----------------------------------------------------------------------------------------------- a device ---- */

/* Far larger than any cache, and small beside the memory. */
static int64_t size_for(const fl_device_info *info)
{
    const int64_t most = info->host_memory ? (int64_t)512 << 20 : (int64_t)1 << 30;

    return info->memory_bytes / 16 < most ? info->memory_bytes / 16 : most;
}

static void bench_start(bench *b, fl_device *device, const common_options *common)
{
    *b = (bench){.device = device,
                 .info = fl_device_describe(device),
                 .min_time_s = common->min_time_s,
                 .repeat = common->repeat,
                 .quantities = json_new_list()};
    b->bytes = common->size ? common->size : size_for(b->info);
    must(fl_stream_create(device, &b->stream));
    must(fl_stream_create(device, &b->other));
    must(fl_event_create(device, &b->start));
    must(fl_event_create(device, &b->stop));
    must(fl_host_alloc(device, (size_t)b->bytes, &b->host));
    must(fl_host_alloc(device, (size_t)b->bytes, &b->host_too));
    memset(b->host, 1, (size_t)b->bytes); /* pages that were never touched are read from one page of zeros */
    memset(b->host_too, 1, (size_t)b->bytes);
    must(fl_array_from_host(device, FL_U8, 1, &b->bytes, b->host, &b->from));
    must(fl_array_from_host(device, FL_U8, 1, &b->bytes, b->host, &b->to));
}

static void bench_end(bench *b)
{
    fl_array_free(b->from);
    fl_array_free(b->to);
    fl_host_free(b->device, b->host);
    fl_host_free(b->device, b->host_too);
    fl_event_free(b->start);
    fl_event_free(b->stop);
    fl_stream_free(b->stream);
    fl_stream_free(b->other);
}

double ceiling_rate(const json_t *device, const char *key)
{
    json_t *q;
    size_t i;

    json_array_foreach(json_object_get(device, "quantities"), i,
                       q) if (strcmp(row_text(q, "key"), key) == 0) return row_number(q, "per_second");
    return NAN;
}

/* Saves the roofline; that of an emulation is of no use. */
static void save(const fl_device_info *info, const json_t *row)
{
    ceilings found = {ceiling_rate(row, "copy"), ceiling_rate(row, "f32"), ceiling_rate(row, "f64")};
    problem why;

    if (!info->emulation && !ceilings_save(info, &found, &why))
        note("the ceilings of %s are not kept: %s", info->resource, why.text);
}

/* A device of the document's "ceilings". */
static json_t *measure_device(fl_device *device, const common_options *common)
{
    const fl_device_info *info = fl_device_describe(device);
    json_t *row = json_new_object();
    bench b;

    bench_start(&b, device, common);
    measure_quantity(&b, &(quantity_measured){"copy", "copy on the device", "byte", 2 * (double)b.bytes, queue_copy,
                                              by_events, 1, "copy", FL_U8});
    if (!info->host_memory)
        measure_link(&b);
    measure_arithmetic(&b, FL_F32, "f32", "multiply-add, f32");
    measure_arithmetic(&b, FL_F64, "f64", "multiply-add, f64");
    measure_launch(&b);
    progress_end();
    bench_end(&b);
    json_put(row, "backend", json_text(info->backend));
    json_put(row, "resource", json_text(info->resource));
    json_put(row, "device", json_text(info->name));
    json_put(row, "emulation", json_boolean(info->emulation));
    json_put(row, "quantities", b.quantities);
    save(info, row);
    return row;
}

/* ------------------------------------------------------------------------------------------------- output ---- */

static cell measured(const json_t *quantity)
{
    const char *unit = row_text(quantity, "unit");

    if (strcmp(unit, "-") == 0)
        return cell_print("%s", format_seconds(row_number(quantity, "seconds")).text);
    return cell_print(
        "%s", format_rate(row_number(quantity, "per_second"), strcmp(unit, "byte") == 0 ? "B/s" : "FLOP/s").text);
}

static cell spread(const json_t *quantity)
{
    return cell_print("%s", format_percent(row_number(quantity, "spread_s") / row_number(quantity, "seconds")).text);
}

const column ceiling_columns[] = {
    {.title = "backend", .key = "resource"},
    {.title = "what", .key = "what"},
    {.title = "variant", .key = "variant"},
    {.title = "measured", .as = AS_NUMBER, .make = measured},
    {.title = "spread", .as = AS_PART, .make = spread},
    {.title = "samples", .key = "times_s", .as = AS_COUNT},
    {0},
};

static void show(const json_t *devices)
{
    json_t *quantities = rows_within(devices, "quantities"), *device;
    size_t i;

    columns_print(ceiling_columns, quantities, TABLE_TEXT, stdout);
    json_decref(quantities);
    json_array_foreach(devices, i, device) printf(
        "%s: %s%s\n", row_text(device, "resource"), row_text(device, "device"),
        json_is_true(json_object_get(device, "emulation")) ? " (emulation: its times mean nothing, not kept)" : "");
    printf("kept in %s: other commands give the percentage of these ceilings that a result reached\n", ceilings_path());
}

static const char summary[] =
    "Measures the most that each device can do: copies in its memory, copies to and from it, multiply-adds, and what a "
    "launch costs.\v"
    "The numbers are kept, and other commands report the percentage of the roofline that an exercise reached: the "
    "longer of bytes / bandwidth and operations / rate, over its time. --size is in bytes; it should be far beyond the "
    "caches.";

int command_ceiling(int argc, char **argv)
{
    const command_line line = {.name = "flynn ceiling",
                               .summary = summary,
                               .takes = TAKES_BACKEND | TAKES_TRACE | TAKES_SIZE | TAKES_REPEAT | TAKES_MIN_TIME |
                                        TAKES_JSON};
    common_options common;

    options_parse(&line, argc, argv, &common);
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
