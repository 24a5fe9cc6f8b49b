/* SPDX-License-Identifier: MIT
 * Sums, extremes and their places, of all elements or along one axis. */
#include "device/array.h"
#include "device/packed.h"
#include "base/status.h"

static const char *const name = "reduce";

fl_dtype fl_reduce_dtype(fl_dtype in, fl_reduction reduction)
{
    if (reduction == FL_ARGMIN || reduction == FL_ARGMAX)
        return FL_I64;
    return reduction == FL_SUM && !fl_dtype_is_float(in) ? FL_I64 : in;
}

/* ----------------------------------------------------------------------------------------------- checks ---- */

static fl_status check_axis(const fl_buffer *in, int axis)
{
    if (axis == FL_ALL_AXES || (axis >= 0 && axis < in->ndim))
        return FL_OK;
    if (in->ndim == 1)
        return core_fail(FL_E_ARGUMENT, "%s: axis is %d; expected 0, because in has one dimension", name, axis);
    return core_fail(FL_E_ARGUMENT, "%s: axis is %d; expected 0 to %d, because in has %d dimensions", name, axis,
                     in->ndim - 1, in->ndim);
}

/* The shape of the result; returns its dimensions. */
static int result_shape(const fl_buffer *in, int axis, int64_t *shape)
{
    int ndim = 0;

    for (int d = 0; d < in->ndim && axis != FL_ALL_AXES; d++)
        if (d != axis)
            shape[ndim++] = in->shape[d];
    if (ndim == 0)
        shape[ndim++] = 1;
    return ndim;
}

static fl_status check_result(const fl_array *in, fl_reduction reduction, int axis, const fl_array *out)
{
    const fl_dtype dtype = out->buffer.dtype, usual = fl_reduce_dtype(in->buffer.dtype, reduction);
    int64_t shape[FL_MAX_DIMS];
    const int ndim = result_shape(&in->buffer, axis, shape);

    if (dtype == usual || (reduction == FL_SUM && dtype == FL_F64))
        return core_check_like(name, "out", out, dtype, ndim, shape);
    return core_fail(FL_E_ARGUMENT, "%s: out has dtype %s; expected %s%s", name, fl_dtype_name(dtype),
                     fl_dtype_name(usual), reduction == FL_SUM && usual != FL_F64 ? " or f64" : "");
}

/* Along which there are no elements to choose from. */
static fl_status check_some(const fl_array *in, fl_reduction reduction, int axis)
{
    const int64_t length = axis == FL_ALL_AXES ? fl_array_size(in) : in->buffer.shape[axis];
    static const char *const reductions[] = {"sum", "minimum", "maximum", "argmin", "argmax"};

    if (reduction == FL_SUM || length > 0)
        return FL_OK;
    return core_fail(FL_E_ARGUMENT, "%s: in has no elements along the axis; expected at least one for %s", name,
                     reductions[reduction]);
}

static fl_status check(fl_device *device, const fl_array *x, const fl_array *y, fl_reduction reduction, int axis,
                       const fl_array *out)
{
    const core_argument arrays[] = {{y ? "x" : "in", x}, {"out", out}, {"y", y}};
    fl_status status = core_check_arguments(name, device, arrays, y ? 3 : 2);

    if (status == FL_OK && (unsigned)reduction > FL_ARGMAX)
        status = core_fail(FL_E_ARGUMENT,
                           "%s: reduction is %d; expected FL_SUM, FL_MINIMUM, FL_MAXIMUM, FL_ARGMIN or "
                           "FL_ARGMAX",
                           name, (int)reduction);
    if (status == FL_OK)
        status = check_axis(&x->buffer, axis);
    if (status == FL_OK && y)
        status = core_check_like(name, "y", y, x->buffer.dtype, x->buffer.ndim, x->buffer.shape);
    if (status == FL_OK)
        status = check_some(x, reduction, axis);
    if (status == FL_OK)
        status = check_result(x, reduction, axis, out);
    if (status == FL_OK)
        status = core_check_apart(name, "out", out, arrays[0].name, x);
    return status == FL_OK && y ? core_check_apart(name, "out", out, "y", y) : status;
}

/* ------------------------------------------------------------------------------------------------- call ---- */

/* A packed array as (outer, length, inner), where `length` is that of the axis. */
static void cut_at(fl_buffer *b, int axis)
{
    int64_t shape[3] = {1, 1, 1};

    for (int d = 0; d < b->ndim; d++)
        shape[axis == FL_ALL_AXES || d == axis ? 1 : d < axis ? 0 : 2] *= b->shape[d];
    *b = (fl_buffer){.data = b->data,
                     .dtype = b->dtype,
                     .ndim = 3,
                     .shape = {shape[0], shape[1], shape[2], 1},
                     .stride = {shape[1] * shape[2], shape[2], 1, 1}};
}

static fl_status run_packed(core_call *call, const core_step *step, fl_reduce_args *args, int axis, double bytes)
{
    fl_status status = core_call_pack(call, &args->x);

    if (status == FL_OK && args->y.data)
        status = core_call_pack(call, &args->y);
    if (status == FL_OK)
        status = core_call_room(call, &args->out);
    if (status != FL_OK)
        return status;
    cut_at(&args->x, axis);
    if (args->y.data)
        cut_at(&args->y, axis);
    args->out.ndim = 2;
    args->out.shape[0] = args->x.shape[0];
    args->out.shape[1] = args->x.shape[2];
    args->out.stride[0] = args->x.shape[2];
    args->out.shape[2] = args->out.shape[3] = args->out.stride[1] = args->out.stride[2] = args->out.stride[3] = 1;
    return core_call_step(call, step, bytes);
}

static fl_status reduce(fl_device *device, const fl_array *x, const fl_array *y, fl_reduction reduction, int axis,
                        fl_array *out, const fl_run *run)
{
    fl_reduce_args args = {.reduction = reduction};
    core_step step = {FL_OP_REDUCE, FL_F32, &args, sizeof args};
    core_call call;
    fl_status status = check(device, x, y, reduction, axis, out);

    if (status != FL_OK)
        return status;
    step.dtype = x->buffer.dtype;
    if (fl_array_size(x) == 0)
        return core_call_empty(name, device, run, &step, out);
    args.x = x->buffer;
    args.out = out->buffer;
    if (y)
        args.y = y->buffer;
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    status = run_packed(&call, &step, &args, axis,
                        core_buffer_bytes(&x->buffer) * (y ? 2 : 1) + core_buffer_bytes(&out->buffer));
    if (status == FL_OK)
        status = core_call_unpack(&call, &args.out, out);
    return core_call_end(&call, &step, status);
}

fl_status fl_reduce(fl_device *device, const fl_array *in, fl_reduction reduction, int axis, fl_array *out,
                    const fl_run *run)
{
    return reduce(device, in, NULL, reduction, axis, out, run);
}

fl_status fl_dot(fl_device *device, const fl_array *x, const fl_array *y, int axis, fl_array *out, const fl_run *run)
{
    return y ? reduce(device, x, y, FL_SUM, axis, out, run)
             : core_fail(FL_E_ARGUMENT, "%s: y is NULL; expected an array", name);
}
