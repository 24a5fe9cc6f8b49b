/* SPDX-License-Identifier: MIT */
#include "array.h"

#include "base/status.h"
#include "stream.h"
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- checks ---- */

const char *core_shape_text(char *text, size_t size, int ndim, const int64_t *shape)
{
    size_t used = 0;

    text[0] = '\0';
    for (int d = 0; d < ndim && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, d ? "x" : "", shape[d]);
    return text;
}

fl_status core_check_array(const char *call, const char *name, const fl_array *array, const fl_device *device)
{
    if (!array)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL; expected an array", call, name);
    if (array->device != device)
        return core_fail(FL_E_WRONG_DEVICE,
                         "%s: %s is on device %s, the call runs on %s%s; copy it with "
                         "fl_array_to_device(%s, device, &copy)",
                         call, name, array->device->plugin.info.resource,
                         strcmp(array->device->plugin.info.resource, device->plugin.info.resource) ? ""
                                                                                                   : " (opened again)",
                         device->plugin.info.resource, name);
    return FL_OK;
}

fl_status core_check_arguments(const char *call, const fl_device *device, const core_argument *arguments, int count)
{
    fl_status status = device ? FL_OK : core_fail(FL_E_ARGUMENT, "%s: device is NULL", call);

    for (int i = 0; i < count && status == FL_OK; i++)
        status = core_check_array(call, arguments[i].name, arguments[i].array, device);
    return status;
}

fl_status core_check_matrix(const char *call, const char *name, const fl_array *array)
{
    const fl_buffer *b = &array->buffer;

    if (b->ndim != 2)
        return core_fail(FL_E_ARGUMENT, "%s: %s has %d dimension%s; expected 2", call, name, b->ndim,
                         b->ndim == 1 ? "" : "s");
    return FL_OK;
}

fl_status core_check_vector(const char *call, const char *name, const fl_array *array)
{
    if (array->buffer.ndim == 1)
        return FL_OK;
    return core_fail(FL_E_ARGUMENT, "%s: %s has %d dimensions; expected 1", call, name, array->buffer.ndim);
}

fl_status core_check_like(const char *call, const char *name, const fl_array *array, fl_dtype dtype, int ndim,
                          const int64_t *shape)
{
    const fl_buffer *b = &array->buffer;
    char is[96], expected[96];
    bool same = b->ndim == ndim;

    if (b->dtype != dtype)
        return core_fail(FL_E_ARGUMENT, "%s: %s has dtype %s; expected %s", call, name, fl_dtype_name(b->dtype),
                         fl_dtype_name(dtype));
    for (int d = 0; same && d < ndim; d++)
        same = b->shape[d] == shape[d];
    if (!same)
        return core_fail(FL_E_ARGUMENT, "%s: %s is %s; expected %s", call, name,
                         core_shape_text(is, sizeof is, b->ndim, b->shape),
                         core_shape_text(expected, sizeof expected, ndim, shape));
    return FL_OK;
}

/* Bytes from the start of the first element to the end of the last. */
static size_t extent(const fl_buffer *b)
{
    int64_t last = 0;

    for (int d = 0; d < b->ndim; d++) {
        if (b->shape[d] == 0)
            return 0;
        last += (b->shape[d] - 1) * b->stride[d];
    }
    return (size_t)(last + 1) * fl_dtype_size(b->dtype);
}

fl_status core_check_apart(const char *call, const char *out_name, const fl_array *out, const char *in_name,
                           const fl_array *in)
{
    const char *a = out->buffer.data, *b = in->buffer.data;
    size_t a_bytes = extent(&out->buffer), b_bytes = extent(&in->buffer);

    /* By address: two tensors of another library may share memory. Views that interleave have no element in common, but
     * kernels are not made for writing between the elements that others still read. */
    if (a_bytes == 0 || b_bytes == 0 || a + a_bytes <= b || b + b_bytes <= a)
        return FL_OK;
    return core_fail(FL_E_ARGUMENT,
                     "%s: %s shares memory with %s, or lies between its elements; expected separate memory", call,
                     out_name, in_name);
}

fl_status core_check_in_place(const char *call, const char *out_name, const fl_array *out, const char *in_name,
                              const fl_array *in)
{
    const fl_buffer *a = &out->buffer, *b = &in->buffer;
    bool same = a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim;

    for (int d = 0; same && d < a->ndim; d++)
        same = a->shape[d] == b->shape[d] && (a->stride[d] == b->stride[d] || a->shape[d] < 2);
    return same ? FL_OK : core_check_apart(call, out_name, out, in_name, in);
}

double core_buffer_bytes(const fl_buffer *b)
{
    double bytes = (double)fl_dtype_size(b->dtype);

    for (int d = 0; d < b->ndim; d++)
        bytes *= (double)b->shape[d];
    return bytes;
}

/* --------------------------------------------------------------------------------- creating and freeing ---- */

/* Fills the strides of a packed array and its number of bytes; false if that exceeds 64 bits. */
static bool lay_out(fl_buffer *b, size_t *bytes)
{
    int64_t elements = 1;
    bool empty = false;

    for (int d = FL_MAX_DIMS - 1; d >= 0; d--) {
        b->stride[d] = elements;
        if (b->shape[d] == 0)
            empty = true;
        else if (__builtin_mul_overflow(elements, b->shape[d], &elements))
            return false;
    }
    if (elements > INT64_MAX / (int64_t)fl_dtype_size(b->dtype))
        return false;
    *bytes = empty ? 0 : (size_t)elements * fl_dtype_size(b->dtype);
    return true;
}

static fl_status check_shape(const char *call, int ndim, const int64_t *shape)
{
    if (ndim < 1 || ndim > FL_MAX_DIMS)
        return core_fail(FL_E_ARGUMENT, "%s: ndim is %d; expected 1 to %d", call, ndim, FL_MAX_DIMS);
    if (!shape)
        return core_fail(FL_E_ARGUMENT, "%s: shape is NULL", call);
    for (int d = 0; d < ndim; d++)
        if (shape[d] < 0)
            return core_fail(FL_E_ARGUMENT, "%s: shape[%d] is %" PRId64 "; expected at least 0", call, d, shape[d]);
    return FL_OK;
}

static fl_status allocate(fl_device *device, size_t bytes, core_memory **memory)
{
    core_memory *m = calloc(1, sizeof *m);
    fl_status status = FL_OK;

    if (!m)
        return core_fail(FL_E_MEMORY, "out of host memory");
    if (bytes > 0)
        status = core_pool_allocate(&device->pool, bytes, &m->data);
    if (status != FL_OK) {
        free(m);
        return status;
    }
    atomic_init(&m->references, 1);
    *memory = m;
    return FL_OK;
}

fl_status fl_array_create(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, fl_array **out)
{
    const char *call = "fl_array_create";
    char text[96];
    fl_array *a;
    size_t bytes;
    fl_status status;

    if (!device || !out)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, device ? "array" : "device");
    *out = NULL;
    if (fl_dtype_size(dtype) == 0)
        return core_fail(FL_E_ARGUMENT, "%s: dtype is %d; expected FL_U8, FL_I32, FL_I64, FL_F32 or FL_F64", call,
                         (int)dtype);
    status = check_shape(call, ndim, shape);
    if (status != FL_OK)
        return status;
    a = calloc(1, sizeof *a);
    if (!a)
        return core_fail(FL_E_MEMORY, "out of host memory");
    a->buffer = (fl_buffer){.dtype = dtype, .ndim = ndim, .shape = {1, 1, 1, 1}};
    memcpy(a->buffer.shape + FL_MAX_DIMS - ndim, shape, (size_t)ndim * sizeof *shape); /* for the strides */
    if (lay_out(&a->buffer, &bytes))
        status = allocate(device, bytes, &a->memory);
    else
        status = core_fail(FL_E_ARGUMENT, "%s: an array of %s elements of %s does not fit into the address space", call,
                           core_shape_text(text, sizeof text, ndim, shape), fl_dtype_name(dtype));
    if (status != FL_OK) {
        free(a);
        return status;
    }
    for (int d = 0; d < FL_MAX_DIMS; d++) {
        a->buffer.shape[d] = d < ndim ? shape[d] : 1;
        a->buffer.stride[d] = d < ndim ? a->buffer.stride[d + FL_MAX_DIMS - ndim] : 1;
    }
    a->buffer.data = a->memory->data;
    a->device = core_device_keep(device);
    *out = a;
    return FL_OK;
}

fl_status fl_array_view(const fl_array *array, const int64_t *start, const int64_t *shape, fl_array **view)
{
    const fl_buffer *b = array ? &array->buffer : NULL;
    fl_array *v;

    if (!array || !start || !shape || !view)
        return core_fail(FL_E_ARGUMENT, "fl_array_view: %s is NULL",
                         !array   ? "array"
                         : !start ? "start"
                         : !shape ? "shape"
                                  : "view");
    *view = NULL;
    for (int d = 0; d < b->ndim; d++)
        if (start[d] < 0 || shape[d] < 0 || shape[d] > b->shape[d] || start[d] > b->shape[d] - shape[d])
            return core_fail(FL_E_ARGUMENT,
                             "fl_array_view: dimension %d has %" PRId64 " elements; start %" PRId64
                             " and length %" PRId64 " are not inside it",
                             d, b->shape[d], start[d], shape[d]);
    v = malloc(sizeof *v);
    if (!v)
        return core_fail(FL_E_MEMORY, "out of host memory");
    *v = *array;
    for (int d = 0; d < b->ndim; d++)
        v->buffer.shape[d] = shape[d];
    if (b->data)
        for (int d = 0; d < b->ndim; d++)
            v->buffer.data = (char *)v->buffer.data + (size_t)(start[d] * b->stride[d]) * fl_dtype_size(b->dtype);
    atomic_fetch_add(&array->memory->references, 1);
    core_device_keep(array->device);
    *view = v;
    return FL_OK;
}

fl_status core_array_adopt(fl_device *device, const fl_buffer *buffer, void *owner, void (*give_back)(void *owner),
                           fl_array **array)
{
    fl_array *a = calloc(1, sizeof *a);
    core_memory *m = calloc(1, sizeof *m);

    if (!a || !m) {
        free(a);
        free(m);
        return core_fail(FL_E_MEMORY, "out of host memory");
    }
    m->data = buffer->data;
    m->owner = owner;
    m->give_back = give_back;
    atomic_init(&m->references, 1);
    *a = (fl_array){.device = core_device_keep(device), .memory = m, .buffer = *buffer};
    *array = a;
    return FL_OK;
}

/* `release` waits for queued work, which may still use the memory, before its owner gets it back. */
static void release_memory(const fl_device *device, core_memory *memory)
{
    if (memory->give_back) {
        device->plugin.api->release(device->plugin.self, NULL);
        memory->give_back(memory->owner);
    } else if (memory->data) {
        device->plugin.api->release(device->plugin.self, memory->data);
    }
    free(memory);
}

void fl_array_free(fl_array *array)
{
    fl_device *device = array ? array->device : NULL;

    if (!array)
        return;
    if (atomic_fetch_sub(&array->memory->references, 1) == 1)
        release_memory(device, array->memory);
    free(array);
    core_device_drop(device);
}

/* ----------------------------------------------------------------------------------------------- copies ---- */

/* Queues the copy between the array and packed host memory. */
static fl_status copy_all(const fl_array *a, fl_copy_kind kind, char *host, fl_stream *stream)
{
    const bool reads = kind == FL_COPY_TO_HOST;
    fl_status status;
    core_span span;

    if (core_buffer_bytes(&a->buffer) == 0)
        return FL_OK;
    core_lock_take(&stream->lock);
    span = core_trace_begin(stream, reads ? CORE_SPAN_TO_HOST : CORE_SPAN_TO_DEVICE,
                            reads ? "copy to host" : "copy to device", NULL, core_buffer_bytes(&a->buffer));
    status = core_copy_packed(stream, kind, reads, &a->buffer, host);
    core_trace_end(stream, span, NULL);
    core_lock_leave(&stream->lock);
    return status;
}

static fl_status queue_copy(const char *call, const fl_array *array, fl_copy_kind kind, void *host, fl_stream *stream)
{
    fl_status status;

    if (!array || (!host && fl_array_size(array) > 0))
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, array ? "host" : "array");
    status = core_stream_of(call, array->device, stream, &stream);
    return status == FL_OK ? copy_all(array, kind, host, stream) : status;
}

fl_status fl_array_write(fl_array *array, const void *host, fl_stream *stream)
{
    return queue_copy("fl_array_write", array, FL_COPY_TO_DEVICE, (void *)host, stream);
}

fl_status fl_array_read(const fl_array *array, void *host, fl_stream *stream)
{
    return queue_copy("fl_array_read", array, FL_COPY_TO_HOST, host, stream);
}

fl_status fl_array_from_host(fl_device *device, fl_dtype dtype, int ndim, const int64_t *shape, const void *host,
                             fl_array **array)
{
    fl_status status = fl_array_create(device, dtype, ndim, shape, array);

    if (status != FL_OK)
        return status;
    status = queue_copy("fl_array_from_host", *array, FL_COPY_TO_DEVICE, (void *)host, NULL);
    if (status == FL_OK)
        status = core_stream_wait(device->default_stream);
    if (status != FL_OK) {
        fl_array_free(*array);
        *array = NULL;
    }
    return status;
}

fl_status fl_array_to_host(const fl_array *array, void *host)
{
    fl_status status = array ? fl_device_wait(array->device) : FL_OK;

    if (status == FL_OK)
        status = queue_copy("fl_array_to_host", array, FL_COPY_TO_HOST, host, NULL);
    return status == FL_OK ? core_stream_wait(array->device->default_stream) : status;
}

fl_status fl_array_to_device(const fl_array *array, fl_device *device, fl_array **copy)
{
    size_t bytes;
    void *host = NULL;
    fl_status status;

    if (!array || !device || !copy)
        return core_fail(FL_E_ARGUMENT, "fl_array_to_device: %s is NULL",
                         !array    ? "array"
                         : !device ? "device"
                                   : "copy");
    *copy = NULL;
    bytes = (size_t)fl_array_size(array) * fl_dtype_size(array->buffer.dtype);
    status = fl_host_alloc(array->device, bytes, &host);
    if (status == FL_OK)
        status = fl_array_to_host(array, host);
    if (status == FL_OK)
        status = fl_array_from_host(device, array->buffer.dtype, array->buffer.ndim, array->buffer.shape, host, copy);
    fl_host_free(array->device, host);
    return status;
}

fl_status fl_host_alloc(fl_device *device, size_t bytes, void **memory)
{
    if (!device || !memory)
        return core_fail(FL_E_ARGUMENT, "fl_host_alloc: %s is NULL", device ? "memory" : "device");
    *memory = NULL;
    if (bytes > PTRDIFF_MAX)
        return core_fail(FL_E_MEMORY, "fl_host_alloc: out of memory: %zu bytes requested", bytes);
    return device->plugin.api->allocate_host(device->plugin.self, bytes ? bytes : 1, memory);
}

void fl_host_free(fl_device *device, void *memory)
{
    if (device && memory)
        device->plugin.api->release_host(device->plugin.self, memory);
}

/* ------------------------------------------------------------------------------------------- properties ---- */

fl_device *fl_array_device(const fl_array *array)
{
    return array ? array->device : NULL;
}

fl_dtype fl_array_dtype(const fl_array *array)
{
    return array ? array->buffer.dtype : FL_U8;
}

int fl_array_ndim(const fl_array *array)
{
    return array ? array->buffer.ndim : 0;
}

int64_t fl_array_shape(const fl_array *array, int d)
{
    return array && d >= 0 && d < array->buffer.ndim ? array->buffer.shape[d] : 1;
}

int64_t fl_array_size(const fl_array *array)
{
    int64_t size = array ? 1 : 0;

    for (int d = 0; d < fl_array_ndim(array); d++)
        size *= array->buffer.shape[d];
    return size;
}

void *fl_array_data(const fl_array *array)
{
    return array ? array->buffer.data : NULL;
}
