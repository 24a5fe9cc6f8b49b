/* SPDX-License-Identifier: MIT
 * Arrays as core keeps them, and the checks that operations share. */
#ifndef FLYNN_CORE_ARRAY_H
#define FLYNN_CORE_ARRAY_H

#include "device.h"

struct DLManagedTensor;

/* Device memory with the arrays that use it counted: an array and its views share one. */
typedef struct core_memory {
    void *data;                      /* NULL for an array without elements */
    struct DLManagedTensor *foreign; /* another library's, which its deleter gives back; NULL: the memory is ours */
    atomic_int references;
} core_memory;

struct fl_array {
    fl_device *device;
    core_memory *memory;
    fl_buffer buffer;
};

/* An array over another library's memory, laid out as `buffer` says; takes the tensor over unless it fails. */
fl_status core_array_adopt(fl_device *device, const fl_buffer *buffer, struct DLManagedTensor *tensor,
                           fl_array **array);

/* The argument `name` of `call`: not NULL (FL_E_ARGUMENT), on `device` (FL_E_WRONG_DEVICE, with the copy that is
 * missing). */
fl_status core_check_array(const char *call, const char *name, const fl_array *array, const fl_device *device);

/* Two dimensions, none of them 0. */
fl_status core_check_matrix(const char *call, const char *name, const fl_array *array);

/* `array` has this dtype and shape. */
fl_status core_check_like(const char *call, const char *name, const fl_array *array, fl_dtype dtype, int ndim,
                          const int64_t *shape);

/* `out` shares no memory with `in`: from first to last element, they do not overlap. */
fl_status core_check_apart(const char *call, const char *out_name, const fl_array *out, const char *in_name,
                           const fl_array *in);

/* One dimension. */
fl_status core_check_vector(const char *call, const char *name, const fl_array *array);

/* `out` is `in`, element for element, or shares no memory with it. */
fl_status core_check_in_place(const char *call, const char *out_name, const fl_array *out, const char *in_name,
                              const fl_array *in);

/* "2048x2048", for messages; returns `text`. */
const char *core_shape_text(char *text, size_t size, int ndim, const int64_t *shape);

/* Bytes of all elements. */
double core_buffer_bytes(const fl_buffer *buffer);

#endif
