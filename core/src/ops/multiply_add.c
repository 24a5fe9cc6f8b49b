/* SPDX-License-Identifier: MIT
 *
 * multiply_add.c - checks the arguments of fl_multiply_add, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>

static const char *const name = "multiply_add";

static fl_status check(fl_device *device, const fl_array *in, int64_t steps, const fl_array *out)
{
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"in", in}, {"out", out}}, 2);

    if (status == FL_OK)
        status = core_check_vector(name, "in", in);
    if (status == FL_OK && !fl_dtype_is_float(in->buffer.dtype))
        status =
            core_fail(FL_E_ARGUMENT, "%s: in has dtype %s; expected f32 or f64", name, fl_dtype_name(in->buffer.dtype));
    if (status == FL_OK && steps < 0)
        status = core_fail(FL_E_ARGUMENT, "%s: steps is %" PRId64 "; expected at least 0", name, steps);
    if (status == FL_OK)
        status = core_check_like(name, "out", out, in->buffer.dtype, 1, in->buffer.shape);
    return status == FL_OK ? core_check_in_place(name, "out", out, "in", in) : status;
}

fl_status fl_multiply_add(fl_device *device, const fl_array *in, double factor, double term, int64_t steps,
                          fl_array *out, const fl_run *run)
{
    fl_multiply_add_args args;
    core_step step = {FL_OP_MULTIPLY_ADD, FL_F32, &args, sizeof args};
    fl_status status = check(device, in, steps, out);

    if (status != FL_OK)
        return status;
    if (fl_array_size(in) == 0)
        return core_call_no_elements(name, run);
    args = (fl_multiply_add_args){in->buffer, out->buffer, factor, term, steps};
    step.dtype = in->buffer.dtype;
    return core_call_run(name, device, run, &step, NULL, 0, core_buffer_bytes(&args.in) + core_buffer_bytes(&args.out));
}
