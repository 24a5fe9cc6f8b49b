/* SPDX-License-Identifier: MIT */
#include "packed.h"

#include "array.h"

static bool is_packed(const fl_buffer *buffer)
{
    int64_t elements = 1;

    for (int d = buffer->ndim - 1; d >= 0; d--) {
        if (buffer->shape[d] > 1 && buffer->stride[d] != elements)
            return false;
        elements *= buffer->shape[d];
    }
    return true;
}

fl_status core_call_room(core_call *call, fl_buffer *buffer)
{
    int64_t elements = 1;

    if (is_packed(buffer))
        return FL_OK;
    for (int d = buffer->ndim - 1; d >= 0; d--) {
        buffer->stride[d] = elements;
        elements *= buffer->shape[d];
    }
    return core_pool_take(&call->context, (size_t)elements * fl_dtype_size(buffer->dtype), &buffer->data);
}

fl_status core_call_pack(core_call *call, fl_buffer *buffer)
{
    const fl_buffer gaps = *buffer;
    fl_status status = core_call_room(call, buffer);

    if (status != FL_OK || buffer->data == gaps.data)
        return status;
    return core_copy_packed(call->stream, FL_COPY_ON_DEVICE, true, &gaps, buffer->data);
}

fl_status core_call_unpack(core_call *call, const fl_buffer *packed, const fl_array *out)
{
    if (packed->data == out->buffer.data)
        return FL_OK;
    return core_copy_packed(call->stream, FL_COPY_ON_DEVICE, false, &out->buffer, packed->data);
}
