/* SPDX-License-Identifier: MIT
 * The user's own kernel: its name and parameters, read from the text before a compiler sees it. */
#ifndef FLYNN_CORE_KERNEL_SIGNATURE_H
#define FLYNN_CORE_KERNEL_SIGNATURE_H

#include "signature_head.h"
#include "c_types.h"

typedef struct core_parameter {
    char name[CORE_NAME_SIZE];
    bool is_array, is_constant; /* fl_parameter's */
    fl_dtype dtype;
    core_type_layout layout; /* of a number, or of the numbers in an array */
    int lanes;               /* of an array: how many numbers an element has, 4 of a float4 */
} core_parameter;

typedef struct core_kernel_signature {
    char name[CORE_NAME_SIZE];
    int count;
    core_parameter parameters[FL_MAX_PARAMETERS];
    char *declaration; /* extern "C" __global__ void NAME(...): what makes the kernel's name plain; to free() */
} core_kernel_signature;

/* A text in HIP's dialect: the kernel `entry`, or with NULL the last one that it defines at file level. *clean as in
 * core_definitions_read. FL_E_SOURCE with `error` filled; FL_E_MEMORY. After FL_OK both texts are the caller's. */
fl_status core_kernel_signature_read(const char *text, const char *entry, core_kernel_signature *signature,
                                     char **clean, core_text_error *error);

#endif
