/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#define EDGE 500

/* Work that takes a while on any device: an image and a kernel for it. */
struct work {
    fl_array *image, *kernel, *out;
};

static struct work work_create(fl_device *device)
{
    struct work work = {0};
    struct matrix image = matrix_random(FL_F32, EDGE, EDGE, 1), kernel = matrix_random(FL_F32, 9, 9, 2);
    work.image = array_from(device, &image);
    work.kernel = array_from(device, &kernel);
    must(fl_array_create(device, FL_F32, 2, image.shape, &work.out));
    matrix_free(&image);
    matrix_free(&kernel);
    return work;
}

static void work_queue(fl_device *device, struct work *work, fl_stream *stream)
{
    must(fl_convolve(device, work->image, work->kernel, FL_SAME, work->out,
                     &(fl_run){.variant = "naive", .stream = stream}));
}

static void work_free(struct work *work)
{
    free_arrays(work->image, work->kernel, work->out);
}

ON_EVERY_BACKEND(stream, events_measure)
{
    fl_device *device = open_device(on->resource);
    struct work work = work_create(device);
    fl_stream *stream;
    fl_event *start, *middle, *stop;
    must(fl_stream_create(device, &stream));
    must(fl_event_create(device, &start));
    must(fl_event_create(device, &middle));
    must(fl_event_create(device, &stop));
    must(fl_event_record(start, stream));
    work_queue(device, &work, stream);
    must(fl_event_record(middle, stream));
    work_queue(device, &work, stream);
    work_queue(device, &work, stream);
    must(fl_event_record(stop, stream));
    double first = -1, all = -1, second = -1;
    must(fl_event_elapsed(start, stop, &all));
    must(fl_event_elapsed(start, middle, &first));
    must(fl_event_elapsed(middle, stop, &second));
    cr_expect(first > 0 && second > 0 && all < 30, "%s: %g %g %g", on->resource, first, second, all);
    double apart = all - first - second;
    cr_expect(apart > -0.01 * all - 2e-6 && apart < 0.01 * all + 2e-6, "%s: %g + %g is not %g", on->resource, first,
              second, all);
    fl_event_free(start);
    fl_event_free(middle);
    fl_event_free(stop);
    fl_stream_free(stream);
    work_free(&work);
    fl_device_close(device);
}

ON_EVERY_BACKEND(stream, events_on_the_default_stream)
{
    fl_device *device = open_device(on->resource);
    struct work work = work_create(device);
    fl_event *start, *stop;
    must(fl_event_create(device, &start));
    must(fl_event_create(device, &stop));
    must(fl_event_record(start, NULL));
    work_queue(device, &work, NULL);
    must(fl_event_record(stop, NULL));
    must(fl_event_wait(stop));
    double seconds = -1;
    must(fl_event_elapsed(start, stop, &seconds));
    cr_expect(seconds > 0, "%s: %g s", on->resource, seconds);
    fl_event_free(start);
    fl_event_free(stop);
    work_free(&work);
    fl_device_close(device);
}

ON_EVERY_BACKEND(stream, never_recorded)
{
    fl_device *device = open_device(on->resource);
    fl_event *event, *recorded;
    double seconds = -1;
    must(fl_event_create(device, &event));
    must(fl_event_create(device, &recorded));
    must(fl_event_record(recorded, NULL));
    expect_status(FL_E_ARGUMENT, fl_event_wait(event));
    expect_status(FL_E_ARGUMENT, fl_event_elapsed(event, recorded, &seconds));
    expect_status(FL_E_ARGUMENT, fl_event_elapsed(recorded, event, &seconds));
    expect_status(FL_E_ARGUMENT, fl_event_wait(NULL));
    expect_status(FL_E_ARGUMENT, fl_event_record(NULL, NULL));
    cr_expect(seconds == -1);
    fl_event_free(event);
    fl_event_free(recorded);
    fl_device_close(device);
}

/* Streams and events of another device are refused. */
ON_EVERY_BACKEND(stream, of_another_device)
{
    fl_device *device = open_device(on->resource), *other = open_device(on->resource);
    struct work work = work_create(device);
    fl_stream *stream, *own;
    fl_event *event;
    must(fl_stream_create(other, &stream));
    must(fl_stream_create(device, &own));
    must(fl_event_create(device, &event));
    fl_run run = {.stream = stream};
    expect_status(FL_E_WRONG_DEVICE, fl_convolve(device, work.image, work.kernel, FL_SAME, work.out, &run));
    expect_error_says("stream");
    expect_status(FL_E_WRONG_DEVICE, fl_event_record(event, stream));
    expect_status(FL_E_WRONG_DEVICE, fl_array_read(work.image, &(float){0}, stream));
    must(fl_event_record(event, own));
    expect_status(FL_E_WRONG_DEVICE, fl_stream_wait_event(stream, event));
    fl_event_free(event);
    fl_stream_free(stream);
    fl_stream_free(own);
    work_free(&work);
    fl_device_close(device);
    fl_device_close(other);
}

/* Copies and work in one stream are done in order. */
ON_EVERY_BACKEND(stream, in_order)
{
    fl_device *device = open_device(on->resource);
    struct matrix kernel = matrix_create(FL_F32, 1, 1);
    matrix_set(&kernel, 0, 0, 2);
    fl_array *b = array_from(device, &kernel), *a, *out;
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){EDGE, EDGE}, &a));
    must(fl_array_create(device, FL_F32, 2, (int64_t[]){EDGE, EDGE}, &out));
    fl_stream *stream;
    must(fl_stream_create(device, &stream));
    size_t bytes = (size_t)EDGE * EDGE * sizeof(float);
    float *sent = NULL, *got = NULL;
    must(fl_host_alloc(device, bytes * 4, (void **)&sent));
    must(fl_host_alloc(device, bytes * 4, (void **)&got));
    for (int i = 0; i < EDGE * EDGE * 4; i++)
        sent[i] = (float)(i % 1009);
    for (int i = 0; i < 4; i++) {
        must(fl_array_write(a, sent + i * EDGE * EDGE, stream));
        must(fl_convolve(device, a, b, FL_SAME, out, &(fl_run){.stream = stream}));
        must(fl_array_read(out, got + i * EDGE * EDGE, stream));
    }
    must(fl_stream_wait(stream));
    for (int i = 0; i < EDGE * EDGE * 4; i++)
        cr_assert(got[i] == 2 * sent[i], "%s: element %d of pass %d", on->resource, i % (EDGE * EDGE),
                  i / (EDGE * EDGE));
    fl_host_free(device, sent);
    fl_host_free(device, got);
    fl_stream_free(stream);
    free_arrays(a, b, out);
    matrix_free(&kernel);
    fl_device_close(device);
}

/* Everything is freed while work that uses it is queued; the last result, read before, is right. */
ON_EVERY_BACKEND(stream, freed_while_queued)
{
    fl_device *device = open_device(on->resource);
    for (int i = 0; i < 20; i++) {
        struct work work = work_create(device);
        fl_stream *stream;
        fl_event *event;
        must(fl_stream_create(device, &stream));
        must(fl_event_create(device, &event));
        work_queue(device, &work, stream);
        must(fl_event_record(event, stream));
        work_free(&work);
        fl_event_free(event);
        fl_stream_free(stream);
    }
    must(fl_device_wait(device));
    struct work work = work_create(device);
    work_queue(device, &work, NULL);
    fl_device_close(device); /* before what it holds, with work queued */
    work_free(&work);
}

ON_EVERY_BACKEND(stream, wrong_arguments)
{
    fl_device *device = open_device(on->resource);
    fl_stream *stream = NULL;
    fl_event *event = NULL;
    void *memory = NULL;
    expect_status(FL_E_ARGUMENT, fl_stream_create(NULL, &stream));
    expect_status(FL_E_ARGUMENT, fl_stream_create(device, NULL));
    expect_status(FL_E_ARGUMENT, fl_event_create(NULL, &event));
    expect_status(FL_E_ARGUMENT, fl_event_create(device, NULL));
    expect_status(FL_E_ARGUMENT, fl_host_alloc(device, 8, NULL));
    expect_status(FL_E_ARGUMENT, fl_host_alloc(NULL, 8, &memory));
    expect_status(FL_E_ARGUMENT, fl_device_wait(NULL));
    fl_device_close(device);
}
