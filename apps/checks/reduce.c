/* SPDX-License-Identifier: MIT */
#include "reduce.h"

#include "ranks/group.h"
#include "run/reference.h"
#include "support/memory.h"

#include <math.h>
#include <stdlib.h>

/* An element, exactly: a floating-point number, or an integer. */
typedef struct number {
    double real;
    int64_t whole;
} number;

/* Some elements put together. */
typedef struct partial {
    int64_t count, at; /* elements; the place of the extreme among them */
    number extreme;
    uint64_t whole;                        /* the sum of integers, which wraps */
    long double sum, correction, absolute; /* floats: the sum, its rounding error, the sum of |x| */
} partial;

static number element(const host_array *array, int64_t i)
{
    number n = {.real = 0};

    if (fl_dtype_is_float(array->dtype))
        n.real = host_array_get(array, i);
    else
        n.whole = array->dtype == FL_I64 ? ((const int64_t *)array->data)[i] : (int64_t)host_array_get(array, i);
    return n;
}

/* An integer has real = 0, a floating-point number has whole = 0. */
static bool beats(number b, number a, bool most)
{
    const bool less = b.real < a.real || b.whole<a.whole, more = b.real> a.real || b.whole > a.whole;

    return !isnan(a.real) && (isnan(b.real) || (most ? more : less));
}

/* Neumaier's step. */
static void add(partial *p, long double value)
{
    const long double sum = p->sum + value;

    p->correction += fabsl(p->sum) >= fabsl(value) ? (p->sum - sum) + value : (value - sum) + p->sum;
    p->sum = sum;
}

static long double total(const partial *p)
{
    return isfinite(p->sum) ? p->sum + p->correction : p->sum;
}

static bool looks_for_most(fl_reduction reduction)
{
    return reduction == FL_MAXIMUM || reduction == FL_ARGMAX;
}

static void add_element(partial *p, const reduce_work *w, int64_t i)
{
    const number x = element(w->x, i), y = w->y ? element(w->y, i) : (number){1, 1};

    if (w->reduction == FL_SUM) {
        const long double value =
            ((long double)x.real + (long double)x.whole) * ((long double)y.real + (long double)(w->y ? y.whole : 0));
        p->whole += (uint64_t)x.whole * (uint64_t)y.whole;
        p->absolute += fabsl(value);
        add(p, value);
    } else if (p->count == 0 || beats(x, p->extreme, looks_for_most(w->reduction))) {
        p->extreme = x;
        p->at = p->count;
    }
    p->count++;
}

/* Adds what the next elements are together. */
static void add_partial(partial *p, const partial *next, fl_reduction reduction)
{
    if (next->count == 0)
        return;
    if (p->count == 0 || beats(next->extreme, p->extreme, looks_for_most(reduction))) {
        p->extreme = next->extreme;
        p->at = p->count + next->at;
    }
    p->whole += next->whole;
    p->absolute += next->absolute;
    add(p, next->sum);
    p->correction += next->correction;
    p->count += next->count;
}

/* -------------------------------------------------------------------------------------------- the verdict ---- */

static void compare_whole(compare_result *found, int64_t i, const host_array *result, int64_t expected)
{
    const int64_t got = element(result, i).whole;

    compare_add_exact(found, i, got == expected, (double)got, (double)expected);
}

/* flynn.h's bound of a sum of n floats, in units of rounding of the result; one more for products. */
static double units(const reduce_work *w, int64_t n)
{
    const double pairwise = log2(n > 1 ? (double)n : 1) + 40, naive = n > 1 ? (double)(n - 1) : 0;

    return (w->naive ? naive : fmin(pairwise, naive)) + (w->y ? 1 : 0);
}

static void compare_one(compare_result *found, int64_t i, const host_array *result, const reduce_work *w,
                        const partial *p)
{
    const bool single = result->dtype == FL_F32;
    const double sum = single ? (double)(float)total(p) : (double)total(p);
    const double underflow =
        w->y ? (double)p->count * smallest_subnormal(result->dtype) : 0; /* each product may lose so much */

    if (w->reduction == FL_ARGMIN || w->reduction == FL_ARGMAX)
        compare_whole(found, i, result, p->at);
    else if (w->reduction != FL_SUM && fl_dtype_is_float(result->dtype))
        compare_add(found, i, host_array_get(result, i), p->extreme.real, 0);
    else if (!fl_dtype_is_float(result->dtype))
        compare_whole(found, i, result, w->reduction == FL_SUM ? (int64_t)p->whole : p->extreme.whole);
    else /* `sum` itself is rounded */
        compare_add(found, i, host_array_get(result, i), sum,
                    (units(w, p->count) + 1) * unit_roundoff(result->dtype) * (double)p->absolute + underflow);
}

compare_result reduce_compare(const reduce_work *w, const host_array *result)
{
    const int64_t results = host_array_size(result),
                  length = w->axis < 0 ? host_array_size(w->x) : w->x->shape[w->axis];
    compare_result found = compare_start();
    int64_t inner = 1;

    for (int d = w->axis + 1; w->axis >= 0 && d < w->x->ndim; d++)
        inner *= w->x->shape[d];
    for (int64_t i = 0; i < results; i++) {
        partial p = {.count = 0};
        for (int64_t k = 0; k < length; k++)
            add_element(&p, w, (i / inner * length + k) * inner + i % inner);
        compare_one(&found, i, result, w, &p);
    }
    if (results == 0)
        found.ok = true; /* there is nothing that could be wrong */
    return found;
}

compare_result reduce_compare_distributed(const reduce_work *w, const host_array *result)
{
    const size_t ranks = (size_t)group_info()->size;
    partial own = {.count = 0}, all = {.count = 0}, *each = memory_zeroed(ranks, sizeof *each);
    compare_result found = compare_start();

    for (int64_t i = 0, size = host_array_size(w->x); i < size; i++)
        add_element(&own, w, i);
    group_gather(&own, each, sizeof own);
    for (size_t r = 0; r < ranks; r++)
        add_partial(&all, &each[r], w->reduction);
    free(each);
    if (host_array_size(result) > 0)
        compare_one(&found, 0, result, w, &all);
    return found;
}
