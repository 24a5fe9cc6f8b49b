/* SPDX-License-Identifier: MIT
 *
 * select.c - the elements that are not zero, in their order. The loops are in select_typed.h, once for each size of an
 * element: what is zero is seen in its bits, in which floats may have a sign besides.
 */
#include "operation.h"
#include "openmp.h"

#include <string.h>
#if defined(__SSE2__) && CPU_VECTOR_BITS == 512
#include <immintrin.h>
#define CPU_COMPRESSES 1
#else
#define CPU_COMPRESSES 0
#endif

enum { PIECE_BYTES = 16384 }; /* counted, then copied: they stay in the first cache between the two */

static inline bool has_sign(fl_dtype dtype)
{
    return dtype == FL_F32 || dtype == FL_F64;
}

/* The number of parts into which `scan` divides the input: one a thread. An element takes 0.5 ns, with AVX-512 0.1. */
static inline int64_t CPU_NAME(parts_of)(const fl_context *context, const fl_select_args *s)
{
    const double each = CPU_COMPRESSES && s->in.dtype != FL_U8 ? 5 : 25;

    return min64(cpu_team(context, each * (double)s->in.shape[0]), s->in.shape[0]);
}

#define bits uint8_t
#define FN(name) CPU_TYPED(name, bits8)
#include "select_typed.h"
#undef bits
#undef FN
#if CPU_COMPRESSES
#define SET(element) _mm512_set1_epi32((int)(element))
#define TEST(x, y) (unsigned)_mm512_test_epi32_mask(x, y)
#define COMPRESS(mask, x) _mm512_maskz_compress_epi32((__mmask16)(mask), x)
#endif
#define bits uint32_t
#define FN(name) CPU_TYPED(name, bits32)
#include "select_typed.h"
#undef bits
#undef FN
#if CPU_COMPRESSES
#define SET(element) _mm512_set1_epi64((long long)(element))
#define TEST(x, y) (unsigned)_mm512_test_epi64_mask(x, y)
#define COMPRESS(mask, x) _mm512_maskz_compress_epi64((__mmask8)(mask), x)
#endif
#define bits uint64_t
#define FN(name) CPU_TYPED(name, bits64)
#include "select_typed.h"
#undef bits
#undef FN

/* ------------------------------------------------------------------------------------------------- plans ---- */

static inline double in_bytes(const fl_select_args *s)
{
    double size = s->in.dtype == FL_U8 ? 1 : s->in.dtype == FL_I32 || s->in.dtype == FL_F32 ? 4 : 8;

    return size * (double)s->in.shape[0];
}

static void CPU_NAME(plan_naive)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = in_bytes(args) + sizeof(int64_t);
}

/* Each element is read to be counted and again to be copied; by several threads, once more before both. */
static void CPU_NAME(plan_scan)(void *device, const void *args, fl_launch *launch)
{
    const fl_context context = {.device = device};
    const int64_t parts = CPU_NAME(parts_of)(&context, args);

    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = in_bytes(args) * (3 - 1.0 / (double)parts) + sizeof(int64_t);
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

#define RUN(variant) \
    static fl_status CPU_NAME(run_##variant)(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        (void)launch; \
        switch (((const fl_select_args *)args)->in.dtype) { \
        case FL_U8: return CPU_TYPED(variant, bits8)(context, args); \
        case FL_I32: \
        case FL_F32: return CPU_TYPED(variant, bits32)(context, args); \
        default: return CPU_TYPED(variant, bits64)(context, args); \
        } \
    }
RUN(naive)
RUN(scan)

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_SELECT, "scan", CPU_ALL, plan_scan, run_scan,
             "counts the elements of each part, adds up the counts, then copies without branches")},
    {CPU_ROW(FL_OP_SELECT, "naive", CPU_ALL, plan_naive, run_naive,
             "one element after the other: appends it if it is not zero")},
};

CPU_OPERATION(cpu_select, rows);
