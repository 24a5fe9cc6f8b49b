/* SPDX-License-Identifier: MIT
 *
 * histogram.c - how many elements fall into each bin. The loops are in histogram_typed.h; which bin is right, and how
 * it is found, in histogram_rule.h. Compiled without contraction: a multiply-add would give other edges.
 */
#include "openmp.h"
#include "operation.h"

#include "../shared/histogram_rule.h"

#include <string.h>

enum {
    COPIES = 4, /* histograms that successive elements take in turn: equal ones do not wait for each other's addition */
    MOST_REPLICATED = 4096, /* bins: the copies of more would not stay in the second cache */
    PIECE = 2048,           /* elements whose bins are computed, then counted; bins that are added up at a time */
};

static inline double CPU_NAME(edge)(const histogram_rule *r, int64_t bin)
{
    const double distance = (double)bin * r->width;

    return r->lo + distance;
}

/* The last bin whose edge is not above x, which is between lo and hi. */
static int64_t CPU_NAME(search)(const histogram_rule *r, double x)
{
    int64_t low = 0, high = r->bins - 1;

    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (CPU_NAME(edge)(r, middle) <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The bin of x; -1: it is not counted. */
static inline int64_t CPU_NAME(bin_of)(const histogram_rule *r, double x)
{
    if (!(x >= r->lo && x <= r->hi)) /* NaN, too */
        return !r->clip || x != x ? -1 : x < r->lo ? 0 : r->bins - 1;
    if (!r->nearest)
        return CPU_NAME(search)(r, x);

    const double place = (x - r->lo + r->shift) * r->scale;
    int64_t bin = (int64_t)(place + 0.5);
    bin -= x < CPU_NAME(edge)(r, bin);
    return min64(bin, r->bins - 1);
}

#define T float
#define FN(name) CPU_TYPED(name, f32)
#include "histogram_typed.h"
#undef T
#undef FN
#define T double
#define FN(name) CPU_TYPED(name, f64)
#include "histogram_typed.h"
#undef T
#undef FN
#define T int32_t
#define FN(name) CPU_TYPED(name, i32)
#include "histogram_typed.h"
#undef T
#undef FN
#define T int64_t
#define FN(name) CPU_TYPED(name, i64)
#include "histogram_typed.h"
#undef T
#undef FN
#define T uint8_t
#define FN(name) CPU_TYPED(name, u8)
#include "histogram_typed.h"
#undef T
#undef FN

/* ------------------------------------------------------------------------------------------ replicated ---- */

/* The state that the threads share. */
typedef struct counting {
    histogram_rule rule;
    const fl_histogram_args *args;
    int32_t bytes[UINT8_MAX + 1]; /* the bin of each value of u8 */
    int64_t counters;             /* in one copy: one for each bin, and one for elements outside */
    int copies;                   /* histograms of one thread, which are added up at the end */
} counting;

static void CPU_NAME(places)(const counting *c, int64_t first, int64_t length, int32_t *restrict at)
{
    const void *in = c->args->in.data;

    switch (c->args->in.dtype) {
    case FL_F32: CPU_TYPED(places, f32)(&c->rule, in, first, length, at); break;
    case FL_F64: CPU_TYPED(places, f64)(&c->rule, in, first, length, at); break;
    case FL_I32: CPU_TYPED(places, i32)(&c->rule, in, first, length, at); break;
    case FL_I64: CPU_TYPED(places, i64)(&c->rule, in, first, length, at); break;
    case FL_U8: break; /* count_bytes */
    }
}

/* As `count`, of u8: counts the values, and adds these counts to the values' bins. */
static void CPU_NAME(count_bytes)(const counting *c, int64_t first, int64_t end, int64_t *counts)
{
    const uint8_t *const in = c->args->in.data;
    int64_t by_value[COPIES][UINT8_MAX + 1] = {0};

    for (; first + COPIES <= end; first += COPIES)
        for (int i = 0; i < COPIES; i++)
            by_value[i][in[first + i]]++;
    for (; first < end; first++)
        by_value[0][in[first]]++;
    for (int v = 0; v <= UINT8_MAX; v++)
        counts[c->bytes[v]] += by_value[0][v] + by_value[1][v] + by_value[2][v] + by_value[3][v];
}

/* Counts in[first] to in[end - 1] in the thread's histograms, which are cleared before. */
static void CPU_NAME(count)(const counting *c, int64_t first, int64_t end, int64_t *counts)
{
    int64_t *const a = counts, *const b = a + (c->copies > 1 ? c->counters : 0);
    int64_t *const d = b + (c->copies > 1 ? c->counters : 0), *const e = d + (c->copies > 1 ? c->counters : 0);
    int32_t at[PIECE];

    memset(counts, 0, (size_t)(c->copies * c->counters) * sizeof *counts);
    if (c->args->in.dtype == FL_U8) {
        CPU_NAME(count_bytes)(c, first, end, counts);
        return;
    }
    for (; first < end; first += PIECE) {
        const int64_t length = min64(PIECE, end - first);
        int64_t i = 0;
        CPU_NAME(places)(c, first, length, at);
        for (; i + 4 <= length; i += 4) {
            a[at[i]]++;
            b[at[i + 1]]++;
            d[at[i + 2]]++;
            e[at[i + 3]]++;
        }
        for (; i < length; i++)
            a[at[i]]++;
    }
}

/* out[first] to out[end - 1]: the sums over all histograms. */
static void CPU_NAME(add_up)(const counting *c, const int64_t *counts, int64_t histograms, int64_t first, int64_t end)
{
    int64_t *restrict out = c->args->out.data;

    memset(out + first, 0, (size_t)(end - first) * sizeof *out);
    for (int64_t h = 0; h < histograms; h++) {
        const int64_t *restrict one = counts + h * c->counters;
#pragma omp simd
        for (int64_t b = first; b < end; b++)
            out[b] += one[b];
    }
}

/* Into how many parts the input is divided, a thread each: a part has as many elements as counters to clear. */
static int64_t CPU_NAME(parts_of)(const fl_context *context, const fl_histogram_args *h)
{
    const int64_t elements = h->in.shape[0];

    return max64(1, min64(cpu_team(context, 25.0 * (double)elements), elements / h->out.shape[0]));
}

static fl_status CPU_NAME(run_naive)(const fl_context *context, const void *args, const fl_launch *launch);

static fl_status CPU_NAME(run_replicated)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_histogram_args *h = args;
    const int64_t length = h->in.shape[0], bins = h->out.shape[0], parts = CPU_NAME(parts_of)(context, h);
    const int64_t part = (length + parts - 1) / parts;
    counting c = {.rule = histogram_rule_of(h), .args = h, .counters = bins + 1};
    void *memory;
    fl_status status;

    if (bins >= INT32_MAX)
        return CPU_NAME(run_naive)(context, args, launch);
    c.copies = bins <= MOST_REPLICATED && bins <= length ? COPIES : 1;
    status = context->host->scratch(context, (size_t)(parts * c.copies * c.counters) * sizeof(int64_t), &memory);
    if (status != FL_OK)
        return status;
    if (h->in.dtype == FL_U8) {
        uint8_t value[UINT8_MAX + 1];
        for (int v = 0; v <= UINT8_MAX; v++)
            value[v] = (uint8_t)v;
        CPU_TYPED(places, u8)(&c.rule, value, 0, UINT8_MAX + 1, c.bytes);
    }
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++)
        CPU_NAME(count)
    (&c, min64(p * part, length), min64(p * part + part, length), (int64_t *)memory + p * c.copies * c.counters);
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t first = 0; first < bins; first += PIECE)
        CPU_NAME(add_up)(&c, memory, parts * c.copies, first, min64(first + PIECE, bins));
    return FL_OK;
}

/* -------------------------------------------------------------------------------------------------- rows ---- */

static fl_status CPU_NAME(run_naive)(const fl_context *context, const void *args, const fl_launch *launch)
{
    const fl_histogram_args *h = args;
    const histogram_rule rule = histogram_rule_of(h);
    const int64_t length = h->in.shape[0];
    int64_t *out = h->out.data;

    (void)context, (void)launch;
    memset(out, 0, (size_t)h->out.shape[0] * sizeof *out);
    switch (h->in.dtype) {
    case FL_U8: CPU_TYPED(naive, u8)(&rule, h->in.data, length, out); break;
    case FL_I32: CPU_TYPED(naive, i32)(&rule, h->in.data, length, out); break;
    case FL_I64: CPU_TYPED(naive, i64)(&rule, h->in.data, length, out); break;
    case FL_F32: CPU_TYPED(naive, f32)(&rule, h->in.data, length, out); break;
    case FL_F64: CPU_TYPED(naive, f64)(&rule, h->in.data, length, out); break;
    }
    return FL_OK;
}

static void CPU_NAME(plan)(void *device, const void *args, fl_launch *launch)
{
    const fl_histogram_args *h = args;

    (void)device;
    memset(launch->block, 0, sizeof launch->block);
    launch->bytes_requested =
        (double)(h->in.shape[0] * dtype_size(h->in.dtype)) + (double)h->out.shape[0] * sizeof(int64_t);
}

static const fl_row rows[] = {
    {CPU_ROW(FL_OP_HISTOGRAM, "replicated", CPU_ALL, plan, run_replicated,
             "several histograms a thread, which successive elements take in turn, and their sum")},
    {CPU_ROW(FL_OP_HISTOGRAM, "naive", CPU_ALL, plan, run_naive, "one element after the other: adds 1 to its bin")},
};

CPU_OPERATION(cpu_histogram, rows);
