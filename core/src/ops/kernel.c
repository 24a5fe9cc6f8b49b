/* SPDX-License-Identifier: MIT
 *
 * kernel.c - checks and queues a launch of a kernel of the user's.
 */
#include "device/user_kernel.h"
#include "device/array.h"
#include "device/dispatch.h"
#include "base/status.h"

#include <inttypes.h>
#include <string.h>

/* The value of an argument, as the kernel takes it. */
typedef union value {
    void *address;
    float f32;
    double f64;
    int64_t integer; /* whose first bytes are those of a smaller one */
} value;

/* The arguments of one launch. What `args` points to lies behind it, so that a recording copies the whole. */
typedef struct launch {
    fl_kernel_args args;
    value values[FL_MAX_PARAMETERS];
    fl_dtype dtype; /* of the row */
    double bytes;
} launch;

/* And with vectors and structs by value, which most launches do not have: they do not pay for the memory. */
typedef struct launch_with_values {
    launch launch;
    _Alignas(CORE_VALUE_ALIGNMENT) unsigned char values[CORE_MOST_VALUES + CORE_VALUE_ALIGNMENT];
} launch_with_values;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a smaller integer is the beginning of a larger one");

static fl_status take_integer(const char *name, const core_type_layout *layout, int64_t given, value *taken)
{
    const int bits = layout->is_bool ? 1 : layout->size * 8 - !layout->is_unsigned;
    const int64_t most = bits > 62 ? INT64_MAX : (INT64_C(1) << bits) - 1, least = layout->is_unsigned ? 0 : -most - 1;

    if (given < least || given > most)
        return core_fail(FL_E_ARGUMENT, "kernel: argument %s is %" PRId64 "; its type holds %" PRId64 " to %" PRId64,
                         name, given, least, most);
    taken->integer = given;
    return FL_OK;
}

static fl_status take_number(const char *name, const core_type_layout *layout, const fl_argument *argument,
                             value *taken)
{
    if (argument->array)
        return core_fail(FL_E_ARGUMENT, "kernel: argument %s is an array; the kernel takes a number", name);
    if (!layout->is_real)
        return take_integer(name, layout, argument->integer, taken);
    if (layout->size == 4)
        taken->f32 = (float)argument->real;
    else
        taken->f64 = argument->real;
    return FL_OK;
}

/* Lays out a vector or a struct as the kernel's compiler does. */
static fl_status take_value(const core_kernel_signature *signature, const core_parameter *p,
                            const fl_argument *argument, unsigned char *bytes)
{
    const core_number *number = &signature->numbers.list[p->first];
    fl_status status = FL_OK;
    value taken;

    if (argument->array || !argument->numbers)
        return core_fail(FL_E_ARGUMENT, "kernel: argument %s is %s; the kernel takes %d numbers by value", p->name,
                         argument->array ? "an array" : "NULL", p->numbers);
    memset(bytes, 0, (size_t)p->bytes);
    for (int i = 0; i < p->numbers && status == FL_OK; i++, number++) {
        status = take_number(number->name, &number->layout, &argument->numbers[i], &taken);
        if (status == FL_OK)
            memcpy(bytes + number->offset, &taken, (size_t)number->layout.size);
    }
    return status;
}

static fl_status take_array(const fl_kernel *kernel, const core_parameter *p, fl_array *array, value *taken)
{
    fl_status status = core_kernel_check_array("kernel", p->name, array, kernel->compiled.device);

    if (status == FL_OK && array->buffer.dtype != p->dtype)
        return core_fail(FL_E_ARGUMENT, "kernel: %s has dtype %s; the kernel takes %s", p->name,
                         fl_dtype_name(array->buffer.dtype), fl_dtype_name(p->dtype));
    if (status == FL_OK)
        taken->address = array->buffer.data;
    return status;
}

/* The row's dtype: of the first array that is written, else of the first one. */
static fl_dtype dtype_of(const core_kernel_signature *signature)
{
    fl_dtype first = FL_U8;

    for (int i = signature->count - 1; i >= 0; i--)
        first = signature->parameters[i].is_array ? signature->parameters[i].dtype : first;
    for (int i = 0; i < signature->count; i++)
        if (signature->parameters[i].is_array && !signature->parameters[i].is_constant)
            return signature->parameters[i].dtype;
    return first;
}

static fl_status take(const fl_kernel *kernel, const core_parameter *p, const fl_argument *argument, value *taken,
                      launch *l, unsigned char *values)
{
    fl_status status;

    if (p->numbers > 0)
        return take_value(&kernel->signature, p, argument, values + p->at);
    if (!p->is_array)
        return take_number(p->name, &p->layout, argument, taken);
    status = take_array(kernel, p, argument->array, taken);
    if (status == FL_OK)
        l->bytes += core_buffer_bytes(&argument->array->buffer);
    return status;
}

/* `values` has the signature's value_bytes. */
static fl_status check(const fl_kernel *kernel, const int64_t *grid, int64_t shared_bytes, const fl_argument *arguments,
                       int count, launch *l, unsigned char *values)
{
    const core_kernel_signature *signature = kernel ? &kernel->signature : NULL;
    fl_status status = FL_OK;

    if (!kernel || !grid || (!arguments && count > 0))
        return core_fail(FL_E_ARGUMENT, "kernel: %s is NULL", !kernel ? "kernel" : !grid ? "grid" : "arguments");
    if (count != signature->count)
        return core_fail(FL_E_ARGUMENT, "kernel: count is %d; %s has %d parameter%s", count, signature->name,
                         signature->count, signature->count == 1 ? "" : "s");
    if (shared_bytes < 0)
        return core_fail(FL_E_ARGUMENT, "kernel: shared_bytes is %" PRId64 "; expected at least 0", shared_bytes);
    *l = (launch){.args = {.code = kernel->compiled.code, .shared_bytes = shared_bytes, .count = count},
                  .dtype = dtype_of(signature)};
    for (int i = 0; i < 3; i++) {
        l->args.grid[i] = grid[i];
        if (grid[i] < 1)
            return core_fail(FL_E_ARGUMENT, "kernel: grid[%d] is %" PRId64 "; expected at least 1", i, grid[i]);
    }
    for (int i = 0; i < count && status == FL_OK; i++) {
        const core_parameter *p = &signature->parameters[i];
        l->args.arguments[i] = p->numbers > 0 ? (void *)(values + p->at) : &l->values[i];
        status = take(kernel, p, &arguments[i], &l->values[i], l, values);
    }
    return status;
}

static void *step_argument(const core_step *step, int i)
{
    return ((const fl_kernel_args *)step->args)->arguments[i];
}

/* Runs the launch, of which the device watches each access. */
static fl_status run_watched(fl_kernel *kernel, const fl_argument *arguments, const fl_run *run, const core_step *step,
                             double bytes)
{
    const core_user_code *compiled = &kernel->compiled;
    const fl_plugin_device *plugin = &compiled->device->plugin;
    fl_kernel_watch_job job = {.size = sizeof job, .found = &kernel->found};
    fl_status status;

    if (run && run->stream && run->stream->recording)
        return core_fail(FL_E_UNSUPPORTED, "kernel: a launch that is watched cannot be recorded");
    for (int i = 0; i < kernel->signature.count; i++) {
        const core_parameter *p = &kernel->signature.parameters[i];
        if (p->is_array)
            job.arrays[job.count++] = (fl_watched_array){p->name,
                                                         arguments[i].array->buffer.data,
                                                         (int64_t)core_buffer_bytes(&arguments[i].array->buffer),
                                                         p->layout.size * p->lanes,
                                                         p->is_constant,
                                                         i};
        else if (p->numbers > 0) /* the kernel's copy is the thread's own, but the copying reads this */
            job.arrays[job.count++] = (fl_watched_array){p->name, step_argument(step, i), p->bytes, p->bytes, true, i};
    }
    kernel->found = (fl_findings){0};
    kernel->watch_next = false;
    kernel->was_watched = true;
    plugin->api->kernel_watch(plugin->self, compiled->code, &job);
    status = core_call_run("kernel", compiled->device, run, step, NULL, 0, bytes);
    plugin->api->kernel_watch(plugin->self, compiled->code, NULL);
    return status;
}

/* `values`: NULL, or those behind `l`; `size`: of all that. */
static fl_status run_launch(fl_kernel *kernel, const int64_t grid[3], int64_t shared_bytes,
                            const fl_argument *arguments, int count, const fl_run *run, launch *l,
                            unsigned char *values, size_t size)
{
    fl_status status = check(kernel, grid, shared_bytes, arguments, count, l, values);
    const core_step step = {FL_OP_KERNEL, status == FL_OK ? l->dtype : FL_U8, &l->args, size};

    if (status == FL_OK && kernel->watch_next)
        return run_watched(kernel, arguments, run, &step, l->bytes);
    return status == FL_OK ? core_call_run("kernel", kernel->compiled.device, run, &step, NULL, 0, l->bytes) : status;
}

static fl_status run_with_values(fl_kernel *kernel, const int64_t grid[3], int64_t shared_bytes,
                                 const fl_argument *arguments, int count, const fl_run *run)
{
    launch_with_values l;

    return run_launch(kernel, grid, shared_bytes, arguments, count, run, &l.launch, l.values,
                      offsetof(launch_with_values, values) + (size_t)kernel->signature.value_bytes);
}

fl_status fl_kernel_launch(fl_kernel *kernel, const int64_t grid[3], int64_t shared_bytes, const fl_argument *arguments,
                           int count, const fl_run *run)
{
    launch l;

    if (kernel && kernel->signature.value_bytes > 0)
        return run_with_values(kernel, grid, shared_bytes, arguments, count, run);
    return run_launch(kernel, grid, shared_bytes, arguments, count, run, &l, NULL, sizeof l);
}
