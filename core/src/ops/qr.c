/* SPDX-License-Identifier: MIT
 *
 * qr.c - checks the arguments of fl_qr, and calls the row of the device.
 */
#include "device/array.h"
#include "device/dispatch.h"

static const char *const name = "qr";

static fl_status check(fl_device *device, const core_argument *arrays)
{
    const fl_array *a = arrays[0].array;
    fl_status status = core_check_arguments(name, device, arrays, 3);

    if (status == FL_OK)
        status = core_check_matrix(name, "a", a);
    if (status != FL_OK)
        return status;
    const int64_t m = a->buffer.shape[0], n = a->buffer.shape[1], k = m < n ? m : n;
    const fl_dtype dtype = fl_dtype_float_result(&a->buffer.dtype, 1);
    status = core_check_like(name, "qt", arrays[1].array, dtype, 2, (int64_t[]){k, m});
    if (status == FL_OK)
        status = core_check_like(name, "r", arrays[2].array, dtype, 2, (int64_t[]){k, n});
    for (int i = 1; i < 3; i++)
        for (int j = 0; j < i && status == FL_OK; j++)
            status = core_check_apart(name, arrays[i].name, arrays[i].array, arrays[j].name, arrays[j].array);
    return status;
}

fl_status fl_qr(fl_device *device, const fl_array *a, fl_array *qt, fl_array *r, const fl_run *run)
{
    const core_argument arrays[] = {{"a", a}, {"qt", qt}, {"r", r}};
    fl_qr_args args;
    core_step step = {FL_OP_QR, FL_F32, &args, 0};
    fl_status status = check(device, arrays);

    if (status != FL_OK)
        return status;
    step.dtype = fl_array_dtype(qt);
    if (fl_array_size(a) == 0)
        return core_call_empty(name, device, run, &step, r);
    args = (fl_qr_args){.a = a->buffer, .qt = qt->buffer, .r = r->buffer};
    return core_call_run(name, device, run, &step, (fl_buffer *[]){&args.a}, 1,
                         core_buffer_bytes(&args.a) + core_buffer_bytes(&args.qt) + core_buffer_bytes(&args.r));
}
