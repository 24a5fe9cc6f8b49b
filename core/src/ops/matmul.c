/* SPDX-License-Identifier: MIT
 *
 * matmul.c - checks the arguments of fl_matmul, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>

static const char *const name = "matmul";

/* A matrix, or a batch of them, as it is used: transposed if it is stored so. */
typedef struct matrices {
    fl_buffer buffer; /* of three dimensions, as stored */
    bool transposed;
    int64_t batch, rows, columns;
} matrices;

static fl_status check_dimensions(const char *array_name, const fl_array *array)
{
    const int ndim = array->buffer.ndim;

    if (ndim == 2 || ndim == 3)
        return FL_OK;
    return core_fail(FL_E_ARGUMENT, "%s: %s has %d dimension%s; expected 2, or 3 for a batch", name, array_name, ndim,
                     ndim == 1 ? "" : "s");
}

static matrices matrices_of(const fl_array *array, bool transposed)
{
    matrices m = {.buffer = array->buffer, .transposed = transposed};
    fl_buffer *b = &m.buffer;

    if (b->ndim == 2) {
        for (int d = 2; d > 0; d--) {
            b->shape[d] = b->shape[d - 1];
            b->stride[d] = b->stride[d - 1];
        }
        b->ndim = 3;
        b->shape[0] = 1;
        b->stride[0] = b->shape[1] * b->stride[1];
    }
    m.batch = b->shape[0];
    m.rows = b->shape[transposed ? 2 : 1];
    m.columns = b->shape[transposed ? 1 : 2];
    return m;
}

static fl_status check_factors(const fl_array *a, const fl_array *b, const matrices *ma, const matrices *mb)
{
    char of_a[64], of_b[64];

    if (ma->columns == mb->rows && (ma->batch == mb->batch || ma->batch == 1 || mb->batch == 1))
        return FL_OK;
    core_shape_text(of_a, sizeof of_a, a->buffer.ndim, a->buffer.shape);
    core_shape_text(of_b, sizeof of_b, b->buffer.ndim, b->buffer.shape);
    if (ma->columns != mb->rows)
        return core_fail(
            FL_E_ARGUMENT, "%s: a is %s%s and b %s%s; expected as many rows of b as columns of a, %" PRId64, name, of_a,
            ma->transposed ? " (transposed)" : "", of_b, mb->transposed ? " (transposed)" : "", ma->columns);
    return core_fail(FL_E_ARGUMENT, "%s: a is %s and b %s; expected batches of the same length, or of 1", name, of_a,
                     of_b);
}

static fl_status check_result(const fl_array *a, const fl_array *b, const matrices *ma, const matrices *mb,
                              fl_dtype dtype, const fl_array *c)
{
    const int ndim = a->buffer.ndim > b->buffer.ndim ? a->buffer.ndim : b->buffer.ndim;
    const int64_t shape[] = {ma->batch == 1 ? mb->batch : ma->batch, ma->rows, mb->columns};
    fl_status status;

    if (dtype == FL_U8)
        return core_fail(FL_E_ARGUMENT, "%s: a and b have dtype u8; expected f32, f64, i32 or i64", name);
    status = core_check_like(name, "c", c, dtype, ndim, shape + (3 - ndim));
    if (status == FL_OK)
        status = core_check_apart(name, "c", c, "a", a);
    return status == FL_OK ? core_check_apart(name, "c", c, "b", b) : status;
}

/* One matrix stands for a whole batch. */
static void repeat(fl_buffer *b, int64_t batch)
{
    if (b->shape[0] == batch)
        return;
    b->shape[0] = batch;
    b->stride[0] = 0;
}

fl_status fl_matmul(fl_device *device, const fl_array *a, bool transpose_a, const fl_array *b, bool transpose_b,
                    fl_array *c, const fl_run *run)
{
    fl_matmul_args args = {.transpose_a = transpose_a, .transpose_b = transpose_b};
    core_step step = {FL_OP_MATMUL, FL_F32, &args, sizeof args};
    core_call call;
    fl_status status = core_check_arguments(name, device, (core_argument[]){{"a", a}, {"b", b}, {"c", c}}, 3);

    if (status == FL_OK)
        status = check_dimensions("a", a);
    if (status == FL_OK)
        status = check_dimensions("b", b);
    if (status != FL_OK)
        return status;
    const matrices ma = matrices_of(a, transpose_a), mb = matrices_of(b, transpose_b);
    status = check_factors(a, b, &ma, &mb);
    step.dtype = fl_dtype_result((fl_dtype[]){a->buffer.dtype, b->buffer.dtype}, 2);
    if (status == FL_OK)
        status = check_result(a, b, &ma, &mb, step.dtype, c);
    if (status != FL_OK)
        return status;
    if (fl_array_size(c) == 0 || ma.columns == 0)
        return core_call_empty(name, device, run, &step, c);
    args.a = ma.buffer;
    args.b = mb.buffer;
    args.c = matrices_of(c, false).buffer;
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    status = core_call_convert(&call, &args.a, step.dtype);
    if (status == FL_OK)
        status = core_call_convert(&call, &args.b, step.dtype);
    repeat(&args.a, args.c.shape[0]);
    repeat(&args.b, args.c.shape[0]);
    if (status == FL_OK)
        status = core_call_step(&call, &step,
                                core_buffer_bytes(&a->buffer) + core_buffer_bytes(&b->buffer) +
                                    core_buffer_bytes(&c->buffer));
    return core_call_end(&call, &step, status);
}
