/* SPDX-License-Identifier: MIT
 *
 * code.hpp - kernels of the user's on the emulated GPU: the system's `c++` compiles their text, and the processor's
 * threads run them.
 */
#ifndef FLYNN_SIMT_CODE_HPP
#define FLYNN_SIMT_CODE_HPP

#include "../../shared/code_job.hpp"

#include <flynn/plugin.h>

namespace simt
{

/* Compiled kernels. Several threads may run them at once. */
struct compiled_code;

/* Compiles the text, or takes what it became from the user's cache. FL_E_SOURCE: it does not compile;
 * FL_E_UNAVAILABLE: there is no compiler; FL_E_DEVICE, FL_E_MEMORY. Any thread may call it. */
fl_status compile_code(const fl_host *host, const code_job *job, compiled_code **code);

/* Runs the kernel of this index in code_job.kernels, and returns when it has ended; `arguments` points to each.
 * `shared`: bytes of dynamic shared memory. */
fl_status run_code(const fl_host *host, const compiled_code *code, int kernel, const uint32_t (&blocks)[3],
                   const uint32_t (&threads)[3], size_t shared, void **arguments);

/* The address and size of a `__constant__` or `__device__` variable. FL_E_ARGUMENT: there is none. */
fl_status find_code_symbol(const fl_host *host, const compiled_code *code, const char *name, void **address,
                           size_t *bytes);

/* The calling thread's next run_code of this code is watched, and what it finds goes to watch->found; NULL: it is not
 * watched after all. */
void watch_code(const compiled_code *code, const fl_kernel_watch_job *watch);

/* NULL is allowed. */
void free_code(compiled_code *code);

} // namespace simt

#endif
