/* SPDX-License-Identifier: MIT */
#include "quantity.h"

#include "kept/machine.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/statistics.h"
#include "view/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fl_status queue_copy(measured_device *d, const fl_run *run)
{
    return fl_copy_array(d->device, d->from, d->to, run);
}

static double prepare_copy(measured_device *d)
{
    return 2 * (double)d->bytes; /* read and written */
}

static fl_status queue_link(measured_device *d, const fl_run *run)
{
    const int link = d->quantity->link;
    fl_status status = FL_OK;

    if (link & TO_DEVICE)
        status = fl_array_write(d->to, link & PAGEABLE ? d->pageable : d->pinned[0], run->stream);
    if (link & TO_HOST && status == FL_OK)
        status = fl_array_read(d->from, link & PAGEABLE ? d->pageable : d->pinned[1], d->other);
    return status;
}

static double prepare_link(measured_device *d)
{
    if (d->quantity->link & PAGEABLE && !d->pageable) {
        d->pageable = memory_zeroed(1, (size_t)d->bytes);
        memset(d->pageable, 1, (size_t)d->bytes);
    }
    return (double)d->bytes * (d->quantity->link == BOTH ? 2 : 1);
}

static fl_status queue_steps(measured_device *d, const fl_run *run)
{
    /* The values stay close to 1, whatever the steps: no infinities, no denormals, which cost more on some
     * processors. */
    return fl_multiply_add(d->device, d->elements, 0.5, 0.5, d->steps, d->elements, run);
}

static void make_elements(measured_device *d, fl_dtype dtype, int64_t count)
{
    double *zeros = memory_zeroed((size_t)count, sizeof *zeros); /* of either dtype */

    must(fl_array_from_host(d->device, dtype, 1, &count, zeros, &d->elements));
    free(zeros);
}

/* A pass of multiply-adds is to take the first, and shows more than its launch from the second on. */
static const double steps_s = 5e-3;
#define LEAST_STEPS_S 1e-3

/* Returns the least time of three launches. */
static double least_s_of(measured_device *d, const fl_run *run)
{
    double least = INFINITY;

    for (int i = 0; i < 3; i++) {
        const double start = seconds_now();
        must(queue_steps(d, run));
        must(fl_device_wait(d->device));
        least = fmin(least, seconds_now() - start);
    }
    return least;
}

/* As many steps as take 5 ms, so that the launch itself takes little time next to them. */
static double prepare_steps(measured_device *d)
{
    const int64_t count = d->info->host_memory || d->info->emulation ? 1 << 15 : 1 << 22;
    double least = 0;

    make_elements(d, d->quantity->dtype, count);
    for (d->steps = 32; least < steps_s && d->steps < (int64_t)1 << 40;) {
        d->steps *= 2;
        least = least_s_of(d, NULL);
    }
    return 2 * (double)count * (double)d->steps;
}

double quantity_trial_s(measured_device *d, const char *variant)
{
    const int64_t part = 8, steps = d->steps;

    if (d->quantity->queue != queue_steps)
        return 0;
    d->steps = steps / part;
    const double s = least_s_of(d, &(fl_run){.variant = variant});
    d->steps = steps;
    return s;
}

/* A kernel for one element and no steps is all launch; this variant's is the smallest. */
static double prepare_launch(measured_device *d)
{
    make_elements(d, d->quantity->dtype, 1);
    d->variant = "naive";
    d->steps = 0;
    return NAN;
}

static double prepare_stream(measured_device *d)
{
    problem why;
    const double bytes = stream_prepare(&d->streams, d->device, d->quantity->stream, d->bytes, &why);

    if (isnan(bytes))
        note("%s: %s is not measured: %s", d->info->resource, d->quantity->title, why.text);
    return bytes;
}

static fl_status queue_stream(measured_device *d, const fl_run *run)
{
    return stream_queue(&d->streams, d->quantity->stream, run);
}

#define LINK_KIND(key_, title_, ways) \
    { \
        .key = (key_), .title = (title_), .unit = "byte", .prepare = prepare_link, .queue = queue_link, \
        .by = FL_BENCH_HOST, .link = (ways) \
    }
#define STREAM_KIND(key_, title_, kernel_, operation_) \
    { \
        .key = (key_), .title = (title_), .unit = "byte", .prepare = prepare_stream, .queue = queue_stream, \
        .by = FL_BENCH_EVENTS, .operation = (operation_), .is_stream = true, .stream = (kernel_) \
    }
#define STEPS_KIND(key_, title_, dtype_) \
    { \
        .key = (key_), .title = (title_), .unit = "flop", .prepare = prepare_steps, .queue = queue_steps, \
        .by = FL_BENCH_EVENTS, .operation = "multiply_add", .of_fastest = true, .dtype = (dtype_), \
        .least_s = LEAST_STEPS_S \
    }

const quantity_kind quantity_kinds[] = {
    {.key = "copy",
     .title = "copy on the device",
     .unit = "byte",
     .prepare = prepare_copy,
     .queue = queue_copy,
     .by = FL_BENCH_EVENTS,
     .operation = "copy",
     .of_fastest = true,
     .dtype = FL_U8},
    STREAM_KIND("mul", "mul, f64: 0.5 x", STREAM_MUL, NULL),
    STREAM_KIND("add", "add, f64: x + y", STREAM_ADD, NULL),
    STREAM_KIND("triad", "triad, f64: x + 0.5 y", STREAM_TRIAD, NULL),
    STREAM_KIND("dot", "dot, f64: sum of x y", STREAM_DOT, "reduce"),
    LINK_KIND("h2d", "host to device, pinned", TO_DEVICE),
    LINK_KIND("d2h", "device to host, pinned", TO_HOST),
    LINK_KIND("both", "both ways at once, pinned", BOTH),
    LINK_KIND("h2d_pageable", "host to device, pageable", TO_DEVICE | PAGEABLE),
    LINK_KIND("d2h_pageable", "device to host, pageable", TO_HOST | PAGEABLE),
    STEPS_KIND("f32", "multiply-add, f32", FL_F32),
    STEPS_KIND("f64", "multiply-add, f64", FL_F64),
    {.key = "launch",
     .title = "launch, one after the other",
     .prepare = prepare_launch,
     .queue = queue_steps,
     .by = FL_BENCH_EVENTS,
     .launches = 1000,
     .operation = "multiply_add",
     .dtype = FL_F32},
    {.key = "launch_and_wait",
     .title = "launch, and wait for it",
     .prepare = prepare_launch,
     .queue = queue_steps,
     .by = FL_BENCH_HOST,
     .operation = "multiply_add",
     .dtype = FL_F32},
    {0},
};

void quantity_start(measured_device *d, fl_device *device, const common_options *common)
{
    const fl_device_info *info = fl_device_describe(device);
    const double caches = machine_caches_of(info);
    const int64_t most = info->emulation     ? (int64_t)4 << 20 /* its times mean nothing */
                         : info->host_memory ? (int64_t)fmax(0x1p29, 2 * caches)
                                             : (int64_t)1 << 30;

    *d = (measured_device){.device = device, .info = info, .common = common, .bytes = common->size, .caches = caches};
    if (!common->size) /* larger than the caches, and small compared with the memory */
        d->bytes = info->memory_bytes / 16 < most ? info->memory_bytes / 16 : most;
    must(fl_stream_create(device, &d->other));
    fl_array **const arrays[] = {&d->from, &d->to};
    for (int i = 0; i < 2; i++) {
        must(fl_array_create(device, FL_U8, 1, &d->bytes, arrays[i]));
        if (!info->host_memory)
            must(fl_host_alloc(device, (size_t)d->bytes, &d->pinned[i]));
        void *host = info->host_memory ? fl_array_data(*arrays[i]) : d->pinned[i];
        memset(host, 1, (size_t)d->bytes); /* untouched pages are all read from one page of zeros */
        if (d->pinned[i])
            must(fl_array_write(*arrays[i], host, NULL));
    }
    must(fl_device_wait(device));
}

void quantity_end(measured_device *d)
{
    fl_array_free(d->from);
    fl_array_free(d->to);
    for (int i = 0; i < 2; i++)
        fl_host_free(d->device, d->pinned[i]);
    free(d->pageable);
    stream_free(&d->streams);
    fl_stream_free(d->other);
}

/* ------------------------------------------------------------------------------------ what was measured ---- */

bool quantity_is_known(const fl_bench_statistics *s)
{
    const double known_to = 0.25, width = isnan(s->low) ? s->maximum - s->minimum : s->high - s->low;

    return width <= known_to * s->median;
}

json_t *quantity_interval(const fl_bench_statistics *s)
{
    return json_numbers((double[]){s->low, s->high}, isnan(s->low) ? 0 : 2);
}

void quantity_note(json_t *notes, const char *format, ...)
{
    va_list arguments;
    char text[500];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_append(notes, json_text(text));
}

void quantity_print_notes(json_t *notes)
{
    const bool written = fflush(stdout) == 0; /* else the command ends with the line that says so */
    json_t *text;
    size_t i;

    json_array_foreach(notes, i, text)
    {
        if (written)
            note("%s", json_string_value(text));
    }
    json_decref(notes);
}
