/* SPDX-License-Identifier: MIT
 *
 * allclose.c - np.allclose: how many elements differ, and which of them the most. The loops are in allclose_typed.h.
 */
#include "operation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define KERNEL static __attribute__((noinline))

enum { PIECE = 4096 }; /* elements that are counted, and searched for the worst if any of them differs, at a time */

/* The differences that were found so far. The worst is the one furthest beyond its bound; of equals, the one of the
 * lowest index. */
typedef struct findings {
    int64_t differing, worst_index;
    double worst_excess;
} findings;

typedef struct rule {
    double relative, absolute;
    int equal_nan;
} rule;

static inline void add_worst(findings *f, int64_t index, double excess)
{
    bool worse = f->worst_index < 0 || excess > f->worst_excess;

    if (worse || (excess == f->worst_excess && index < f->worst_index)) {
        f->worst_index = index;
        f->worst_excess = excess;
    }
}

static inline void add_findings(findings *f, const findings *part)
{
    f->differing += part->differing;
    if (part->worst_index >= 0)
        add_worst(f, part->worst_index, part->worst_excess);
}

#define T float
#define ABS fabsf
#define LARGEST FLT_MAX
#define FN(name) CPU_TYPED(name, f32)
#include "allclose_typed.h"
#undef T
#undef ABS
#undef LARGEST
#undef FN
#define T double
#define ABS fabs
#define LARGEST DBL_MAX
#define FN(name) CPU_TYPED(name, f64)
#include "allclose_typed.h"
#undef T
#undef ABS
#undef LARGEST
#undef FN

/* ------------------------------------------------------------------------------------------- the arrays ---- */

static bool CPU_NAME(is_packed)(const fl_buffer *buffer)
{
    int64_t stride = 1;

    for (int d = buffer->ndim - 1; d >= 0; d--) {
        if (buffer->shape[d] > 1 && buffer->stride[d] != stride)
            return false;
        stride *= buffer->shape[d];
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- rows ---- */

static void CPU_NAME(plan)(void *device, const void *args, fl_launch *launch)
{
    const fl_allclose_args *c = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = 2 * (double)(elements_of(&c->a) * dtype_size(c->a.dtype));
    launch->flops = 4 * (double)elements_of(&c->a); /* a difference, a product, a sum, a comparison */
}

static void CPU_NAME(store)(const findings *f, const fl_buffer *found)
{
    int64_t *out = found->data;

    out[0] = f->differing;
    out[1] = f->worst_index;
    memcpy(&out[2], &f->worst_excess, sizeof out[2]);
}

/* Each thread keeps its own findings, which are put together at the end. */
static fl_status CPU_NAME(naive)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_allclose_args *c = args;
    const rule r = {c->relative, c->absolute, c->equal_nan};
    const bool packed = CPU_NAME(is_packed)(&c->a) && CPU_NAME(is_packed)(&c->b);
    const int64_t elements = elements_of(&c->a), width = packed ? elements : c->a.shape[c->a.ndim - 1],
                  rows = elements / width;
    findings all = {0, -1, 0};

    (void)context, (void)launch;
#pragma omp parallel num_threads(cpu_team(context, launch->bytes_requested))
    {
        findings mine = {0, -1, 0};
#pragma omp for collapse(2) schedule(static)
        for (int64_t row = 0; row < rows; row++)
            for (int64_t i = 0; i < width; i += PIECE) {
                const void *a =
                    packed ? (const char *)c->a.data + i * dtype_size(c->a.dtype) : element_at(&c->a, row, i);
                const void *b =
                    packed ? (const char *)c->b.data + i * dtype_size(c->b.dtype) : element_at(&c->b, row, i);
                if (c->a.dtype == FL_F32)
                    CPU_TYPED(search, f32)(a, b, min64(PIECE, width - i), row * width + i, &r, &mine);
                else
                    CPU_TYPED(search, f64)(a, b, min64(PIECE, width - i), row * width + i, &r, &mine);
            }
#pragma omp critical
        add_findings(&all, &mine);
    }
    CPU_NAME(store)(&all, &c->found);
    return FL_OK;
}

#ifdef CPU_REFERENCE
/* The oracle: the definition, element by element. */
static fl_status CPU_NAME(reference)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_allclose_args *c = args;
    const rule r = {c->relative, c->absolute, c->equal_nan};
    const int64_t width = c->a.shape[c->a.ndim - 1];
    findings f = {0, -1, 0};

    (void)context, (void)launch;
    for (int64_t i = 0; i < elements_of(&c->a); i++) {
        const char *a = element_at(&c->a, i / width, i % width), *b = element_at(&c->b, i / width, i % width);
        if (c->a.dtype == FL_F32)
            CPU_TYPED(search_element, f32)(*(const float *)a, *(const float *)b, i, &r, &f);
        else
            CPU_TYPED(search_element, f64)(*(const double *)a, *(const double *)b, i, &r, &f);
    }
    CPU_NAME(store)(&f, &c->found);
    return FL_OK;
}
#endif

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_ALLCLOSE, "naive", CPU_FLOATS, plan, naive,
             "counts the elements that differ, then looks for the worst one")},
#ifdef CPU_REFERENCE
    {CPU_ROW(FL_OP_ALLCLOSE, "reference", CPU_FLOATS, plan, reference,
             "the oracle: the definition, element by element")},
#endif
};

CPU_OPERATION(cpu_allclose, rows);
