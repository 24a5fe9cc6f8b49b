/* SPDX-License-Identifier: MIT */
#include "lent.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* What <dlpack/dlpack.h> declares. */
struct DLManagedTensor {
    struct {
        void *data;
        struct {
            int32_t device_type, device_id;
        } device;
        int32_t ndim;
        struct {
            uint8_t code, bits;
            uint16_t lanes;
        } dtype;
        int64_t *shape, *strides;
        uint64_t byte_offset;
    } dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *tensor);
};

enum { SIGNED = 0, UNSIGNED = 1, FLOATING = 2 }; /* DLDataTypeCode */

/* A tensor and the shape that it points to. */
typedef struct lent_tensor {
    struct DLManagedTensor tensor;
    int64_t shape[FL_MAX_DIMS];
} lent_tensor;

static void release(struct DLManagedTensor *tensor)
{
    free(tensor->manager_ctx);
}

fl_status lent_create(fl_device *device, const host_array *array, fl_array **lent)
{
    const fl_device_info *info = fl_device_describe(device);
    lent_tensor *made = memory_zeroed(1, sizeof *made);
    struct DLManagedTensor *tensor = &made->tensor;
    fl_status status;

    memcpy(made->shape, array->shape, sizeof made->shape);
    tensor->manager_ctx = made;
    tensor->deleter = release;
    tensor->dl_tensor.data = array->data;
    tensor->dl_tensor.device.device_type = info->dlpack_type;
    tensor->dl_tensor.device.device_id = info->dlpack_id;
    tensor->dl_tensor.ndim = array->ndim;
    tensor->dl_tensor.shape = made->shape;
    tensor->dl_tensor.dtype.code = fl_dtype_is_float(array->dtype) ? FLOATING
                                   : array->dtype == FL_U8         ? UNSIGNED
                                                                   : SIGNED;
    tensor->dl_tensor.dtype.bits = (uint8_t)(8 * fl_dtype_size(array->dtype));
    tensor->dl_tensor.dtype.lanes = 1;
    status = fl_array_from_dlpack(device, tensor, lent);
    if (status != FL_OK)
        free(made);
    return status;
}
