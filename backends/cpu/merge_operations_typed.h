/* SPDX-License-Identifier: MIT
 *
 * merge_operations_typed.h - the operations of merge.c for one dtype. Included once for each (sorted_dtypes.h).
 */
#include "merge_typed.h"

/* Each thread has as many elements of the output. */
static fl_status FN(merge)(const fl_context *context, const fl_merge_args *m, const fl_launch *launch)
{
    const int64_t nx = m->x.shape[0], ny = m->y.shape[0], n = nx + ny;
    const int64_t parts = cpu_team(context, 100.0 * (double)n), part = (n + parts - 1) / parts;
    const element *x = m->x.data, *y = m->y.data;
    element *out = m->out.data;

    (void)launch;
#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t start = min64(p * part, n), end = min64(start + part, n);
        const FN(runs) r = FN(part)(x, nx, y, ny, start, end, out);
        FN(merge_runs)(r.a, r.a_end - r.a, r.b, r.b_end - r.b, r.out);
    }
    return FL_OK;
}

static fl_status FN(search)(const fl_context *context, const fl_search_sorted_args *s, const fl_launch *launch)
{
    const element *sorted = s->sorted.data, *values = s->values.data;
    int64_t *out = s->out.data;

    (void)context, (void)launch;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 2000.0 * (double)s->values.shape[0]))
    for (int64_t i = 0; i < s->values.shape[0]; i++) {
        int64_t low = 0, high = s->sorted.shape[0];
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (FN(less)(sorted[middle], values[i]))
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
    return FL_OK;
}

/* Where each value belongs among the `n` (at least 1) elements from its place in `sorted` on. A step of all searches
 * comes after the other: each waits for its own element only, and the waits overlap. All have as many steps, and take
 * their upper half or do not without a branch, which the processor would foresee wrongly every other time (Khuong and
 * Morin, "Array layouts for comparison-based searching", 2017). */
static inline void FN(search_batch)(const element *sorted, int64_t n, const element *values, int64_t *places, int count)
{
    for (int64_t left = n, half; left > 1; left -= half) {
        half = left / 2;
        for (int k = 0; k < count; k++)
            places[k] += half & -(int64_t)FN(less)(sorted[places[k] + half - 1], values[k]);
    }
    for (int k = 0; k < count; k++)
        places[k] += FN(less)(sorted[places[k]], values[k]);
}

/* The last elements of the parts of `step` elements, but for the last part. All searches begin with them: side by side
 * they stay in the first caches, while in `sorted`, often a power of two apart, they would share few of the cache's
 * sets. NULL in `sample`: there are so few elements or values that it does not pay. */
static fl_status FN(take_sample)(const fl_context *context, const fl_search_sorted_args *s, int64_t step,
                                 const element **sample)
{
    const int64_t n = s->sorted.shape[0], samples = (n - 1) / step;
    const element *sorted = s->sorted.data;
    element *taken;
    void *memory;

    *sample = NULL;
    if (step < SEARCH_LEAST_STEP || s->values.shape[0] < SEARCH_SAMPLES)
        return FL_OK;
    const fl_status status = context->host->scratch(context, (size_t)samples * sizeof *taken, &memory);
    if (status != FL_OK)
        return status;
    taken = memory;
    for (int64_t i = 0; i < samples; i++)
        taken[i] = sorted[(i + 1) * step - 1];
    *sample = taken;
    return FL_OK;
}

static fl_status FN(batched)(const fl_context *context, const fl_search_sorted_args *s, const fl_launch *launch)
{
    const int64_t count = s->values.shape[0], n = s->sorted.shape[0], step = (n - 1) / SEARCH_SAMPLES + 1;
    const element *sorted = s->sorted.data, *sample;
    const fl_status status = FN(take_sample)(context, s, step, &sample);

    (void)launch;
    if (status != FL_OK)
        return status;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 2000.0 * (double)count))
    for (int64_t i = 0; i < count; i += SEARCH_BATCH) {
        const int batch = (int)min64(SEARCH_BATCH, count - i);
        const element *values = (const element *)s->values.data + i;
        int64_t *places = (int64_t *)s->out.data + i;
        memset(places, 0, (size_t)batch * sizeof *places);
        if (sample) {
            FN(search_batch)(sample, (n - 1) / step, values, places, batch);
            for (int k = 0; k < batch; k++) /* the last part may be shorter: what is before it is less, too */
                places[k] = min64(places[k] * step, n - step);
        }
        if (n > 0)
            FN(search_batch)(sorted, sample ? step : n, values, places, batch);
    }
    return FL_OK;
}
