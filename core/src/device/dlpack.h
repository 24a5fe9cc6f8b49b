/* SPDX-License-Identifier: MIT
 *
 * dlpack.h - the unversioned struct of DLPack's binary interface (https://dmlc.github.io/dlpack/latest/c_api.html),
 * which has the same layout in every library that supports DLPack.
 */
#ifndef FLYNN_CORE_DLPACK_H
#define FLYNN_CORE_DLPACK_H

#include <stdint.h>

/* The values of DLDeviceType that Flynn distinguishes. */
enum {
    DLPACK_CPU = 1,
    DLPACK_CUDA = 2,
    DLPACK_CUDA_HOST = 3,
    DLPACK_ROCM = 10,
    DLPACK_ROCM_HOST = 11,
    DLPACK_CUDA_MANAGED = 13,
};

/* DLDataTypeCode. */
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_COMPLEX = 5, DLPACK_BOOL = 6 };

typedef struct dlpack_device {
    int32_t device_type, device_id;
} dlpack_device;

typedef struct dlpack_dtype {
    uint8_t code, bits; /* of one lane */
    uint16_t lanes;     /* elements of a vector type; else 1 */
} dlpack_dtype;

typedef struct dlpack_tensor {
    void *data; /* the first element is at data + byte_offset; may be NULL if there are no elements */
    dlpack_device device;
    int32_t ndim; /* 0: one element */
    dlpack_dtype dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: packed, row-major */
    uint64_t byte_offset;
} dlpack_tensor;

struct DLManagedTensor {
    dlpack_tensor dl_tensor;
    void *manager_ctx;                               /* the producer's */
    void (*deleter)(struct DLManagedTensor *tensor); /* the consumer calls it once, when done; may be NULL */
};

#endif
