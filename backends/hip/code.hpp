/* SPDX-License-Identifier: MIT
 *
 * code.hpp - kernels that are compiled while the program runs: texts of the user's, for `map` and `kernel`.
 */
#ifndef FLYNN_HIP_CODE_HPP
#define FLYNN_HIP_CODE_HPP

#include "device.hpp"

#include <cstring>
#include <string>

/* Compiled kernels, on one device. Several threads may queue them at once. */
struct hip_code;

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

struct hip_code_job {
    const char *name;           /* name of the user's function or kernel, for errors */
    const char *text;           /* C++ with kernels; the user's part is the file FL_SOURCE_NAME by #line */
    const char *const *options; /* of any of the three compilers, "-DNAME=VALUE" say; NULL at the end */
    const char *const *kernels; /* their names, all `extern "C"`; NULL at the end */
    bool contract;              /* a product and a sum may become one multiply-add */
    char *output;               /* out: what the compiler printed */
    size_t output_size;
    int lanes = 0; /* of a warp where the processor emulates a GPU, 32 or 64; 0: as usual */
};

/* Lines of shared/cooperative_groups.h, for a text that names it; NULL ends them. */
extern "C" const char *const cooperative_groups[];
inline bool code_has_groups(const hip_code_job *job)
{
    return std::strstr(job->text, "cooperative_groups") != nullptr;
}
inline void code_add(std::string &text, const char *const *lines)
{
    while (*lines)
        text += *lines++;
}

/* Compiles the text for the device, or takes what it became from the user's cache. FL_E_SOURCE: it does not compile;
 * FL_E_UNAVAILABLE: there is no compiler; FL_E_DEVICE, FL_E_MEMORY. Any thread may call it. */
fl_status hip_code_compile(hip_device *device, const hip_code_job *job, hip_code **code);

/* Queues the kernel of this index in hip_code_job.kernels, as hip_queue does; `arguments` points to each. */
fl_status hip_code_queue(const fl_context *context, const hip_code *code, int kernel, dim3 grid, dim3 block,
                         size_t shared, void **arguments);

/* The device address and size of a `__constant__` or `__device__` variable. FL_E_ARGUMENT: there is none. */
fl_status hip_code_symbol(const hip_device *device, const hip_code *code, const char *name, void **address,
                          size_t *bytes);

#if defined(GPU_EMULATION)
/* The calling thread's next hip_code_queue of this code is watched, and what it finds goes to watch->found; NULL: it is
 * not watched after all. */
void hip_code_watch(const hip_code *code, const fl_kernel_watch_job *watch);
#endif

/* NULL is allowed. */
void hip_code_free(hip_device *device, hip_code *code);

#endif
