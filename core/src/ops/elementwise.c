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
    const fl_dtype inputs[] = {o->x->buffer.dtype, (o->y ? o->y : o->x)->buffer.dtype};

    return is_float_operation(o->operation) ? fl_dtype_float_result(inputs, 2) : fl_dtype_result(inputs, 2);
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
    const fl_buffer *x = &o->x->buffer, *out = &o->out->buffer;
    double bytes = core_buffer_bytes(x) + (o->y ? core_buffer_bytes(&o->y->buffer) : 0) + core_buffer_bytes(out);
    fl_unary_args unary = {*x, *out};
    fl_binary_args binary = {*x, o->y ? o->y->buffer : *x, *out};
    const core_step step = {o->operation, compute_dtype(o), o->y ? (void *)&binary : (void *)&unary};
    fl_buffer *const of_unary[] = {&unary.in}, *const of_binary[] = {&binary.x, &binary.y};

    return core_call_run(core_operation_name(o->operation), device, run, &step, o->y ? of_binary : of_unary,
                         o->y ? 2 : 1, bytes);
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
