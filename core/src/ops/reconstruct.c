/* SPDX-License-Identifier: MIT
 *
 * reconstruct.c - checks the arguments of fl_reconstruct, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>

static const char *const name = "reconstruct";

/* ----------------------------------------------------------------------------------------------- checks ---- */

/* Checks the shape of `array`, which may have any dtype. */
static fl_status check_shape(const char *array_name, const fl_array *array, int ndim, const int64_t *shape)
{
    return core_check_like(name, array_name, array, array->buffer.dtype, ndim, shape);
}

static fl_status check_dimensions(const char *array_name, const fl_array *array, int ndim)
{
    if (array->buffer.ndim == ndim)
        return FL_OK;
    return core_fail(FL_E_ARGUMENT, "%s: %s has %d dimension%s; expected %d, because u has %d", name, array_name,
                     array->buffer.ndim, array->buffer.ndim == 1 ? "" : "s", ndim, ndim == 1 ? 2 : ndim);
}

/* u: [batch x] m x k; s: [batch x] k; vt: [batch x] k x n. */
static fl_status check_factors(const fl_array *u, const fl_array *s, const fl_array *vt)
{
    const int ndim = u->buffer.ndim, rows = ndim - 2, columns = ndim - 1;
    int64_t shape[FL_MAX_DIMS];
    fl_status status;

    if (ndim != 2 && ndim != 3)
        return core_fail(FL_E_ARGUMENT, "%s: u has %d dimension%s; expected 2, or 3 for a batch", name, ndim,
                         ndim == 1 ? "" : "s");
    shape[0] = u->buffer.shape[0];
    shape[rows] = u->buffer.shape[columns];
    status = check_shape("s", s, ndim - 1, shape);
    if (status == FL_OK)
        status = check_dimensions("vt", vt, ndim);
    if (status != FL_OK)
        return status;
    shape[columns] = vt->buffer.shape[columns];
    return check_shape("vt", vt, ndim, shape);
}

static fl_dtype compute_dtype(const fl_array *u, const fl_array *s, const fl_array *vt)
{
    return fl_dtype_float_result((fl_dtype[]){u->buffer.dtype, s->buffer.dtype, vt->buffer.dtype}, 3);
}

static fl_status check_result(const fl_array *u, const fl_array *s, const fl_array *vt, const fl_array *y)
{
    const int ndim = u->buffer.ndim;
    int64_t shape[FL_MAX_DIMS];

    for (int d = 0; d < ndim; d++)
        shape[d] = d == ndim - 1 ? vt->buffer.shape[d] : u->buffer.shape[d];
    return core_check_like(name, "y", y, compute_dtype(u, s, vt), ndim, shape);
}

static fl_status check(fl_device *device, const fl_array *u, const fl_array *s, const fl_array *vt, int64_t rank,
                       const fl_array *y)
{
    const core_argument arrays[] = {{"u", u}, {"s", s}, {"vt", vt}, {"y", y}};
    fl_status status = core_check_arguments(name, device, arrays, 4);
    int64_t k;

    if (status == FL_OK)
        status = check_factors(u, s, vt);
    if (status != FL_OK)
        return status;
    k = u->buffer.shape[u->buffer.ndim - 1];
    if (rank < (k > 0) || rank > k)
        return core_fail(FL_E_ARGUMENT,
                         "%s: rank is %" PRId64 "; expected %d to %" PRId64 ", the number of singular values", name,
                         rank, k > 0, k);
    status = check_result(u, s, vt, y);
    for (int i = 0; i < 3 && status == FL_OK; i++)
        status = core_check_apart(name, "y", y, arrays[i].name, arrays[i].array);
    return status;
}

/* ------------------------------------------------------------------------------------------------- call ---- */

/* The array as plugins take it: with a batch in front, of one matrix if it has none. */
static fl_buffer with_batch(const fl_array *array, bool has_batch)
{
    fl_buffer b = array->buffer;

    if (has_batch)
        return b;
    for (int d = b.ndim; d > 0; d--) {
        b.shape[d] = b.shape[d - 1];
        b.stride[d] = b.stride[d - 1];
    }
    b.shape[0] = 1;
    b.stride[0] = b.shape[1] * b.stride[1];
    b.ndim++;
    return b;
}

/* The arguments for the leading `rank` terms of the sum: the others are neither read nor converted. */
static fl_reconstruct_args leading(const fl_array *u, const fl_array *s, const fl_array *vt, int64_t rank,
                                   const fl_array *y)
{
    const bool has_batch = u->buffer.ndim == 3;
    fl_reconstruct_args args = {.u = with_batch(u, has_batch),
                                .s = with_batch(s, has_batch),
                                .vt = with_batch(vt, has_batch),
                                .y = with_batch(y, has_batch),
                                .rank = rank};

    args.u.shape[2] = args.s.shape[1] = args.vt.shape[1] = rank;
    return args;
}

fl_status fl_reconstruct(fl_device *device, const fl_array *u, const fl_array *s, const fl_array *vt, int64_t rank,
                         fl_array *y, const fl_run *run)
{
    fl_reconstruct_args args;
    core_step step = {FL_OP_RECONSTRUCT, FL_F32, &args, sizeof args};
    double bytes;
    fl_status status = check(device, u, s, vt, rank, y);

    if (status != FL_OK)
        return status;
    step.dtype = y->buffer.dtype;
    if (rank == 0 || fl_array_size(y) == 0)
        return core_call_empty(name, device, run, &step, y);
    args = leading(u, s, vt, rank, y);
    bytes = core_buffer_bytes(&args.u) + core_buffer_bytes(&args.s) + core_buffer_bytes(&args.vt) +
            core_buffer_bytes(&args.y);
    return core_call_run(name, device, run, &step, (fl_buffer *[]){&args.u, &args.s, &args.vt}, 3, bytes);
}
