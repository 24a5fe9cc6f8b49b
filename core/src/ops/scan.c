/* SPDX-License-Identifier: MIT
 *
 * scan.c - checks the arguments of fl_scan, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

static const char *const name = "scan";

static fl_status check(fl_device *device, const fl_array *in, fl_reduction reduction, const fl_array *out)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"in", in}, {"out", out}}, 2);

    if (status == FL_OK)
        status = core_check_vector(name, "in", in);
    if (status == FL_OK && reduction != FL_SUM && reduction != FL_MAXIMUM)
        status = core_fail(FL_E_ARGUMENT, "%s: reduction is %d; expected FL_SUM or FL_MAXIMUM", name, (int)reduction);
    if (status == FL_OK)
        status = core_check_like(name, "out", out, fl_reduce_dtype(in->buffer.dtype, reduction), 1, in->buffer.shape);
    if (status != FL_OK)
        return status;
    return out->buffer.dtype == in->buffer.dtype ? core_check_in_place(name, "out", out, "in", in)
                                                 : core_check_apart(name, "out", out, "in", in);
}

fl_status fl_scan(fl_device *device, const fl_array *in, fl_reduction reduction, bool exclusive, fl_array *out,
                  const fl_run *run)
{
    fl_scan_args args;
    core_step step = {FL_OP_SCAN, FL_F32, &args, sizeof args};
    fl_status status = check(device, in, reduction, out);

    if (status != FL_OK)
        return status;
    step.dtype = in->buffer.dtype;
    if (fl_array_size(in) == 0)
        return core_call_empty(name, device, run, &step, out);
    args = (fl_scan_args){in->buffer, out->buffer, reduction, exclusive};
    return core_call_run(name, device, run, &step, NULL, 0, core_buffer_bytes(&args.in) + core_buffer_bytes(&args.out));
}
