/* SPDX-License-Identifier: MIT
 *
 * rocblas.h - the part of rocBLAS's interface that rocSOLVER's stand-in has in common with it. Declared from
 * rocm.docs.amd.com/projects/rocBLAS.
 */
#ifndef FLYNN_AMD_ROCBLAS_H
#define FLYNN_AMD_ROCBLAS_H

#include "stand_in.h"

/* rocblas_status */
enum { SUCCESS = 0, INVALID_HANDLE = 1, INVALID_POINTER = 3, INVALID_SIZE = 4, INTERNAL_ERROR = 6, INVALID_VALUE = 11 };

/* Real handles are opaque. */
typedef struct stand_in_owner *rocblas_handle;

#endif
