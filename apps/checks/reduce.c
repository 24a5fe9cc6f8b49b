/* SPDX-License-Identifier: MIT
 *
 * Sums of floats are compensated: what an addition in f64 loses is exact in f64 (Knuth, "The Art of Computer
 * Programming", volume 2, section 4.2.2, theorem B), and is added up beside the sum. The error is then about n^2 2^-106
 * of the sum of magnitudes (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005, proposition 4.5), far below
 * the least bound of a result, 2^-53 of it, since n, the elements that one lane adds up, is far below 2^26.
 *
 * Elements are added row by row to lanes, partial results side by side. Their loops have neither branches nor chains,
 * so that a compiler makes vectors of them.
 */
#include "reduce.h"

#include "ranks/group.h"
#include "run/reference.h"
#include "support/memory.h"
#include "support/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES = 512,       /* results that are computed side by side, at most */
    LANES_OF_ONE = 64, /* lanes of a single result: to put them together takes time, too */
    SHORT = 256,       /* a result of so few adjacent elements has one lane, next to other results */
    PIECE = 1 << 20,   /* elements that a thread takes at a time */
    ENOUGH = 64        /* bundles that give all threads work: then no result is divided into parts */
};

/* Some elements put together. A least element is found as the greatest of -x, for integers of ~x, which never overflow
 * and turn the order around. */
typedef struct partial {
    int64_t count, at;               /* elements; the place of the extreme in all elements of the result */
    double real;                     /* floats: the extreme */
    int64_t whole;                   /* integers: the extreme, or the sum, which wraps */
    long double sum, lost, absolute; /* floats: the sum, its rounding error, the sum of |x| */
} partial;

typedef struct lanes {
    double real[LANES], sum[LANES], lost[LANES], absolute[LANES];
    int64_t whole[LANES], at[LANES];
} lanes;

/* Adjacent results that are computed together: each has a lane; or a single one, which has all lanes. */
typedef struct bundle {
    const reduce_work *work;
    const host_array *result;
    bool floats, single;         /* the lanes are f64, not int64_t; a single result has them */
    int64_t length, step, apart; /* elements of a result; the distance of two of them; that of two lanes' elements */
    int64_t side, block;         /* how many results follow each other at that distance; results of a block */
    int64_t part, parts;         /* elements of a result that are put together at a time; how often that is */
    int64_t first, count;        /* the place of the first result's first element; results */
    partial *found;              /* one for each result of each part */
} bundle;

static bool looks_for_least(fl_reduction reduction)
{
    return reduction == FL_MINIMUM || reduction == FL_ARGMIN;
}

/* ----------------------------------------------------------------------------------------------- in lanes ---- */

#define READ(from, as) \
    for (int64_t i = 0; i < count; i++) { \
        to[i] = (as)((const from *)array->data)[first + i * apart]; \
    }
#define READ_ANY(as) \
    switch (array->dtype) { \
    case FL_U8: READ(uint8_t, as); break; \
    case FL_I32: READ(int32_t, as); break; \
    case FL_I64: READ(int64_t, as); break; \
    case FL_F32: READ(float, as); break; \
    case FL_F64: READ(double, as); break; \
    }

static void read_reals(double *restrict to, const host_array *array, int64_t first, int64_t apart, int64_t count)
{
    READ_ANY(double)
}

static void read_integers(int64_t *restrict to, const host_array *array, int64_t first, int64_t apart, int64_t count)
{
    READ_ANY(int64_t)
}

/* x = x y. The lanes add up what products lose, which fma shows; those of f32 are exact in f64. */
static void multiply_reals(lanes *restrict l, double *restrict x, const double *restrict y, int64_t count, bool exact)
{
    for (int64_t i = 0; i < count && !exact; i++)
        l->lost[i] += fma(x[i], y[i], -(x[i] * y[i]));
    for (int64_t i = 0; i < count; i++)
        x[i] *= y[i];
}

static void add_reals(lanes *restrict l, const double *restrict x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double before = l->sum[i], sum = before + x[i], of_x = sum - before;
        l->lost[i] += (before - (sum - of_x)) + (x[i] - of_x);
        l->absolute[i] += fabs(x[i]);
        l->sum[i] = sum;
    }
}

/* The first NaN stays. */
static void find_real(lanes *restrict l, const double *restrict x, int64_t count, int64_t at, double sign)
{
    for (int64_t i = 0; i < count; i++) {
        const double value = sign * x[i], most = l->real[i];
        const bool stays = (value <= most) | (most != most);
        l->real[i] = stays ? most : value;
        l->at[i] = stays ? l->at[i] : at;
    }
}

static void find_integer(lanes *restrict l, const int64_t *restrict x, int64_t count, int64_t at, int64_t mask)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t value = x[i] ^ mask, most = l->whole[i];
        l->whole[i] = value > most ? value : most;
        l->at[i] = value > most ? at : l->at[i];
    }
}

/* Adds x y, or x where y is NULL. */
static void add_integers(lanes *restrict l, const int64_t *restrict x, const int64_t *restrict y, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        l->whole[i] = (int64_t)((uint64_t)l->whole[i] + (uint64_t)x[i] * (y ? (uint64_t)y[i] : 1));
}

/* Adds one element to each lane: `at` is their place in the results. */
static void add_row(lanes *l, const bundle *b, int64_t first, int64_t count, int64_t at)
{
    const reduce_work *w = b->work;
    const bool sums = w->reduction == FL_SUM, least = looks_for_least(w->reduction);
    double real[LANES], real_y[LANES];
    int64_t whole[LANES], whole_y[LANES];

    if (b->floats) {
        read_reals(real, w->x, first, b->apart, count);
        if (w->y) {
            read_reals(real_y, w->y, first, b->apart, count);
            multiply_reals(l, real, real_y, count, w->x->dtype == FL_F32);
        }
        sums ? add_reals(l, real, count) : find_real(l, real, count, at, least ? -1 : 1);
    } else {
        read_integers(whole, w->x, first, b->apart, count);
        if (w->y)
            read_integers(whole_y, w->y, first, b->apart, count);
        sums ? add_integers(l, whole, w->y ? whole_y : NULL, count) : find_integer(l, whole, count, at, least ? -1 : 0);
    }
}

/* ------------------------------------------------------------------------------------------- put together ---- */

/* Neumaier's step ("Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54, 1974). */
static void add(partial *p, long double value)
{
    const long double sum = p->sum + value;

    p->lost += fabsl(p->sum) >= fabsl(value) ? (p->sum - sum) + value : (value - sum) + p->sum;
    p->sum = sum;
}

static long double total(const partial *p)
{
    return isfinite(p->sum) ? p->sum + p->lost : p->sum;
}

/* Returns whether b has the greater extreme, or the first NaN. All floats have the same `whole`, all integers the same
 * `real`. */
static bool beats(const partial *b, const partial *a)
{
    return b->whole > a->whole || (!(b->real <= a->real) && !isnan(a->real));
}

/* Adds other elements of the same result. Of equal extremes the first one counts. */
static void add_partial(partial *p, const partial *other, fl_reduction reduction)
{
    if (other->count == 0)
        return;
    if (reduction == FL_SUM) {
        p->whole = (int64_t)((uint64_t)p->whole + (uint64_t)other->whole);
        p->absolute += other->absolute;
        add(p, other->sum);
        p->lost += other->lost;
    } else if (p->count == 0 || beats(other, p) || (!beats(p, other) && other->at < p->at)) {
        p->at = other->at;
        p->real = other->real;
        p->whole = other->whole;
    }
    p->count += other->count;
}

/* Adds up again what is not finite in f64, in long double, whose range is wider on many machines: a sum may leave the
 * range on its way and come back. */
static void sum_again(partial *p, const reduce_work *w, int64_t first, int64_t step)
{
    p->sum = p->lost = p->absolute = 0;
    for (int64_t k = 0, i = first; k < p->count; k++, i += step) {
        const long double value = (long double)host_array_get(w->x, i) * (w->y ? host_array_get(w->y, i) : 1);
        p->absolute += fabsl(value);
        add(p, value);
    }
}

/* Puts the i-th part of each result together. */
static void reduce_part(void *user, int64_t i)
{
    const bundle *b = user;
    const int64_t from = i * b->part, count = int64_smaller(b->part, b->length - from);
    const int64_t first = b->first + from * b->step;
    const int64_t row = b->single ? LANES_OF_ONE : 1; /* elements of one result in a row */
    const int64_t used = b->single ? int64_smaller(row, count) : b->count;
    lanes l;

    for (int64_t j = 0; j < used; j++) {
        l.sum[j] = l.lost[j] = l.absolute[j] = 0;
        l.real[j] = -INFINITY;
        l.whole[j] = b->work->reduction == FL_SUM ? 0 : INT64_MIN;
        l.at[j] = from;
    }
    for (int64_t k = 0; k < count; k += row)
        add_row(&l, b, first + k * b->step, b->single ? int64_smaller(row, count - k) : b->count, from + k);
    for (int64_t j = 0; j < used; j++) {
        const int64_t skipped = b->single ? j : 0;
        partial lane = {(count - skipped + row - 1) / row,
                        l.at[j] + skipped,
                        l.real[j],
                        l.whole[j],
                        l.sum[j],
                        l.lost[j],
                        l.absolute[j]};
        if (!isfinite(l.absolute[j]))
            sum_again(&lane, b->work, first + j * b->apart, row * b->step);
        add_partial(&b->found[i * b->count + j - skipped], &lane, b->work->reduction);
    }
}

/* -------------------------------------------------------------------------------------------- the verdict ---- */

static void compare_whole(compare_result *found, int64_t i, const host_array *result, int64_t expected)
{
    int64_t got = 0;

    read_integers(&got, result, i, 1, 1);
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
    const bool single = result->dtype == FL_F32, least = looks_for_least(w->reduction);
    const double sum = single ? (double)(float)total(p) : (double)total(p);
    const double underflow =
        w->y ? (double)p->count * smallest_subnormal(result->dtype) : 0; /* each product may lose so much */

    if (w->reduction == FL_ARGMIN || w->reduction == FL_ARGMAX)
        compare_whole(found, i, result, p->at);
    else if (w->reduction != FL_SUM && fl_dtype_is_float(result->dtype))
        compare_add(found, i, host_array_get(result, i), least ? -p->real : p->real, 0);
    else if (!fl_dtype_is_float(result->dtype))
        compare_whole(found, i, result, least ? ~p->whole : p->whole);
    else /* `sum` itself is rounded */
        compare_add(found, i, host_array_get(result, i), sum,
                    (units(w, p->count) + 1) * unit_roundoff(result->dtype) * (double)p->absolute + underflow);
}

static compare_result compare_block(const void *user, int64_t i)
{
    bundle b = *(const bundle *)user;
    const int64_t end = int64_smaller((i + 1) * b.block, host_array_size(b.result)), parts = b.parts;
    partial *all = memory_zeroed((size_t)((parts + 1) * b.count), sizeof *all);
    compare_result found = compare_start();

    for (int64_t at = i * b.block; at < end; at += b.count) {
        b.first = at / b.step * b.length * b.step + at % b.step;
        b.count = int64_smaller(int64_smaller(b.side - at % b.side, LANES), end - at);
        b.found = all + b.count;
        memset(all, 0, (size_t)((parts + 1) * b.count) * sizeof *all);
        threads_share(group_threads(), parts, reduce_part, &b);
        for (int64_t j = 0; j < parts * b.count; j++)
            add_partial(&all[j % b.count], &b.found[j], b.work->reduction);
        for (int64_t j = 0; j < b.count; j++)
            compare_one(&found, at + j, b.result, b.work, &all[j]);
    }
    free(all);
    return found;
}

/* Returns a bundle of one result, whose elements are adjacent and of one part. */
static bundle single_result(const reduce_work *w, const host_array *result, int64_t length, partial *found)
{
    const bool floats = fl_dtype_is_float(w->reduction == FL_SUM ? result->dtype : w->x->dtype);

    return (bundle){.work = w,
                    .result = result,
                    .floats = floats,
                    .single = true,
                    .length = length,
                    .step = 1,
                    .apart = 1,
                    .side = 1,
                    .part = length,
                    .count = 1,
                    .found = found};
}

/* Threads take blocks of results, or, where the results are few and long, parts of each. */
compare_result reduce_compare(const reduce_work *w, const host_array *result)
{
    const int64_t results = host_array_size(result);
    bundle b = single_result(w, result, w->axis < 0 ? host_array_size(w->x) : w->x->shape[w->axis], NULL);

    if (results == 0) /* there is nothing that could be wrong */
        return (compare_result){.ok = true, .worst_index = -1, .excess = -1};
    for (int d = w->axis + 1; w->axis >= 0 && d < w->x->ndim; d++)
        b.step *= w->x->shape[d];
    b.single = b.step == 1 && b.length > SHORT;
    b.apart = b.step == 1 && !b.single ? b.length : 1;
    b.side = b.step == 1 && !b.single ? results : b.step;
    b.count = int64_smaller(b.side, LANES);
    if (results / b.count < ENOUGH)
        b.part = PIECE / b.count;
    b.parts = b.length > 0 ? (b.length + b.part - 1) / b.part : 0;
    b.block = b.parts > 1 ? results : int64_larger(PIECE / int64_larger(b.length, 1), b.count);
    return reference_blocks((results + b.block - 1) / b.block, compare_block, &b);
}

compare_result reduce_compare_distributed(const reduce_work *w, const host_array *result)
{
    const size_t ranks = (size_t)group_info()->size;
    partial own = {.count = 0}, all = {.count = 0}, *each = memory_zeroed(ranks, sizeof *each);
    compare_result found = compare_start();
    bundle b = single_result(w, result, host_array_size(w->x), &own);

    reduce_part(&b, 0);
    group_gather(&own, each, sizeof own);
    for (size_t r = 0; r < ranks; r++) {
        each[r].at += all.count; /* the elements of lower ranks come before */
        add_partial(&all, &each[r], w->reduction);
    }
    free(each);
    if (host_array_size(result) > 0)
        compare_one(&found, 0, result, w, &all);
    return found;
}
