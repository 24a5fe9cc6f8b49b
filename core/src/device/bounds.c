/* SPDX-License-Identifier: MIT
 *
 * bounds.c - the error of each operation without a tolerance, where no terms cancel: the table of docs/accuracy.md,
 * relative to the largest magnitude of the result (svd, reconstruct: to its Frobenius norm). A variant that is less
 * accurate states its own (fl_row.bound).
 */
#include "bounds.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A unit of rounding; 0 of integers, which are exact. */
static double unit_of(fl_dtype dtype)
{
    return dtype == FL_F32 ? FLT_EPSILON / 2 : dtype == FL_F64 ? DBL_EPSILON / 2 : 0;
}

static double elements_of(const fl_buffer *buffer)
{
    double count = 1;

    for (int d = 0; d < buffer->ndim; d++)
        count *= (double)buffer->shape[d];
    return count;
}

/* The bound of orthogonal transformations (docs/accuracy.md, svd). */
static double of_decomposition(const fl_buffer *a)
{
    return (32 + 8 * sqrt(fmax((double)a->shape[0], (double)a->shape[1]))) * unit_of(a->dtype);
}

static double of_convolve(const fl_convolve_args *c)
{
    return (fmin(elements_of(&c->image), elements_of(&c->kernel)) + 32) * unit_of(c->out.dtype);
}

static double of_convolve1d(const fl_convolve1d_args *c)
{
    return (fmin(elements_of(&c->signal), elements_of(&c->kernel)) + 16) * unit_of(c->out.dtype);
}

/* Sums of n floats, one after the other or in a tree. */
static double of_reduce(const fl_reduce_args *r, const char *variant)
{
    const double n = (double)r->x.shape[1], u = r->reduction == FL_SUM ? unit_of(r->out.dtype) : 0;
    const bool any_order = strcmp(variant, "naive") == 0 || strcmp(variant, "library") == 0;

    return u == 0 ? 0 : (any_order ? n : log2(n) + 41) * u; /* one more for products */
}

static double of_scan(const fl_scan_args *s, const char *variant)
{
    const double n = (double)s->out.shape[0], u = s->reduction == FL_SUM ? unit_of(s->out.dtype) : 0;

    return strcmp(variant, "naive") == 0 ? (n + 1) * u : fmin(n + 1, 2 * sqrt(n + 1) + 160) * u;
}

double core_operation_bound(fl_operation operation, const char *variant, const void *args)
{
    const fl_matmul_args *m = args;

    switch (operation) {
    case FL_OP_CONVOLVE: return of_convolve(args);
    case FL_OP_CONVOLVE1D: return of_convolve1d(args);
    case FL_OP_REDUCE: return of_reduce(args, variant);
    case FL_OP_SCAN: return of_scan(args, variant);
    case FL_OP_MATMUL: return ((double)m->a.shape[m->transpose_a ? 1 : 2] + 1) * unit_of(m->c.dtype);
    case FL_OP_RECONSTRUCT:
        return ((double)((const fl_reconstruct_args *)args)->rank + 4) *
               unit_of(((const fl_reconstruct_args *)args)->y.dtype);
    case FL_OP_SVD: return of_decomposition(&((const fl_svd_args *)args)->a);
    case FL_OP_QR: return of_decomposition(&((const fl_qr_args *)args)->a);
    case FL_OP_INCREMENT:
    case FL_OP_SQRT: return unit_of(((const fl_unary_args *)args)->out.dtype);
    case FL_OP_LOG_OF_SUM: return 8 * unit_of(((const fl_binary_args *)args)->out.dtype); /* 4 in the last place */
    case FL_OP_CONVERT: return unit_of(((const fl_convert_args *)args)->out.dtype);
    case FL_OP_MAP:
    case FL_OP_KERNEL:
    case FL_OP_MULTIPLY_ADD: return INFINITY; /* what the user's text computes, or steps without end */
    default: return 0;                        /* exact: places, counts, elements of the inputs */
    }
}

double core_bound(void *device, const fl_row *row, const void *args)
{
    return row->bound ? row->bound(device, args) : core_operation_bound(row->operation, row->variant, args);
}

const char *core_bound_text(char *text, size_t size, double bound)
{
    const double step = bound > 0 ? pow(10, floor(log10(bound)) - 1) : 0;

    snprintf(text, size, "%.2g", bound);
    if (strtod(text, NULL) < bound)
        snprintf(text, size, "%.2g", (floor(bound / step) + 1) * step);
    return text;
}
