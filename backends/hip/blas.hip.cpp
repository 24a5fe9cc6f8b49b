/* SPDX-License-Identifier: MIT
 *
 * blas.hip.cpp - the vendor's BLAS: loaded at the first call, one handle per device, used by one thread at a time.
 * Loading cuBLAS takes a tenth of a second if the system has it in memory, else a whole second: too long for opening a
 * device.
 */
#include "blas.hpp"
#include "gpu/gpu_blas.h"
#include "library_order.hpp"

double hip_blas_worth(fl_dtype dtype)
{
    return dtype == FL_F32 ? gpu_blas_worth_f32 : gpu_blas_worth_f64;
}

#if defined(GPU_EMULATION)

bool hip_blas_found(char *why, size_t size)
{
    return cpu_blas_found(why, size);
}

fl_status hip_blas_ready(void *device, char *why, size_t size)
{
    return cpu_blas_ready(device, why, size);
}

bool hip_blas_loads()
{
    return cpu_blas_library() != nullptr;
}

fl_status hip_blas_multiply(const fl_context *context, const blas_product &product)
{
    return cpu_blas_multiply(context->host, 1, &product);
}

fl_status hip_blas_solve(const fl_context *context, int64_t, int64_t, const double *, double *)
{
    return context->host->error(FL_E_UNAVAILABLE, "the emulation solves no triangular systems");
}

void hip_blas_close(hip_device *)
{
}

#else

namespace
{

gpu_blas blas; /* of the process: filled once */

bool load(char *why, size_t size)
{
    return gpu_blas_load(&blas, why, size);
}

fl_status failed(const hip_device *device, const char *function, int status)
{
    (void)hipGetLastError();
    return device->host->error(status == gpu_blas_library.no_memory ? FL_E_MEMORY : FL_E_DEVICE,
                               "%s on %s device %d failed with status %d%s", function, gpu_vendor, device->number,
                               status, status == gpu_blas_library.no_memory ? ": out of memory" : "");
}

/* The caller holds the device's lock. */
fl_status prepare(hip_device *device, hipStream_t queue)
{
    char why[256];
    const fl_status ready = hip_blas_ready(device, why, sizeof why);
    if (ready != FL_OK)
        return device->host->error(ready, "%s", why);
    int status = device->blas ? 0 : blas.create(&device->blas);
    if (status != 0) {
        device->blas = nullptr;
        return failed(device, gpu_blas_library.create, status);
    }
    status = blas.set_stream(device->blas, queue);
    return status == 0 ? hip_order_before(device, &device->blas_done, queue)
                       : failed(device, gpu_blas_library.set_stream, status);
}

/* Queues call(handle) under the device's lock. */
template <typename Call>
fl_status with_blas(const fl_context *context, const char *function, Call call)
{
    hip_device *device = hip_device_of(context);
    if (hip_leaves_graph(context) != FL_OK)
        return FL_E_UNSUPPORTED;
    HIP_SELECT(device);
    const std::lock_guard<std::mutex> guard(device->blas_lock);
    const hipStream_t queue = hip_stream_of(context)->queue;
    const fl_status ready = prepare(device, queue);
    if (ready != FL_OK)
        return ready;
    const int status = call(device->blas);
    const fl_status ordered = hip_order_after(device, device->blas_done, queue);
    return status == 0 ? ordered : failed(device, function, status);
}

} // namespace

bool hip_blas_found(char *why, size_t size)
{
    return gpu_blas_find(why, size);
}

fl_status hip_blas_ready(void *, char *why, size_t size)
{
    static library_state state = LIBRARY_STATE;
    char cause[200];
    const fl_status status = library_once(&state, load, cause, sizeof cause);
    if (status != FL_OK)
        std::snprintf(why, size, "%.150s; %s", cause, gpu_blas_library.cure);
    return status;
}

bool hip_blas_loads()
{
    char why[256];
    return hip_blas_ready(nullptr, why, sizeof why) == FL_OK;
}

fl_status hip_blas_multiply(const fl_context *context, const blas_product &p)
{
    if (!blas_can_count(&p))
        return context->host->error(FL_E_LIMIT, "%s has 32-bit sizes, and a matrix is larger: use another variant",
                                    gpu_blas_library.library);
    return with_blas(context, p.dtype == FL_F32 ? gpu_blas_library.sgemm : gpu_blas_library.dgemm, [&](void *handle) {
        return p.dtype == FL_F32 ? gpu_blas_gemm(blas.sgemm, handle, p) : gpu_blas_gemm(blas.dgemm, handle, p);
    });
}

fl_status hip_blas_solve(const fl_context *context, int64_t count, int64_t length, const double *l, double *rows)
{
    return with_blas(context, gpu_blas_library.dtrsm,
                     [&](void *handle) { return gpu_blas_solve(blas.dtrsm, handle, count, length, l, rows); });
}

void hip_blas_close(hip_device *device)
{
    if (!device->blas || hipSetDevice(device->number) != hipSuccess)
        return;
    (void)blas.destroy(device->blas);
    hip_order_end(device->blas_done);
}

#endif
