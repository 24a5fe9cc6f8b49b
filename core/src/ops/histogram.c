/* SPDX-License-Identifier: MIT
 *
 * histogram.c - checks the arguments of fl_histogram, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <math.h>

static const char *const name = "histogram";

static fl_status check(fl_device *device, const fl_array *in, double lo, double hi, const fl_array *out)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"in", in}, {"out", out}}, 2);

    if (status == FL_OK)
        status = core_check_vector(name, "in", in);
    if (status == FL_OK)
        status = core_check_like(name, "out", out, FL_I64, 1, out->buffer.shape);
    if (status == FL_OK && out->buffer.shape[0] < 1)
        status = core_fail(FL_E_ARGUMENT, "%s: out has no elements; expected one for each bin", name);
    if (status == FL_OK && !(isfinite(lo) && isfinite(hi) && lo < hi && isfinite(hi - lo)))
        status = core_fail(FL_E_ARGUMENT, "%s: lo is %g and hi %g; expected finite numbers, and lo < hi", name, lo, hi);
    return status == FL_OK ? core_check_apart(name, "out", out, "in", in) : status;
}

fl_status fl_histogram(fl_device *device, const fl_array *in, double lo, double hi, bool clip, fl_array *out,
                       const fl_run *run)
{
    fl_histogram_args args;
    core_step step = {FL_OP_HISTOGRAM, FL_F32, &args, sizeof args};
    fl_status status = check(device, in, lo, hi, out);

    if (status != FL_OK)
        return status;
    step.dtype = in->buffer.dtype;
    if (fl_array_size(in) == 0)
        return core_call_empty(name, device, run, &step, out);
    args = (fl_histogram_args){in->buffer, out->buffer, lo, hi, clip};
    return core_call_run(name, device, run, &step, NULL, 0, core_buffer_bytes(&args.in) + core_buffer_bytes(&args.out));
}
