/* SPDX-License-Identifier: MIT */
#include "link.h"

#include "support/fail.h"

#include <math.h>
#include <string.h>

enum { BYTES = 1 << 26, TIMES = 5 };

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

    if (fl_device_describe(device)->host_memory || fl_device_describe(device)->emulation)
        return rates;
    if (fl_array_create(device, FL_U8, 1, &bytes, &array) != FL_OK)
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
