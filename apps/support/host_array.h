/* SPDX-License-Identifier: MIT
 *
 * host_array.h - an array in host memory: files are read into it and written from it.
 */
#pragma once

#include "problem.h"

#include <flynn/flynn.h>

/* Packed, row-major, outermost dimension first. Zeroed, it is empty and may be freed. */
typedef struct host_array {
    fl_dtype dtype;
    int ndim;                   /* 0 (one element) to FL_MAX_DIMS */
    int64_t shape[FL_MAX_DIMS]; /* 1 beyond ndim */
    void *data;                 /* aligned to a cache line; not NULL once created, even if empty */
} host_array;

/* An array with undefined contents. `what` (a file's or option's name) begins the error message: exit code 2 for a size
 * that no machine can address, 4 if memory runs out; `array` is then empty. */
bool host_array_create(host_array *array, fl_dtype dtype, int ndim, const int64_t *shape, const char *what,
                       problem *why);

/* Frees the data and empties the array. */
void host_array_free(host_array *array);

/* The number of elements, and of bytes. */
int64_t host_array_size(const host_array *array);
size_t host_array_bytes(const host_array *array);

/* Element i in row-major order, as a double: exact except for i64 beyond 2^53. Inline, as host_array_set is, since
 * loops over large arrays call them for each element. */
static inline double host_array_get(const host_array *array, int64_t i)
{
    switch (array->dtype) {
    case FL_U8: return ((const uint8_t *)array->data)[i];
    case FL_I32: return ((const int32_t *)array->data)[i];
    case FL_I64: return (double)((const int64_t *)array->data)[i];
    case FL_F32: return (double)((const float *)array->data)[i];
    case FL_F64: return ((const double *)array->data)[i];
    }
    return 0;
}

/* Sets element i, with C's conversion. */
static inline void host_array_set(host_array *array, int64_t i, double value)
{
    switch (array->dtype) {
    case FL_U8: ((uint8_t *)array->data)[i] = (uint8_t)value; break;
    case FL_I32: ((int32_t *)array->data)[i] = (int32_t)value; break;
    case FL_I64: ((int64_t *)array->data)[i] = (int64_t)value; break;
    case FL_F32: ((float *)array->data)[i] = (float)value; break;
    case FL_F64: ((double *)array->data)[i] = value; break;
    }
}

/* A copy in another dtype, with C's conversion; fails as host_array_create does. */
bool host_array_convert(const host_array *array, fl_dtype dtype, host_array *copy, const char *what, problem *why);

/* The bytes of an array of this shape; false if they exceed an int64_t. */
bool shape_bytes(int ndim, const int64_t *shape, size_t element_bytes, int64_t *bytes);

/* "2048x2048", "7"; "scalar" without dimensions. */
typedef struct shape_text {
    char text[96];
} shape_text;
shape_text format_shape(int ndim, const int64_t *shape);
