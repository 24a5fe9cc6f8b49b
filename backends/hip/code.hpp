/* SPDX-License-Identifier: MIT
 *
 * code.hpp - kernels that are compiled while the program runs: texts of the user's, for `map` and `kernel`.
 */
#ifndef FLYNN_HIP_CODE_HPP
#define FLYNN_HIP_CODE_HPP

#include "device.hpp"

#include "../shared/code_job.hpp"

/* Compiled kernels, on one device. Several threads may queue them at once. */
#if defined(GPU_EMULATION)
namespace simt
{
struct compiled_code;
}
using hip_code = simt::compiled_code;
#else
struct hip_code;
#endif

/* The code that fl_device_api.compile returns, a function of map or a kernel; fl_device_api.code_free deletes it. */
struct hip_program {
    virtual ~hip_program() = default;
    /* The kernels of a kernel's text; NULL for map, which has no variables that others set. */
    virtual const hip_code *kernels() const
    {
        return nullptr;
    }
};

/* fl_device_api.compile for each of the two. */
fl_status hip_map_compile(hip_device *device, const fl_source *source, char *output, size_t size, hip_program **made);
fl_status hip_kernel_compile(hip_device *device, const fl_source *source, char *output, size_t size,
                             hip_program **made);

/* Compiles the text for the device, or takes what it became from the user's cache. FL_E_SOURCE: it does not compile;
 * FL_E_UNAVAILABLE: there is no compiler; FL_E_DEVICE, FL_E_MEMORY. Any thread may call it. */
fl_status hip_code_compile(hip_device *device, const code_job *job, hip_code **code);

/* Queues the kernel of this index in code_job.kernels, as hip_queue does; `arguments` points to each. */
fl_status hip_code_queue(const fl_context *context, const hip_code *code, int kernel, dim3 grid, dim3 block,
                         size_t shared, void **arguments);

/* NULL is allowed. */
void hip_code_free(hip_device *device, hip_code *code);

#endif
