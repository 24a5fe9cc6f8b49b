/* SPDX-License-Identifier: MIT
 *
 * library_order.hpp - one handle of rocBLAS for the streams of a device. The memory that its routines work in belongs
 * to the handle, so that a call on another stream must wait for the last one (rocBLAS Programmer's Guide, "Stream and
 * device management"; github.com/ROCm/rocBLAS/issues/1253). It waits on the device, by an event, and not on the host.
 * cuBLAS has such memory for each stream, and cuSOLVER is given it with each call.
 */
#ifndef FLYNN_HIP_LIBRARY_ORDER_HPP
#define FLYNN_HIP_LIBRARY_ORDER_HPP

#include "device.hpp"
#include "gpu/gpu_library.h"

/* Call this before a call of the library on `queue`. *done is created at the first one. The caller holds the handle's
 * lock. */
inline fl_status hip_order_before(const hip_device *device, hipEvent_t *done, hipStream_t queue)
{
    if (!gpu_library_shares_memory)
        return FL_OK;
    if (*done)
        HIP_TRY(device->host, device->number, hipStreamWaitEvent(queue, *done, 0));
    else
        HIP_TRY(device->host, device->number, hipEventCreate(done));
    return FL_OK;
}

/* Call this after the call, whether it failed or not: a part of it may be queued. */
inline fl_status hip_order_after(const hip_device *device, hipEvent_t done, hipStream_t queue)
{
    if (gpu_library_shares_memory)
        HIP_TRY(device->host, device->number, hipEventRecord(done, queue));
    return FL_OK;
}

inline void hip_order_end(hipEvent_t done)
{
    if (done)
        (void)hipEventDestroy(done);
}

#endif
