/* SPDX-License-Identifier: MIT */
#include "reconstruct.h"

#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/threads.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUN = 64, SAMPLES = 4096, BLOCK = 256, ROWS = 16 };

/* Multiply-adds that the sums may cost: some 5 s of one core. */
static const double MOST_SUMS = 0x1p34;

/* Multiply-adds that checking every element may cost: below 1 s of one core. The reference sums f64 in long double, and
 * the bound is a second sum. */
static const double MOST_WORK[] = {[FL_F32] = 0x1p28, [FL_F64] = 0x1p27};
/* Multiply-adds that comparing elements one by one may cost, unless a 256th of the result is more: its terms are loaded
 * from all over vt. */
static const double ALONE_WORK = 0x1p24;

struct reconstruct_oracle {
    host_array u, s, vt; /* the caller's; s may be empty: all ones */
    fl_dtype dtype;      /* of the result */
    int64_t batch, rows, columns, k, keep;
    uint64_t seed;
    host_array expected, bound; /* of every element; empty: by sums */
    int64_t run, runs;          /* neighbours in a sum; sums of a row */
    double *signs;              /* of each column */
    double *sums;               /* expected: batch x rows x runs */
    double *u_norms, *vt_norms; /* of rows of u diag(s); of the largest column of vt in a run: batch x runs */
    int64_t alone;              /* elements that may be compared one by one */
    int64_t work;               /* multiply-adds that were done */
};

/* The error of an element, in units of rounding of its sum over absolute values. */
static double units_of(int64_t keep, bool scaled)
{
    return (double)(keep + (scaled ? 4 : 1));
}

/* The error of an element: `magnitude` is its sum over absolute values, `vt_sum` that of the elements of vt. The second
 * term is for products that underflow; those of u and s are then multiplied by vt (docs/accuracy.md). */
static double error_of(int64_t keep, bool scaled, fl_dtype dtype, double magnitude, double vt_sum)
{
    return units_of(keep, scaled) * unit_roundoff(dtype) * magnitude +
           ((double)keep + (scaled ? vt_sum : 0)) * smallest_subnormal(dtype);
}

/* The reference's result for the factors, or for their absolute values. */
static host_array by_reference(const reconstruct_oracle *o, fl_device *device, const host_array *const *factors,
                               bool absolute)
{
    const int ndim = factors[0]->ndim;
    const int64_t shape[] = {o->batch, o->rows, o->columns};
    fl_array *inputs[3], *y;

    for (int i = 0; i < 3; i++)
        inputs[i] = factors[i] ? reference_upload(device, factors[i], absolute) : NULL;
    must(fl_array_create(device, o->dtype, ndim, shape + 3 - ndim, &y));
    if (inputs[1])
        must(fl_reconstruct(device, inputs[0], inputs[1], inputs[2], o->keep, y, &(fl_run){.variant = "reference"}));
    else
        must(fl_matmul(device, inputs[0], false, inputs[2], false, y, &(fl_run){.variant = "reference"}));
    for (int i = 0; i < 3; i++)
        fl_array_free(inputs[i]);
    return reference_fetch(y);
}

/* At least the sum over the absolute values of vt in any element's sum. */
static double most_of_vt(const reconstruct_oracle *o, const host_array *vt)
{
    double largest = 0;

    for (int64_t i = 0, size = host_array_size(vt); i < size; i++)
        largest = fmax(largest, fabs(host_array_get(vt, i)));
    return (double)o->keep * largest;
}

static void expect_every_element(reconstruct_oracle *o, const host_array *const *factors)
{
    fl_device *device = reference_device(factors[1] ? "reconstruct" : "matmul", "reference");
    const double vt_sum = most_of_vt(o, factors[2]);
    host_array magnitudes;
    double *bounds;

    o->expected = by_reference(o, device, factors, false);
    magnitudes = by_reference(o, device, factors, true);
    o->bound = reference_convert(&magnitudes, FL_F64);
    bounds = o->bound.data;
    for (int64_t i = 0, size = host_array_size(&o->bound); i < size; i++)
        bounds[i] = error_of(o->keep, factors[1] != NULL, o->dtype, bounds[i], vt_sum);
    host_array_free(&magnitudes);
    fl_device_close(device);
}

/* The sums that all rows of one result of the batch need. */
typedef struct sum_terms {
    reconstruct_oracle *oracle;
    int64_t n;       /* the result's place in the batch */
    double *vt_sums; /* keep x runs: the sum of each run of each row of vt */
    double *squares; /* the sum of each column's */
} sum_terms;

static void expect_run(void *user, int64_t run)
{
    const sum_terms *terms = user;
    const reconstruct_oracle *o = terms->oracle;
    const int64_t first = run * o->run, end = int64_smaller(first + o->run, o->columns);
    double most = 0;

    for (int64_t p = 0; p < o->keep; p++) {
        double sum = 0;
        for (int64_t j = first; j < end; j++) {
            const double value = host_array_get(&o->vt, (terms->n * o->k + p) * o->columns + j);
            sum += o->signs[j] * value;
            terms->squares[j] += value * value;
        }
        terms->vt_sums[p * o->runs + run] = sum;
    }
    for (int64_t j = first; j < end; j++)
        most = fmax(most, sqrt(terms->squares[j]));
    o->vt_norms[terms->n * o->runs + run] = most;
}

/* The sums of ROWS rows, each of which needs all of vt_sums: more than fits into a processor's second cache. */
static void expect_rows(void *user, int64_t block)
{
    const sum_terms *terms = user;
    const reconstruct_oracle *o = terms->oracle;
    const int64_t first = block * ROWS, count = int64_smaller(ROWS, o->rows - first);
    double squares[ROWS] = {0};

    for (int64_t p = 0; p < o->keep; p++)
        for (int64_t i = 0; i < count; i++) {
            const int64_t row = terms->n * o->rows + first + i;
            double *const sums = o->sums + row * o->runs;
            const double us =
                host_array_get(&o->u, row * o->k + p) * (o->s.data ? host_array_get(&o->s, terms->n * o->k + p) : 1);
            squares[i] += us * us;
            for (int64_t run = 0; run < o->runs; run++)
                sums[run] += us * terms->vt_sums[p * o->runs + run];
        }
    for (int64_t i = 0; i < count; i++)
        o->u_norms[terms->n * o->rows + first + i] = sqrt(squares[i]);
}

/* The sums and the norms of one result of the batch. By Cauchy and Schwarz a norm of u times one of vt is at least the
 * element's sum over absolute values. */
static void expect_sums(reconstruct_oracle *o, int64_t n)
{
    sum_terms terms = {o, n, memory_zeroed((size_t)(o->keep * o->runs), sizeof(double)),
                       memory_zeroed((size_t)o->columns, sizeof(double))};

    threads_share(group_threads(), o->runs, expect_run, &terms);
    threads_share(group_threads(), (o->rows + ROWS - 1) / ROWS, expect_rows, &terms);
    free(terms.vt_sums);
    free(terms.squares);
}

void reconstruct_compare_element(const host_array *u, const host_array *s, const host_array *vt, int64_t keep,
                                 const host_array *y, int64_t at, compare_result *found)
{
    const int64_t k = u->shape[u->ndim - 1], columns = vt->shape[vt->ndim - 1];
    const int64_t row = at / columns, first = row / u->shape[u->ndim - 2] * k; /* of s, and of the rows of vt */
    long double sum = 0, magnitude = 0, vt_sum = 0;

    /* A sum that is NaN stays NaN, and arithmetic with it would take a hundred times as long. */
    for (int64_t p = 0; p < keep && !isnan(sum); p++) {
        const long double us = (long double)host_array_get(u, row * k + p) * (s ? host_array_get(s, first + p) : 1);
        const long double v = host_array_get(vt, (first + p) * columns + at % columns), term = us * v;
        sum += term;
        magnitude += fabsl(term);
        vt_sum += fabsl(v);
    }
    compare_add(found, at, host_array_get(y, at), y->dtype == FL_F32 ? (double)(float)sum : (double)sum,
                error_of(keep, s != NULL, y->dtype, (double)magnitude, (double)vt_sum));
}

static void compare_element(const reconstruct_oracle *o, const host_array *result, int64_t at, compare_result *found)
{
    reconstruct_compare_element(&o->u, o->s.data ? &o->s : NULL, &o->vt, o->keep, result, at, found);
}

/* Whether a run's sum is as expected. Where it is not and its bound is finite, an element is wrong. */
typedef enum run_state { RIGHT, WRONG, NOT_FINITE } run_state;

/* The second term of the bound is the error of the expected sum. */
static run_state state_of_run(const reconstruct_oracle *o, const host_array *result, int64_t row, int64_t run)
{
    const int64_t first = run * o->run, count = int64_smaller(o->run, o->columns - first), n = row / o->rows;
    const double magnitude = (double)count * o->u_norms[row] * o->vt_norms[n * o->runs + run];
    const double units = units_of(o->keep, o->s.data != NULL) * unit_roundoff(o->dtype) +
                         (double)(o->keep + 2 * o->run) * DBL_EPSILON / 2;
    double sum = 0;

    for (int64_t j = first; j < first + count; j++)
        sum += o->signs[j] * host_array_get(result, row * o->columns + j);
    if (!isfinite(magnitude))
        return NOT_FINITE;
    return fabs(sum - o->sums[row * o->runs + run]) <= units * magnitude ? RIGHT : WRONG;
}

typedef struct sum_states {
    const reconstruct_oracle *oracle;
    const host_array *result;
    uint8_t *state;  /* batch x rows x runs, run_state */
    int64_t samples; /* elements */
} sum_states;

static void find_states_of_row(void *user, int64_t row)
{
    const sum_states *states = user;
    const int64_t runs = states->oracle->runs;

    for (int64_t run = 0; run < runs; run++)
        states->state[row * runs + run] = (uint8_t)state_of_run(states->oracle, states->result, row, run);
}

/* Some sampled elements, from the first column to the last, so that the terms of neighbours are still in the cache. */
static compare_result compare_samples(const void *user, int64_t block)
{
    const sum_states *states = user;
    const reconstruct_oracle *o = states->oracle;
    random_state random = random_start(o->seed + 1 + (uint64_t)block);
    const int64_t count = int64_smaller(BLOCK, states->samples - block * BLOCK);
    compare_result found = compare_start();

    for (int64_t i = 0; i < count; i++) {
        const int64_t first = i * o->columns / count, end = (i + 1) * o->columns / count;
        const int64_t column = first + random_below(&random, int64_larger(1, end - first));
        compare_element(o, states->result, random_below(&random, o->batch * o->rows) * o->columns + column, &found);
    }
    return found;
}

static compare_result compare_sums(reconstruct_oracle *o, const host_array *result)
{
    const int64_t rows = o->batch * o->rows, size = rows * o->columns;
    compare_result found = compare_start(), samples;
    random_state random = random_start(o->seed + 1);
    sum_states states = {o, result, memory_zeroed((size_t)(rows * o->runs), sizeof *states.state),
                         int64_smaller(SAMPLES, o->alone)};

    threads_share(group_threads(), rows, find_states_of_row, &states);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t run = 0; run < o->runs; run++) {
            const run_state state = states.state[row * o->runs + run];
            const int64_t first = run * o->run, end = int64_smaller(first + o->run, o->columns);
            if (state == RIGHT)
                continue;
            if (found.compared < o->alone || (state == WRONG && found.failed == 0))
                for (int64_t j = first; j < end; j++)
                    compare_element(o, result, row * o->columns + j, &found);
            else
                compare_element(o, result, row * o->columns + first + random_below(&random, end - first), &found);
        }
    compare_element(o, result, 0, &found);
    compare_element(o, result, size - 1, &found);
    samples = reference_blocks((states.samples + BLOCK - 1) / BLOCK, compare_samples, &states);
    compare_merge(&found, &samples, 0);
    o->work += found.compared * o->keep;
    free(states.state);
    found.compared = size;
    return found;
}

reconstruct_oracle *reconstruct_oracle_create(const host_array *u, const host_array *s, const host_array *vt,
                                              int64_t keep, check_choice choice, uint64_t seed)
{
    const host_array *const factors[] = {u, s, vt};
    reconstruct_oracle *o = memory_zeroed(1, sizeof *o);
    random_state random = random_start(seed);
    double work;

    o->dtype = fl_dtype_float_result((fl_dtype[]){u->dtype, vt->dtype, s ? s->dtype : u->dtype}, 3);
    o->batch = u->ndim == 3 ? u->shape[0] : 1;
    o->rows = u->shape[u->ndim - 2];
    o->k = u->shape[u->ndim - 1];
    o->columns = vt->shape[vt->ndim - 1];
    o->keep = keep;
    o->seed = seed;
    work = (double)o->batch * (double)o->rows * (double)o->columns * (double)keep;
    if (choice == CHECK_FULL || work == 0 || (choice == CHECK_AUTO && work <= MOST_WORK[o->dtype])) {
        o->work = (int64_t)(2 * work);
        expect_every_element(o, factors);
        return o;
    }
    o->u = *u;
    if (s)
        o->s = *s;
    o->vt = *vt;
    for (o->run = RUN; o->run < o->columns && work / (double)o->run > MOST_SUMS;)
        o->run *= 2;
    o->runs = (o->columns + o->run - 1) / o->run;
    o->alone = (int64_t)fmax(1, fmax(ALONE_WORK, work / 256) / (double)keep);
    o->work = o->batch * keep * (o->columns + o->rows * o->runs);
    o->signs = memory_zeroed((size_t)o->columns, sizeof(double));
    o->sums = memory_zeroed((size_t)(o->batch * o->rows * o->runs), sizeof(double));
    o->u_norms = memory_zeroed((size_t)(o->batch * o->rows), sizeof(double));
    o->vt_norms = memory_zeroed((size_t)(o->batch * o->runs), sizeof(double));
    random_signs(&random, o->signs, o->columns);
    for (int64_t n = 0; n < o->batch; n++)
        expect_sums(o, n);
    return o;
}

void reconstruct_oracle_free(reconstruct_oracle *o)
{
    if (!o)
        return;
    host_array_free(&o->expected);
    host_array_free(&o->bound);
    free(o->signs);
    free(o->sums);
    free(o->u_norms);
    free(o->vt_norms);
    free(o);
}

int64_t reconstruct_oracle_work(const reconstruct_oracle *o)
{
    return o->work;
}

compare_result reconstruct_oracle_check(reconstruct_oracle *o, const host_array *result, const char *variant,
                                        char *method, size_t size)
{
    if (!o->signs) {
        snprintf(method, size, "reference");
        return reference_verdict(compare_bounded(result, &o->expected, &o->bound), variant, method, size);
    }
    snprintf(method, size, "random sums of %d neighbours, and %d sampled elements", (int)o->run,
             (int)int64_smaller(SAMPLES, o->alone));
    return compare_sums(o, result);
}
