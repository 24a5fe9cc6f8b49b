/* SPDX-License-Identifier: MIT
 *
 * allclose.c - checks the arguments of fl_allclose, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <string.h>

static const char *const name = "allclose";

/* The elements of FL_OP_ALLCLOSE's `found`. */
enum { DIFFERING, WORST_INDEX, WORST_EXCESS, FOUND };

static fl_status check_tolerance(const char *tolerance, double value)
{
    if (value >= 0)
        return FL_OK;
    return core_fail(FL_E_ARGUMENT, "%s: %s is %g; expected at least 0", name, tolerance, value);
}

static fl_status check(fl_device *device, const fl_array *a, const fl_array *b, double relative, double absolute,
                       const fl_closeness *found)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"a", a}, {"b", b}}, 2);

    if (status == FL_OK && !found)
        status = core_fail(FL_E_ARGUMENT, "%s: found is NULL", name);
    if (status == FL_OK)
        status = core_check_like(name, "b", b, b->buffer.dtype, a->buffer.ndim, a->buffer.shape);
    if (status == FL_OK)
        status = check_tolerance("relative", relative);
    return status == FL_OK ? check_tolerance("absolute", absolute) : status;
}

/* Queues the comparison and the copy of its result, and waits. */
static fl_status run_step(core_call *call, core_step *step, fl_allclose_args *args, double bytes, int64_t *counts)
{
    const fl_plugin_device *plugin = &call->device->plugin;
    fl_copy copy = {.kind = FL_COPY_TO_HOST, .to = counts, .width = FOUND * sizeof *counts, .rows = 1};
    fl_status status = core_call_convert(call, &args->a, step->dtype);

    if (status == FL_OK)
        status = core_call_convert(call, &args->b, step->dtype);
    if (status == FL_OK)
        status = core_pool_take(&call->context, copy.width, &args->found.data);
    if (status == FL_OK)
        status = core_call_step(call, step, bytes);
    if (status != FL_OK)
        return status;
    copy.from = args->found.data;
    copy.to_pitch = copy.from_pitch = copy.width;
    status = plugin->api->copy(plugin->self, call->context.stream, &copy);
    return status == FL_OK ? plugin->api->stream_wait(plugin->self, call->context.stream) : status;
}

static void fill(const int64_t *counts, fl_closeness *found)
{
    *found = (fl_closeness){
        .close = counts[DIFFERING] == 0, .differing = counts[DIFFERING], .worst_index = counts[WORST_INDEX]};
    memcpy(&found->worst_excess, &counts[WORST_EXCESS], sizeof found->worst_excess);
}

fl_status fl_allclose(fl_device *device, const fl_array *a, const fl_array *b, double relative, double absolute,
                      bool equal_nan, fl_closeness *found, const fl_run *run)
{
    fl_allclose_args args = {.relative = relative, .absolute = absolute, .equal_nan = equal_nan};
    core_step step = {FL_OP_ALLCLOSE, FL_F64, &args, 0};
    core_call call;
    int64_t counts[FOUND] = {0, -1, 0};
    fl_status status = check(device, a, b, relative, absolute, found);

    if (status != FL_OK)
        return status;
    if (fl_array_size(a) > 0) {
        args.a = a->buffer;
        args.b = b->buffer;
        args.found = (fl_buffer){.dtype = FL_I64, .ndim = 1, .shape = {FOUND, 1, 1, 1}, .stride = {1, 1, 1, 1}};
        step.dtype = fl_dtype_float_result((fl_dtype[]){args.a.dtype, args.b.dtype}, 2);
        status = core_call_begin(&call, name, device, run);
        if (status != FL_OK)
            return status;
        status = run_step(&call, &step, &args,
                          core_buffer_bytes(&a->buffer) + core_buffer_bytes(&b->buffer) + sizeof counts, counts);
        status = core_call_end(&call, &step, status);
    } else {
        status = core_call_no_elements(name, run);
    }
    if (status == FL_OK)
        fill(counts, found);
    return status;
}
