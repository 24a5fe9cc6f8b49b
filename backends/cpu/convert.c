/* SPDX-License-Identifier: MIT
 *
 * convert.c - an array in another dtype: any of the five to f32 and f64, integers to i64.
 */
#include "operation.h"

#include <string.h>

enum { PIECE = 16384 }; /* elements of a row that a thread converts at a time */

#define CONVERT(to_type, from_type) \
    do { \
        const from_type *restrict from = in; \
        to_type *restrict to = out; \
        _Pragma("omp simd") for (int64_t x = 0; x < count; x++) to[x] = (to_type)from[x]; \
    } while (0)

static void CPU_NAME(to_f32)(const void *in, fl_dtype dtype, void *out, int64_t count)
{
    switch (dtype) {
    case FL_U8: CONVERT(float, uint8_t); break;
    case FL_I32: CONVERT(float, int32_t); break;
    case FL_I64: CONVERT(float, int64_t); break;
    case FL_F32: CONVERT(float, float); break;
    case FL_F64: CONVERT(float, double); break;
    }
}

static void CPU_NAME(to_f64)(const void *in, fl_dtype dtype, void *out, int64_t count)
{
    switch (dtype) {
    case FL_U8: CONVERT(double, uint8_t); break;
    case FL_I32: CONVERT(double, int32_t); break;
    case FL_I64: CONVERT(double, int64_t); break;
    case FL_F32: CONVERT(double, float); break;
    case FL_F64: CONVERT(double, double); break;
    }
}

/* Converts integers: core asks for nothing else. */
static void CPU_NAME(to_i64)(const void *in, fl_dtype dtype, void *out, int64_t count)
{
    switch (dtype) {
    case FL_U8: CONVERT(int64_t, uint8_t); break;
    case FL_I32: CONVERT(int64_t, int32_t); break;
    default: CONVERT(int64_t, int64_t); break;
    }
}

static void CPU_NAME(plan_convert)(void *device, const void *args, fl_launch *launch)
{
    const fl_convert_args *c = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested =
        (double)elements_of(&c->in) * (double)(dtype_size(c->in.dtype) + dtype_size(c->out.dtype));
}

static fl_status CPU_NAME(run_convert)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_convert_args *c = args;
    const int64_t width = c->in.shape[c->in.ndim - 1], rows = elements_of(&c->in) / width;
    void (*const convert)(const void *, fl_dtype, void *, int64_t) = c->out.dtype == FL_F32   ? CPU_NAME(to_f32)
                                                                     : c->out.dtype == FL_F64 ? CPU_NAME(to_f64)
                                                                                              : CPU_NAME(to_i64);

    (void)context, (void)launch;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, launch->bytes_requested))
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t x = 0; x < width; x += PIECE)
            convert(element_at(&c->in, row, x), c->in.dtype, element_at(&c->out, row, x), min64(PIECE, width - x));
    }
    return FL_OK;
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_CONVERT, "naive", CPU_FLOATS | 1u << FL_I64, plan_convert, run_convert,
             "element by element, converted as in C")},
};

CPU_OPERATION(cpu_convert, rows);
