/* SPDX-License-Identifier: MIT
 *
 * svd.c - checks the arguments of fl_svd, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>

static const char *const name = "svd";

static fl_dtype compute_dtype(const fl_array *a)
{
    return fl_dtype_float_result(&a->buffer.dtype, 1);
}

/* The length of `s` is the number of singular values to compute. */
static fl_status check_rank(const fl_array *a, const fl_array *s)
{
    const int64_t *shape = a->buffer.shape, least = shape[0] < shape[1] ? shape[0] : shape[1], k = s->buffer.shape[0];
    char text[64];

    if (k < (least > 0) || k > least)
        return core_fail(FL_E_ARGUMENT,
                         "%s: s has %" PRId64 " elements; expected %d to %" PRId64
                         ", the smaller dimension of a, which is %s",
                         name, k, least > 0, least, core_shape_text(text, sizeof text, 2, shape));
    return FL_OK;
}

static fl_status check(fl_device *device, const fl_array *a, const fl_array *u, const fl_array *s, const fl_array *vt)
{
    const core_argument arrays[] = {{"a", a}, {"u", u}, {"s", s}, {"vt", vt}};
    fl_status status = core_check_arguments(name, device, arrays, 4);

    if (status == FL_OK)
        status = core_check_matrix(name, "a", a);
    if (status == FL_OK)
        status = core_check_vector(name, "s", s);
    if (status == FL_OK)
        status = check_rank(a, s);
    if (status != FL_OK)
        return status;
    const int64_t m = a->buffer.shape[0], n = a->buffer.shape[1], k = s->buffer.shape[0];
    status = core_check_like(name, "u", u, compute_dtype(a), 2, (int64_t[]){m, k});
    if (status == FL_OK)
        status = core_check_like(name, "s", s, compute_dtype(a), 1, (int64_t[]){k});
    if (status == FL_OK)
        status = core_check_like(name, "vt", vt, compute_dtype(a), 2, (int64_t[]){k, n});
    for (int i = 1; i < 4; i++) /* no output shares memory with the input or with an output before it */
        for (int j = 0; j < i && status == FL_OK; j++)
            status = core_check_apart(name, arrays[i].name, arrays[i].array, arrays[j].name, arrays[j].array);
    return status;
}

fl_status fl_svd(fl_device *device, const fl_array *a, uint64_t seed, fl_array *u, fl_array *s, fl_array *vt,
                 const fl_run *run)
{
    fl_svd_args args;
    core_step step = {FL_OP_SVD, FL_F32, &args, 0};
    fl_status status = check(device, a, u, s, vt);

    if (status != FL_OK)
        return status;
    step.dtype = compute_dtype(a);
    if (fl_array_size(a) == 0)
        return core_call_empty(name, device, run, &step, s);
    args = (fl_svd_args){.a = a->buffer, .u = u->buffer, .s = s->buffer, .vt = vt->buffer, .seed = seed};
    return core_call_run(name, device, run, &step, (fl_buffer *[]){&args.a}, 1,
                         core_buffer_bytes(&a->buffer) + core_buffer_bytes(&u->buffer) + core_buffer_bytes(&s->buffer) +
                             core_buffer_bytes(&vt->buffer));
}
