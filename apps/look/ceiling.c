/* SPDX-License-Identifier: MIT
 *
 * flynn ceiling: what a device can do at most, measured through the same library as everything else: its memory, its
 * arithmetic, the link to it, and what a launch costs.
 */
#include "commands.h"

#include "harness/backends.h"
#include "harness/ceilings.h"
#include "harness/machine.h"
#include "support/fail.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 1000, FEWEST_SAMPLES = 5, QUANTITIES = 16 };

/* ------------------------------------------------------------------------------------------------ results ---- */

/* Something that was measured: `amount` of `unit` in each sample's time. */
typedef struct quantity_measured {
    const char *key, *title;
    const char *unit;    /* "GB/s", "GFLOP/s"; NULL: the time itself is the result */
    const char *variant; /* that was the fastest; NULL: there is one way only */
    double amount;       /* bytes or operations of a sample */
    double s[MOST_SAMPLES];
    int count;
} quantity_measured;

typedef struct device_ceilings {
    const fl_device_info *device;
    int count;
    quantity_measured list[QUANTITIES];
} device_ceilings;

static double seconds_of(const quantity_measured *q)
{
    return median(q->s, q->count);
}

/* ---------------------------------------------------------------------------------------------- measuring ---- */

/* Arrays and streams that the measurements of one device share. */
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
} bench;

/* Work that is measured: queues it once, in b->stream. */
typedef void (*work)(bench *b);

static bool wanted(const bench *b, int count, double spent)
{
    if (b->repeat > 0)
        return count < b->repeat && count < MOST_SAMPLES;
    return count < FEWEST_SAMPLES || (count < MOST_SAMPLES && spent < b->min_time_s);
}

/* The time of `launches` times the work between two events, per time; after one that is not counted. */
static void sample_by_events(bench *b, work queue, int launches, quantity_measured *q)
{
    double begin, seconds;

    queue(b);
    must(fl_stream_wait(b->stream));
    begin = seconds_now();
    while (wanted(b, q->count, seconds_now() - begin)) {
        must(fl_event_record(b->start, b->stream));
        for (int i = 0; i < launches; i++)
            queue(b);
        must(fl_event_record(b->stop, b->stream));
        must(fl_event_elapsed(b->start, b->stop, &seconds));
        q->s[q->count++] = seconds / launches;
    }
}

/* The time by the clock on the wall until the work is done. */
static void sample_by_clock(bench *b, work queue, int launches, quantity_measured *q)
{
    double begin;

    queue(b);
    must(fl_device_wait(b->device));
    begin = seconds_now();
    while (wanted(b, q->count, seconds_now() - begin)) {
        double start = seconds_now();
        for (int i = 0; i < launches; i++)
            queue(b);
        must(fl_stream_wait(b->stream));
        must(fl_stream_wait(b->other));
        q->s[q->count++] = (seconds_now() - start) / launches;
    }
}

/* Of the next one, which is about to be measured. */
static quantity_measured *add(device_ceilings *d, const char *key, const char *title, const char *unit, double amount)
{
    quantity_measured *q = &d->list[d->count++];

    progress("%s: %s", d->device->resource, title);
    *q = (quantity_measured){.key = key, .title = title, .unit = unit, .amount = amount};
    return q;
}

/* Measures every variant of the operation that computes in `dtype`, and keeps the fastest. */
static void fastest_variant(bench *b, const char *operation, fl_dtype dtype, work queue, quantity_measured *q)
{
    static quantity_measured tried;

    for (size_t i = 0; i < fl_variant_count(b->device); i++) {
        fl_variant_info v;
        must(fl_variant_get(b->device, i, &v));
        if (strcmp(v.operation, operation) != 0 || !(v.dtypes & 1u << dtype))
            continue;
        tried = *q;
        tried.count = 0;
        b->variant = tried.variant = v.variant;
        sample_by_events(b, queue, 1, &tried);
        if (q->count == 0 || seconds_of(&tried) < seconds_of(q))
            *q = tried;
    }
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

/* From the one memory to the other, pinned, pageable, and both ways at once. */
static void measure_link(bench *b, device_ceilings *d)
{
    void *pinned = b->host, *pinned_too = b->host_too, *pageable = malloc((size_t)b->bytes);

    if (!pageable)
        fail(EXIT_BROKEN, "out of host memory for %lld bytes", (long long)b->bytes);
    memset(pageable, 1, (size_t)b->bytes);
    sample_by_clock(b, queue_to_device, 1, add(d, "h2d", "host to device, pinned", "GB/s", (double)b->bytes));
    sample_by_clock(b, queue_to_host, 1, add(d, "d2h", "device to host, pinned", "GB/s", (double)b->bytes));
    sample_by_clock(b, queue_both_ways, 1, add(d, "both", "both ways at once, pinned", "GB/s", 2 * (double)b->bytes));
    b->host = b->host_too = pageable;
    sample_by_clock(b, queue_to_device, 1,
                    add(d, "h2d_pageable", "host to device, pageable", "GB/s", (double)b->bytes));
    sample_by_clock(b, queue_to_host, 1, add(d, "d2h_pageable", "device to host, pageable", "GB/s", (double)b->bytes));
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

/* The best of three: one that was interrupted says nothing. */
static double least_time(bench *b)
{
    double least = INFINITY, seconds;

    for (int i = 0; i < 3; i++) {
        must(fl_event_record(b->start, b->stream));
        queue_steps(b);
        must(fl_event_record(b->stop, b->stream));
        must(fl_event_elapsed(b->start, b->stop, &seconds));
        least = fmin(least, seconds);
    }
    return least;
}

/* As many steps as take 5 ms, so that the launch is nothing beside them. */
static void choose_steps(bench *b)
{
    for (b->steps = 64; least_time(b) < 5e-3 && b->steps < (int64_t)1 << 40;)
        b->steps *= 2;
}

static void measure_arithmetic(bench *b, device_ceilings *d, fl_dtype dtype, const char *key, const char *title)
{
    const int64_t count = b->info->host_memory ? 1 << 15 : 1 << 22;
    double *ones =
        calloc((size_t)count, sizeof *ones); /* zeros of either dtype: all values are finite from the start */
    quantity_measured *q;

    if (!ones)
        fail(EXIT_BROKEN, "out of host memory");
    must(fl_array_from_host(b->device, dtype, 1, &count, ones, &b->elements));
    b->variant = NULL;
    choose_steps(b);
    q = add(d, key, title, "GFLOP/s", 2 * (double)count * (double)b->steps);
    fastest_variant(b, "multiply_add", dtype, queue_steps, q);
    fl_array_free(b->elements);
    free(ones);
}

/* A kernel for one element and no steps is all launch. */
static void measure_launch(bench *b, device_ceilings *d)
{
    enum { LAUNCHES = 1000 };
    float one = 1;

    must(fl_array_from_host(b->device, FL_F32, 1, (int64_t[]){1}, &one, &b->elements));
    b->variant = "naive"; /* the smallest kernel */
    b->steps = 0;
    sample_by_events(b, queue_steps, LAUNCHES, add(d, "launch", "launch, one after the other", NULL, 0));
    sample_by_clock(b, queue_steps, 1, add(d, "launch_and_wait", "launch, and wait for it", NULL, 0));
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
                 .repeat = common->repeat};
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

static double rate_of(const device_ceilings *d, const char *key)
{
    for (int i = 0; i < d->count; i++)
        if (strcmp(d->list[i].key, key) == 0)
            return d->list[i].amount / seconds_of(&d->list[i]);
    return NAN;
}

/* Measures, and keeps what the roofline is made of; an emulation's is nobody's ceiling. */
static void measure_device(fl_device *device, const common_options *common, device_ceilings *d)
{
    bench b;
    problem why;

    bench_start(&b, device, common);
    d->device = b.info;
    fastest_variant(&b, "copy", FL_U8, queue_copy, add(d, "copy", "copy on the device", "GB/s", 2 * (double)b.bytes));
    if (!b.info->host_memory)
        measure_link(&b, d);
    measure_arithmetic(&b, d, FL_F32, "f32", "multiply-add, f32");
    measure_arithmetic(&b, d, FL_F64, "f64", "multiply-add, f64");
    measure_launch(&b, d);
    progress_end();
    bench_end(&b);
    ceilings kept = {rate_of(d, "copy"), rate_of(d, "f32"), rate_of(d, "f64")};
    if (!b.info->emulation && !ceilings_save(b.info, &kept, &why))
        note("the ceilings of %s are not kept: %s", b.info->resource, why.text);
}

/* ------------------------------------------------------------------------------------------------- output ---- */

static const table_column columns[] = {{"backend", 0}, {"what", 0},    {"variant", 0}, {"measured", 1},
                                       {"spread", 1},  {"samples", 1}, {NULL, 0}};

static void add_row(table *t, const device_ceilings *d, const quantity_measured *q)
{
    statistics s = statistics_of(q->s, q->count);
    char samples[16], spread[16];

    snprintf(samples, sizeof samples, "%d", q->count);
    snprintf(spread, sizeof spread, "%.1f %%", 100 * s.spread / s.median);
    table_add(
        t, (const char *const[]){
               d->device->resource, q->title, q->variant ? q->variant : "-",
               q->unit ? format_rate(q->amount / s.median, *q->unit == 'G' && q->unit[1] == 'B' ? "B/s" : "FLOP/s").text
                       : format_seconds(s.median).text,
               spread, samples});
}

static void show_table(const device_ceilings *list, int count)
{
    table *t = table_create(columns);

    for (int i = 0; i < count; i++)
        for (int q = 0; q < list[i].count; q++)
            add_row(t, &list[i], &list[i].list[q]);
    table_print(t, stdout);
    table_free(t);
    for (int i = 0; i < count; i++)
        printf("%s: %s%s\n", list[i].device->resource, list[i].device->name,
               list[i].device->emulation ? " (emulation: means nothing, not kept)" : "");
    printf("kept in %s: the percentage of ceiling of other commands is held against these\n", ceilings_path());
}

static json_t *json_quantity(const quantity_measured *q)
{
    json_t *entry = json_new_object();
    statistics s = statistics_of(q->s, q->count);

    json_put(entry, "key", json_text(q->key));
    json_put(entry, "what", json_text(q->title));
    json_put(entry, "variant", json_text(q->variant));
    json_put(entry, "seconds", json_number(s.median));
    json_put(entry, "spread_s", json_number(s.spread));
    json_put(entry, "amount", q->unit ? json_number(q->amount) : json_null());
    json_put(entry, "per_second", q->unit ? json_number(q->amount / s.median) : json_null());
    json_put(entry, "unit", json_text(!q->unit ? NULL : strcmp(q->unit, "GB/s") == 0 ? "byte" : "flop"));
    json_put(entry, "times_s", json_numbers(q->s, q->count));
    return entry;
}

static void write_json(const device_ceilings *list, int count, const char *path)
{
    json_t *document = json_new_object(), *rows = json_new_list();
    problem why;

    for (int i = 0; i < count; i++) {
        json_t *row = json_new_object(), *quantities = json_new_list();
        json_put(row, "backend", json_text(list[i].device->backend));
        json_put(row, "resource", json_text(list[i].device->resource));
        json_put(row, "device", json_text(list[i].device->name));
        json_put(row, "emulation", json_boolean(list[i].device->emulation));
        for (int q = 0; q < list[i].count; q++)
            json_append(quantities, json_quantity(&list[i].list[q]));
        json_put(row, "quantities", quantities);
        json_append(rows, row);
    }
    json_put(document, "schema", json_text("flynn/1"));
    json_put(document, "machine", machine_describe());
    json_put(document, "ceilings", rows);
    if (!json_write(document, path, &why))
        fail_problem(&why);
    json_decref(document);
}

static const char summary[] =
    "Measures what each device can do at most: copies in its memory, copies to and from it, multiply-adds, and what a "
    "launch costs.\v"
    "The numbers are kept, and other commands tell what percentage of the roofline an exercise reached: the longer one "
    "of "
    "bytes / bandwidth and operations / rate, over its time. --size is in bytes; it should be far beyond the caches.";

int command_ceiling(int argc, char **argv)
{
    const command_line line = {.name = "flynn ceiling",
                               .summary = summary,
                               .takes = TAKES_BACKEND | TAKES_TRACE | TAKES_SIZE | TAKES_REPEAT | TAKES_MIN_TIME |
                                        TAKES_JSON};
    common_options common;

    options_parse(&line, argc, argv, &common);
    backend_list backends = backends_open(&common);
    device_ceilings *list = calloc((size_t)backends.count, sizeof *list);
    if (!list)
        fail(EXIT_BROKEN, "out of host memory");
    for (int i = 0; i < backends.count; i++)
        measure_device(backends.open[i].device, &common, &list[i]);
    if (common.json)
        write_json(list, backends.count, common.json_file);
    if (!common.json || common.json_file)
        show_table(list, backends.count);
    free(list);
    backends_close(&backends);
    options_free(&common);
    return EXIT_DONE;
}
