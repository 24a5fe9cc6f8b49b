/* SPDX-License-Identifier: MIT */
#include "engines.h"

#include "support/fail.h"
#include "support/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 26, TIMES = 5, MOST_EDGES = 2 * ENGINES << 16 };

static double copy_rate(fl_array *array, void *host, bool to_host, fl_event **events, fl_stream *stream)
{
    double best = INFINITY, seconds;

    for (int i = 0; i < TIMES; i++) {
        must(fl_event_record(events[0], stream));
        must(to_host ? fl_array_read(array, host, stream) : fl_array_write(array, host, stream));
        must(fl_event_record(events[1], stream));
        must(fl_event_elapsed(events[0], events[1], &seconds));
        best = fmin(best, seconds);
    }
    return BYTES / best;
}

link_rates link_measure(fl_device *device)
{
    const int64_t bytes = BYTES;
    link_rates rates = {NAN, NAN};
    fl_array *array;
    fl_stream *stream;
    fl_event *events[2];
    void *host;

    if (fl_device_describe(device)->host_memory || fl_device_describe(device)->emulation ||
        fl_array_create(device, FL_U8, 1, &bytes, &array) != FL_OK)
        return rates;
    must(fl_host_alloc(device, BYTES, &host));
    memset(host, 1, BYTES);
    must(fl_stream_create(device, &stream));
    must(fl_event_create(device, &events[0]));
    must(fl_event_create(device, &events[1]));
    rates.h2d_bytes_per_s = copy_rate(array, host, false, events, stream);
    rates.d2h_bytes_per_s = copy_rate(array, host, true, events, stream);
    fl_event_free(events[0]);
    fl_event_free(events[1]);
    fl_stream_free(stream);
    fl_host_free(device, host);
    fl_array_free(array);
    return rates;
}

engine_times engine_times_create(fl_device *device)
{
    engine_times t = {.only_kernels = fl_device_describe(device)->host_memory,
                      .edges = memory_regrown(NULL, MOST_EDGES, sizeof *t.edges)};

    must(fl_event_create(device, &t.began));
    return t;
}

void engine_times_free(engine_times *t)
{
    fl_event_free(t->began);
    free(t->edges);
}

void engine_times_begin(engine_times *t, fl_stream *stream)
{
    memset(t->last_end, 0, sizeof t->last_end);
    t->edge_count = 0;
    must(fl_event_record(t->began, stream));
}

/* An engine runs one task at a time: time spent queued after another chunk is not busy time. */
fl_status engine_times_add(engine_times *t, fl_event *const events[ENGINES + 1], double busy_s[ENGINES])
{
    double at[ENGINES + 1];

    for (int i = 0; i <= ENGINES; i++) {
        fl_status status = fl_event_elapsed(t->began, events[i], &at[i]);
        if (status != FL_OK)
            return status;
    }
    for (int e = 0; e < ENGINES; e++) {
        const double start = fmax(at[e], t->last_end[e]), end = fmax(start, at[e + 1]);
        t->last_end[e] = end;
        if (t->only_kernels && e != ENGINE_KERNEL)
            continue;
        busy_s[e] += end - start;
        if (t->edge_count < MOST_EDGES) {
            t->edges[t->edge_count++] = (engine_edge){start, 1};
            t->edges[t->edge_count++] = (engine_edge){end, -1};
        }
    }
    return FL_OK;
}

static int by_time(const void *a, const void *b)
{
    const engine_edge *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at ? 1 : x->step - y->step;
}

void engine_times_together(engine_times *t, double together_s[ENGINES + 1])
{
    int working = 0;

    qsort(t->edges, (size_t)t->edge_count, sizeof *t->edges, by_time);
    for (int i = 0; i + 1 < t->edge_count; i++) {
        working += t->edges[i].step;
        together_s[working] += t->edges[i + 1].at - t->edges[i].at;
    }
}
