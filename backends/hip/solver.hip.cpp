/* SPDX-License-Identifier: MIT
 *
 * solver.hip.cpp - the vendor's solver: loaded at the first call, one handle per device, used by one thread at a time.
 */
#include "solver.hpp"
#include "gpu/gpu_solver.h"
#include "library_order.hpp"

#include "../cpu/lapack.h"

#include <new>

#if defined(GPU_EMULATION)

fl_status hip_solver_ready(void *, char *why, size_t size)
{
    std::snprintf(why, size, "the emulation has no solver");
    return FL_E_UNAVAILABLE;
}

bool hip_solver_loads()
{
    return false;
}

bool hip_solver_found(char *why, size_t size)
{
    return cpu_lapack_found(why, size);
}

bool hip_solver_has_fast()
{
    return false;
}

/* Never called: the rows that need it are not offered. */
static fl_status missing(const fl_context *context)
{
    return context->host->error(FL_E_UNAVAILABLE, "the emulation has no solver");
}

fl_status hip_solver_eigen(const fl_context *context, int64_t, double *, double *, int *)
{
    return missing(context);
}

fl_status hip_solver_cholesky(const fl_context *context, int64_t, double *, int *)
{
    return missing(context);
}

fl_status hip_solver_qr(const fl_context *context, int64_t, int64_t, float *, float *)
{
    return missing(context);
}

fl_status hip_solver_qr(const fl_context *context, int64_t, int64_t, double *, double *)
{
    return missing(context);
}

fl_status hip_solver_form_q(const fl_context *context, int64_t, int64_t, float *, float *)
{
    return missing(context);
}

fl_status hip_solver_form_q(const fl_context *context, int64_t, int64_t, double *, double *)
{
    return missing(context);
}

fl_status hip_solver_svd(const fl_context *context, bool, int64_t, int64_t, double *, double *, double *, double *,
                         int *, double *)
{
    return missing(context);
}

void hip_solver_close(hip_device *)
{
}

#else

namespace
{

gpu_solver solver; /* of the process: filled once */

bool load(char *why, size_t size)
{
    void *library = gpu_library_load(gpu_solver_files, why, size);
    if (library && !gpu_solver_functions(library, &solver))
        std::snprintf(why, size, "the installed %s lacks a documented function", gpu_solver_name);
    else
        return library != nullptr;
    return false;
}

fl_status failed(const hip_device *device, const char *what, int status)
{
    (void)hipGetLastError();
    return device->host->error(status == gpu_solver_no_memory ? FL_E_MEMORY : FL_E_DEVICE,
                               "%s's %s on %s device %d failed with status %d%s", gpu_solver_name, what, gpu_vendor,
                               device->number, status, status == gpu_solver_no_memory ? ": out of memory" : "");
}

void *take_scratch(void *self, size_t bytes)
{
    const fl_context *context = static_cast<const fl_context *>(self);
    void *memory = nullptr;
    return context->host->scratch(context, bytes, &memory) == FL_OK ? memory : nullptr;
}

/* Creates the device's handle at its first use, and sets its stream. The caller holds the device's lock. */
fl_status prepare(hip_device *device, hipStream_t queue)
{
    char why[256];
    const fl_status ready = hip_solver_ready(device, why, sizeof why);
    if (ready != FL_OK)
        return device->host->error(ready, "%s", why);
    if (!device->solver) {
        gpu_solver_handle made = {};
        const int status = gpu_solver_open(solver, &made);
        device->solver = status == 0 ? new (std::nothrow) gpu_solver_handle(made) : nullptr;
        if (!device->solver) {
            gpu_solver_close(solver, &made);
            return failed(device, "handle", status ? status : gpu_solver_no_memory);
        }
    }
    const int status = solver.set_stream(device->solver->handle, queue);
    return status == 0 ? hip_order_before(device, &device->solver_done, queue) : failed(device, "stream", status);
}

/* Calls call(solver, handle, room, queue) under the device's lock. */
template <typename Call>
fl_status with_solver(const fl_context *context, const char *what, Call call)
{
    hip_device *device = hip_device_of(context);
    const hipStream_t queue = hip_stream_of(context)->queue;
    const gpu_solver_room room = {take_scratch, const_cast<fl_context *>(context)};
    HIP_SELECT(device);
    const std::lock_guard<std::mutex> guard(device->solver_lock);
    const fl_status ready = prepare(device, queue);
    if (ready != FL_OK)
        return ready;
    const int status = call(solver, *device->solver, room, queue);
    const fl_status ordered = hip_order_after(device, device->solver_done, queue);
    return status == 0 ? ordered : failed(device, what, status);
}

/* The QR factorization's status for wrong arguments, which these calls never pass. */
fl_status info_for(const fl_context *context, int **info)
{
    void *memory;
    const fl_status status = context->host->scratch(context, sizeof **info, &memory);
    *info = static_cast<int *>(memory);
    return status;
}

template <typename T>
fl_status qr(const fl_context *context, int64_t m, int64_t n, T *a, T *tau)
{
    int *info;
    const fl_status status = info_for(context, &info);
    if (status != FL_OK)
        return status;
    return with_solver(context, "geqrf", [=](auto &s, auto &h, auto &room, hipStream_t queue) {
        return gpu_solver_qr(s, h, room, queue, m, n, a, tau, info);
    });
}

template <typename T>
fl_status form_q(const fl_context *context, int64_t m, int64_t n, T *a, T *tau)
{
    int *info;
    const fl_status status = info_for(context, &info);
    if (status != FL_OK)
        return status;
    return with_solver(context, "orgqr", [=](auto &s, auto &h, auto &room, hipStream_t) {
        return gpu_solver_form_q(s, h, room, m, n, a, tau, info);
    });
}

} // namespace

bool hip_solver_found(char *why, size_t size)
{
    char reason[200];
    if (gpu_library_find(gpu_solver_files, reason, sizeof reason))
        return true;
    std::snprintf(why, size, "svd's library variant is unavailable without %s (%.110s); %s", gpu_solver_name, reason,
                  gpu_solver_cure);
    return false;
}

fl_status hip_solver_ready(void *, char *why, size_t size)
{
    static library_state state = LIBRARY_STATE;
    char cause[200];
    const fl_status status = library_once(&state, load, cause, sizeof cause);
    if (status != FL_OK)
        std::snprintf(why, size, "%.150s; %s", cause, gpu_solver_cure);
    return status;
}

bool hip_solver_loads()
{
    char why[256];
    return hip_solver_ready(nullptr, why, sizeof why) == FL_OK;
}

bool hip_solver_has_fast()
{
    return gpu_solver_has_fast;
}

fl_status hip_solver_eigen(const fl_context *context, int64_t n, double *a, double *values, int *info)
{
    return with_solver(context, "syevd", [=](auto &s, auto &h, auto &room, hipStream_t queue) {
        return gpu_solver_eigen(s, h, room, queue, n, a, values, info);
    });
}

fl_status hip_solver_cholesky(const fl_context *context, int64_t n, double *a, int *info)
{
    return with_solver(context, "potrf", [=](auto &s, auto &h, auto &room, hipStream_t queue) {
        return gpu_solver_cholesky(s, h, room, queue, n, a, info);
    });
}

fl_status hip_solver_qr(const fl_context *context, int64_t m, int64_t n, float *a, float *tau)
{
    return qr(context, m, n, a, tau);
}

fl_status hip_solver_qr(const fl_context *context, int64_t m, int64_t n, double *a, double *tau)
{
    return qr(context, m, n, a, tau);
}

fl_status hip_solver_form_q(const fl_context *context, int64_t m, int64_t n, float *a, float *tau)
{
    return form_q(context, m, n, a, tau);
}

fl_status hip_solver_form_q(const fl_context *context, int64_t m, int64_t n, double *a, double *tau)
{
    return form_q(context, m, n, a, tau);
}

fl_status hip_solver_svd(const fl_context *context, bool fast, int64_t m, int64_t n, double *a, double *values,
                         double *u, double *v, int *info, double *doubt)
{
    return with_solver(context, fast ? "gesvdp" : "gesvd", [=](auto &s, auto &h, auto &room, hipStream_t queue) {
        return gpu_solver_svd(s, h, room, queue, fast, m, n, a, values, u, v, info, doubt);
    });
}

void hip_solver_close(hip_device *device)
{
    if (!device->solver)
        return;
    if (hipSetDevice(device->number) == hipSuccess) {
        gpu_solver_close(solver, device->solver);
        hip_order_end(device->solver_done);
    }
    delete device->solver;
}

#endif
