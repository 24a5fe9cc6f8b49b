/* SPDX-License-Identifier: MIT
 *
 * reduce_loops.c - the loops of reduce.c, for each type (reduce_sums_typed.h, reduce_extremes_typed.h). One thread runs
 * them, so that `omp` links those of `simd` and does not compile them again: they take longest of all files.
 */
#include "reduce_loops.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
/* A function that is compiled once, not copied into each caller: one call works on a block of elements or more. */
#define KERNEL static __attribute__((noinline, noclone))

enum {
    BLOCK_ROWS = 64,
    GROUP_ROWS = 8, /* rows of a block that are read side by side */
    RUN_ROWS = 128, /* rows, of a cache line each, in a block of elements that follow each other */
    AHEAD = 1024,   /* bytes, at which the cache is asked for elements; sums are slower with it */
    FEW = 32,       /* elements of a slice that is too short for lanes */
    SOUGHT = 32     /* elements in which an extreme is looked for at a time */
};

/* FOLD(half) puts `half` results together with the next ones, until of LANES one is left; loops of a constant length
 * have no branches. */
#define IN_HALVES(FOLD) \
    if (LANES > 32) \
        FOLD(32) \
    if (LANES > 16) \
        FOLD(16) \
    if (LANES > 8) \
        FOLD(8) \
    FOLD(4) \
    FOLD(2) \
    FOLD(1)

/* How many of `count`, more than a block, are in the first half: whole blocks. */
static inline int64_t first_half(int64_t count, int64_t block)
{
    return (count / 2 + block - 1) / block * block;
}

static void CPU_NAME(store_place)(const columns_state *s, int columns, void *out, int64_t at)
{
    memcpy((int64_t *)out + at, s->at, (size_t)columns * sizeof *s->at);
}

#define T float
#define R float
#define W float
#define FN(name) CPU_TYPED(name, f32_f32)
#include "reduce_sums_typed.h"
#define T float
#define R double
#define W double
#define FN(name) CPU_TYPED(name, f32_f64)
#include "reduce_sums_typed.h"
#define T double
#define R double
#define W double
#define FN(name) CPU_TYPED(name, f64_f64)
#include "reduce_sums_typed.h"
#define T uint8_t
#define R uint64_t
#define W uint32_t
#define FN(name) CPU_TYPED(name, u8_i64)
#include "reduce_sums_typed.h"
#define T uint8_t
#define R double
#define W uint32_t
#define FN(name) CPU_TYPED(name, u8_f64)
#include "reduce_sums_typed.h"
#define T int32_t
#define R uint64_t
#define W uint64_t
#define FN(name) CPU_TYPED(name, i32_i64)
#include "reduce_sums_typed.h"
#define T int32_t
#define R double
#define W double
#define FN(name) CPU_TYPED(name, i32_f64)
#include "reduce_sums_typed.h"
#define T int64_t
#define R uint64_t
#define W uint64_t
#define FN(name) CPU_TYPED(name, i64_i64)
#include "reduce_sums_typed.h"
#define T int64_t
#define R double
#define W double
#define FN(name) CPU_TYPED(name, i64_f64)
#include "reduce_sums_typed.h"

#define IS_NAN(value) ((void)(value), false)
#define ARE_NAN(a, b) false
#define T uint8_t
#define I int8_t
#define FN(name) CPU_TYPED(name, u8)
#include "reduce_extremes_typed.h"
#define T int32_t
#define I int32_t
#define FN(name) CPU_TYPED(name, i32)
#include "reduce_extremes_typed.h"
#define T int64_t
#define I int64_t
#define FN(name) CPU_TYPED(name, i64)
#include "reduce_extremes_typed.h"
#undef IS_NAN
#undef ARE_NAN
#define IS_NAN(value) ((value) != (value))
#define ARE_NAN(a, b) __builtin_isunordered(a, b)
#define T float
#define I int32_t
#define FN(name) CPU_TYPED(name, f32)
#include "reduce_extremes_typed.h"
#define T double
#define I int64_t
#define FN(name) CPU_TYPED(name, f64)
#include "reduce_extremes_typed.h"
#undef IS_NAN
#undef ARE_NAN

static const reduce_engine *CPU_NAME(sums_of)(fl_dtype in, fl_dtype out)
{
    switch (in) {
    case FL_U8: return out == FL_F64 ? &CPU_TYPED(sums, u8_f64) : &CPU_TYPED(sums, u8_i64);
    case FL_I32: return out == FL_F64 ? &CPU_TYPED(sums, i32_f64) : &CPU_TYPED(sums, i32_i64);
    case FL_I64: return out == FL_F64 ? &CPU_TYPED(sums, i64_f64) : &CPU_TYPED(sums, i64_i64);
    case FL_F32: return out == FL_F64 ? &CPU_TYPED(sums, f32_f64) : &CPU_TYPED(sums, f32_f32);
    default: return &CPU_TYPED(sums, f64_f64);
    }
}

#define OF_REDUCTION(type) \
    { \
        &CPU_TYPED(min, type), &CPU_TYPED(max, type), &CPU_TYPED(argmin, type), &CPU_TYPED(argmax, type) \
    }

const reduce_engine *CPU_NAME(reduce_engine_of)(const fl_reduce_args *args)
{
    static const reduce_engine *const extremes[FL_DTYPE_COUNT][4] = {
        [FL_U8] = OF_REDUCTION(u8),   [FL_I32] = OF_REDUCTION(i32), [FL_I64] = OF_REDUCTION(i64),
        [FL_F32] = OF_REDUCTION(f32), [FL_F64] = OF_REDUCTION(f64),
    };

    return args->reduction == FL_SUM ? CPU_NAME(sums_of)(args->x.dtype, args->out.dtype)
                                     : extremes[args->x.dtype][args->reduction - FL_MINIMUM];
}
