/* SPDX-License-Identifier: MIT
 *
 * The expected sums of f64 are compensated: what a sum in f64 loses is exact in f64 (Knuth, "The Art of Computer
 * Programming", volume 2, section 4.2.2, theorem B), and is added up beside it, so that the sum is as good as one of
 * twice the digits (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005, algorithm 4.4). Those of f32 are plain
 * sums in f64: the error of n terms, n 2^-53 of the sum of magnitudes, is below 2^-8 of their bound up to n = 2^44.
 *
 * Threads read the input twice, as a blocked scan does: first they compute the total of each block, from which follows
 * the total of all elements before it; then they compare the results of each block.
 */
#include "scan.h"

#include "ranks/group.h"
#include "run/reference.h"
#include "support/memory.h"
#include "support/threads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements: the arrays of a chunk stay in the first cache. LANES elements are added side by side. */
enum { CHUNK = 512, BLOCK = 128 * CHUNK, LANES = 16 };

/* The sum or the maximum of all elements up to a place. */
typedef struct running {
    double real;      /* of floats; a maximum is that of the elements that are not NaN */
    double lost;      /* by a sum of f64; counts while that is finite. Of a maximum NaN after a NaN, else 0 */
    double magnitude; /* of the sum: the sum of |x| over the finite elements */
    int64_t whole;    /* of integers; a sum wraps */
} running;

/* A comparison, of which threads take blocks. */
typedef struct scan_work {
    const host_array *result, *in;
    bool sums, exclusive, sequential;
    int64_t lower;   /* elements that lower ranks have */
    running *blocks; /* the total of each block; in the second pass that of all elements before it */
} scan_work;

#define SUM(a, b) (int64_t)((uint64_t)(a) + (uint64_t)(b))
#define MAXIMUM(a, b) ((b) > (a) ? (b) : (a))

/* What sum = a + b lost. */
static inline double lost_by(double a, double b, double sum)
{
    const double of_b = sum - a;

    return (a - (sum - of_b)) + (b - of_b);
}

static inline void add(running *r, double x, double magnitude)
{
    const double sum = r->real + x;

    r->lost += lost_by(r->real, x, sum);
    r->real = sum;
    r->magnitude += magnitude;
}

/* Adds the total of the elements that follow. */
static void append(const scan_work *w, running *r, const running *next)
{
    if (w->sums)
        add(r, next->real, next->magnitude);
    else
        r->real = MAXIMUM(r->real, next->real);
    r->lost += next->lost;
    r->whole = w->sums ? SUM(r->whole, next->whole) : MAXIMUM(r->whole, next->whole);
}

/* The total of no elements. */
static running start(const scan_work *w)
{
    const fl_dtype dtype = w->in->dtype;

    if (w->sums)
        return (running){.real = 0};
    return (running){.real = -HUGE_VAL, .whole = dtype == FL_U8 ? 0 : dtype == FL_I32 ? INT32_MIN : INT64_MIN};
}

#define LOAD(from, into) \
    do { \
        for (int64_t i = 0; i < count; i++) \
            ((into *)to)[i] = ((const from *)array->data)[first + i]; \
    } while (0)

/* Copies a part of an array: floats as f64, integers as i64. */
static void load(const host_array *array, int64_t first, int64_t count, void *to)
{
    switch (array->dtype) {
    case FL_U8: LOAD(uint8_t, int64_t); break;
    case FL_I32: LOAD(int32_t, int64_t); break;
    case FL_I64: LOAD(int64_t, int64_t); break;
    case FL_F32: LOAD(float, double); break;
    case FL_F64: LOAD(double, double); break;
    }
}

/* Sets the bound of the error of each sum from `first` on. */
static void set_bounds(const scan_work *w, int64_t first, int64_t count, const double *magnitude, double *bound)
{
    const double unit = unit_roundoff(w->in->dtype), ranks = group_info()->size;
    const bool distributed = group_is_distributed();

    for (int64_t i = 0; i < count; i++) {
        const double terms = (double)(w->lower + first + i) + 1;
        const double tree = 2 * sqrt(terms) + 160 + (distributed ? log2(terms) + 41 + ranks : 0);
        bound[i] = (w->sequential || terms < tree ? terms : tree) * unit * magnitude[i];
    }
}

static double finite_magnitude(double x)
{
    return fabs(x) <= DBL_MAX ? fabs(x) : 0;
}

/* Appends the sum of `count` elements to *r. A compiler makes vectors of the loop over lanes, which has no chain. */
static void append_sum(const scan_work *w, running *r, int64_t first, int64_t count)
{
    double x[CHUNK], real[LANES] = {0}, lost[LANES] = {0}, magnitude[LANES] = {0};

    load(w->in, first, count, x);
    memset(x + count, 0, (size_t)(CHUNK - count) * sizeof *x);
    for (int64_t i = 0; i < CHUNK; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const double sum = real[k] + x[i + k];
            lost[k] += lost_by(real[k], x[i + k], sum);
            magnitude[k] += finite_magnitude(x[i + k]);
            real[k] = sum;
        }
    for (int k = 0; k < LANES; k++)
        append(w, r, &(running){real[k], lost[k], magnitude[k], 0});
}

/* Appends each of `count` elements to *r: sum[i] and magnitude[i] are of those before x[i]. */
static void sums_of_f32(running *r, const double *restrict x, int64_t count, double *restrict sum,
                        double *restrict magnitude)
{
    sum[0] = r->real;
    magnitude[0] = r->magnitude;
    for (int64_t i = 0; i < count; i++) {
        sum[i + 1] = sum[i] + x[i];
        magnitude[i + 1] = magnitude[i] + finite_magnitude(x[i]);
    }
    *r = (running){.real = sum[count], .magnitude = magnitude[count]};
}

static void sums_of_f64(running *r, const double *restrict x, int64_t count, double *restrict sum,
                        double *restrict magnitude)
{
    double lost[CHUNK + 1];
    running end = *r;

    sum[0] = end.real;
    lost[0] = end.lost;
    magnitude[0] = end.magnitude;
    for (int64_t i = 0; i < count; i++) {
        add(&end, x[i], finite_magnitude(x[i]));
        sum[i + 1] = end.real;
        lost[i + 1] = end.lost;
        magnitude[i + 1] = end.magnitude;
    }
    *r = end;
    for (int64_t i = 0; i <= count; i++) {
        const double rest = lost[i]; /* is read in any case, so that a compiler makes vectors of the loop */
        sum[i] += fabs(sum[i]) <= DBL_MAX ? rest : 0;
    }
}

/* The functions pass_... append `count` elements from `first` on to *r and, with `found`, compare their results. Place
 * i + 1 of their arrays is for the elements up to the i-th of them: an exclusive result belongs to the place before.
 *
 * Where the sum of the absolute values exceeds the dtype, the order decides whether a sum does on its way: from there
 * on any result is right. */
static void pass_sums(const scan_work *w, running *r, int64_t first, int64_t count, compare_result *found)
{
    const bool f32 = w->in->dtype == FL_F32;
    const double largest = f32 ? (double)FLT_MAX : DBL_MAX;
    double x[CHUNK], sum[CHUNK + 1], magnitude[CHUNK + 1], bound[CHUNK];
    int64_t bounded = count;

    if (!found) {
        append_sum(w, r, first, count);
        return;
    }
    load(w->in, first, count, x);
    f32 ? sums_of_f32(r, x, count, sum, magnitude) : sums_of_f64(r, x, count, sum, magnitude);
    load(w->result, first, count, x);
    set_bounds(w, first, count, magnitude + !w->exclusive, bound);
    while (bounded > 0 && magnitude[bounded - w->exclusive] > largest)
        bounded--;
    compare_add_run(found, first, bounded, x, sum + !w->exclusive, bound);
    if (bounded < count)
        compare_add_equal(found, first + bounded, x[bounded], count - bounded);
}

static void pass_maxima(const scan_work *w, running *r, int64_t first, int64_t count, compare_result *found)
{
    static const double bound[CHUNK];
    double x[CHUNK], totals[CHUNK + 1];
    const double *const expected = totals + !w->exclusive;
    running end = *r;

    load(w->in, first, count, x);
    totals[0] = end.real + end.lost;
    for (int64_t i = 0; i < count; i++) {
        end.real = MAXIMUM(end.real, x[i]);
        end.lost = x[i] == x[i] ? end.lost : NAN;
        totals[i + 1] = end.real + end.lost;
    }
    *r = end;
    if (!found)
        return;
    load(w->result, first, count, x);
    if (memcmp(x, expected, (size_t)count * sizeof *x) == 0)
        compare_add_equal(found, first, x[0], count);
    else
        compare_add_run(found, first, count, x, expected, bound);
}

static void pass_integers(const scan_work *w, running *r, int64_t first, int64_t count, compare_result *found)
{
    int64_t x[CHUNK], totals[CHUNK + 1];
    const int64_t *const expected = totals + !w->exclusive;

    load(w->in, first, count, x);
    totals[0] = r->whole;
    for (int64_t i = 0; i < count; i++)
        totals[i + 1] = w->sums ? SUM(totals[i], x[i]) : MAXIMUM(totals[i], x[i]);
    r->whole = totals[count];
    if (!found)
        return;
    load(w->result, first, count, x);
    if (memcmp(x, expected, (size_t)count * sizeof *x) == 0)
        compare_add_equal(found, first, (double)x[0], count);
    else
        for (int64_t i = 0; i < count; i++)
            compare_add_exact(found, first + i, x[i] == expected[i], (double)x[i], (double)expected[i]);
}

static void pass_block(const scan_work *w, int64_t i, running *r, compare_result *found)
{
    const int64_t end = int64_smaller((i + 1) * BLOCK, w->in->shape[0]);
    const bool floats = fl_dtype_is_float(w->in->dtype);

    for (int64_t first = i * BLOCK; first < end; first += CHUNK)
        (!floats   ? pass_integers
         : w->sums ? pass_sums
                   : pass_maxima)(w, r, first, int64_smaller(CHUNK, end - first), found);
}

static void add_block(void *work, int64_t i)
{
    const scan_work *w = work;

    w->blocks[i] = start(w);
    pass_block(w, i, &w->blocks[i], NULL);
}

static compare_result compare_block(const void *work, int64_t i)
{
    const scan_work *w = work;
    running r = w->blocks[i];
    compare_result found = compare_start();

    pass_block(w, i, &r, &found);
    return found;
}

/* Replaces each of `count` totals by that of all before it, and *r by that of all; *r: what is before the first one. */
static void totals_before(const scan_work *w, running *r, running *totals, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const running total = totals[i];
        totals[i] = *r;
        append(w, r, &total);
    }
}

compare_result scan_compare(const host_array *result, const host_array *in, fl_reduction reduction, bool exclusive,
                            bool sequential)
{
    const int64_t count = (in->shape[0] + BLOCK - 1) / BLOCK;
    running *blocks = memory_zeroed((size_t)count, sizeof *blocks);
    running *ranks = memory_zeroed((size_t)group_info()->size, sizeof *ranks);
    scan_work w = {result, in, reduction == FL_SUM, exclusive, sequential, group_before(in->shape[0]), blocks};
    running own = start(&w), all = own;
    compare_result found;

    threads_share(group_threads(), count, add_block, &w);
    for (int64_t i = 0; i < count; i++)
        append(&w, &own, &blocks[i]);
    group_gather(&own, ranks, sizeof own);
    totals_before(&w, &all, ranks, group_info()->size);
    totals_before(&w, &ranks[group_info()->rank], blocks, count);
    found = reference_blocks(count, compare_block, &w);
    free(ranks);
    free(blocks);
    return found;
}
