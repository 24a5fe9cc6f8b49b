/* SPDX-License-Identifier: MIT
 *
 * transpose.c - checks the arguments of fl_transpose, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

static const char *const name = "transpose";

static fl_status check(fl_device *device, const fl_array *in, const fl_array *out)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"in", in}, {"out", out}}, 2);
    int64_t shape[FL_MAX_DIMS];

    if (status != FL_OK)
        return status;
    const int last = in->buffer.ndim - 1;
    if (last < 1)
        return core_fail(FL_E_ARGUMENT, "%s: in has 1 dimension; expected at least 2", name);
    for (int d = 0; d <= last; d++)
        shape[d] = in->buffer.shape[d < last - 1 ? d : 2 * last - 1 - d];
    status = core_check_like(name, "out", out, in->buffer.dtype, in->buffer.ndim, shape);
    return status == FL_OK ? core_check_apart(name, "out", out, "in", in) : status;
}

/* The buffer with four dimensions: those in front have one element. */
static fl_buffer with_batches(fl_buffer b)
{
    for (; b.ndim < FL_MAX_DIMS; b.ndim++) {
        for (int d = b.ndim; d > 0; d--) {
            b.shape[d] = b.shape[d - 1];
            b.stride[d] = b.stride[d - 1];
        }
        b.shape[0] = 1;
    }
    return b;
}

fl_status fl_transpose(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run)
{
    fl_transpose_args args;
    core_step step = {FL_OP_TRANSPOSE, FL_F32, &args, sizeof args};
    fl_status status = check(device, in, out);

    if (status != FL_OK)
        return status;
    step.dtype = in->buffer.dtype;
    if (fl_array_size(in) == 0)
        return core_call_empty(name, device, run, &step, out);
    args = (fl_transpose_args){with_batches(in->buffer), with_batches(out->buffer)};
    return core_call_run(name, device, run, &step, NULL, 0,
                         core_buffer_bytes(&in->buffer) + core_buffer_bytes(&out->buffer));
}
