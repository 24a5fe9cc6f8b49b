/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "host_array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64, HUGE_PAGE = 2 << 20 };

bool shape_bytes(int ndim, const int64_t *shape, size_t element_bytes, int64_t *bytes)
{
    bool fits = true, empty = false;

    *bytes = (int64_t)element_bytes;
    for (int d = 0; d < ndim; d++) {
        empty |= shape[d] == 0;
        fits &= !__builtin_mul_overflow(*bytes, shape[d], bytes);
    }
    if (empty)
        *bytes = 0;
    return fits || empty;
}

/* Large arrays ask for huge pages, because the first touch of ordinary ones takes as long as reading a file into them.
 */
static void *allocate(size_t bytes)
{
    const size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : CACHE_LINE;
    void *data;

    if (posix_memalign(&data, alignment, (bytes / CACHE_LINE + 1) * CACHE_LINE) != 0)
        return NULL;
    if (bytes >= HUGE_PAGE)
        madvise(data, bytes, MADV_HUGEPAGE); /* advice; without it the memory is the same, only slower */
    return data;
}

bool host_array_create(host_array *array, fl_dtype dtype, int ndim, const int64_t *shape, const char *what,
                       problem *why)
{
    int64_t bytes;

    *array = (host_array){0};
    /* malloc and pointer differences end at PTRDIFF_MAX. */
    if (!shape_bytes(ndim, shape, fl_dtype_size(dtype), &bytes) || bytes > PTRDIFF_MAX - HUGE_PAGE)
        return problem_set(why, EXIT_BAD_INPUT, "%s: an array of shape %s is larger than a machine can address", what,
                           format_shape(ndim, shape).text);
    void *data = allocate((size_t)bytes);
    if (data == NULL)
        return problem_no_memory(why, what, (double)bytes);
    *array = (host_array){dtype, ndim, {1, 1, 1, 1}, data};
    memcpy(array->shape, shape, (size_t)ndim * sizeof *shape);
    return true;
}

void host_array_free(host_array *array)
{
    free(array->data);
    *array = (host_array){0};
}

int64_t host_array_size(const host_array *array)
{
    int64_t size;
    shape_bytes(array->ndim, array->shape, 1, &size);
    return size;
}

size_t host_array_bytes(const host_array *array)
{
    return (size_t)host_array_size(array) * fl_dtype_size(array->dtype);
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

shape_text format_shape(int ndim, const int64_t *shape)
{
    shape_text out = {"scalar"};
    size_t used = 0;
    for (int d = 0; d < ndim && used < sizeof out.text; d++)
        used += (size_t)snprintf(out.text + used, sizeof out.text - used, "%s%" PRId64, d > 0 ? "x" : "", shape[d]);
    return out;
}
