/* SPDX-License-Identifier: MIT
 *
 * map.c - checks and runs a function of the user's, element by element.
 */
#include "device/array.h"
#include "device/dispatch.h"
#include "device/user_function.h"
#include "base/status.h"

typedef struct arguments {
    fl_device *device;
    const fl_function *function;
    const fl_array *const *inputs;
    int count;
    fl_array *out;
} arguments;

/* In messages. */
static const char *const names[] = {"input 1", "input 2", "input 3", "input 4",
                                    "input 5", "input 6", "input 7", "input 8"};

_Static_assert(sizeof names / sizeof *names == FL_MAX_INPUTS, "an input has no name");

/* `in` stretched to out's shape: NumPy's broadcasting. */
static fl_status broadcast(const fl_buffer *in, const fl_buffer *out, const char *name, fl_buffer *stretched)
{
    const int lead = out->ndim - in->ndim;
    char from[64], to[64];

    if (lead < 0)
        return core_fail(FL_E_ARGUMENT, "map: %s has %d dimensions, and out %d", name, in->ndim, out->ndim);
    *stretched = *out;
    stretched->data = in->data;
    stretched->dtype = in->dtype;
    for (int d = 0; d < out->ndim; d++) {
        const int64_t length = d < lead ? 1 : in->shape[d - lead];
        stretched->stride[d] = d < lead || (length == 1 && out->shape[d] != 1) ? 0 : in->stride[d - lead];
        if (length != 1 && length != out->shape[d])
            return core_fail(FL_E_ARGUMENT, "map: %s is %s, which does not broadcast to out's %s", name,
                             core_shape_text(from, sizeof from, in->ndim, in->shape),
                             core_shape_text(to, sizeof to, out->ndim, out->shape));
    }
    return FL_OK;
}

static bool same_shape(const fl_buffer *a, const fl_buffer *b)
{
    bool same = a->ndim == b->ndim;

    for (int d = 0; d < a->ndim && same; d++)
        same = a->shape[d] == b->shape[d];
    return same;
}

static fl_status check_input(const arguments *a, int i, fl_buffer *stretched)
{
    const fl_function_info *info = fl_function_describe(a->function);
    const fl_array *in = a->inputs[i];
    const char *name = names[i];
    fl_status status = core_check_array("map", name, in, a->device);

    if (status != FL_OK)
        return status;
    if (in->buffer.dtype != info->inputs[i])
        return core_fail(FL_E_ARGUMENT, "map: %s has dtype %s; the function takes %s", name,
                         fl_dtype_name(in->buffer.dtype), fl_dtype_name(info->inputs[i]));
    status = broadcast(&in->buffer, &a->out->buffer, name, stretched);
    if (status != FL_OK)
        return status;
    if (in->buffer.dtype == a->out->buffer.dtype && same_shape(&in->buffer, &a->out->buffer))
        return core_check_in_place("map", "out", a->out, name, in);
    return core_check_apart("map", "out", a->out, name, in);
}

static fl_status check(const arguments *a, fl_map_args *args)
{
    const fl_function_info *info = fl_function_describe(a->function);
    fl_status status;

    if (!a->device || !a->function || !a->inputs)
        return core_fail(FL_E_ARGUMENT, "map: %s is NULL",
                         !a->device     ? "device"
                         : !a->function ? "function"
                                        : "inputs");
    if (a->function->compiled.device != a->device)
        return core_fail(FL_E_WRONG_DEVICE, "map: the function was compiled for another device; fl_function_create "
                                            "compiles it for this one");
    if (a->count != info->count)
        return core_fail(FL_E_ARGUMENT, "map: count is %d; the function has %d input%s", a->count, info->count,
                         info->count == 1 ? "" : "s");
    status = core_check_array("map", "out", a->out, a->device);
    if (status == FL_OK && a->out->buffer.dtype != info->result)
        status = core_fail(FL_E_ARGUMENT, "map: out has dtype %s; the function's result is %s",
                           fl_dtype_name(a->out->buffer.dtype), fl_dtype_name(info->result));
    if (status != FL_OK)
        return status;
    *args = (fl_map_args){.code = a->function->compiled.code, .inputs = a->count, .out = a->out->buffer};
    for (int i = 0; i < a->count && status == FL_OK; i++)
        status = check_input(a, i, &args->in[i]);
    return status;
}

/* Each element of each input read once, and of the output written once. */
static double bytes_of(const arguments *a)
{
    double bytes = core_buffer_bytes(&a->out->buffer);

    for (int i = 0; i < a->count; i++)
        bytes += core_buffer_bytes(&a->inputs[i]->buffer);
    return bytes;
}

fl_status fl_map(fl_device *device, const fl_function *function, const fl_array *const *inputs, int count,
                 fl_array *out, const fl_run *run)
{
    const arguments a = {device, function, inputs, count, out};
    fl_map_args args;
    fl_status status = check(&a, &args);
    const core_step step = {FL_OP_MAP, status == FL_OK ? out->buffer.dtype : FL_U8, &args, sizeof args};

    if (status != FL_OK)
        return status;
    if (fl_array_size(out) > 0)
        return core_call_run("map", device, run, &step, NULL, 0, bytes_of(&a));
    return core_call_no_elements("map", run);
}
