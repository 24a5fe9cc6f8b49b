/* SPDX-License-Identifier: MIT */
#include "host_array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 };

bool host_array_create(host_array *array, fl_dtype dtype, int ndim, const int64_t *shape, const char *what,
                       problem *why)
{
    *array = (host_array){.dtype = dtype, .ndim = ndim, .shape = {1, 1, 1, 1}};
    size_t bytes = fl_dtype_size(dtype);
    bool overflow = false, empty = false;
    for (int d = 0; d < ndim; d++) {
        array->shape[d] = shape[d];
        empty |= shape[d] == 0;
        overflow |= __builtin_mul_overflow(bytes, shape[d], &bytes);
    }
    /* malloc and pointer differences end at PTRDIFF_MAX. */
    if (!empty && (overflow || bytes > PTRDIFF_MAX - CACHE_LINE)) {
        *array = (host_array){0};
        return problem_set(why, EXIT_BAD_INPUT, "%s: an array of shape %s is larger than a machine can address", what,
                           format_shape(ndim, shape).text);
    }
    if (empty)
        bytes = 0;
    array->data = aligned_alloc(CACHE_LINE, (bytes / CACHE_LINE + 1) * CACHE_LINE);
    if (array->data == NULL) {
        *array = (host_array){0};
        return problem_no_memory(why, what, (double)bytes);
    }
    return true;
}

void host_array_free(host_array *array)
{
    free(array->data);
    *array = (host_array){0};
}

int64_t host_array_size(const host_array *array)
{
    int64_t size = 1;
    for (int d = 0; d < array->ndim; d++)
        if (array->shape[d] == 0)
            return 0;
    for (int d = 0; d < array->ndim; d++)
        size *= array->shape[d];
    return size;
}

size_t host_array_bytes(const host_array *array)
{
    return (size_t)host_array_size(array) * fl_dtype_size(array->dtype);
}

double host_array_get(const host_array *array, int64_t i)
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

void host_array_set(host_array *array, int64_t i, double value)
{
    switch (array->dtype) {
    case FL_U8: ((uint8_t *)array->data)[i] = (uint8_t)value; break;
    case FL_I32: ((int32_t *)array->data)[i] = (int32_t)value; break;
    case FL_I64: ((int64_t *)array->data)[i] = (int64_t)value; break;
    case FL_F32: ((float *)array->data)[i] = (float)value; break;
    case FL_F64: ((double *)array->data)[i] = value; break;
    }
}

bool host_array_convert(const host_array *array, fl_dtype dtype, host_array *copy, const char *what, problem *why)
{
    if (!host_array_create(copy, dtype, array->ndim, array->shape, what, why))
        return false;
    if (dtype == array->dtype) {
        memcpy(copy->data, array->data, host_array_bytes(array));
        return true;
    }
    int64_t size = host_array_size(array);
    for (int64_t i = 0; i < size; i++)
        host_array_set(copy, i, host_array_get(array, i));
    return true;
}

host_range host_array_normalize(host_array *array)
{
    const int64_t n = host_array_size(array);
    double least = INFINITY, most = -INFINITY;

    for (int64_t i = 0; i < n; i++) {
        least = fmin(least, host_array_get(array, i));
        most = fmax(most, host_array_get(array, i));
    }
    for (int64_t i = 0; i < n; i++)
        host_array_set(array, i, most > least ? (host_array_get(array, i) - least) / (most - least) : 0);
    return (host_range){least, most - least};
}

shape_text format_shape(int ndim, const int64_t *shape)
{
    shape_text out = {"scalar"};
    size_t used = 0;
    for (int d = 0; d < ndim && used < sizeof out.text; d++)
        used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%" PRId64, d > 0 ? "x" : "", shape[d]);
    return out;
}
