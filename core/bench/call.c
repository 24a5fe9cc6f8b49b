/* SPDX-License-Identifier: MIT
 *
 * call.c - the usual case: an operation on arrays of the host. It makes callbacks of a general case from them.
 */
#include "inner.h"

#include <stdlib.h>
#include <string.h>

typedef struct arrays_of_call {
    fl_bench_call what;
    fl_bench_array arrays[FL_MAX_PARAMETERS];
    size_t bytes[FL_MAX_PARAMETERS];
    bool copies;                        /* arrays are not in host memory */
    void *pinned_in[FL_MAX_PARAMETERS]; /* NULL: the caller's memory is copied */
    void *pinned_out[FL_MAX_PARAMETERS];
    fl_array *on[FL_MAX_PARAMETERS]; /* on the device */
} arrays_of_call;

static fl_status prepare(void *user, fl_stream *stream)
{
    arrays_of_call *c = user;

    (void)stream;
    if (!c->copies || c->what.pageable)
        return FL_OK;
    for (int i = 0; i < c->what.count; i++) {
        const size_t bytes = c->bytes[i] ? c->bytes[i] : 1;
        if (c->arrays[i].from) {
            BENCH_TRY(fl_host_alloc(c->what.device, bytes, &c->pinned_in[i]));
            memcpy(c->pinned_in[i], c->arrays[i].from, c->bytes[i]);
        }
        if (c->arrays[i].to)
            BENCH_TRY(fl_host_alloc(c->what.device, bytes, &c->pinned_out[i]));
    }
    return FL_OK;
}

static fl_status write_inputs(arrays_of_call *c, fl_stream *stream, bool only_outputs)
{
    for (int i = 0; i < c->what.count; i++)
        if (c->arrays[i].from && (c->arrays[i].to || !only_outputs))
            BENCH_TRY(fl_array_write(c->on[i], c->pinned_in[i] ? c->pinned_in[i] : c->arrays[i].from, stream));
    return FL_OK;
}

static fl_status begin(void *user, fl_stream *stream)
{
    arrays_of_call *c = user;

    for (int i = 0; c->what.device && i < c->what.count; i++)
        BENCH_TRY(
            fl_array_create(c->what.device, c->arrays[i].dtype, c->arrays[i].ndim, c->arrays[i].shape, &c->on[i]));
    return c->what.device && !c->copies ? write_inputs(c, stream, false) : FL_OK;
}

static fl_status copy_in(void *user, fl_stream *stream)
{
    return write_inputs(user, stream, false);
}

static fl_status call(void *user, const fl_run *run)
{
    arrays_of_call *c = user;

    return c->what.call(c->what.user, c->what.device ? c->on : NULL, run);
}

static fl_status copy_out(void *user, fl_stream *stream)
{
    arrays_of_call *c = user;

    for (int i = 0; i < c->what.count; i++)
        if (c->arrays[i].to)
            BENCH_TRY(fl_array_read(c->on[i], c->pinned_out[i] ? c->pinned_out[i] : c->arrays[i].to, stream));
    return FL_OK;
}

/* Results get bytes that no pass computes, so that what is checked was computed by a timed pass. */
static fl_status after_first(void *user, fl_stream *stream)
{
    arrays_of_call *c = user;

    for (int i = 0; i < c->what.count; i++) {
        const fl_bench_array *a = &c->arrays[i];
        if (!a->to)
            continue;
        memset(a->to, 0xff, c->bytes[i]);
        if (c->pinned_out[i])
            memset(c->pinned_out[i], 0xff, c->bytes[i]);
        if (c->what.device && !a->from)
            BENCH_TRY(fl_array_write(c->on[i], a->to, stream));
    }
    return stream ? fl_stream_wait(stream) : FL_OK;
}

static fl_status restore(void *user, fl_stream *stream)
{
    return write_inputs(user, stream, true);
}

static fl_status end(void *user, fl_stream *stream)
{
    arrays_of_call *c = user;

    (void)stream;
    for (int i = 0; c->what.device && i < c->what.count; i++)
        if (c->arrays[i].to)
            BENCH_TRY(fl_array_to_host(c->on[i], c->arrays[i].to));
    return FL_OK;
}

static fl_status check(void *user, bool *right)
{
    arrays_of_call *c = user;

    return c->what.check(c->what.user, right);
}

static void release(void *own)
{
    arrays_of_call *c = own;

    for (int i = 0; i < c->what.count; i++) {
        fl_array_free(c->on[i]);
        fl_host_free(c->what.device, c->pinned_in[i]);
        fl_host_free(c->what.device, c->pinned_out[i]);
        c->on[i] = NULL;
        c->pinned_in[i] = c->pinned_out[i] = NULL;
    }
}

/* Fails where an array cannot be one; its bytes otherwise. */
static fl_status check_array(const fl_bench_call *call, int i, const fl_bench_array *a, size_t *bytes)
{
    *bytes = fl_dtype_size(a->dtype);
    if (*bytes == 0 || a->ndim < 1 || a->ndim > FL_MAX_DIMS)
        return bench_fail(FL_E_ARGUMENT,
                          "fl_bench_add_call: '%s': array %d has dtype %d and %d dimensions; expected 1 to %d",
                          call->name ? call->name : "", i, (int)a->dtype, a->ndim, FL_MAX_DIMS);
    for (int d = 0; d < a->ndim; d++) {
        if (a->shape[d] < 0 || (a->shape[d] > 0 && *bytes > (size_t)(INT64_MAX / a->shape[d])))
            return bench_fail(FL_E_ARGUMENT, "fl_bench_add_call: '%s': array %d: dimension %d has %lld elements",
                              call->name ? call->name : "", i, d, (long long)a->shape[d]);
        *bytes *= (size_t)a->shape[d];
    }
    if (a->to && a->to == a->from)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add_call: '%s': array %d has the same memory for from and to",
                          call->name ? call->name : "", i);
    return FL_OK;
}

static fl_status fill(arrays_of_call *c, const fl_bench_call *call, size_t array_size)
{
    if (call->count < 0 || call->count > FL_MAX_PARAMETERS || (call->count > 0 && !call->arrays))
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add_call: count is %d; expected 0 to %d, and arrays", call->count,
                          FL_MAX_PARAMETERS);
    if (!call->call)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add_call: '%s' has no call", call->name ? call->name : "");
    c->what = *call;
    for (int i = 0; i < call->count; i++) {
        const char *const from = (const char *)call->arrays + (size_t)i * array_size;
        BENCH_TRY(bench_copy_sized(&c->arrays[i], sizeof c->arrays[i], from, array_size, "fl_bench_add_call"));
        BENCH_TRY(check_array(call, i, &c->arrays[i], &c->bytes[i]));
    }
    c->copies = call->device && !fl_device_describe(call->device)->host_memory;
    return FL_OK;
}

fl_status fl_bench_add_call_sized(fl_bench *bench, const fl_bench_call *work, size_t size, size_t array_size)
{
    bool both = false;
    arrays_of_call *c;
    fl_bench_call copy;
    bench_work *added;
    fl_status status;

    if (!bench || !work)
        return bench_fail(FL_E_ARGUMENT, "fl_bench_add_call: %s is NULL", bench ? "work" : "bench");
    BENCH_TRY(bench_copy_sized(&copy, sizeof copy, work, size, "fl_bench_add_call"));
    c = calloc(1, sizeof *c);
    if (!c)
        return bench_fail(FL_E_MEMORY, "fl_bench_add_call: out of memory");
    status = fill(c, &copy, array_size);
    for (int i = 0; status == FL_OK && i < copy.count; i++)
        both = both || (copy.device && c->arrays[i].from && c->arrays[i].to);
    fl_bench_case general = {.name = copy.name,
                             .device = copy.device,
                             .variant = copy.variant,
                             .block = {copy.block[0], copy.block[1], copy.block[2]},
                             .call = call,
                             .copy_in = c->copies ? copy_in : NULL,
                             .copy_out = c->copies ? copy_out : NULL,
                             .prepare = prepare,
                             .begin = begin,
                             .after_first = after_first,
                             .restore = both && !c->copies ? restore : NULL,
                             .end = end,
                             .check = copy.check ? check : NULL,
                             .user = c,
                             .bytes = copy.bytes,
                             .flops = copy.flops,
                             .alone = both,
                             .optional = copy.optional};
    if (status == FL_OK)
        status = bench_add(bench, &general, &added);
    if (status != FL_OK) {
        free(c);
        return status;
    }
    added->own = c;
    added->arrays = c->arrays;
    added->array_count = copy.count;
    added->free_own = free;
    added->release_own = release;
    return FL_OK;
}
