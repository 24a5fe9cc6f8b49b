/* SPDX-License-Identifier: MIT */
#include "select.h"

#include "ranks/group.h"
#include "run/reference.h"
#include "support/memory.h"
#include "support/random.h"
#include "support/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHILE_ZERO(type) \
    do { \
        while (i < n && ((const type *)in->data)[i] == 0) \
            i++; \
    } while (0)

/* The first element from i on that is not zero, or the end. By the dtype: a double does not hold every i64. */
static int64_t next_kept(const host_array *in, int64_t i)
{
    const int64_t n = in->shape[0];

    switch (in->dtype) {
    case FL_U8: WHILE_ZERO(uint8_t); break;
    case FL_I32: WHILE_ZERO(int32_t); break;
    case FL_I64: WHILE_ZERO(int64_t); break;
    case FL_F32: WHILE_ZERO(float); break;
    case FL_F64: WHILE_ZERO(double); break;
    }
    return i;
}

/* ------------------------------------------------------------------------------------------- several ranks ---- */

/* Adds the i-th element to a checksum that depends on the order: any changed element changes it, because a step of
 * SplitMix64 is a bijection. */
static uint64_t chained(uint64_t sum, const host_array *array, int64_t i)
{
    const size_t width = fl_dtype_size(array->dtype);
    uint64_t bits = 0;

    memcpy(&bits, (const char *)array->data + (size_t)i * width, width);
    return random_next(&(random_state){sum ^ bits});
}

/* The part of a rank's input that belongs to one share of the result: how many elements, and their sum. */
typedef struct part {
    int64_t count;
    uint64_t sum;
} part;

static void expect_parts(const host_array *in, int64_t all, int64_t before, part *parts)
{
    int64_t first, share, k = before;
    int rank = 0;

    for (int64_t i = 0; (i = next_kept(in, i)) < in->shape[0]; i++, k++) {
        while (fl_group_share(group_of_all(), all, rank, &first, &share), k >= first + share)
            rank++;
        parts[rank].count++;
        parts[rank].sum = chained(parts[rank].sum, in, i);
    }
}

/* This rank's share of the result consists of the parts that the ranks' inputs have for it, in their order. */
static compare_result compare_parts(const host_array *result, const part *parts)
{
    const int rank = group_info()->rank, ranks = group_info()->size;
    compare_result found = compare_start();
    int64_t k = 0;

    for (int r = 0; r < ranks; r++) {
        const part *expected = &parts[r * ranks + rank];
        const int64_t first = k, end = first + expected->count;
        uint64_t sum = 0;
        while (k < end && k < result->shape[0])
            sum = chained(sum, result, k++);
        if (k < end || sum != expected->sum)
            compare_add(&found, first, k > first ? host_array_get(result, first) : (double)NAN, INFINITY, 0);
        k = end;
    }
    if (result->shape[0] != k)
        compare_add(&found, k, (double)result->shape[0], (double)k, 0);
    found.compared = k;
    found.ok = found.failed == 0;
    return found;
}

compare_result select_compare_distributed(const host_array *in, const host_array *result)
{
    const size_t ranks = (size_t)group_info()->size;
    part *own = memory_zeroed(ranks, sizeof *own), *all = memory_zeroed(ranks * ranks, sizeof *all);
    int64_t kept = 0;
    compare_result found;

    for (int64_t i = 0; (i = next_kept(in, i)) < in->shape[0]; i++)
        kept++;
    expect_parts(in, group_count(kept), group_before(kept), own);
    group_gather(own, all, ranks * sizeof *own);
    found = compare_parts(result, all);
    free(own);
    free(all);
    return found;
}

/* ----------------------------------------------------------------------------------------------- one process ---- */

enum { PIECE = 4096 }; /* elements of the input that a thread looks at, which fit on its stack */

/* The input, the result, and how many elements that are not zero come before each piece of the input. */
typedef struct comparison {
    const host_array *in, *result;
    int64_t *before;
} comparison;

/* Without a branch on the elements, since no processor can guess which are zero. */
#define COPY_KEPT(type) \
    do { \
        const type *x = in->data; \
        type *to = kept; \
        for (int64_t i = first; i < end; i++) { \
            to[count] = x[i]; \
            count += x[i] != 0; \
        } \
    } while (0)

/* Copies a piece's elements that are not zero, and returns how many there are. */
static int64_t copy_kept(const host_array *in, int64_t piece, void *kept)
{
    const int64_t first = piece * PIECE, end = int64_smaller(first + PIECE, in->shape[0]);
    int64_t count = 0;

    switch (in->dtype) {
    case FL_U8: COPY_KEPT(uint8_t); break;
    case FL_I32: COPY_KEPT(int32_t); break;
    case FL_I64: COPY_KEPT(int64_t); break;
    case FL_F32: COPY_KEPT(float); break;
    case FL_F64: COPY_KEPT(double); break;
    }
    return count;
}

static void count_piece(void *user, int64_t piece)
{
    const comparison *c = user;
    double kept[PIECE];

    c->before[piece] = copy_kept(c->in, piece, kept);
}

/* Elements that the result lacks are expected, too. */
static compare_result compare_piece(const void *user, int64_t piece)
{
    const comparison *c = user;
    const fl_dtype dtype = c->in->dtype;
    double kept[PIECE];
    const int64_t count = copy_kept(c->in, piece, kept), first = c->before[piece];
    const int64_t there = int64_smaller(count, int64_larger(0, c->result->shape[0] - first));
    const host_array expected = {dtype, 1, {there, 1, 1, 1}, kept},
                     got = {dtype, 1, {there, 1, 1, 1}, (char *)c->result->data + (size_t)first * fl_dtype_size(dtype)};
    compare_result found = compare_start();

    compare_add_same_bits(&found, first, &got, &expected);
    for (int64_t i = there; i < count; i++)
        compare_add_exact(&found, first + i, false, (double)NAN, host_array_get(&expected, i));
    return found;
}

compare_result select_compare(const host_array *in, const host_array *result, int64_t *kept)
{
    const int64_t pieces = (in->shape[0] + PIECE - 1) / PIECE;
    comparison c = {in, result, memory_zeroed((size_t)pieces, sizeof *c.before)};

    threads_share(group_threads(), pieces, count_piece, &c);
    *kept = 0;
    for (int64_t p = 0; p < pieces; p++) {
        const int64_t count = c.before[p];
        c.before[p] = *kept;
        *kept += count;
    }
    const compare_result found = reference_blocks(pieces, compare_piece, &c);
    free(c.before);
    return found;
}
