/* SPDX-License-Identifier: MIT
 *
 * group.hip.cpp - copies between the GPUs of several processes, by NCCL or RCCL: the functions group_... of
 * fl_device_api. The library is loaded at the first call.
 */
#include "device.hpp"
#include "gpu/gpu_ccl.h"

#include <new>

#if !defined(GPU_EMULATION)

namespace
{

gpu_ccl ccl; /* of the process: filled once */

struct group {
    void *communicator;
    int rank, size;
};

bool load(char *why, size_t size)
{
    void *library = gpu_library_load(gpu_ccl_files, why, size);
    if (library && !gpu_ccl_functions(library, &ccl))
        std::snprintf(why, size, "the installed %s lacks a documented function", gpu_ccl_name);
    else
        return library != nullptr;
    return false;
}

fl_status ready(const hip_device *device)
{
    static library_state state = LIBRARY_STATE;
    char why[200];
    const fl_status status = library_once(&state, load, why, sizeof why);
    if (status == FL_OK)
        return FL_OK;
    return device->host->error(status, "%s cannot be loaded (%s); %s", gpu_ccl_name, why, gpu_ccl_cure);
}

/* Reports an error of the library in its own words. */
fl_status failed(const hip_device *device, int error, const char *call, void *communicator)
{
    const char *more = ccl.last_error ? ccl.last_error(communicator) : "";
    return device->host->error(FL_E_DEVICE, "%s's %s on %s device %d: %s%s%.150s", gpu_ccl_name, call, gpu_vendor,
                               device->number, ccl.error_text(error), *more ? ": " : "", more);
}

/* Queues both copies with each other rank; ends at the first error. */
int queue_copies(const group *g, const fl_piece *to, const fl_piece *from, hipStream_t queue)
{
    int error = 0;
    for (int r = 0; r < g->size && error == 0; r++) {
        if (r == g->rank)
            continue;
        if (to[r].bytes > 0)
            error = ccl.send(to[r].data, (size_t)to[r].bytes, gpu_ccl_byte, r, g->communicator, queue);
        if (from[r].bytes > 0 && error == 0)
            error = ccl.receive(from[r].data, (size_t)from[r].bytes, gpu_ccl_byte, r, g->communicator, queue);
    }
    return error;
}

} // namespace

fl_status hip_group_id(void *self, fl_group_id *id)
{
    const hip_device *device = static_cast<hip_device *>(self);
    gpu_ccl_id made;
    static_assert(sizeof made == sizeof *id, "the library's id");
    const fl_status status = ready(device);
    if (status != FL_OK)
        return status;
    const int error = ccl.get_id(&made);
    std::memcpy(id, &made, sizeof made);
    return error == 0 ? FL_OK : failed(device, error, "ncclGetUniqueId", nullptr);
}

fl_status hip_group_join(void *self, const fl_group_id *id, int32_t rank, int32_t size, void **joined)
{
    const hip_device *device = static_cast<hip_device *>(self);
    gpu_ccl_id by;
    const fl_status status = ready(device);
    if (status != FL_OK)
        return status;
    HIP_SELECT(device);
    group *g = new (std::nothrow) group{nullptr, rank, size};
    if (!g)
        return device->host->error(FL_E_MEMORY, "out of host memory");
    std::memcpy(&by, id, sizeof by);
    const int error = ccl.join(&g->communicator, size, by, rank);
    if (error != 0) {
        delete g;
        return failed(device, error, "ncclCommInitRank", nullptr);
    }
    *joined = g;
    return FL_OK;
}

fl_status hip_group_exchange(void *self, void *joined, void *stream, const fl_piece *to, const fl_piece *from)
{
    const hip_device *device = static_cast<hip_device *>(self);
    const group *g = static_cast<const group *>(joined);
    HIP_SELECT(device);
    int error = ccl.group_start();
    if (error == 0)
        error = queue_copies(g, to, from, static_cast<hip_stream *>(stream)->queue);
    const int ended = ccl.group_end();
    error = error != 0 ? error : ended;
    return error == 0 ? FL_OK : failed(device, error, "ncclGroupEnd", g->communicator);
}

void hip_group_leave(void *self, void *joined)
{
    const hip_device *device = static_cast<hip_device *>(self);
    group *g = static_cast<group *>(joined);
    if (hipSetDevice(device->number) == hipSuccess)
        (void)ccl.leave(g->communicator);
    delete g;
}

#endif
