/* SPDX-License-Identifier: MIT
 *
 * The bin of an element is the last one whose lower edge is not above the element. A division guesses it, and the guess
 * counts only where the element is between the two edges of that bin; elsewhere bisection finds the bin among all
 * edges. So the edges alone decide, and the rounding of the division does not matter.
 */
#include "histogram.h"

#include "run/reference.h"
#include "support/memory.h"
#include "support/processors.h"
#include "support/threads.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEAST_FILL = 16, /* elements for each count of a part: to clear and to add the counts costs little beside them */
    LINE = 8,        /* doubles of a cache line, which lie between the counts of two parts */
};

typedef struct counting {
    const host_array *array;
    double lo, hi, width;
    int64_t bins;
    bool clip;
    const double *edges; /* the lower ones in ascending order, then infinity */
    int64_t parts;       /* parts of the array, each with counts of its own */
    double *counts;
} counting;

/* The last of the edges that is not above x, by bisection. */
static int64_t last_edge(const double *edges, int64_t bins, double x)
{
    int64_t low = 0;

    for (int64_t left = bins; left > 1; left -= left / 2)
        if (edges[low + left / 2] <= x)
            low += left / 2;
    return low;
}

static inline int64_t bin_of(const counting *c, double x)
{
    const double place = (x - c->lo) / c->width, last = (double)(c->bins - 1);
    const int64_t guess = (int64_t)(place < last ? place : last); /* NaN, of a width of 0: the last */

    return c->edges[guess] <= x && x < c->edges[guess + 1] ? guess : last_edge(c->edges, c->bins, x);
}

static inline void count_element(const counting *c, double x, double *counts)
{
    if (x >= c->lo && x <= c->hi)
        counts[bin_of(c, x)]++;
    else if (c->clip && !isnan(x))
        counts[x < c->lo ? 0 : c->bins - 1]++;
}

#define COUNT_ELEMENTS(type) \
    do { \
        const type *values = c.array->data; \
        for (int64_t i = first; i < end; i++) \
            count_element(&c, (double)values[i], counts); \
    } while (0)

static double *counts_of(const counting *c, int64_t part)
{
    return c->counts + part * (c->bins + LINE);
}

static void count_part(void *counted, int64_t part)
{
    const counting c = *(const counting *)counted; /* a copy, which the counts cannot be part of */
    const int64_t size = host_array_size(c.array), length = (size + c.parts - 1) / c.parts;
    const int64_t first = int64_smaller(part * length, size), end = int64_smaller(first + length, size);
    double *const counts = counts_of(&c, part);

    switch (c.array->dtype) {
    case FL_U8: COUNT_ELEMENTS(uint8_t); break;
    case FL_I32: COUNT_ELEMENTS(int32_t); break;
    case FL_I64: COUNT_ELEMENTS(int64_t); break;
    case FL_F32: COUNT_ELEMENTS(float); break;
    case FL_F64: COUNT_ELEMENTS(double); break;
    }
}

/* All products first, so that no compiler makes one operation of product and sum, which would round once. */
static double *edges_of(double lo, double width, int64_t bins)
{
    double *edges = memory_zeroed((size_t)bins + 1, sizeof *edges);

    for (int64_t b = 0; b < bins; b++)
        edges[b] = (double)b * width;
    for (int64_t b = 0; b < bins; b++)
        edges[b] += lo;
    edges[bins] = (double)INFINITY;
    return edges;
}

/* Returns the number of parts: one for each thread, and fewer where the bins are many for so few elements. */
static int64_t parts_of(int64_t elements, int64_t bins)
{
    const int64_t threads = int64_smaller(group_threads(), processors_count());

    return int64_larger(1, int64_smaller(threads, elements / (LEAST_FILL * bins)));
}

double *histogram_count(const host_array *array, double lo, double hi, int64_t bins, bool clip)
{
    const int64_t parts = parts_of(host_array_size(array), bins);
    const double width = (hi - lo) / (double)bins;
    double *const edges = edges_of(lo, width, bins);
    double *const counts = memory_zeroed((size_t)(parts * (bins + LINE)), sizeof *counts);
    counting c = {array, lo, hi, width, bins, clip, edges, parts, counts};

    threads_share(group_threads(), parts, count_part, &c);
    for (int64_t part = 1; part < parts; part++)
        for (int64_t b = 0; b < bins; b++)
            counts[b] += counts_of(&c, part)[b];
    free(edges);
    return counts;
}
