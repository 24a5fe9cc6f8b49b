/* SPDX-License-Identifier: MIT
 *
 * merge_path_typed.h - the operations of merge.c for one dtype. Included once for each, with what merge_typed.h needs.
 */
#include "merge_typed.h"

/* How many of x's elements are among the first `count` of x and y merged (Odeh, Green, Mwassi, Shmueli and Birk, "Merge
 * path - parallel merging made simple", IPDPS workshops 2012). */
static int64_t FN(path)(const element *x, int64_t nx, const element *y, int64_t ny, int64_t count)
{
    int64_t low = max64(0, count - ny), high = min64(count, nx);

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (FN(less)(y[count - 1 - middle], x[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Each thread has as many elements of the output. */
static fl_status FN(merge)(const fl_context *context, const fl_merge_args *m)
{
    const int64_t nx = m->x.shape[0], ny = m->y.shape[0], n = nx + ny;
    const int64_t parts = cpu_team(context, 4.0 * (double)n), part = (n + parts - 1) / parts;
    const element *x = m->x.data, *y = m->y.data;
    element *out = m->out.data;

#pragma omp parallel for schedule(static) num_threads((int)parts)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t start = min64(p * part, n), end = min64(start + part, n);
        const int64_t i = FN(path)(x, nx, y, ny, start), next = FN(path)(x, nx, y, ny, end);
        const int64_t of_x = max64(0, min64(next - i, end - start)); /* not in order, it might be any number */
        FN(merge_runs)(x + i, of_x, y + (start - i), end - start - of_x, out + start);
    }
    return FL_OK;
}

static fl_status FN(search)(const fl_context *context, const fl_search_sorted_args *s)
{
    const element *sorted = s->sorted.data, *values = s->values.data;
    int64_t *out = s->out.data;

    (void)context;
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
