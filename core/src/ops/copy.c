/* SPDX-License-Identifier: MIT
 *
 * copy.c - checks the arguments of fl_copy_array, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"

static const char *const name = "copy";

static fl_status check(fl_device *device, const fl_array *in, const fl_array *out)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"in", in}, {"out", out}}, 2);

    if (status == FL_OK)
        status = core_check_vector(name, "in", in);
    if (status == FL_OK)
        status = core_check_like(name, "out", out, in->buffer.dtype, 1, in->buffer.shape);
    return status == FL_OK ? core_check_apart(name, "out", out, "in", in) : status;
}

fl_status fl_copy_array(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run)
{
    fl_copy_args args;
    core_step step = {FL_OP_COPY, FL_U8, &args, sizeof args};
    fl_status status = check(device, in, out);

    if (status != FL_OK)
        return status;
    if (fl_array_size(in) == 0)
        return core_call_no_elements(name, run);
    args = (fl_copy_args){in->buffer, out->buffer};
    step.dtype = in->buffer.dtype;
    return core_call_run(name, device, run, &step, NULL, 0, core_buffer_bytes(&args.in) + core_buffer_bytes(&args.out));
}
