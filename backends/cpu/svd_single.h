/* SPDX-License-Identifier: MIT
 *
 * svd_single.h - what the variant `single` adds to a decomposition in f32: a copy in f32 of a matrix in f64, scaled so
 * that no element over- or underflows, and the factors in f64. Included by svd.c, for each instruction set, and by
 * host_svd.c.
 */
#ifndef FLYNN_CPU_SVD_SINGLE_H
#define FLYNN_CPU_SVD_SINGLE_H

#include "svd_jacobi.h"

#include <flynn/plugin.h>

#include <math.h>
#include <stdlib.h>

/* These functions are compiled for several instruction sets, under names that differ. */
#define single_buffer CPU_NAME(single_buffer)
#define single_narrow CPU_NAME(single_narrow)
#define single_widen CPU_NAME(single_widen)
#define single_open CPU_NAME(single_open)
#define single_close CPU_NAME(single_close)

/* A decomposition in f32: its arguments, packed, in one piece of memory. */
typedef struct svd_single {
    fl_svd_args args;
    int scale; /* the matrix is that in f64 times 2^scale */
} svd_single;

/* A packed array in f32 of the same shape. */
static fl_buffer single_buffer(const fl_buffer *like, float *data)
{
    fl_buffer b = *like;

    b.data = data;
    b.dtype = FL_F32;
    b.stride[b.ndim - 1] = 1;
    if (b.ndim == 2)
        b.stride[0] = b.shape[1];
    return b;
}

/* to = the matrix times 2^scale, in f32, packed. The power itself may be no number, so half of it is multiplied at a
 * time; no element that matters is rounded twice. */
static void single_narrow(const fl_buffer *from, float *to, int scale)
{
    const double half = ldexp(1, scale / 2), rest = ldexp(1, scale - scale / 2);

    for (int64_t i = 0; i < from->shape[0]; i++)
        for (int64_t j = 0; j < from->shape[1]; j++)
            to[i * from->shape[1] + j] = (float)(((const double *)from->data)[i * from->stride[0] + j] * half * rest);
}

/* to = the packed numbers, in f64. */
static void single_widen(const fl_buffer *to, const fl_buffer *from)
{
    for (int64_t i = 0; i < to->shape[0]; i++)
        for (int64_t j = 0; j < to->shape[1]; j++)
            ((double *)to->data)[i * to->stride[0] + j] = (double)((const float *)from->data)[i * to->shape[1] + j];
}

/* Copies the matrix, which is in f64, finite, and whose largest magnitude is `largest`. On success single_close frees
 * the copy. FL_E_MEMORY. */
static fl_status single_open(const fl_host *host, const fl_svd_args *args, double largest, svd_single *s)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], k = args->s.shape[0];
    float *memory = malloc((size_t)(m * n + k * (m + n + 1)) * sizeof *memory);

    if (!memory)
        return host->error(FL_E_MEMORY, "svd: out of memory for the matrix in f32");
    s->scale = jacobi_scale(largest);
    s->args = (fl_svd_args){.a = single_buffer(&args->a, memory),
                            .u = single_buffer(&args->u, memory + m * n),
                            .s = single_buffer(&args->s, memory + m * n + k * (m + n)),
                            .vt = single_buffer(&args->vt, memory + m * n + k * m),
                            .seed = args->seed};
    single_narrow(&args->a, memory, s->scale);
    return FL_OK;
}

/* Writes the factors in f64 if they were computed, frees the copy, and returns the status. */
static fl_status single_close(const fl_svd_args *args, svd_single *s, fl_status computed)
{
    if (computed == FL_OK) {
        single_widen(&args->u, &s->args.u);
        single_widen(&args->vt, &s->args.vt);
        for (int64_t i = 0; i < args->s.shape[0]; i++)
            ((double *)args->s.data)[i] = ldexp((double)((const float *)s->args.s.data)[i], -s->scale);
    }
    free(s->args.a.data);
    return computed;
}

#endif
