/* SPDX-License-Identifier: MIT
 * Merging of sorted arrays, and searching in one. */
#include "../array.h"
#include "../dispatch.h"
#include "../status.h"

/* arrays[0] and arrays[1] are vectors of one dtype that is sorted; arrays[2] is the output, of `count` elements. */
static fl_status check(const char *name, const core_argument *arrays, bool places, int64_t count)
{
    const fl_array *first = arrays[0].array, *second = arrays[1].array;
    const fl_dtype dtype = first->buffer.dtype;
    fl_status status = FL_OK;

    for (int i = 0; i < 2 && status == FL_OK; i++)
        status = core_check_vector(name, arrays[i].name, arrays[i].array);
    if (status == FL_OK && dtype == FL_U8)
        status = core_fail(FL_E_ARGUMENT, "%s: %s has dtype u8; expected f32, f64, i32 or i64", name, arrays[0].name);
    if (status == FL_OK && second->buffer.dtype != dtype)
        status = core_fail(FL_E_ARGUMENT, "%s: %s has dtype %s; expected %s, %s's dtype", name, arrays[1].name,
                           fl_dtype_name(second->buffer.dtype), fl_dtype_name(dtype), arrays[0].name);
    if (status == FL_OK)
        status = core_check_like(name, "out", arrays[2].array, places ? FL_I64 : dtype, 1, &count);
    for (int i = 0; i < 2 && status == FL_OK; i++)
        status = core_check_apart(name, "out", arrays[2].array, arrays[i].name, arrays[i].array);
    return status;
}

fl_status fl_merge(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out, const fl_run *run)
{
    static const char name[] = "merge";
    const core_argument arrays[] = {{"x", x}, {"y", y}, {"out", out}};
    fl_merge_args args;
    core_step step = {FL_OP_MERGE, FL_F32, &args};
    core_call call;
    fl_status status = core_check_arguments(name, device, arrays, 3);

    if (status == FL_OK)
        status = check(name, arrays, false, fl_array_size(x) + fl_array_size(y));
    if (status != FL_OK)
        return status;
    args = (fl_merge_args){x->buffer, y->buffer, out->buffer};
    step.dtype = x->buffer.dtype;
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    if (fl_array_size(out) == 0)
        return core_call_end(&call, NULL, core_call_nothing(&call, &step));
    status = core_call_step(&call, &step, 2 * core_buffer_bytes(&args.out));
    return core_call_end(&call, &step, status);
}

fl_status fl_search_sorted(fl_device *device, const fl_array *sorted, const fl_array *values, fl_array *out,
                           const fl_run *run)
{
    static const char name[] = "search_sorted";
    const core_argument arrays[] = {{"sorted", sorted}, {"values", values}, {"out", out}};
    fl_search_sorted_args args;
    core_step step = {FL_OP_SEARCH_SORTED, FL_F32, &args};
    core_call call;
    fl_status status = core_check_arguments(name, device, arrays, 3);

    if (status == FL_OK)
        status = check(name, arrays, true, fl_array_size(values));
    if (status != FL_OK)
        return status;
    args = (fl_search_sorted_args){sorted->buffer, values->buffer, out->buffer};
    step.dtype = sorted->buffer.dtype;
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    if (fl_array_size(values) == 0)
        return core_call_end(&call, NULL, core_call_nothing(&call, &step));
    status = core_call_step(&call, &step, core_buffer_bytes(&args.values) + core_buffer_bytes(&args.out));
    return core_call_end(&call, &step, status);
}
