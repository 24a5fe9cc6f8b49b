/* SPDX-License-Identifier: MIT
 *
 * elementwise.c - checks and runs increment, sqrt, maximum and log_of_sum.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

/* One call: `y` is NULL for an operation of one input. */
typedef struct operands {
    fl_operation operation;
    const fl_array *x, *y;
    const char *x_name;
    fl_array *out;
} operands;

enum { ANY_DTYPE = (1u << FL_DTYPE_COUNT) - 1, NUMBERS = ANY_DTYPE & ~(1u << FL_U8) };

static bool is_float_operation(fl_operation operation)
{
    return operation == FL_OP_SQRT || operation == FL_OP_LOG_OF_SUM;
}

static fl_dtype compute_dtype(const operands *o)
{
    const fl_dtype inputs[] = {o->x->buffer.dtype, o->y ? o->y->buffer.dtype : 0};
    const int count = o->y ? 2 : 1;

    return is_float_operation(o->operation) ? fl_dtype_float_result(inputs, count) : fl_dtype_result(inputs, count);
}

static fl_status check_input(const operands *o, const char *name, const fl_array *in, fl_device *device)
{
    const char *call = core_operation_name(o->operation);
    fl_status status = core_check_array(call, name, in, device);

    if (status != FL_OK || (is_float_operation(o->operation) ? ANY_DTYPE : NUMBERS) & 1u << in->buffer.dtype)
        return status;
    return core_fail(FL_E_ARGUMENT, "%s: %s has dtype %s; expected f32, f64, i32 or i64", call, name,
                     fl_dtype_name(in->buffer.dtype));
}

static fl_status check(const operands *o, bool binary, fl_device *device)
{
    const char *call = core_operation_name(o->operation);
    fl_status status = device ? FL_OK : core_fail(FL_E_ARGUMENT, "%s: device is NULL", call);

    if (status == FL_OK)
        status = check_input(o, o->x_name, o->x, device);
    if (status == FL_OK && binary)
        status = check_input(o, "y", o->y, device);
    if (status == FL_OK)
        status = core_check_array(call, "out", o->out, device);
    if (status == FL_OK && binary)
        status = core_check_like(call, "y", o->y, o->y->buffer.dtype, o->x->buffer.ndim, o->x->buffer.shape);
    if (status == FL_OK)
        status = core_check_like(call, "out", o->out, compute_dtype(o), o->x->buffer.ndim, o->x->buffer.shape);
    if (status == FL_OK)
        status = core_check_in_place(call, "out", o->out, o->x_name, o->x);
    if (status == FL_OK && binary)
        status = core_check_in_place(call, "out", o->out, "y", o->y);
    return status;
}

/* Queues the call, whose arguments are checked. */
static fl_status queue(const operands *o, fl_device *device, const fl_run *run)
{
    const char *call = core_operation_name(o->operation);
    const fl_dtype dtype = compute_dtype(o);
    double bytes = core_buffer_bytes(&o->x->buffer) + core_buffer_bytes(&o->out->buffer);

    if (!o->y) {
        fl_unary_args args = {o->x->buffer, o->out->buffer};
        return core_call_run(call, device, run, &(core_step){o->operation, dtype, &args, sizeof args},
                             (fl_buffer *[]){&args.in}, 1, bytes);
    }
    fl_binary_args args = {o->x->buffer, o->y->buffer, o->out->buffer};
    bytes += core_buffer_bytes(&args.y);
    return core_call_run(call, device, run, &(core_step){o->operation, dtype, &args, sizeof args},
                         (fl_buffer *[]){&args.x, &args.y}, 2, bytes);
}

static fl_status run_elementwise(const operands *o, bool binary, fl_device *device, const fl_run *run)
{
    fl_status status = check(o, binary, device);

    if (status != FL_OK)
        return status;
    if (fl_array_size(o->x) > 0)
        return queue(o, device, run);
    return core_call_no_elements(core_operation_name(o->operation), run);
}

fl_status fl_increment(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run)
{
    return run_elementwise(&(operands){FL_OP_INCREMENT, in, NULL, "in", out}, false, device, run);
}

fl_status fl_sqrt(fl_device *device, const fl_array *in, fl_array *out, const fl_run *run)
{
    return run_elementwise(&(operands){FL_OP_SQRT, in, NULL, "in", out}, false, device, run);
}

fl_status fl_maximum(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out, const fl_run *run)
{
    return run_elementwise(&(operands){FL_OP_MAXIMUM, x, y, "x", out}, true, device, run);
}

fl_status fl_log_of_sum(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out, const fl_run *run)
{
    return run_elementwise(&(operands){FL_OP_LOG_OF_SUM, x, y, "x", out}, true, device, run);
}
