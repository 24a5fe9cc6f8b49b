/* SPDX-License-Identifier: MIT
 * Arrays as core keeps them, and the checks that operations share. */
#ifndef FLYNN_CORE_ARRAY_H
#define FLYNN_CORE_ARRAY_H

#include "device.h"

/* Device memory, shared by an array and its views, with a count of them. */
typedef struct core_memory {
    void *data; /* NULL for an array without elements */
    /* The owner of memory that another library allocated, and the function that returns the memory to it; both NULL
     * where core allocated it. */
    void *owner;
    void (*give_back)(void *owner);
    atomic_int references;
} core_memory;

struct fl_array {
    fl_device *device;
    core_memory *memory;
    fl_buffer buffer;
};

/* An array over another library's memory. After success the array's last view calls give_back(owner) when it is freed,
 * after the work queued on the device. */
fl_status core_array_adopt(fl_device *device, const fl_buffer *buffer, void *owner, void (*give_back)(void *owner),
                           fl_array **array);

/* Checks the argument `name` of `call`: not NULL (FL_E_ARGUMENT), on `device` (FL_E_WRONG_DEVICE; the message states
 * the call that copies it). */
fl_status core_check_array(const char *call, const char *name, const fl_array *array, const fl_device *device);

/* An argument of an operation, with its name for messages. */
typedef struct core_argument {
    const char *name;
    const fl_array *array;
} core_argument;

/* Checks that `device` is not NULL, and each argument as core_check_array does. */
fl_status core_check_arguments(const char *call, const fl_device *device, const core_argument *arguments, int count);

/* Checks for two dimensions. */
fl_status core_check_matrix(const char *call, const char *name, const fl_array *array);

/* Checks that `array` has this dtype and shape. */
fl_status core_check_like(const char *call, const char *name, const fl_array *array, fl_dtype dtype, int ndim,
                          const int64_t *shape);

/* Checks that `out` and `in` do not overlap, from the first to the last element of each. */
fl_status core_check_apart(const char *call, const char *out_name, const fl_array *out, const char *in_name,
                           const fl_array *in);

/* Checks for one dimension. */
fl_status core_check_vector(const char *call, const char *name, const fl_array *array);

/* Checks that `out` is `in`, element for element, or shares no memory with it. */
fl_status core_check_in_place(const char *call, const char *out_name, const fl_array *out, const char *in_name,
                              const fl_array *in);

/* "2048x2048", for messages; returns `text`. */
const char *core_shape_text(char *text, size_t size, int ndim, const int64_t *shape);

/* Bytes of all elements. */
double core_buffer_bytes(const fl_buffer *buffer);

#endif
