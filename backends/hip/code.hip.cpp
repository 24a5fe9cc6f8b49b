/* SPDX-License-Identifier: MIT
 *
 * code.hip.cpp - kernels that are compiled while the program runs: by the processor's compiler where HIP is emulated,
 * else by the vendor's library.
 */
#include "code.hpp"

#if defined(GPU_EMULATION)
#include "../simt/code/code.h"
#else
#include "gpu/gpu_code_rtc.h"
#endif
