/* SPDX-License-Identifier: MIT */
#include "dispatch.h"

#include "array.h"
#include "bounds.h"
#include "graph.h"
#include "base/status.h"
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- the launch ---- */

/* The requested block: all 0 (the variant chooses), or each edge at least 1. */
static fl_status take_block(const char *name, const fl_run *run, fl_launch *launch)
{
    bool asked = run->block[0] != 0 || run->block[1] != 0 || run->block[2] != 0;

    for (int i = 0; i < 3; i++) {
        if (run->block[i] < 0)
            return core_fail(FL_E_ARGUMENT, "%s: block[%d] is %d; expected at least 1, or 0 to let the variant choose",
                             name, i, run->block[i]);
        launch->block[i] = asked && run->block[i] == 0 ? 1 : run->block[i];
    }
    return FL_OK;
}

/* Core checks the limits for all plugins, since an emulation would run launches that no GPU can. 0: no limit. */
static fl_status check_limits(const char *name, const fl_device_info *info, const fl_launch *launch)
{
    double threads = (double)launch->block[0] * launch->block[1] * launch->block[2]; /* up to 2^93 */

    if (info->max_threads_per_block > 0 && threads > info->max_threads_per_block)
        return core_fail(FL_E_LIMIT, "%s: a block of %dx%dx%d has %.0f threads; %s allows at most %d", name,
                         launch->block[0], launch->block[1], launch->block[2], threads, info->resource,
                         info->max_threads_per_block);
    for (int i = 0; i < 3; i++) {
        if (info->max_block[i] > 0 && launch->block[i] > info->max_block[i])
            return core_fail(FL_E_LIMIT, "%s: the block has %d threads in %c; %s allows at most %d", name,
                             launch->block[i], "xyz"[i], info -> resource, info -> max_block[i]);
        if (info->max_grid[i] > 0 && launch->grid[i] > info->max_grid[i])
            return core_fail(FL_E_LIMIT, "%s: the grid has %" PRId64 " blocks in %c; %s allows at most %" PRId64, name,
                             launch->grid[i], "xyz"[i], info -> resource, info -> max_grid[i]);
        if (info->max_grid_threads[i] > 0 && launch->block[i] > 0 &&
            launch->grid[i] > info->max_grid_threads[i] / launch->block[i])
            return core_fail(
                FL_E_LIMIT,
                "%s: the grid has %" PRId64 " blocks of %d threads in %c; %s allows at most %" PRId64 " threads", name,
                launch->grid[i], launch->block[i], "xyz"[i], info -> resource, info -> max_grid_threads[i]);
    }
    if (info->max_shared_bytes > 0 && launch->shared_bytes > info->max_shared_bytes)
        return core_fail(FL_E_LIMIT,
                         "%s: a block of %dx%dx%d needs %" PRId64 " bytes of shared memory; %s allows at most %" PRId64
                         "; choose a smaller block",
                         name, launch->block[0], launch->block[1], launch->block[2], launch->shared_bytes,
                         info->resource, info->max_shared_bytes);
    return FL_OK;
}

/* --------------------------------------------------------------------------------------------- the call ---- */

/* Checks the tolerance, and that the fields that only later versions give a meaning to are 0. */
static fl_status check_run(const char *name, const fl_run *run)
{
    static const char none[sizeof run->reserved];

    if (!(run->tolerance >= 0 && run->tolerance <= 1))
        return core_fail(FL_E_ARGUMENT, "%s: run->tolerance is %g; expected 0 to 1", name, run->tolerance);
    if (run->count)
        return core_fail(FL_E_UNSUPPORTED, "%s: run->count is not NULL: no backend counts yet", name);
    if (memcmp(run->reserved, none, sizeof none) != 0)
        return core_fail(FL_E_UNSUPPORTED, "%s: run->reserved is not 0: it has no meaning in version %s", name,
                         fl_version());
    return FL_OK;
}

fl_status core_call_begin(core_call *call, const char *name, fl_device *device, const fl_run *run)
{
    static const fl_run defaults;
    fl_status status;

    call->device = device;
    call->run = run ? run : &defaults;
    status = check_run(name, call->run);
    if (status == FL_OK)
        status = core_stream_of(name, device, call->run->stream, &call->stream);
    if (status == FL_OK && call->stream->recording && call->run->timing)
        status = core_fail(FL_E_ARGUMENT, "%s: a call that is recorded takes no time: run->timing must be NULL", name);
    if (status == FL_OK && device->plugin.api->prepare_thread)
        status = device->plugin.api->prepare_thread(device->plugin.self);
    if (status != FL_OK)
        return status;
    core_lock_take(&call->stream->lock);
    call->context = (fl_context){&core_host, device->plugin.self, call->stream->handle, &device->pool};
    if (call->stream->recording) {
        call->context.pool = core_graph_pool(call->stream->recording);
        call->recorded = core_graph_last(call->stream->recording);
    }
    if (call->run->timing)
        status = core_timer_start(call->stream);
    if (status != FL_OK)
        core_lock_leave(&call->stream->lock);
    return status;
}

static void fill_timing(fl_timing *timing, const char *variant, const fl_launch *launch)
{
    timing->variant = variant;
    for (int i = 0; i < 3; i++) {
        timing->block[i] = launch->block[i];
        timing->grid[i] = launch->grid[i];
    }
    timing->shared_bytes = launch->shared_bytes;
    timing->bytes_requested = launch->bytes_requested;
    timing->flops = launch->flops;
    timing->bound = 0;
    memset(timing->reserved, 0, sizeof timing->reserved);
}

/* Finds, plans and checks the row for `variant`. */
static fl_status plan(const core_call *call, const core_step *step, const char *variant, const fl_row **row,
                      fl_launch *launch)
{
    const char *name = core_operation_name(step->operation);
    const double tolerance = call->run->tolerance;
    fl_status status = core_find_row(call->device, step, variant, tolerance, row);

    *launch = (fl_launch){.tolerance = tolerance};
    if (status == FL_OK && tolerance > 0)
        status = core_check_tolerance(call->device, step, *row, tolerance);
    if (status == FL_OK)
        status = take_block(name, call->run, launch);
    if (status != FL_OK)
        return status;
    const fl_launch asked = *launch;
    (*row)->plan(call->device->plugin.self, step->args, launch);
    if (asked.block[0] > 0 && launch->block[0] > 0) /* the plan may have made another one of it; 0: it needs none */
        status = check_limits(name, &call->device->plugin.info, &asked);
    return status != FL_OK ? status : check_limits(name, &call->device->plugin.info, launch);
}

/* A row in a recording. Its arguments follow. */
typedef struct recorded_row {
    _Alignas(CORE_PIECE_ALIGNMENT) const fl_row *row;
    fl_launch launch;
} recorded_row;

static fl_status queue_recorded(const core_piece *piece, fl_stream *stream, const fl_context *context)
{
    const recorded_row *r = piece->data;

    (void)stream;
    return r->row->run(context, r + 1, &r->launch);
}

static fl_status record(core_call *call, const core_step *step, const fl_row *row, const fl_launch *launch,
                        double bytes)
{
    const char *name = core_operation_name(step->operation);
    const core_piece piece = {
        .kind = CORE_SPAN_KERNEL, .name = name, .detail = row->variant, .bytes = bytes, .queue = queue_recorded};
    recorded_row *r;

    if (step->args_bytes == 0)
        return core_fail(FL_E_UNSUPPORTED, "%s: the call waits for its work, which cannot be recorded", name);
    r = core_graph_record(call->stream->recording, &piece, sizeof *r + step->args_bytes);
    if (!r)
        return core_fail(FL_E_MEMORY, "out of host memory");
    *r = (recorded_row){row, *launch};
    memcpy(r + 1, step->args, step->args_bytes);
    if (step->operation == FL_OP_KERNEL) { /* its arguments lie behind fl_kernel_args */
        fl_kernel_args *args = (fl_kernel_args *)(r + 1);
        for (int i = 0; i < args->count; i++)
            args->arguments[i] = (char *)args + ((char *)args->arguments[i] - (const char *)step->args);
    }
    return FL_OK;
}

static fl_status run(core_call *call, const core_step *step, const fl_row *row, const fl_launch *launch, double bytes)
{
    if (call->stream->recording)
        return record(call, step, row, launch, bytes);

    core_span span =
        core_trace_begin(call->stream, CORE_SPAN_KERNEL, core_operation_name(step->operation), row->variant, bytes);
    fl_status status = row->run(&call->context, step->args, launch);

    const char *chosen = NULL;
    fl_launch ran = *launch;

    if (row->chosen && call->device->plugin.info.host_memory && span.index >= 0) /* a CPU's work is already done */
        chosen = row->chosen(&call->context, step->args, &ran);
    core_trace_end(call->stream, span, chosen);
    return status;
}

fl_status core_call_step(core_call *call, const core_step *step, double bytes)
{
    const char *variant = call->run->variant ? call->run->variant : core_automatic;
    const fl_row *row;
    fl_launch launch;
    fl_status status = plan(call, step, variant, &row, &launch);

    if (status == FL_OK)
        status = run(call, step, row, &launch, bytes);
    if (status == FL_OK && call->run->timing) {
        fill_timing(call->run->timing, row->variant, &launch);
        call->run->timing->bytes = bytes;
    }
    return status;
}

fl_status core_call_nothing(core_call *call, const core_step *step)
{
    const char *variant = call->run->variant ? call->run->variant : core_automatic;
    const fl_row *row;
    fl_status status = core_find_row(call->device, step, variant, 0, &row);

    if (status == FL_OK && call->run->timing)
        *call->run->timing = (fl_timing){.variant = row->variant};
    return status;
}

static fl_status convert(core_call *call, fl_buffer *buffer, fl_dtype dtype)
{
    fl_convert_args args = {.in = *buffer, .out = *buffer};
    core_step step = {FL_OP_CONVERT, dtype, &args, sizeof args};
    int64_t elements = 1;
    bool fits_64_bits = true;
    const fl_row *row;
    fl_launch launch;
    fl_status status;
    size_t bytes;

    for (int d = buffer->ndim - 1; d >= 0; d--) {
        args.out.stride[d] = elements;
        fits_64_bits = fits_64_bits && !__builtin_mul_overflow(elements, buffer->shape[d], &elements);
    }
    if (!fits_64_bits || __builtin_mul_overflow(elements, fl_dtype_size(dtype), &bytes))
        return core_fail(FL_E_MEMORY, "out of memory for the conversion to %s", fl_dtype_name(dtype));
    args.out.dtype = dtype;
    status = core_pool_take(&call->context, bytes, &args.out.data);
    if (status == FL_OK)
        status = core_find_row(call->device, &step, core_automatic, 0, &row);
    if (status != FL_OK)
        return status;
    launch = (fl_launch){0};
    row->plan(call->device->plugin.self, &args, &launch);
    status = run(call, &step, row, &launch, core_buffer_bytes(&args.in) + core_buffer_bytes(&args.out));
    *buffer = args.out;
    return status;
}

fl_status core_call_convert(core_call *call, fl_buffer *buffer, fl_dtype dtype)
{
    return buffer->dtype == dtype ? FL_OK : convert(call, buffer, dtype);
}

/* The variant that an "auto" row chose is known only now, when its stream is done. */
static void fill_choice(core_call *call, const core_step *step)
{
    fl_timing *timing = call->run->timing;
    const fl_row *row;
    fl_launch launch;

    if (plan(call, step, timing->variant, &row, &launch) == FL_OK && row->chosen)
        fill_timing(timing, row->chosen(&call->context, step->args, &launch), &launch);
    if (call->run->tolerance > 0 && core_find_row(call->device, step, timing->variant, 0, &row) == FL_OK)
        timing->bound = core_bound(call->device->plugin.self, row, step->args);
}

/* The properties of the last kernel. If its block differs from the launch's, it is a helper kernel before or after the
 * one that `timing` describes, for example a library's, whose block is 0. */
static void fill_kernel(const core_call *call)
{
    const fl_device_api *api = call->device->plugin.api;
    fl_timing *timing = call->run->timing;
    fl_kernel_facts facts = {0};

    timing->registers = 0;
    timing->local_bytes = 0;
    timing->occupancy = 0;
    if (!api->last_kernel || api->last_kernel(call->device->plugin.self, call->stream->handle, &facts) != FL_OK)
        return;
    if (facts.threads == 0 || facts.threads != (int64_t)timing->block[0] * timing->block[1] * timing->block[2])
        return;
    timing->registers = facts.registers;
    timing->local_bytes = facts.local_bytes;
    if (facts.resident_threads > 0)
        timing->occupancy = (double)facts.resident_blocks * facts.threads / facts.resident_threads;
}

fl_status core_call_end(core_call *call, const core_step *last, fl_status status)
{
    if (call->run->timing && status == FL_OK) {
        status = core_timer_stop(call->stream, &call->run->timing->kernel_s);
        if (status == FL_OK && last) {
            fill_choice(call, last);
            fill_kernel(call);
        }
    }
    if (call->stream->recording && status != FL_OK)
        core_graph_cut(call->stream->recording, call->recorded);
    core_pool_give_back(call->context.pool, call->stream->handle);
    core_lock_leave(&call->stream->lock);
    return status;
}

fl_status core_call_run(const char *name, fl_device *device, const fl_run *run, const core_step *step,
                        fl_buffer *const *inputs, int count, double bytes)
{
    core_call call;
    fl_status status = core_call_begin(&call, name, device, run);

    if (status != FL_OK)
        return status;
    for (int i = 0; i < count && status == FL_OK; i++)
        status = core_call_convert(&call, inputs[i], step->dtype);
    if (status == FL_OK)
        status = core_call_step(&call, step, bytes);
    return core_call_end(&call, step, status);
}

/* Writes zeros from the host: no kernel is needed for what has no inputs. */
static fl_status write_zeros(fl_array *out, fl_stream *stream)
{
    void *zeros = calloc((size_t)fl_array_size(out), fl_dtype_size(out->buffer.dtype));
    fl_status status = zeros ? fl_array_write(out, zeros, stream) : core_fail(FL_E_MEMORY, "out of host memory");

    if (status == FL_OK)
        status = core_stream_wait(stream);
    free(zeros);
    return status;
}

fl_status core_call_empty(const char *name, fl_device *device, const fl_run *run, const core_step *step, fl_array *out)
{
    core_call call;
    fl_status status = core_call_begin(&call, name, device, run);

    if (status != FL_OK)
        return status;
    status = core_call_nothing(&call, step);
    if (status == FL_OK && call.stream->recording && fl_array_size(out) > 0)
        status = core_fail(FL_E_UNSUPPORTED, "%s: a call without elements waits, which cannot be recorded", name);
    status = core_call_end(&call, NULL, status);
    if (call.run->timing)
        call.run->timing->kernel_s = 0;
    return status == FL_OK && fl_array_size(out) > 0 ? write_zeros(out, call.stream) : status;
}

fl_status core_call_end_counted(core_call *call, const core_step *last, fl_status status, const fl_array *count,
                                double element)
{
    fl_timing *timing = call->run->timing;
    int64_t stored = 0;

    status = core_call_end(call, last, status);
    if (!timing || status != FL_OK)
        return status;
    status = fl_array_read(count, &stored, call->run->stream);
    if (status == FL_OK)
        status = core_stream_wait(call->stream);
    timing->bytes += (double)stored * element;
    timing->bytes_requested += (double)stored * element;
    return status;
}

fl_status core_call_no_elements(const char *name, const fl_run *run)
{
    fl_status status = run ? check_run(name, run) : FL_OK;

    if (status == FL_OK && run && run->timing)
        *run->timing = (fl_timing){.variant = "auto"};
    return status;
}

fl_status core_call_count_none(const char *name, fl_array *count, const fl_run *run)
{
    static const int64_t none; /* static, since the copy may only be queued */
    fl_status status = core_call_no_elements(name, run);

    return status == FL_OK ? fl_array_write(count, &none, run ? run->stream : NULL) : status;
}
