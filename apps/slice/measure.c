/* SPDX-License-Identifier: MIT
 *
 * measure.c - times how one slice of an array reaches the host, by each way to copy it.
 */
#include "slice.h"

#include "kept/turn.h"
#include "run/passes.h"
#include "run/results.h"
#include "support/host_memory.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/progress.h"
#include "support/statistics.h"
#include "view/json.h"
#include "view/noise.h"
#include "view/row.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct slice_session {
    const open_backend *backend;
    fl_device *device;
    const host_array *source;
    const common_options *common;
    fl_array *array;
    void *host_whole, *host_part;

    /* The slice that is measured. */
    const slice_part *part;
    slice_choice choice;
    fl_array *view, *packed;
};

slice_session *slice_session_open(const open_backend *backend, const host_array *array, const common_options *common)
{
    slice_session *s = memory_zeroed(1, sizeof *s);
    size_t bytes = host_array_bytes(array);

    *s = (slice_session){.backend = backend, .device = backend->device, .source = array, .common = common};
    must(fl_array_from_host(s->device, array->dtype, array->ndim, array->shape, array->data, &s->array));
    must(host_memory_create(s->device, !common->pageable, bytes, &s->host_whole));
    must(host_memory_create(s->device, !common->pageable, bytes, &s->host_part));
    return s;
}

void slice_session_close(slice_session *s)
{
    host_memory_free(s->device, !s->common->pageable, s->host_whole);
    host_memory_free(s->device, !s->common->pageable, s->host_part);
    fl_array_free(s->array);
    free(s);
}

host_array slice_result(const slice_session *s)
{
    host_array result = *s->source;

    memcpy(result.shape, s->part->shape, sizeof result.shape);
    result.data = s->host_part;
    return result;
}

/* The first dimension from which on the part spans all but that dimension itself: its elements lie side by side. */
static int row_dimension(const host_array *a, const slice_part *part)
{
    int d = a->ndim - 1;

    while (d > 0 && part->shape[d] == a->shape[d])
        d--;
    return d;
}

/* Bytes of `shape` from dimension d on. */
static size_t bytes_from(const host_array *a, const int64_t *shape, int d)
{
    size_t bytes = fl_dtype_size(a->dtype);

    for (; d < a->ndim; d++)
        bytes *= (size_t)shape[d];
    return bytes;
}

/* Copies the part of `from`, an array with the layout of `a` from dimension d on, to `to`, packed; returns its end. */
static char *slice_on_host(const host_array *a, const slice_part *part, int d, const char *from, char *to)
{
    size_t stride = bytes_from(a, a->shape, d + 1), count = (size_t)part->shape[d];

    from += (size_t)part->start[d] * stride;
    if (d == FL_MAX_DIMS - 1 || d == row_dimension(a, part)) {
        memcpy(to, from, count * stride);
        return to + count * stride;
    }
    for (size_t i = 0; i < count; i++)
        to = slice_on_host(a, part, d + 1, from + i * stride, to);
    return to;
}

/* The steps of a pass: packing on the device, the copy to the host, and slicing there. */
static fl_status pack(void *user, const fl_run *run)
{
    const slice_session *s = user;

    return s->choice == SLICE_PACKED ? fl_convert(s->device, s->view, s->packed, run) : FL_OK;
}

static fl_status copy(void *user, fl_stream *stream)
{
    const slice_session *s = user;
    fl_array *const sources[] = {[SLICE_WHOLE] = s->array, [SLICE_VIEW] = s->view, [SLICE_PACKED] = s->packed};

    return fl_array_read(sources[s->choice], s->choice == SLICE_WHOLE ? s->host_whole : s->host_part, stream);
}

static fl_status slice_there(void *user, fl_stream *stream)
{
    const slice_session *s = user;

    (void)stream;
    if (s->choice == SLICE_WHOLE)
        slice_on_host(s->source, s->part, 0, s->host_whole, s->host_part);
    return FL_OK;
}

/* Overwrites the memory that the timed passes must fill. */
static fl_status poison(void *user, fl_stream *stream)
{
    const slice_session *s = user;

    memset(s->host_part, 0xff, bytes_from(s->source, s->part->shape, 0));
    if (s->choice == SLICE_WHOLE)
        memset(s->host_whole, 0xff, host_array_bytes(s->source));
    if (s->choice != SLICE_PACKED)
        return FL_OK;
    must(fl_array_write(s->packed, s->host_part, stream));
    return fl_stream_wait(stream);
}

/* From --max-time on no pass follows the first timed one, which there is of each row. */
static bool goes_on(void *user, const fl_bench_step *step)
{
    (void)user;
    if (step->phase != FL_BENCH_FIRST)
        progress_has_result();
    return step->phase != FL_BENCH_TIMED || step->pass == 1 || !progress_ends();
}

static fl_bench *time_passes(slice_session *s)
{
    fl_bench_plan plan = passes_plan(s->common);
    fl_bench *bench;

    plan.min_time_s /= 4; /* there are many slices, with three ways each */
    plan.fewest = 3;
    plan.rounds = 1;
    plan.step = goes_on;
    must(fl_bench_create(&plan, &bench));
    must(fl_bench_add(bench, &(fl_bench_case){.name = "slice",
                                              .device = s->device,
                                              .call = pack,
                                              .copy_out = copy,
                                              .finish = slice_there,
                                              .after_first = poison,
                                              .launches = s->choice == SLICE_PACKED ? 0 : 1,
                                              .user = s}));
    turn_add(s->device);
    turn_take();
    must(fl_bench_run(bench));
    turn_end();
    return bench;
}

/* Compares all bytes; if they differ, all elements. */
static json_t *json_check(const slice_session *s)
{
    host_array expected, got = slice_result(s);
    compare_result c;
    problem why;
    json_t *check;

    must_do(host_array_create(&expected, got.dtype, got.ndim, got.shape, "the slice", &why), &why);
    slice_on_host(s->source, s->part, 0, s->source->data, expected.data);
    c = compare_allclose(&got, &expected, 0, 0);
    if (c.ok && memcmp(expected.data, got.data, host_array_bytes(&expected)) != 0)
        compare_add(&c, -1, 1, 0, 0); /* other bits of equal values: -0, NaN, an i64 beyond 2^53 */
    c.ok = c.failed == 0;             /* also where there is nothing to compare */
    check = results_check(&c, "every element of the array", got.ndim, got.shape);
    host_array_free(&expected);
    return check;
}

/* "0:16,:" */
static json_t *json_part(const host_array *a, const slice_part *p)
{
    char text[160] = "";

    for (int d = 0; d < a->ndim; d++) {
        const size_t used = strlen(text);
        const char *comma = d ? "," : "";
        if (p->shape[d] == a->shape[d])
            snprintf(text + used, sizeof text - used, "%s:", comma);
        else
            snprintf(text + used, sizeof text - used, "%s%" PRId64 ":%" PRId64, comma, p->start[d],
                     p->start[d] + p->shape[d]);
    }
    return json_text(text);
}

/* The median of a step's samples, and the samples; those of a step that the choice does not have are 0. */
static void put_times(json_t *row, json_t *times, const char *name, const fl_bench *bench, fl_bench_quantity quantity,
                      bool has)
{
    samples list = passes_samples(bench, 0, quantity);
    char key[16];

    if (!has)
        memset(list.s, 0, (size_t)list.count * sizeof *list.s);
    snprintf(key, sizeof key, "%s_s", name);
    json_put(row, key, json_number(median(list.s, list.count)));
    json_put(times, name, json_numbers(list.s, list.count));
    free(list.s);
}

/* kernel, d2h: packing on the device and the copy. host: slicing on the host; total: from the array on the device to
 * the packed slice on the host. */
static void put_all_times(json_t *row, const slice_session *s, const fl_bench *bench)
{
    json_t *times = json_new_object();

    put_times(row, times, "kernel", bench, FL_BENCH_KERNEL, s->choice == SLICE_PACKED);
    put_times(row, times, "d2h", bench, FL_BENCH_COPY_OUT, true);
    put_times(row, times, "host", bench, FL_BENCH_FINISH, s->choice == SLICE_WHOLE);
    put_times(row, times, "total", bench, FL_BENCH_TOTAL, true);
    json_put(row, "times_s", times);
}

static json_t *json_row(const slice_session *s, const fl_bench *bench)
{
    static const char *const choices[SLICE_CHOICES] = {"whole", "view", "packed"};
    const fl_device_info *device = fl_device_describe(s->device);
    const char *memory = device->host_memory ? "in place" : s->common->pageable ? "pageable" : "pinned";
    const slice_part *part = s->part;
    const host_array *a = s->source;
    const double bytes = (double)bytes_from(a, part->shape, 0);
    const double copied = s->choice == SLICE_WHOLE ? (double)host_array_bytes(a) : bytes;
    json_t *row = json_new_object();
    fl_bench_result result;

    json_put(row, "exercise", json_text("slice"));
    results_put_device(row, s->backend->requested, device);
    json_put(row, "variant", json_text(choices[s->choice]));
    json_put(row, "dtype", json_text(fl_dtype_name(a->dtype)));
    json_put(row, "slice", json_part(a, part));
    json_put(row, "kind", json_text(part->kind));
    json_put(row, "start", json_wholes(part->start, a->ndim));
    json_put(row, "shape", json_wholes(part->shape, a->ndim));
    json_put(row, "array_shape", json_wholes(a->shape, a->ndim));
    json_put(row, "host_memory", json_text(memory));
    json_put(row, "open_s", json_number(device->open_s));
    put_all_times(row, s, bench);
    must(fl_bench_result_get(bench, 0, &result));
    noise_put(row, result.disturbed);
    json_put(row, "bytes", json_number(bytes));
    json_put(row, "bytes_copied", json_number(copied));
    json_put(row, "row_bytes", json_number((double)bytes_from(a, part->shape, row_dimension(a, part))));
    json_put(row, "copy_gbytes_per_s", json_number(copied / row_number(row, "d2h_s") / 1e9));
    json_put(row, "check", json_check(s));
    return row;
}

/* Packing needs the operation `convert` in the array's dtype. */
bool slice_can_pack(const slice_session *s)
{
    fl_variant_info v;

    for (size_t i = 0; fl_variant_get(s->device, i, &v) == FL_OK; i++)
        if (strcmp(v.operation, "convert") == 0 && (v.dtypes & 1u << s->source->dtype))
            return true;
    return false;
}

json_t *slice_measure(slice_session *s, const slice_part *part, slice_choice choice)
{
    fl_bench *bench;
    json_t *row;

    s->part = part;
    s->choice = choice;
    must(fl_array_view(s->array, part->start, part->shape, &s->view));
    if (choice == SLICE_PACKED)
        must(fl_array_create(s->device, s->source->dtype, s->source->ndim, part->shape, &s->packed));
    bench = time_passes(s);
    row = json_row(s, bench);
    fl_bench_free(bench);
    fl_array_free(s->view);
    fl_array_free(s->packed);
    s->view = s->packed = NULL;
    return row;
}
