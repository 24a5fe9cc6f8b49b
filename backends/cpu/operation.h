/* SPDX-License-Identifier: MIT
 *
 * operation.h - what the operations' files have in common: sets of dtypes, elements of a buffer, functions that call
 * that of a dtype, and rows.
 */
#ifndef FLYNN_CPU_OPERATION_H
#define FLYNN_CPU_OPERATION_H

#include "cpu.h"

/* fl_row.dtypes */
enum {
    CPU_FLOATS = 1u << FL_F32 | 1u << FL_F64,
    CPU_NUMBERS = CPU_FLOATS | 1u << FL_I32 | 1u << FL_I64,
    CPU_ALL = (1u << FL_DTYPE_COUNT) - 1,
};

static inline int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Bytes of an element. */
static inline int64_t dtype_size(fl_dtype dtype)
{
    return dtype == FL_U8 ? 1 : dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

static inline int64_t elements_of(const fl_buffer *buffer)
{
    int64_t count = 1;

    for (int d = 0; d < buffer->ndim; d++)
        count *= buffer->shape[d];
    return count;
}

/* Element x of the row-th row, the last dimension's, counted over all the others. */
static inline char *element_at(const fl_buffer *buffer, int64_t row, int64_t x)
{
    for (int d = buffer->ndim - 2; d >= 0; d--) {
        x += row % buffer->shape[d] * buffer->stride[d];
        row /= buffer->shape[d];
    }
    return (char *)buffer->data + x * dtype_size(buffer->dtype);
}

/* run_VARIANT for a row: calls VARIANT_f32 and so on, by the dtype of that buffer of the arguments. */
#define CPU_RUN_FLOATS(variant, arguments, buffer) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        return ((const arguments *)args)->buffer.dtype == FL_F32 ? CPU_TYPED(variant, f32)(context, args, launch) \
                                                                 : CPU_TYPED(variant, f64)(context, args, launch); \
    }
#define CPU_RUN_NUMBERS(variant, arguments, buffer) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        switch (((const arguments *)args)->buffer.dtype) { \
        case FL_F32: return CPU_TYPED(variant, f32)(context, args, launch); \
        case FL_F64: return CPU_TYPED(variant, f64)(context, args, launch); \
        case FL_I32: return CPU_TYPED(variant, i32)(context, args, launch); \
        default: return CPU_TYPED(variant, i64)(context, args, launch); \
        } \
    }

/* The fields of a row that every one has. */
#define CPU_ROW(number, name, of_dtypes, planned, called, text) \
    .operation = number, .variant = name, .dtypes = of_dtypes, .summary = text, .plan = CPU_NAME(planned), \
    .run = CPU_NAME(called)

#define CPU_OPERATION(name, table) \
    const cpu_operation CPU_NAME(name) = {.rows = table, .count = sizeof table / sizeof *table}

#endif
