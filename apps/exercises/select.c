/* SPDX-License-Identifier: MIT
 *
 * flynn select: the elements of an array that are not zero, in their order.
 */
#include "run/reference.h"
#include "run/registry.h"

#include "support/memory.h"
#include "support/print.h"
#include "support/random.h"
#include "support/threads.h"
#include "view/json.h"
#include "view/row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1 to 100, or with the same probability 0. */
static host_array make(const exercise *e, int i)
{
    random_state random = random_start(e->common.seed);
    const int64_t size = exercise_size(e);
    int64_t first;
    host_array array = exercise_share(exercise_dtype(e, FL_I32), 1, &size, &first);

    random_skip(&random, (uint64_t)first);
    for (int64_t n = i; n < array.shape[0]; n++) {
        uint64_t drawn = random_next(&random);
        host_array_set(&array, n, drawn >> 63 ? (double)(drawn % 100 + 1) : 0);
    }
    return array;
}

static void plan(exercise *e)
{
    const host_array *in = &e->inputs[0];

    exercise_output(e, in->dtype, 1, in->shape);
    exercise_output(e, FL_I64, 1, (int64_t[]){1});
    exercise_title(e, "select: the elements other than zero of %" PRId64 " %s", e->input_rows[0],
                   fl_dtype_name(in->dtype));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return group_is_distributed() ? fl_group_select(group_of_all(), device, in[0], out[0], out[1], run, group_cost())
                                  : fl_select(device, in[0], out[0], out[1], run);
}

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

static compare_result check_distributed(const exercise *e, const measurement *m)
{
    const host_array *in = &e->inputs[0];
    const size_t ranks = (size_t)group_info()->size;
    part *own = memory_zeroed(ranks, sizeof *own), *all = memory_zeroed(ranks * ranks, sizeof *all);
    int64_t kept = 0;
    compare_result found;

    for (int64_t i = 0; (i = next_kept(in, i)) < in->shape[0]; i++)
        kept++;
    expect_parts(in, group_count(kept), group_before(kept), own);
    group_gather(own, all, ranks * sizeof *own);
    found = compare_parts(&m->results[0], all);
    free(own);
    free(all);
    return found;
}

/* -------------------------------------------------------------------------------------------------- result ---- */

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

/* Each element that is not zero must be the next one of the result, bit for bit, which must end with the last. */
static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const host_array *in = &e->inputs[0];
    const int64_t pieces = (in->shape[0] + PIECE - 1) / PIECE;
    comparison c = {in, &m->results[0], NULL};
    compare_result found;
    int64_t all = 0;

    if (group_is_distributed()) {
        snprintf(method, size, "a loop on the host: how many elements, and a checksum of them in their order");
        return check_distributed(e, m);
    }
    c.before = memory_zeroed((size_t)pieces, sizeof *c.before);
    threads_share(group_threads(), pieces, count_piece, &c);
    for (int64_t p = 0; p < pieces; p++) {
        const int64_t count = c.before[p];
        c.before[p] = all;
        all += count;
    }
    found = reference_blocks(pieces, compare_piece, &c);
    free(c.before);
    exercise_check_count(m, all, &found);
    snprintf(method, size, "a loop on the host: each element bit for bit, and their number");
    return found;
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    (void)e;
    json_put(row, "count", json_whole(group_count(m->results[0].shape[0])));
}

static void print(const exercise *e, const measurement *m, const json_t *row)
{
    text_print("%s: kept %.0f of %" PRId64 "\n", m->device.resource, row_number(row, "count"), e->input_rows[0]);
}

const exercise_kind select_exercise = {
    .name = "select",
    .summary = "keep the elements of an array that are not zero",
    .help = "Keeps the elements of an array that are not zero, in their order, as x[x != 0] in NumPy; NaN is kept, -0 "
            "is not.\v"
            "FILE is a .npy or .png file of up to four dimensions, taken row by row. Without it: --size (16777216) "
            "numbers of --dtype (i32), each of them 0 with a probability of one half, from --seed.\v"
            "\trandom numbers on the best backend\n"
            "-b all --size=1M\tevery backend side by side\n"
            "x.npy -o kept.npy\tyour own array\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}},
    .flat = true,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK,
    .made = "the random numbers",
    .size = 1 << 24,
    .laws = {1 << 24, 1, NULL},
    .counted = true,
    .distributed = 1,
    .steps = {make, plan, call, NULL, check, NULL},
    .add_json = add_json,
    .print = print,
};
