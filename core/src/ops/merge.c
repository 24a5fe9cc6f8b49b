/* SPDX-License-Identifier: MIT
 * Merging of sorted arrays, and searching in one. */
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

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

/* Merges arrays[0] and arrays[1] into arrays[2]; or, to search, finds the place of each of arrays[1] in arrays[0]. */
static fl_status call_sorted(fl_operation operation, fl_device *device, const core_argument *arrays, const fl_run *run)
{
    const char *name = core_operation_name(operation);
    const bool places = operation == FL_OP_SEARCH_SORTED;
    const fl_array *first = arrays[0].array, *second = arrays[1].array, *out = arrays[2].array;
    union {
        fl_merge_args merge;
        fl_search_sorted_args search;
    } args;
    core_step step = {operation, FL_F32, &args, sizeof args};
    core_call call;
    fl_status status = core_check_arguments(name, device, arrays, 3);

    if (status == FL_OK)
        status = check(name, arrays, places, fl_array_size(second) + (places ? 0 : fl_array_size(first)));
    if (status != FL_OK)
        return status;
    if (places)
        args.search = (fl_search_sorted_args){first->buffer, second->buffer, out->buffer};
    else
        args.merge = (fl_merge_args){first->buffer, second->buffer, out->buffer};
    step.dtype = first->buffer.dtype;
    status = core_call_begin(&call, name, device, run);
    if (status != FL_OK)
        return status;
    if (fl_array_size(out) == 0)
        return core_call_end(&call, NULL, core_call_nothing(&call, &step));
    status = core_call_step(&call, &step,
                            (places ? 0 : core_buffer_bytes(&first->buffer)) + core_buffer_bytes(&second->buffer) +
                                core_buffer_bytes(&out->buffer));
    return core_call_end(&call, &step, status);
}

fl_status fl_merge(fl_device *device, const fl_array *x, const fl_array *y, fl_array *out, const fl_run *run)
{
    return call_sorted(FL_OP_MERGE, device, (const core_argument[]){{"x", x}, {"y", y}, {"out", out}}, run);
}

fl_status fl_search_sorted(fl_device *device, const fl_array *sorted, const fl_array *values, fl_array *out,
                           const fl_run *run)
{
    const core_argument arrays[] = {{"sorted", sorted}, {"values", values}, {"out", out}};

    return call_sorted(FL_OP_SEARCH_SORTED, device, arrays, run);
}
