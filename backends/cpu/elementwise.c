/* SPDX-License-Identifier: MIT
 *
 * elementwise.c - increment, sqrt, maximum and log_of_sum: the walk over arrays of up to four dimensions, and the rows.
 * What is computed is in elementwise_typed.h.
 */
#include "cpu.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__) && CPU_VECTOR_BITS > 64
#include <emmintrin.h>
#define CAN_STREAM 1
#else
#define CAN_STREAM 0
#endif

/* The hot loops stay functions of their own, called for thousands of elements at a time. */
#define KERNEL static __attribute__((noinline))

/* glibc has logarithms that take whole vectors (libmvec, at most 4 units in the last place off). Its header says so to
 * the compiler only under -ffast-math, which would also give up NaN and infinities; these functions know them. */
#ifdef CPU_VECTOR_LOG
extern float logf(float) __attribute__((simd("notinbranch")));
extern double log(double) __attribute__((simd("notinbranch")));
#endif

enum {
    PIECE = 16384,           /* elements of a row that a thread takes at a time */
    STREAM_BYTES = 32 << 20, /* results of this size are streamed: no cache keeps them until they are read again */
    STREAM_PIECE = 512,      /* bytes that are computed in the first cache and streamed from there at a time */
};

/* The operands: an operation of one input gets it twice. */
enum { X, Y, OUT, OPERANDS };

#define T float
#define wide double
#define SQRT sqrtf
#define LOG logf
#define WIDE_SQRT sqrt
#define WIDE_LOG log
#define FN(name) CPU_TYPED(name, f32)
#include "elementwise_typed.h"
#undef T
#undef wide
#undef SQRT
#undef LOG
#undef WIDE_SQRT
#undef WIDE_LOG
#undef FN
#define T double
#define wide long double
#define SQRT sqrt
#define LOG log
#define WIDE_SQRT sqrt
#define WIDE_LOG logl
#define FN(name) CPU_TYPED(name, f64)
#include "elementwise_typed.h"
#undef T
#undef wide
#undef SQRT
#undef LOG
#undef WIDE_SQRT
#undef WIDE_LOG
#undef FN
#define T int32_t
#define WRAPPING uint32_t
#define FN(name) CPU_TYPED(name, i32)
#include "elementwise_typed.h"
#undef T
#undef WRAPPING
#undef FN
#define T int64_t
#define WRAPPING uint64_t
#define FN(name) CPU_TYPED(name, i64)
#include "elementwise_typed.h"
#undef T
#undef WRAPPING
#undef FN

/* An operation in one dtype. */
typedef struct loops {
    void (*row)(const void *x, const void *y, void *out, int64_t count);
    void (*column)(const void *x, const void *y, void *out, const int64_t *step, int64_t count);
    double flops; /* of an element */
} loops;

#define LOOPS_OF(name, dtype, flops) \
    { \
        CPU_TYPED(name##_row, dtype), CPU_TYPED(name##_column, dtype), flops \
    }

static const loops CPU_NAME(increment)[FL_DTYPE_COUNT] = {
    [FL_I32] = LOOPS_OF(increment, i32, 0),
    [FL_I64] = LOOPS_OF(increment, i64, 0),
    [FL_F32] = LOOPS_OF(increment, f32, 1),
    [FL_F64] = LOOPS_OF(increment, f64, 1),
};
static const loops CPU_NAME(maximum)[FL_DTYPE_COUNT] = {
    [FL_I32] = LOOPS_OF(maximum, i32, 0),
    [FL_I64] = LOOPS_OF(maximum, i64, 0),
    [FL_F32] = LOOPS_OF(maximum, f32, 1),
    [FL_F64] = LOOPS_OF(maximum, f64, 1),
};
static const loops CPU_NAME(sqrt)[FL_DTYPE_COUNT] = {
    [FL_F32] = LOOPS_OF(sqrt, f32, 1),
    [FL_F64] = LOOPS_OF(sqrt, f64, 1),
};
static const loops CPU_NAME(log_of_sum)[FL_DTYPE_COUNT] = {
    [FL_F32] = LOOPS_OF(log_of_sum, f32, 2),
    [FL_F64] = LOOPS_OF(log_of_sum, f64, 2),
};

/* ------------------------------------------------------------------------------------------- the arrays ---- */

static inline int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t size_of(fl_dtype dtype)
{
    return dtype == FL_F32 || dtype == FL_I32 ? 4 : 8;
}

/* The operands as one walk, outermost dimension first. Dimensions of one element are left out, but for the last, in
 * which elements always lie side by side. */
typedef struct walk {
    char *data[OPERANDS];
    int dimensions; /* at least 1 */
    int64_t shape[FL_MAX_DIMS], stride[FL_MAX_DIMS][OPERANDS];
    int64_t size; /* bytes of an element */
} walk;

static walk CPU_NAME(walk_of)(const fl_buffer *x, const fl_buffer *y, const fl_buffer *out)
{
    const fl_buffer *const buffers[OPERANDS] = {x, y, out};
    walk w = {.size = size_of(out->dtype)};

    for (int d = 0; d < out->ndim; d++) {
        if (out->shape[d] == 1 && d < out->ndim - 1)
            continue;
        w.shape[w.dimensions] = out->shape[d];
        for (int k = 0; k < OPERANDS; k++)
            w.stride[w.dimensions][k] = buffers[k]->stride[d];
        w.dimensions++;
    }
    for (int k = 0; k < OPERANDS; k++)
        w.data[k] = buffers[k]->data;
    return w;
}

static bool CPU_NAME(follows)(const walk *w, int d)
{
    for (int k = 0; k < OPERANDS; k++)
        if (w->stride[d - 1][k] != w->shape[d] * w->stride[d][k])
            return false;
    return true;
}

/* Makes one dimension of neighbouring ones that follow each other without a gap in all operands. */
static void CPU_NAME(join_dimensions)(walk *w)
{
    for (int d = w->dimensions - 1; d > 0; d--) {
        if (!CPU_NAME(follows)(w, d))
            continue;
        w->shape[d - 1] *= w->shape[d];
        memcpy(w->stride[d - 1], w->stride[d], sizeof w->stride[d]);
        for (int e = d + 1; e < w->dimensions; e++) {
            w->shape[e - 1] = w->shape[e];
            memcpy(w->stride[e - 1], w->stride[e], sizeof w->stride[e]);
        }
        w->dimensions--;
    }
    for (int d = w->dimensions; d < FL_MAX_DIMS; d++)
        w->shape[d] = 1;
}

/* Elements of the dimensions `from` to `to`, the end excluded. */
static int64_t CPU_NAME(elements_of)(const walk *w, int from, int to)
{
    int64_t count = 1;

    for (int d = from; d < to; d++)
        count *= w->shape[d];
    return count;
}

/* Each operand's address at the place-th position in the dimensions `from` to `to`, counted in row-major order. */
static void CPU_NAME(locate)(const walk *w, int from, int to, int64_t place, char *at[OPERANDS])
{
    for (int k = 0; k < OPERANDS; k++)
        at[k] = w->data[k];
    for (int d = to - 1; d >= from; d--) {
        for (int k = 0; k < OPERANDS; k++)
            at[k] += place % w->shape[d] * w->stride[d][k] * w->size;
        place /= w->shape[d];
    }
}

/* ----------------------------------------------------------------------------------------- the variants ---- */

/* Copies to memory past the caches: what is not to be read soon need not be fetched before it is overwritten, which is
 * a third of the traffic of x + y. (`#pragma omp simd nontemporal` says the same; gcc 12 takes it and does nothing.) */
static inline void stream(char *to, const char *from, int64_t bytes)
{
#if CAN_STREAM
    int64_t head = min64(bytes, (int64_t)(-(uintptr_t)to % sizeof(__m128i)));

    memcpy(to, from, (size_t)head);
    for (; head + (int64_t)sizeof(__m128i) <= bytes; head += (int64_t)sizeof(__m128i))
        _mm_stream_si128((__m128i *)(to + head), _mm_loadu_si128((const __m128i *)(from + head)));
    memcpy(to + head, from + head, (size_t)(bytes - head));
#else
    memcpy(to, from, (size_t)bytes);
#endif
}

/* What was streamed is there for other threads after this. */
static inline void stream_end(void)
{
#if CAN_STREAM
    _mm_sfence();
#endif
}

/* A part of a row by way of the first cache. */
static void CPU_NAME(stream_row)(const loops *l, char *const at[OPERANDS], int64_t size, int64_t count)
{
    _Alignas(CPU_LINE) char result[STREAM_PIECE];
    const int64_t most = STREAM_PIECE / size;

    for (int64_t i = 0; i < count; i += most) {
        int64_t part = min64(most, count - i);
        l->row(at[X] + i * size, at[Y] + i * size, result, part);
        stream(at[OUT] + i * size, result, part * size);
    }
    stream_end();
}

/* Row by row: the innermost loop runs over neighbours. */
static void CPU_NAME(naive)(const fl_context *context, walk w, const loops *l, double bytes)
{
    CPU_NAME(join_dimensions)(&w);
    const int last = w.dimensions - 1;
    const int64_t width = w.shape[last], rows = CPU_NAME(elements_of)(&w, 0, last);
    const bool streams = CAN_STREAM && w.data[OUT] != w.data[X] && w.data[OUT] != w.data[Y] &&
                         width * rows >= STREAM_BYTES / w.size && width >= PIECE;

    (void)context, (void)bytes;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, bytes))
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < width; i += PIECE) {
            char *at[OPERANDS];
            CPU_NAME(locate)(&w, 0, last, row, at);
            for (int k = 0; k < OPERANDS; k++)
                at[k] += i * w.size;
            if (streams)
                CPU_NAME(stream_row)(l, at, w.size, min64(PIECE, width - i));
            else
                l->row(at[X], at[Y], at[OUT], min64(PIECE, width - i));
        }
    }
}

/* A vector as a square of rows, the last of which may be shorter, so that it has a slowest axis to walk along. */
static int64_t CPU_NAME(fold)(int64_t elements)
{
    int64_t width = 1;

    while (width * width < elements)
        width *= 2;
    return width;
}

/* Column by column: the innermost loop runs along the slowest axis. */
static void CPU_NAME(uncoalesced)(const fl_context *context, walk w, const loops *l, double bytes)
{
    const bool folded = w.dimensions == 1;
    const int64_t elements = CPU_NAME(elements_of)(&w, 0, w.dimensions);
    const int64_t columns = folded ? CPU_NAME(fold)(elements) : CPU_NAME(elements_of)(&w, 1, w.dimensions);
    int64_t step[OPERANDS];

    for (int k = 0; k < OPERANDS; k++)
        step[k] = folded ? columns : w.stride[0][k];
    (void)context, (void)bytes;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, bytes))
    for (int64_t column = 0; column < columns; column++) {
        int64_t length = folded ? (elements - column + columns - 1) / columns : w.shape[0];
        char *at[OPERANDS];
        CPU_NAME(locate)(&w, folded ? 0 : 1, w.dimensions, column, at);
        l->column(at[X], at[Y], at[OUT], step, length);
    }
}

/* ------------------------------------------------------------------------------------------------- rows ---- */

static double CPU_NAME(bytes_of)(const fl_buffer *out, int operands)
{
    double bytes = operands * (double)size_of(out->dtype);

    for (int d = 0; d < out->ndim; d++)
        bytes *= (double)out->shape[d];
    return bytes;
}

static void CPU_NAME(plan)(const fl_buffer *out, int operands, const loops *table, fl_launch *launch)
{
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = CPU_NAME(bytes_of)(out, operands);
    launch->flops = launch->bytes_requested / (double)(operands * size_of(out->dtype)) * table[out->dtype].flops;
}

#define UNARY(operation) \
    static void CPU_NAME(plan_##operation)(void *device, const void *args, fl_launch *launch) \
    { \
        (void)device; \
        CPU_NAME(plan)(&((const fl_unary_args *)args)->out, 2, CPU_NAME(operation), launch); \
    } \
    UNARY_RUN(operation, naive) \
    UNARY_RUN(operation, uncoalesced)
#define UNARY_RUN(operation, variant) \
    static fl_status CPU_NAME(operation##_##variant)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_unary_args *a = args; \
        CPU_NAME(variant) \
        (context, CPU_NAME(walk_of)(&a->in, &a->in, &a->out), &CPU_NAME(operation)[a->out.dtype], \
         launch->bytes_requested); \
        return FL_OK; \
    }
#define BINARY(operation) \
    static void CPU_NAME(plan_##operation)(void *device, const void *args, fl_launch *launch) \
    { \
        (void)device; \
        CPU_NAME(plan)(&((const fl_binary_args *)args)->out, 3, CPU_NAME(operation), launch); \
    } \
    BINARY_RUN(operation, naive) \
    BINARY_RUN(operation, uncoalesced)
#define BINARY_RUN(operation, variant) \
    static fl_status CPU_NAME(operation##_##variant)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_binary_args *a = args; \
        CPU_NAME(variant) \
        (context, CPU_NAME(walk_of)(&a->x, &a->y, &a->out), &CPU_NAME(operation)[a->out.dtype], \
         launch->bytes_requested); \
        return FL_OK; \
    }
UNARY(increment)
UNARY(sqrt)
BINARY(maximum)
BINARY(log_of_sum)

#ifdef CPU_REFERENCE
/* The oracle: element by element, wherever it lies. */
static void CPU_NAME(reference)(fl_operation operation, const walk *w, fl_dtype dtype)
{
    const int64_t elements = CPU_NAME(elements_of)(w, 0, w->dimensions);

    for (int64_t i = 0; i < elements; i++) {
        char *at[OPERANDS];
        CPU_NAME(locate)(w, 0, w->dimensions, i, at);
        switch (dtype) {
        case FL_F32: CPU_TYPED(reference, f32)(operation, at); break;
        case FL_F64: CPU_TYPED(reference, f64)(operation, at); break;
        case FL_I32: CPU_TYPED(reference, i32)(operation, at); break;
        default: CPU_TYPED(reference, i64)(operation, at); break;
        }
    }
}

#define UNARY_REFERENCE(operation, number) \
    static fl_status CPU_NAME(operation##_reference)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_unary_args *a = args; \
        const walk w = CPU_NAME(walk_of)(&a->in, &a->in, &a->out); \
        (void)context, (void)launch; \
        CPU_NAME(reference)(number, &w, a->out.dtype); \
        return FL_OK; \
    }
#define BINARY_REFERENCE(operation, number) \
    static fl_status CPU_NAME(operation##_reference)(const fl_context *context, const void *args, \
                                                     const fl_launch *launch) \
    { \
        const fl_binary_args *a = args; \
        const walk w = CPU_NAME(walk_of)(&a->x, &a->y, &a->out); \
        (void)context, (void)launch; \
        CPU_NAME(reference)(number, &w, a->out.dtype); \
        return FL_OK; \
    }
UNARY_REFERENCE(increment, FL_OP_INCREMENT)
UNARY_REFERENCE(sqrt, FL_OP_SQRT)
BINARY_REFERENCE(maximum, FL_OP_MAXIMUM)
BINARY_REFERENCE(log_of_sum, FL_OP_LOG_OF_SUM)
#define REFERENCE_ROW(name, number, types) \
    {.operation = number, \
     .variant = "reference", \
     .dtypes = types, \
     .summary = "the oracle: element by element, computed in the next wider format", \
     .plan = CPU_NAME(plan_##name), \
     .run = CPU_NAME(name##_reference)},
#else
#define REFERENCE_ROW(name, number, types)
#endif

#define FLOATS (1u << FL_F32 | 1u << FL_F64)
#define NUMBERS (FLOATS | 1u << FL_I32 | 1u << FL_I64)
#define ROWS(name, number, types) \
    {.operation = number, \
     .variant = "naive", \
     .dtypes = types, \
     .summary = "one loop over the elements in memory order", \
     .plan = CPU_NAME(plan_##name), \
     .run = CPU_NAME(name##_naive)}, \
        {.operation = number, \
         .variant = "uncoalesced", \
         .dtypes = types, \
         .summary = "inner loop along the slowest axis, a cache line per element, to measure its cost", \
         .plan = CPU_NAME(plan_##name), \
         .run = CPU_NAME(name##_uncoalesced)}, \
        REFERENCE_ROW(name, number, types)

static const fl_row rows[] = {ROWS(increment, FL_OP_INCREMENT, NUMBERS) ROWS(sqrt, FL_OP_SQRT, FLOATS)
                                  ROWS(maximum, FL_OP_MAXIMUM, NUMBERS) ROWS(log_of_sum, FL_OP_LOG_OF_SUM, FLOATS)};

const cpu_operation CPU_NAME(cpu_elementwise) = {.rows = rows, .count = sizeof rows / sizeof *rows};
