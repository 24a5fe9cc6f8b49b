/* SPDX-License-Identifier: MIT
 *
 * scan.c - running sums and maxima. The loops are in scan_typed.h, once for each dtype and reduction.
 *
 * Each result of `blocked` is a tree of the elements up to it. On the way from an element to the result there are at
 * most CHUNK / 2 additions in a chunk, GROUP / CHUNK of chunks, and length / GROUP of groups: far less than the length,
 * which is the error of one loop (Blanchard, Higham and Mary, "A class of fast and accurate summation algorithms",
 * 2020).
 */
#include "operation.h"
#include "openmp.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { CHUNK = 256, GROUP = 256 * CHUNK };

/* Vectors where the compiler has what moves their elements by constant numbers: gcc 12, clang. */
#if defined(__has_builtin)
#if CPU_VECTOR_BITS >= 128 && __has_builtin(__builtin_shufflevector)
#define SCAN_VECTORS
#endif
#endif

/* Consecutive numbers, and equal ones, from which __builtin_shufflevector takes the elements of a vector. */
#define NEXT_2(i) (i), (i) + 1
#define NEXT_4(i) NEXT_2(i), NEXT_2((i) + 2)
#define NEXT_8(i) NEXT_4(i), NEXT_4((i) + 4)
#define NEXT_16(i) NEXT_8(i), NEXT_8((i) + 8)
#define SAME_2(i) (i), (i)
#define SAME_4(i) SAME_2(i), SAME_2(i)
#define SAME_8(i) SAME_4(i), SAME_4(i)
#define SAME_16(i) SAME_8(i), SAME_8(i)

/* Into how many parts `blocked` divides the input: one a thread. Below 200,000 elements threads would gain at most 30
 * us, and the last bits of float sums would depend on their number. */
static inline int64_t CPU_NAME(parts_of)(const fl_context *context, const fl_scan_args *s)
{
    const int64_t n = s->in.shape[0];

    return n < 200000 ? 1 : cpu_team(context, 4.0 * (double)n);
}

/* Sums: integers as unsigned ones, which wrap. */
#define PUT(a, b) ((a) + (b))
#define LOWEST 0
#define from float
#define to float
#define WIDTH 4
#define FN(name) CPU_TYPED(name, sum_f32)
#include "scan_typed.h"
#define from double
#define to double
#define WIDTH 8
#define FN(name) CPU_TYPED(name, sum_f64)
#include "scan_typed.h"
#define from uint8_t
#define to uint64_t
#define WIDTH 8
#if defined(__SSE2__) && CPU_VECTOR_BITS == 512 /* of fewer than 16 bytes gcc 12 widens one element at a time */
#define WIDEN(in) _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(in)))
#elif defined(__SSE2__) && CPU_VECTOR_BITS == 256
#define WIDEN(in) _mm256_cvtepu8_epi64(_mm_loadu_si32(in))
#endif
#define FN(name) CPU_TYPED(name, sum_u8)
#include "scan_typed.h"
#define from int32_t
#define to uint64_t
#define WIDTH 8
#define FN(name) CPU_TYPED(name, sum_i32)
#include "scan_typed.h"
#define from uint64_t
#define to uint64_t
#define WIDTH 8
#define FN(name) CPU_TYPED(name, sum_i64)
#include "scan_typed.h"
#undef PUT
#undef LOWEST

/* Maxima: of equal elements the first, and the first NaN for ever. The masks are those of vectors, or 0 and -1. */
#define PUT(a, b) FN(larger)(a, b)
#define MAXIMUM
#define BEYOND(a, b) ((b) > (a))
#define from uint8_t
#define to uint8_t
#define LOWEST 0
#define WIDTH 1
#define FN(name) CPU_TYPED(name, maximum_u8)
#include "scan_typed.h"
#undef LOWEST
#define from int32_t
#define to int32_t
#define LOWEST INT32_MIN
#define WIDTH 4
#define FN(name) CPU_TYPED(name, maximum_i32)
#include "scan_typed.h"
#undef LOWEST
#define from int64_t
#define to int64_t
#define LOWEST INT64_MIN
#define WIDTH 8
#define FN(name) CPU_TYPED(name, maximum_i64)
#include "scan_typed.h"
#undef LOWEST
#undef BEYOND
#define BEYOND(a, b) ((((b) > (a)) | ((b) != (b))) & ((a) == (a)))
#define LOWEST (-HUGE_VALF)
#define from float
#define to float
#define WIDTH 4
#define FN(name) CPU_TYPED(name, maximum_f32)
#include "scan_typed.h"
#define from double
#define to double
#define WIDTH 8
#define FN(name) CPU_TYPED(name, maximum_f64)
#include "scan_typed.h"

/* ------------------------------------------------------------------------------------------------- plans ---- */

static double CPU_NAME(bytes_of)(const fl_scan_args *s, double reads)
{
    return (reads * (double)dtype_size(s->in.dtype) + (double)dtype_size(s->out.dtype)) * (double)s->in.shape[0];
}

static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    const fl_scan_args *s = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = CPU_NAME(bytes_of)(s, 1);
    launch->flops =
        s->reduction == FL_SUM && (s->out.dtype == FL_F32 || s->out.dtype == FL_F64) ? (double)s->in.shape[0] : 0;
}

/* By several threads, all but the last part is read twice. */
static void CPU_NAME(plan_blocked)(void *device, const void *args, fl_launch *launch)
{
    const fl_context context = {.device = device};

    CPU_NAME(plan_naive)(device, args, launch);
    launch->bytes_requested = CPU_NAME(bytes_of)(args, 2 - 1.0 / (double)CPU_NAME(parts_of)(&context, args));
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

#define RUN(variant) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        const fl_scan_args *s = args; \
        const bool sum = s->reduction == FL_SUM; \
        (void)launch; \
        switch (s->in.dtype) { \
        case FL_U8: return (sum ? CPU_TYPED(variant, sum_u8) : CPU_TYPED(variant, maximum_u8))(context, s); \
        case FL_I32: return (sum ? CPU_TYPED(variant, sum_i32) : CPU_TYPED(variant, maximum_i32))(context, s); \
        case FL_I64: return (sum ? CPU_TYPED(variant, sum_i64) : CPU_TYPED(variant, maximum_i64))(context, s); \
        case FL_F32: return (sum ? CPU_TYPED(variant, sum_f32) : CPU_TYPED(variant, maximum_f32))(context, s); \
        default: return (sum ? CPU_TYPED(variant, sum_f64) : CPU_TYPED(variant, maximum_f64))(context, s); \
        } \
    }
RUN(naive)
RUN(blocked)

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_SCAN, "blocked", CPU_ALL, plan_blocked, run_blocked,
             "each thread puts its part together, then scans it from what the earlier parts give")},
    {CPU_ROW(FL_OP_SCAN, "naive", CPU_ALL, plan_naive, run_naive,
             "one element after the other, each of which waits for the previous one")},
};

CPU_OPERATION(cpu_scan, rows);
