/* SPDX-License-Identifier: MIT
 *
 * sort.c - checks the arguments of fl_sort, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

static const char *const name = "sort";

static fl_status check(fl_device *device, const fl_array *in, const fl_array *out)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"in", in}, {"out", out}}, 2);

    if (status == FL_OK)
        status = core_check_vector(name, "in", in);
    if (status == FL_OK && in->buffer.dtype == FL_U8)
        status = core_fail(FL_E_ARGUMENT, "%s: in has dtype u8; expected f32, f64, i32 or i64", name);
    if (status == FL_OK)
        status = core_check_like(name, "out", out, in->buffer.dtype, 1, in->buffer.shape);
    return status == FL_OK ? core_check_in_place(name, "out", out, "in", in) : status;
}

fl_status fl_sort(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run)
{
    fl_sort_args args;
    core_step step = {FL_OP_SORT, FL_F32, &args, sizeof args};
    core_call call;
    fl_status status = check(device, in, out);

    if (status != FL_OK)
        return status;
    args = (fl_sort_args){in->buffer, out->buffer};
    step.dtype = in->buffer.dtype;
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    if (fl_array_size(in) == 0)
        return core_call_end(&call, NULL, core_call_nothing(&call, &step));
    status = core_call_step(&call, &step, core_buffer_bytes(&args.in) + core_buffer_bytes(&args.out));
    return core_call_end(&call, &step, status);
}
