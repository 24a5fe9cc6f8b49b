/* SPDX-License-Identifier: MIT
 * The user's own kernel: its name and parameters, read from the text before a compiler sees it. */
#ifndef FLYNN_CORE_KERNEL_SIGNATURE_H
#define FLYNN_CORE_KERNEL_SIGNATURE_H

#include "../language/c_types.h"

typedef struct core_parameter {
    char name[CORE_NAME_SIZE];
    bool is_array, is_constant; /* fl_parameter's */
    fl_dtype dtype;
    core_type_layout layout; /* layout of a number, or of the numbers in an array */
    int lanes;               /* numbers in an element of an array: 4 in a float4 */
    bool is_bytes;           /* no dtype has the elements: the numbers are their bytes */
    int first, numbers;      /* of a vector or a struct by value: those in core_kernel_signature.numbers; else 0 */
    int at, bytes;           /* its place among the launch's values, a multiple of CORE_VALUE_ALIGNMENT; its size */
} core_parameter;

typedef struct core_kernel_signature {
    char name[CORE_NAME_SIZE];
    int count;
    core_parameter parameters[FL_MAX_PARAMETERS];
    core_numbers numbers;
    int value_bytes;    /* of all values of several numbers */
    unsigned written;   /* bit i: the kernel may write to the array of parameter i */
    bool prints;        /* it calls printf */
    char *compiled;     /* the text for a compiler, in which the kernel's name is plain; to free() */
    char left_out[256]; /* what of the host the text has, and the compiler does not see: "<cstdio>, main"; or "" */
    char kernels[512];  /* all kernels of the text, where there are several: "first (line 3), second (line 9)" */
    char unfilled[256]; /* __constant__ variables that the kernel uses and the text does not fill: "a, b"; or "" */
} core_kernel_signature;

/* Frees what it has. */
void core_kernel_signature_free(core_kernel_signature *signature);

/* A text in HIP's dialect: the kernel `entry` ("NAME", "SPACE::NAME", "NAME<float, 16>"), or with NULL the last one
 * that it defines. *clean is a copy, to free(), of the same length, in which all that the kernel does not name is
 * blank, so that every other character keeps its place. FL_E_SOURCE with `error` filled; FL_E_MEMORY. */
fl_status core_kernel_signature_read(const char *text, const char *entry, core_kernel_signature *signature,
                                     char **clean, core_text_error *error);

#endif
