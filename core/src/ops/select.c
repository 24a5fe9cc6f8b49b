/* SPDX-License-Identifier: MIT
 *
 * select.c - checks the arguments of fl_select, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>

static const char *const name = "select";

static fl_status check(fl_device *device, const fl_array *in, const fl_array *out, const fl_array *count)
{
    const core_argument arrays[] = {{"in", in}, {"out", out}, {"count", count}};
    fl_status status = core_check_arguments(name, device, arrays, 3);

    for (int i = 0; i < 2 && status == FL_OK; i++)
        status = core_check_vector(name, arrays[i].name, arrays[i].array);
    if (status == FL_OK && out->buffer.dtype != in->buffer.dtype)
        status = core_fail(FL_E_ARGUMENT, "%s: out has dtype %s; expected %s, in's dtype", name,
                           fl_dtype_name(out->buffer.dtype), fl_dtype_name(in->buffer.dtype));
    if (status == FL_OK && out->buffer.shape[0] < in->buffer.shape[0])
        status = core_fail(FL_E_ARGUMENT,
                           "%s: out has %" PRId64 " elements; expected at least %" PRId64 ", as many as in has", name,
                           out->buffer.shape[0], in->buffer.shape[0]);
    if (status == FL_OK)
        status = core_check_like(name, "count", count, FL_I64, 1, (const int64_t[]){1});
    for (int i = 0; i < 2 && status == FL_OK; i++)
        for (int j = i + 1; j < 3 && status == FL_OK; j++)
            status = core_check_apart(name, arrays[j].name, arrays[j].array, arrays[i].name, arrays[i].array);
    return status;
}

fl_status fl_select(fl_device *device, const fl_array *in, fl_array *out, fl_array *count, const fl_run *run)
{
    fl_select_args args;
    core_step step = {FL_OP_SELECT, FL_F32, &args, sizeof args};
    core_call call;
    fl_status status = check(device, in, out, count);

    if (status != FL_OK)
        return status;
    if (fl_array_size(in) == 0)
        return core_call_count_none(name, count, run);
    step.dtype = in->buffer.dtype;
    args = (fl_select_args){in->buffer, out->buffer, count->buffer};
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    status = core_call_step(&call, &step, core_buffer_bytes(&args.in) + core_buffer_bytes(&args.count));
    return core_call_end_counted(&call, &step, status, count, (double)fl_dtype_size(step.dtype));
}
