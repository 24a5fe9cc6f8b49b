/* SPDX-License-Identifier: MIT
 *
 * test_trace.c - what was recorded between fl_trace_start and fl_trace_stop, on every backend.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

/* A span that was told, with its strings. */
struct kept {
    char process[64], lane[96], name[96];
    double start, seconds, bytes;
};

struct told {
    int count;
    struct kept spans[MOST];
};

static void keep(const fl_span *span, void *user)
{
    struct told *told = user;
    cr_assert(told->count < MOST);
    struct kept *k = &told->spans[told->count++];
    snprintf(k->process, sizeof k->process, "%s", span->process);
    snprintf(k->lane, sizeof k->lane, "%s", span->lane);
    snprintf(k->name, sizeof k->name, "%s", span->name);
    k->start = span->start_s;
    k->seconds = span->seconds;
    k->bytes = span->bytes;
}

static const struct kept *find(const struct told *told, const char *process, const char *lane, const char *name)
{
    for (int i = 0; i < told->count; i++) {
        const struct kept *k = &told->spans[i];
        if (strcmp(k->process, process) == 0 && strstr(k->lane, lane) && strstr(k->name, name) == k->name)
            return k;
    }
    cr_assert(false, "no span '%s' in lane '%s' of %s", name, lane, process);
    return NULL;
}

/* A small convolution from host arrays to host arrays in a stream of its own. */
static void work(fl_device *device, const char *variant)
{
    struct matrix image = matrix_random(FL_F32, 40, 30, 1), kernel = matrix_random(FL_F32, 3, 3, 2);
    int64_t shape[2];
    fl_stream *stream;
    fl_array *out, *a = array_from(device, &image), *b = array_from(device, &kernel);
    float result[42 * 32];
    must(fl_stream_create(device, &stream));
    must(fl_convolve_shape(image.shape, kernel.shape, FL_FULL, shape));
    must(fl_array_create(device, FL_F32, 2, shape, &out));
    must(fl_convolve(device, a, b, FL_FULL, out, &(fl_run){.variant = variant, .stream = stream}));
    must(fl_array_read(out, result, stream));
    must(fl_stream_wait(stream));
    free_arrays(a, b, out);
    fl_stream_free(stream);
    matrix_free(&image);
    matrix_free(&kernel);
}

ON_EVERY_BACKEND(trace, host_copies_and_kernels)
{
    static struct told told;
    told.count = 0;
    fl_trace_mark mark;
    int64_t lost = -1;
    must(fl_trace_start());
    fl_device *device = open_device(on->resource);
    must(fl_trace_begin("mine", &mark));
    work(device, "tiled");
    fl_trace_end(mark);
    const char *resource = fl_device_describe(device)->resource;
    must(fl_trace_stop(keep, &told, &lost));
    cr_expect(lost == 0);

    const struct kept *open = find(&told, "host", "thread 1", "open");
    const struct kept *mine = find(&told, "host", "thread 1", "mine");
    const struct kept *queued = find(&told, "host", "thread 1", "convolve tiled");
    const struct kept *kernel = find(&told, resource, "stream 1, kernels", "convolve tiled");
    const struct kept *up = find(&told, resource, "stream 0, copies to device", "copy to device");
    const struct kept *down = find(&told, resource, "stream 1, copies to host", "copy to host");
    find(&told, "host", "thread 1", "wait for");
    cr_expect(up->bytes == 40 * 30 * 4 && down->bytes == 42 * 32 * 4);
    cr_expect(kernel->bytes == (40 * 30 + 9 + 42 * 32) * 4);
    cr_expect(open->start >= 0 && open->start + open->seconds <= mine->start);
    cr_expect(queued->start >= mine->start && queued->start + queued->seconds <= mine->start + mine->seconds);
    for (int i = 0; i < told.count; i++)
        cr_expect(told.spans[i].seconds >= 0, "%s takes %g s", told.spans[i].name, told.spans[i].seconds);
    /* The device's clock is read to some microseconds; what follows in a stream begins after what was before. */
    const double clocks = 1e-3;
    cr_expect(kernel->start + kernel->seconds <= down->start + 1e-6, "%g %g %g", kernel->start, kernel->seconds,
              down->start);
    cr_expect(kernel->start >= queued->start - clocks);
    cr_expect(down->start + down->seconds <= mine->start + mine->seconds + clocks);
    fl_device_close(device);
}

/* Devices that were closed within a trace still tell their times, and a second trace begins from nothing. */
ON_EVERY_BACKEND(trace, closed_devices_and_a_second_trace)
{
    static struct told told;
    for (int i = 0; i < 2; i++) {
        told.count = 0;
        must(fl_trace_start());
        fl_device *device = open_device(on->resource);
        char resource[64];
        snprintf(resource, sizeof resource, "%s", fl_device_describe(device)->resource);
        work(device, NULL);
        fl_device_close(device);
        must(fl_trace_stop(keep, &told, NULL));
        cr_expect(find(&told, resource, "kernels", "convolve ")->bytes > 0);
    }
    must(fl_trace_start());
    must(fl_trace_stop(NULL, NULL, NULL));
}

Test(trace, wrong_order)
{
    fl_trace_mark mark;
    expect_argument_error(fl_trace_stop(NULL, NULL, NULL), "fl_trace_start");
    must(fl_trace_start());
    expect_status(FL_E_ARGUMENT, fl_trace_start());
    must(fl_trace_begin("open", &mark));
    expect_status(FL_E_ARGUMENT, fl_trace_stop(NULL, NULL, NULL));
    fl_trace_end(mark);
    expect_status(FL_E_ARGUMENT, fl_trace_begin(NULL, &mark));
    must(fl_trace_stop(NULL, NULL, NULL));
}

/* More spans than are kept are counted, and the work goes on. */
Test(trace, too_many)
{
    int64_t lost;
    must(fl_trace_start());
    for (int i = 0; i < 60000; i++) {
        fl_trace_mark mark;
        must(fl_trace_begin("one of many", &mark));
        fl_trace_end(mark);
    }
    must(fl_trace_stop(NULL, NULL, &lost));
    cr_expect(lost == 10000, "%lld", (long long)lost);
}
