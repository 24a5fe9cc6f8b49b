/* SPDX-License-Identifier: MIT
 *
 * merge_operations_typed.h - the operations of merge.c for one dtype. Included once for each (sorted_dtypes.h).
 */
#include "merge_typed.h"

/* Each thread has as many elements of the output. */
static fl_status FN(merge)(const fl_context *context, const fl_merge_args *m, const fl_launch *launch)
{
    const int64_t nx = m->x.shape[0], ny = m->y.shape[0], n = nx + ny;
    const int64_t parts = cpu_team(context, 4.0 * (double)n), part = (n + parts - 1) / parts;
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
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, 100.0 * (double)s->values.shape[0]))
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
