/* SPDX-License-Identifier: MIT
 *
 * device.hpp - what the operations of this folder share: an open device, its streams, errors and tables of rows.
 */
#ifndef FLYNN_HIP_DEVICE_HPP
#define FLYNN_HIP_DEVICE_HPP

#include "device.h"
#include "gpu.h"

#include <memory>
#include <mutex>

/* What only the device finds out, told through pinned memory: no copy, no wait. */
struct hip_report {
    uint32_t rank_one;      /* the last kernel that `auto` or `separable` tested was of rank one */
    uint32_t not_separable; /* `separable` was forced on a kernel that is not: cleared when told */
    uint32_t is_prime;      /* the number that primes' -each asked about */
};

struct hip_stream {
    hipStream_t queue;
    hip_report *report;
    hip_stream *next;          /* of the same device */
    std::shared_ptr<void> fft; /* plans of FFTs, made at first use */
    const void *kernel;        /* the last one that hip_queue queued, with what decides how many fit */
    int threads;
    size_t shared;
};

struct gpu_solver_handle; /* gpu_solver.h's */

struct hip_device {
    const fl_host *host;
    int number;
    size_t usual_shared;  /* bytes that a block has without asking for more */
    int max_threads;      /* of a block */
    int lanes;            /* threads of a warp that can talk to each other: gpu.h */
    int multiprocessors;  /* at least 1 */
    int resident_threads; /* of a multiprocessor, at the most */
    int64_t max_grid[3];
    std::unique_ptr<fl_row[]> rows;
    std::mutex lock; /* guards the list of streams */
    hip_stream *streams;
    std::mutex blas_lock;   /* guards the handle: one thread at a time uses it */
    void *blas;             /* blas.hip.cpp's; null until it is first needed */
    std::mutex solver_lock; /* the same for solver.hip.cpp's */
    gpu_solver_handle *solver;
};

/* device.hip.cpp's functions. (Not the table itself: clang makes constants of external linkage for the GPU, too.) */
const fl_device_api *hip_device_functions();

/* Some rows of the device's table. */
struct hip_rows {
    const fl_row *row;
    size_t count;
};

/* One function for each operation, in the file of its name. */
hip_rows hip_convert_rows();
hip_rows hip_convolve_rows();
hip_rows hip_primes_rows();
hip_rows hip_select_rows();
hip_rows hip_svd_rows();
hip_rows hip_convolve1d_rows();
hip_rows hip_convolve1d_fft_rows(); /* none where there is no FFT library */

/* Whether the FFT library is here, else why not, what that costs and what would mend it: in the form of the functions
 * that hip_probe asks what is lacking. */
bool hip_fft_available(char *why, size_t size);
hip_rows hip_elementwise_rows();
hip_rows hip_allclose_rows();
hip_rows hip_reconstruct_rows();
hip_rows hip_reconstruct_library_rows(); /* what needs a BLAS */
hip_rows hip_svd_library_rows();         /* what needs a solver, found and not yet loaded */
hip_rows hip_copy_rows();
hip_rows hip_multiply_add_rows();
hip_rows hip_sort_rows();
/* Whether that has the vendor's library, as it was built, else why not and what would mend it. */
bool hip_sort_available(char *why, size_t size);

/* Tells host->error the statement that failed, where, on which device and why: FL_E_MEMORY or FL_E_DEVICE. */
fl_status hip_failed(const fl_host *host, int device, hipError_t error, const char *statement, const char *function,
                     const char *file, int line);

/* Leaves the function when the statement failed. */
#define HIP_TRY(host, device, statement) \
    do { \
        const hipError_t hip_error_ = (statement); \
        if (hip_error_ != hipSuccess) \
            return hip_failed(host, device, hip_error_, #statement, __func__, __FILE__, __LINE__); \
    } while (0)

/* Makes the device current for this thread, as every call must: the current one is the thread's, not the device's. */
#define HIP_SELECT(device) HIP_TRY((device)->host, (device)->number, gpu_select((device)->number))

/* The stream that a row queues its work in. */
inline hip_stream *hip_stream_of(const fl_context *context)
{
    return static_cast<hip_stream *>(context->stream);
}

inline hip_device *hip_device_of(const fl_context *context)
{
    return static_cast<hip_device *>(context->device);
}

/* Queues kernel(arguments...) with `shared` bytes of dynamic shared memory in the context's stream. */
template <typename... Parameters, typename... Arguments>
fl_status hip_queue(const fl_context *context, void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
                    Arguments... arguments)
{
    const hip_device *device = hip_device_of(context);
    hip_stream *stream = hip_stream_of(context);
    HIP_SELECT(device);
    HIP_TRY(device->host, device->number,
            gpu_launch(kernel, grid, block, shared, device->usual_shared, stream->queue, arguments...));
    stream->kernel = reinterpret_cast<const void *>(kernel);
    stream->threads = (int)(block.x * block.y * block.z);
    stream->shared = shared;
    return FL_OK;
}

#endif
