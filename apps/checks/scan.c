/* SPDX-License-Identifier: MIT
 *
 * The expected sums are compensated: what a sum in f64 loses is exact in f64 (Knuth, "The Art of Computer Programming",
 * volume 2, section 4.2.2, theorem B), and is added up beside it, so that the sum is as good as one of twice the digits
 * (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005, algorithm 4.4).
 */
#include "scan.h"

#include "ranks/group.h"
#include "support/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------- sums of floats ---- */

typedef struct running_sum {
    double sum, lost; /* not to be added while the sum is not finite */
    double magnitude; /* the sum of |x| over the finite elements */
    bool finite;      /* all elements were */
} running_sum;

static inline void add(running_sum *r, double x)
{
    const double sum = r->sum + x, of_x = sum - r->sum;

    r->lost += (r->sum - (sum - of_x)) + (x - of_x);
    r->sum = sum;
    r->finite = r->finite && isfinite(x);
    r->magnitude += isfinite(x) ? fabs(x) : 0;
}

/* The sum of the elements that lower ranks have. */
static running_sum sum_of_lower_ranks(const host_array *in)
{
    running_sum own = {.finite = true}, before = own, *all = memory_zeroed((size_t)group_info()->size, sizeof *all);

    for (int64_t i = 0; i < in->shape[0] && group_is_distributed(); i++)
        add(&own, host_array_get(in, i));
    group_gather(&own, all, sizeof own);
    for (int r = 0; r < group_info()->rank; r++) {
        const double magnitude = before.magnitude + all[r].magnitude;
        add(&before, all[r].sum);
        before.lost += all[r].lost;
        before.magnitude = magnitude;
        before.finite = before.finite && all[r].finite;
    }
    free(all);
    return before;
}

/* Returns the bound of the error of the sum of i + 1 elements. */
static double bound_of(int64_t i, const running_sum *r, double unit, bool sequential)
{
    const double terms = (double)i + 1, start = group_is_distributed() ? log2(terms) + 41 + group_info()->size : 0;
    const double tree = 2 * sqrt(terms) + 160 + start;

    return (sequential || terms < tree ? terms : tree) * unit * r->magnitude;
}

/* Where the sum of the absolute values exceeds the dtype, the order decides whether a sum does on its way: any result
 * is right. */
static compare_result compare_sums(const host_array *result, const host_array *in, bool exclusive, bool sequential)
{
    const bool narrow = in->dtype == FL_F32;
    const double unit = narrow ? 0x1p-24 : 0x1p-53, largest = narrow ? (double)FLT_MAX : DBL_MAX;
    const int64_t first = group_before(result->shape[0]);
    running_sum r = sum_of_lower_ranks(in);
    compare_result found = compare_start();

    for (int64_t i = 0; i < result->shape[0]; i++) {
        const double got = host_array_get(result, i);
        if (!exclusive || i > 0)
            add(&r, host_array_get(in, i - exclusive));
        if (r.magnitude > largest)
            compare_add_equal(&found, i, got, 1);
        else
            compare_add(&found, i, got, r.finite ? r.sum + r.lost : r.sum, bound_of(first + i, &r, unit, sequential));
    }
    return found;
}

/* ------------------------------------------------------------------------------------- exact, element by element ----
 */

/* Starts from what the elements of lower ranks give. Integers as unsigned ones, which wrap. */
#define COMPARE(from, to, lowest, put) \
    do { \
        const from *x = in->data; \
        const to *got = result->data; \
        to running = lowest, own = lowest, *all = memory_zeroed((size_t)group_info()->size, sizeof *all); \
        for (int64_t i = 0; i < in->shape[0] && group_is_distributed(); i++) \
            own = put(own, (to)x[i]); \
        group_gather(&own, all, sizeof own); \
        for (int r = 0; r < group_info()->rank; r++) \
            running = put(running, all[r]); \
        free(all); \
        for (int64_t i = 0; i < result->shape[0]; i++) { \
            const to before = running; \
            running = put(running, (to)x[i]); \
            const to expected = exclusive ? before : running; \
            const bool same = got[i] == expected || (got[i] != got[i] && expected != expected); \
            compare_add_exact(&found, i, same, host_array_get(result, i), shown(expected)); \
        } \
    } while (0)
#define SUM(a, b) ((a) + (b))
#define MAXIMUM(a, b) ((a) != (a) || (b) <= (a) ? (a) : (b))

#define shown(value) (double)(int64_t)(value)
static compare_result compare_whole_sums(const host_array *result, const host_array *in, bool exclusive)
{
    compare_result found = compare_start();

    switch (in->dtype) {
    case FL_U8: COMPARE(uint8_t, uint64_t, 0, SUM); break;
    case FL_I32: COMPARE(int32_t, uint64_t, 0, SUM); break;
    default: COMPARE(uint64_t, uint64_t, 0, SUM); break;
    }
    return found;
}
#undef shown

#define shown(value) (double)(value)
static compare_result compare_maxima(const host_array *result, const host_array *in, bool exclusive)
{
    compare_result found = compare_start();

    switch (in->dtype) {
    case FL_U8: COMPARE(uint8_t, uint8_t, 0, MAXIMUM); break;
    case FL_I32: COMPARE(int32_t, int32_t, INT32_MIN, MAXIMUM); break;
    case FL_I64: COMPARE(int64_t, int64_t, INT64_MIN, MAXIMUM); break;
    case FL_F32: COMPARE(float, float, -HUGE_VALF, MAXIMUM); break;
    case FL_F64: COMPARE(double, double, -HUGE_VAL, MAXIMUM); break;
    }
    return found;
}

compare_result scan_compare(const host_array *result, const host_array *in, fl_reduction reduction, bool exclusive,
                            bool sequential)
{
    if (reduction == FL_MAXIMUM)
        return compare_maxima(result, in, exclusive);
    return fl_dtype_is_float(in->dtype) ? compare_sums(result, in, exclusive, sequential)
                                        : compare_whole_sums(result, in, exclusive);
}
