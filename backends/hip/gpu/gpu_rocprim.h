/* SPDX-License-Identifier: MIT
 *
 * gpu_rocprim.h - to be included before rocPRIM's headers: that of 5.7 and earlier lists the GPUs of RDNA that it
 * knows. On others, such as gfx1151, it would move values between lanes by instructions that RDNA does not have.
 */
#ifndef FLYNN_HIP_GPU_ROCPRIM_H
#define FLYNN_HIP_GPU_ROCPRIM_H

#include "gpu.h"

#include <rocprim/config.hpp>

#if (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)) && defined(ROCPRIM_NAVI) && !ROCPRIM_NAVI
#undef ROCPRIM_NAVI
#define ROCPRIM_NAVI 1
#endif

#endif
