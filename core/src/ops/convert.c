/* SPDX-License-Identifier: MIT
 *
 * convert.c - checks the arguments of fl_convert, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

static bool can_convert(fl_dtype in, fl_dtype out)
{
    return fl_dtype_is_float(out) || (out == FL_I64 && !fl_dtype_is_float(in));
}

static fl_status check(fl_device *device, const fl_array *in, const fl_array *out)
{
    const char *call = core_operation_name(FL_OP_CONVERT);
    fl_status status = core_check_arguments(call, device, (core_argument[]){{"in", in}, {"out", out}}, 2);

    if (status != FL_OK)
        return status;
    if (!can_convert(in->buffer.dtype, out->buffer.dtype))
        return core_fail(FL_E_ARGUMENT, "%s: out has dtype %s and in %s; expected f32 or f64, or i64 from integers",
                         call, fl_dtype_name(out->buffer.dtype), fl_dtype_name(in->buffer.dtype));
    status = core_check_like(call, "out", out, out->buffer.dtype, in->buffer.ndim, in->buffer.shape);
    return status == FL_OK ? core_check_apart(call, "out", out, "in", in) : status;
}

fl_status fl_convert(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run)
{
    fl_convert_args args;
    core_step step = {FL_OP_CONVERT, FL_F32, &args, sizeof args};
    fl_status status = check(device, in, out);

    if (status != FL_OK)
        return status;
    if (fl_array_size(in) == 0)
        return core_call_no_elements("convert", run);
    args = (fl_convert_args){in->buffer, out->buffer};
    step.dtype = out->buffer.dtype;
    return core_call_run(core_operation_name(FL_OP_CONVERT), device, run, &step, NULL, 0,
                         core_buffer_bytes(&args.in) + core_buffer_bytes(&args.out));
}
