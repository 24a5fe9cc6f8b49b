/* SPDX-License-Identifier: MIT
 *
 * dlpack.c - exchanges arrays with other libraries without a copy.
 */
#include "dlpack.h"

#include "array.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- dtypes ---- */

static const dlpack_dtype dtypes[FL_DTYPE_COUNT] = {
    [FL_U8] = {DLPACK_UINT, 8, 1},    [FL_I32] = {DLPACK_INT, 32, 1},   [FL_I64] = {DLPACK_INT, 64, 1},
    [FL_F32] = {DLPACK_FLOAT, 32, 1}, [FL_F64] = {DLPACK_FLOAT, 64, 1},
};

static fl_status find_dtype(const char *call, const dlpack_dtype *dtype, fl_dtype *found)
{
    static const char *const codes[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    char code[16];

    for (int i = 0; i < FL_DTYPE_COUNT; i++) {
        if (dtypes[i].code == dtype->code && dtypes[i].bits == dtype->bits && dtype->lanes == 1) {
            *found = (fl_dtype)i;
            return FL_OK;
        }
    }
    snprintf(code, sizeof code, "code %u ", dtype->code);
    return core_fail(FL_E_ARGUMENT, "%s: the tensor has dtype %s%u with %u lane%s; expected u8, i32, i64, f32 or f64",
                     call, dtype->code < sizeof codes / sizeof *codes ? codes[dtype->code] : code, dtype->bits,
                     dtype->lanes, dtype->lanes == 1 ? "" : "s");
}

/* ---------------------------------------------------------------------------------------------- devices ---- */

/* "CUDA device 1", "host memory"; returns `text`. */
static const char *memory_text(char *text, size_t size, dlpack_device device)
{
    switch (device.device_type) {
    case DLPACK_CPU: snprintf(text, size, "host memory"); break;
    case DLPACK_CUDA: snprintf(text, size, "the memory of CUDA device %d", device.device_id); break;
    case DLPACK_CUDA_HOST: snprintf(text, size, "host memory pinned for CUDA"); break;
    case DLPACK_ROCM: snprintf(text, size, "the memory of ROCm device %d", device.device_id); break;
    case DLPACK_ROCM_HOST: snprintf(text, size, "host memory pinned for ROCm"); break;
    case DLPACK_CUDA_MANAGED: snprintf(text, size, "managed memory of CUDA"); break;
    default: snprintf(text, size, "memory of DLPack's device type %d", device.device_type);
    }
    return text;
}

/* Memory that the host can read, pinned or not. */
static bool is_host(int device_type)
{
    return device_type == DLPACK_CPU || device_type == DLPACK_CUDA_HOST || device_type == DLPACK_ROCM_HOST;
}

static fl_status check_device(const char *call, const fl_device_info *info, dlpack_device device)
{
    bool own = device.device_type == info->dlpack_type && device.device_id == info->dlpack_id;
    char is[64], expected[64];

    if (own || (info->dlpack_type == DLPACK_CPU && is_host(device.device_type)) ||
        device.device_type == info->dlpack_pinned_type)
        return FL_OK;
    return core_fail(FL_E_WRONG_DEVICE, "%s: the tensor is in %s; %s takes %s%s: copy it there first", call,
                     memory_text(is, sizeof is, device), info->resource,
                     memory_text(expected, sizeof expected, (dlpack_device){info->dlpack_type, info->dlpack_id}),
                     info->dlpack_type == info->dlpack_pinned_type ? "" : ", or host memory pinned for it");
}

/* Checks that the plugin names its DLPack device type: without it its memory cannot be described. */
static fl_status check_plugin(const char *call, const fl_device_info *info)
{
    if (info->dlpack_type != 0)
        return FL_OK;
    return core_fail(FL_E_UNSUPPORTED, "%s: the plugin of %s does not state its DLPack device type", call,
                     info->resource);
}

/* ----------------------------------------------------------------------------------------------- layout ---- */

/* Fills the shape; a scalar becomes one dimension with one element. */
static fl_status take_shape(const char *call, const dlpack_tensor *t, fl_buffer *b)
{
    int64_t bytes = (int64_t)fl_dtype_size(b->dtype);

    if (t->ndim < 0 || t->ndim > FL_MAX_DIMS)
        return core_fail(FL_E_ARGUMENT, "%s: the tensor has %d dimensions; expected at most %d", call, t->ndim,
                         FL_MAX_DIMS);
    if (t->ndim > 0 && !t->shape)
        return core_fail(FL_E_ARGUMENT, "%s: the tensor's shape is NULL", call);
    b->ndim = t->ndim > 0 ? t->ndim : 1;
    for (int d = 0; d < FL_MAX_DIMS; d++)
        b->shape[d] = d < t->ndim ? t->shape[d] : 1;
    for (int d = 0; d < t->ndim; d++) {
        if (b->shape[d] < 0)
            return core_fail(FL_E_ARGUMENT, "%s: the tensor's shape[%d] is %" PRId64 "; expected at least 0", call, d,
                             b->shape[d]);
        if (__builtin_mul_overflow(bytes, b->shape[d] ? b->shape[d] : 1, &bytes))
            return core_fail(FL_E_ARGUMENT, "%s: the tensor does not fit into the address space", call);
    }
    return FL_OK;
}

/* Checks that no two elements share memory, on which kernels and copies rely: in the order of their strides, the stride
 * of each dimension must exceed the reach of all dimensions with smaller strides. */
static fl_status check_apart(const char *call, const fl_buffer *b)
{
    int order[FL_MAX_DIMS], count = 0;
    int64_t reach = 0, last;

    for (int d = 0; d < b->ndim; d++) {
        int at = count++;
        while (at > 0 && b->stride[order[at - 1]] > b->stride[d]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = d;
    }
    for (int i = 0; i < count; i++) {
        int d = order[i];
        if (b->shape[d] < 2)
            continue;
        if (b->stride[d] <= reach)
            return core_fail(FL_E_ARGUMENT,
                             "%s: the tensor's strides[%d] is %" PRId64 "; expected at least %" PRId64
                             ", so that no two elements share memory",
                             call, d, b->stride[d], reach + 1);
        if (__builtin_mul_overflow(b->shape[d] - 1, b->stride[d], &last) ||
            __builtin_add_overflow(reach, last, &reach) || reach > INT64_MAX / (int64_t)fl_dtype_size(b->dtype) - 1)
            return core_fail(FL_E_ARGUMENT, "%s: the tensor's strides exceed the address space", call);
    }
    return FL_OK;
}

/* Fills the strides. The stride of a dimension of one element has no meaning and becomes that of a packed array. */
static fl_status take_strides(const char *call, const dlpack_tensor *t, fl_buffer *b)
{
    const int last = b->ndim - 1;
    bool empty = false;

    for (int d = 0; d < FL_MAX_DIMS; d++) {
        b->stride[d] = 1;
        empty = empty || b->shape[d] == 0;
    }
    for (int d = last; d >= 0; d--) {
        int64_t packed = d < last ? b->stride[d + 1] * (b->shape[d + 1] ? b->shape[d + 1] : 1) : 1;
        b->stride[d] = !empty && t->strides && b->shape[d] > 1 ? t->strides[d] : packed;
    }
    if (empty)
        return FL_OK;
    if (b->stride[last] != 1)
        return core_fail(FL_E_ARGUMENT,
                         "%s: the tensor's strides[%d] is %" PRId64
                         "; expected 1: contiguous elements in the last dimension (make a copy in row-major order)",
                         call, last, b->stride[last]);
    return check_apart(call, b);
}

static fl_status take_data(const char *call, const dlpack_tensor *t, fl_buffer *b)
{
    size_t size = fl_dtype_size(b->dtype);

    for (int d = 0; d < b->ndim; d++)
        if (b->shape[d] == 0)
            return FL_OK; /* data stays NULL, as in any array without elements */
    if (!t->data)
        return core_fail(FL_E_ARGUMENT, "%s: the tensor has elements, but its data is NULL", call);
    b->data = (char *)t->data + t->byte_offset;
    if ((uintptr_t)b->data % size != 0)
        return core_fail(FL_E_ARGUMENT, "%s: the tensor's data is not aligned to its elements' size of %zu bytes", call,
                         size);
    return FL_OK;
}

/* --------------------------------------------------------------------------------------- in and out ---- */

static void give_back(void *owner)
{
    struct DLManagedTensor *tensor = owner;

    if (tensor->deleter)
        tensor->deleter(tensor);
}

fl_status fl_array_from_dlpack(fl_device *device, struct DLManagedTensor *tensor, fl_array **array)
{
    const char *call = "fl_array_from_dlpack";
    const dlpack_tensor *t = tensor ? &tensor->dl_tensor : NULL;
    fl_buffer buffer = {0};
    fl_status status;

    if (!device || !tensor || !array)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, !device ? "device" : !tensor ? "tensor" : "array");
    *array = NULL;
    status = check_plugin(call, &device->plugin.info);
    if (status == FL_OK)
        status = check_device(call, &device->plugin.info, t->device);
    if (status == FL_OK)
        status = find_dtype(call, &t->dtype, &buffer.dtype);
    if (status == FL_OK)
        status = take_shape(call, t, &buffer);
    if (status == FL_OK)
        status = take_strides(call, t, &buffer);
    if (status == FL_OK)
        status = take_data(call, t, &buffer);
    return status == FL_OK ? core_array_adopt(device, &buffer, tensor, give_back, array) : status;
}

/* An exported tensor, in one allocation with the data of its pointers. */
typedef struct exported {
    struct DLManagedTensor tensor;
    int64_t shape[FL_MAX_DIMS], strides[FL_MAX_DIMS];
    fl_array *array; /* keeps the memory */
} exported;

static void delete_exported(struct DLManagedTensor *tensor)
{
    exported *e = tensor->manager_ctx;

    fl_array_free(e->array);
    free(e);
}

/* The device named by the tensor that the memory came from, else the array's own. */
static dlpack_device device_of(const fl_array *array)
{
    const fl_device_info *info = &array->device->plugin.info;
    const struct DLManagedTensor *foreign = array->memory->owner;

    return foreign ? foreign->dl_tensor.device : (dlpack_device){info->dlpack_type, info->dlpack_id};
}

fl_status fl_array_to_dlpack(const fl_array *array, struct DLManagedTensor **tensor)
{
    const char *call = "fl_array_to_dlpack";
    const int64_t start[FL_MAX_DIMS] = {0};
    exported *e;
    fl_status status;

    if (!array || !tensor)
        return core_fail(FL_E_ARGUMENT, "%s: %s is NULL", call, array ? "tensor" : "array");
    *tensor = NULL;
    status = check_plugin(call, &array->device->plugin.info);
    if (status == FL_OK)
        status = fl_device_wait(array->device);
    if (status != FL_OK)
        return status;
    e = calloc(1, sizeof *e);
    if (!e)
        return core_fail(FL_E_MEMORY, "out of host memory");
    status = fl_array_view(array, start, array->buffer.shape, &e->array);
    if (status != FL_OK) {
        free(e);
        return status;
    }
    memcpy(e->shape, array->buffer.shape, sizeof e->shape);
    memcpy(e->strides, array->buffer.stride, sizeof e->strides);
    e->tensor = (struct DLManagedTensor){.dl_tensor = {.data = array->buffer.data,
                                                       .device = device_of(array),
                                                       .ndim = array->buffer.ndim,
                                                       .dtype = dtypes[array->buffer.dtype],
                                                       .shape = e->shape,
                                                       .strides = e->strides},
                                         .manager_ctx = e,
                                         .deleter = delete_exported};
    *tensor = &e->tensor;
    return FL_OK;
}
