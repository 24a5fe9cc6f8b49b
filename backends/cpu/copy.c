/* SPDX-License-Identifier: MIT
 *
 * copy.c - copies in memory: measures the bandwidth, for comparison.
 */
#include "operation.h"

#include <string.h>

enum { PIECE = 1 << 16 }; /* bytes that a thread copies at a time */

static size_t CPU_NAME(bytes_of)(const fl_copy_args *c)
{
    return (size_t)(c->in.shape[0] * dtype_size(c->in.dtype));
}

static void CPU_NAME(plan_copy)(void *device, const void *args, fl_launch *launch)
{
    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested = 2 * (double)CPU_NAME(bytes_of)(args);
}

/* Whole words as a loop, which is what `serial` is to show; the bytes left over one by one. */
static fl_status CPU_NAME(run_naive)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_copy_args *c = args;
    const unsigned char *in = c->in.data;
    unsigned char *out = c->out.data;
    const int64_t bytes = (int64_t)CPU_NAME(bytes_of)(c), words = bytes / 8;

    (void)context, (void)launch;
#pragma omp parallel for simd schedule(static) num_threads(cpu_team(context, (double)bytes))
    for (int64_t i = 0; i < words; i++) {
        uint64_t word; /* copied by memcpy: the array may start at any address */
        memcpy(&word, in + 8 * i, 8);
        memcpy(out + 8 * i, &word, 8);
    }
    for (int64_t i = 8 * words; i < bytes; i++)
        out[i] = in[i];
    return FL_OK;
}

/* memcpy knows the processor's stores that go past the caches; each thread copies its part. */
static fl_status CPU_NAME(run_library)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_copy_args *c = args;
    const int64_t bytes = (int64_t)CPU_NAME(bytes_of)(c), threads = cpu_team(context, (double)bytes);
    const int64_t part = (bytes / threads / PIECE + 1) * PIECE;

    (void)launch;
#pragma omp parallel for schedule(static) num_threads((int)threads)
    for (int64_t start = 0; start < bytes; start += part)
        memcpy((char *)c->out.data + start, (const char *)c->in.data + start,
               (size_t)(bytes - start < part ? bytes - start : part));
    return FL_OK;
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_COPY, "library", CPU_ALL, plan_copy, run_library, "memcpy, one part per thread")},
    {CPU_ROW(FL_OP_COPY, "naive", CPU_ALL, plan_copy, run_naive, "word by word")},
};

CPU_OPERATION(cpu_copy, rows);
