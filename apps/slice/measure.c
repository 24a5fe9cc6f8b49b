/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "support/fail.h"
#include "support/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const slice_way_names[SLICE_WAYS] = {"whole", "view", "packed"};

struct slice_session {
    fl_device *device;
    const host_array *source;
    const measure_plan *plan;
    fl_array *array;
    char *host_whole, *host_part;
    fl_stream *stream;
    fl_event *event[3]; /* around the packing and the copy */
};

/* One way under way. */
typedef struct trip {
    slice_session *session;
    const slice_part *part;
    slice_way way;
    fl_array *view, *packed;
    double host_s;
} trip;

/* ---------------------------------------------------------------------------------------------- session ---- */

static char *host_memory(const slice_session *s, size_t bytes)
{
    void *memory = NULL;

    if (!s->plan->pageable)
        must(fl_host_alloc(s->device, bytes, &memory));
    else if (!(memory = malloc(bytes)))
        fail(EXIT_BROKEN, "out of host memory for %zu bytes", bytes);
    return memory;
}

static void free_host_memory(const slice_session *s, char *memory)
{
    if (s->plan->pageable)
        free(memory);
    else
        fl_host_free(s->device, memory);
}

slice_session *slice_session_open(fl_device *device, const host_array *array, const measure_plan *plan)
{
    slice_session *s = calloc(1, sizeof *s);

    if (!s)
        fail(EXIT_BROKEN, "out of host memory");
    s->device = device;
    s->source = array;
    s->plan = plan;
    must(fl_array_from_host(device, array->dtype, array->ndim, array->shape, array->data, &s->array));
    s->host_whole = host_memory(s, host_array_bytes(array));
    s->host_part = host_memory(s, host_array_bytes(array));
    must(fl_stream_create(device, &s->stream));
    for (int i = 0; i < 3; i++)
        must(fl_event_create(device, &s->event[i]));
    return s;
}

void slice_session_close(slice_session *s)
{
    for (int i = 0; i < 3; i++)
        fl_event_free(s->event[i]);
    fl_stream_free(s->stream);
    free_host_memory(s, s->host_whole);
    free_host_memory(s, s->host_part);
    fl_array_free(s->array);
    free(s);
}

const void *slice_session_result(const slice_session *s)
{
    return s->host_part;
}

/* ---------------------------------------------------------------------------------- slicing on the host ---- */

/* Elements from one to the next in dimension d of a packed array. */
static int64_t stride_of(const host_array *a, int d)
{
    int64_t stride = 1;

    for (int i = d + 1; i < a->ndim; i++)
        stride *= a->shape[i];
    return stride;
}

/* Copies the part's rows from `whole`, laid out as the source, to `to`, packed. The dimensions that the part takes in
 * full and that follow each other are one row. */
static void slice_on_host(const host_array *layout, const slice_part *part, const char *whole, char *to)
{
    size_t size = fl_dtype_size(layout->dtype);
    int last = layout->ndim - 1;
    int64_t at[FL_MAX_DIMS] = {0}, offset = 0;

    while (last > 0 && part->shape[last] == layout->shape[last])
        last--;
    for (int d = 0; d < layout->ndim; d++)
        offset += part->start[d] * stride_of(layout, d);
    size_t row = (size_t)(part->shape[last] * stride_of(layout, last)) * size;
    for (int d = 0; d >= 0;) {
        int64_t from = offset;
        for (int i = 0; i < last; i++)
            from += at[i] * stride_of(layout, i);
        memcpy(to, whole + (size_t)from * size, row);
        to += row;
        for (d = last - 1; d >= 0 && ++at[d] == part->shape[d]; d--)
            at[d] = 0;
    }
}

/* ----------------------------------------------------------------------------------------------- passes ---- */

/* Queues what the device does; events, where they are wanted, around its two steps. */
static void queue(trip *t, bool events)
{
    slice_session *s = t->session;
    fl_run run = {.stream = s->stream};

    memcpy(run.block, s->plan->block, sizeof run.block);
    if (events)
        must(fl_event_record(s->event[0], s->stream));
    if (t->way == SLICE_PACKED)
        must(fl_convert(s->device, t->view, t->packed, &run));
    if (events)
        must(fl_event_record(s->event[1], s->stream));
    if (t->way == SLICE_WHOLE)
        must(fl_array_read(s->array, s->host_whole, s->stream));
    else
        must(fl_array_read(t->way == SLICE_VIEW ? t->view : t->packed, s->host_part, s->stream));
    if (events)
        must(fl_event_record(s->event[2], s->stream));
}

static double total_pass(trip *t)
{
    slice_session *s = t->session;
    double start = seconds_now(), copied;

    queue(t, false);
    must(fl_stream_wait(s->stream));
    copied = seconds_now();
    if (t->way == SLICE_WHOLE)
        slice_on_host(s->source, t->part, s->host_whole, s->host_part);
    t->host_s = t->way == SLICE_WHOLE ? seconds_now() - copied : 0;
    return seconds_now() - start;
}

static void event_pass(trip *t, double *kernel, double *d2h)
{
    slice_session *s = t->session;

    queue(t, true);
    must(fl_stream_wait(s->stream));
    must(fl_event_elapsed(s->event[0], s->event[1], kernel));
    must(fl_event_elapsed(s->event[1], s->event[2], d2h));
    if (t->way != SLICE_PACKED)
        *kernel = 0;
}

static void time_passes(trip *t, slice_times *times)
{
    const measure_plan *plan = t->session->plan;
    double start, kernel, d2h;

    for (int i = 0; i <= plan->warmup; i++) /* and a cold one, whose time is not told */
        total_pass(t);
    for (start = seconds_now(); measure_more(plan, times->total.count, seconds_now() - start);) {
        samples_add(&times->total, total_pass(t));
        samples_add(&times->host, t->host_s);
    }
    for (start = seconds_now(); measure_more(plan, times->d2h.count, seconds_now() - start);) {
        event_pass(t, &kernel, &d2h);
        samples_add(&times->kernel, kernel);
        samples_add(&times->d2h, d2h);
    }
}

/* ------------------------------------------------------------------------------------------------ check ---- */

/* Every byte must be the array's. Where one is not, says which elements differ. */
static compare_result check(const slice_session *s, const slice_part *part)
{
    compare_result found = compare_start();
    host_array expected, got;
    problem why;
    size_t size = fl_dtype_size(s->source->dtype);

    if (!host_array_create(&expected, s->source->dtype, s->source->ndim, part->shape, "the slice", &why))
        fail_problem(&why);
    got = expected;
    got.data = s->host_part;
    slice_on_host(s->source, part, s->source->data, expected.data);
    found.compared = host_array_size(&expected);
    found.ok = memcmp(expected.data, got.data, host_array_bytes(&expected)) == 0;
    for (int64_t i = 0; i < found.compared && !found.ok; i++) {
        double wanted = host_array_get(&expected, i), value = host_array_get(&got, i);
        if (memcmp((char *)expected.data + (size_t)i * size, s->host_part + (size_t)i * size, size) == 0)
            continue;
        if (found.failed++ == 0) {
            found.worst_index = i;
            found.worst_result = value;
            found.worst_expected = wanted;
        }
        found.max_abs = fmax(found.max_abs, isfinite(value - wanted) ? fabs(value - wanted) : (double)INFINITY);
    }
    host_array_free(&expected);
    return found;
}

/* What is read later was brought later. */
static void poison(trip *t, size_t bytes)
{
    slice_session *s = t->session;

    memset(s->host_part, 0xff, bytes);
    if (t->way == SLICE_WHOLE)
        memset(s->host_whole, 0xff, host_array_bytes(s->source));
    if (t->way == SLICE_PACKED) {
        must(fl_array_write(t->packed, s->host_part, s->stream));
        must(fl_stream_wait(s->stream));
    }
}

/* Whether the device converts to that dtype, which is how it packs. */
static bool can_pack(const fl_device *device, fl_dtype dtype)
{
    fl_variant_info v;

    for (size_t i = 0; fl_variant_get(device, i, &v) == FL_OK; i++)
        if (strcmp(v.operation, "convert") == 0 && (v.dtypes & 1u << dtype))
            return true;
    return false;
}

slice_times slice_measure(slice_session *s, const slice_part *part, slice_way way)
{
    fl_dtype dtype = s->source->dtype;
    slice_times times = {.possible = way != SLICE_PACKED || can_pack(s->device, dtype)};
    trip t = {.session = s, .part = part, .way = way};
    size_t bytes = fl_dtype_size(dtype);

    if (!times.possible)
        return times;
    for (int d = 0; d < s->source->ndim; d++)
        bytes *= (size_t)part->shape[d];
    times.copied = way == SLICE_WHOLE ? (double)host_array_bytes(s->source) : (double)bytes;
    must(fl_array_view(s->array, part->start, part->shape, &t.view));
    if (way == SLICE_PACKED)
        must(fl_array_create(s->device, dtype, s->source->ndim, part->shape, &t.packed));
    poison(&t, bytes);
    time_passes(&t, &times);
    times.check = check(s, part);
    fl_array_free(t.view);
    fl_array_free(t.packed);
    return times;
}

void slice_times_free(slice_times *times)
{
    free(times->kernel.s);
    free(times->d2h.s);
    free(times->host.s);
    free(times->total.s);
}
