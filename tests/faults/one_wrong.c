/* SPDX-License-Identifier: MIT
 *
 * The plugin `serial` with one wrong element: what FAULT_PLACE in the environment names, "OPERATION.OUTPUT:WHERE", is
 * falsified after each run of each variant of that operation but the oracle. OUTPUT is the output's name in plugin.h
 * (out, count, y, u, s, vt), WHERE is first, middle or last. Where a result must be exact it is wrong by the smallest
 * step there is, else by a thousandth of the output's largest element. Without FAULT_PLACE nothing is falsified.
 */
#include "serial_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 128 };

static fl_row originals[MOST_ROWS]; /* of the plugin `serial`; a copy, for its table may go with its device */
static fl_row rows[MOST_ROWS];

/* ----------------------------------------------------------------------------------------------------- outputs ---- */

typedef struct output {
    fl_operation operation;
    const char *name; /* "sort.out" */
    size_t at;        /* in the operation's arguments */
    size_t count_at;  /* of the count that says how many elements are the result; 0: all are */
    bool exact;
} output;

static const output outputs[] = {
    {FL_OP_CONVERT, "convert.out", offsetof(fl_convert_args, out), 0, true},
    {FL_OP_CONVOLVE, "convolve.out", offsetof(fl_convolve_args, out), 0, false},
    {FL_OP_CONVOLVE1D, "convolve1d.out", offsetof(fl_convolve1d_args, out), 0, false},
    {FL_OP_SORT, "sort.out", offsetof(fl_sort_args, out), 0, true},
    {FL_OP_MERGE, "merge.out", offsetof(fl_merge_args, out), 0, true},
    {FL_OP_SEARCH_SORTED, "search_sorted.out", offsetof(fl_search_sorted_args, out), 0, true},
    {FL_OP_SELECT, "select.out", offsetof(fl_select_args, out), offsetof(fl_select_args, count), true},
    {FL_OP_SELECT, "select.count", offsetof(fl_select_args, count), 0, true},
    {FL_OP_TRANSPOSE, "transpose.out", offsetof(fl_transpose_args, out), 0, true},
    {FL_OP_HISTOGRAM, "histogram.out", offsetof(fl_histogram_args, out), 0, true},
    {FL_OP_SCAN, "scan.out", offsetof(fl_scan_args, out), 0, false},
    {FL_OP_REDUCE, "reduce.out", offsetof(fl_reduce_args, out), 0, false},
    {FL_OP_PRIMES, "primes.out", offsetof(fl_primes_args, out), offsetof(fl_primes_args, count), true},
    {FL_OP_PRIMES, "primes.count", offsetof(fl_primes_args, count), 0, true},
    {FL_OP_INCREMENT, "increment.out", offsetof(fl_unary_args, out), 0, true},
    {FL_OP_SQRT, "sqrt.out", offsetof(fl_unary_args, out), 0, true},
    {FL_OP_MAXIMUM, "maximum.out", offsetof(fl_binary_args, out), 0, true},
    {FL_OP_LOG_OF_SUM, "log_of_sum.out", offsetof(fl_binary_args, out), 0, false},
    {FL_OP_MAP, "map.out", offsetof(fl_map_args, out), 0, false},
    {FL_OP_ALLCLOSE, "allclose.found", offsetof(fl_allclose_args, found), 0, true},
    {FL_OP_RECONSTRUCT, "reconstruct.y", offsetof(fl_reconstruct_args, y), 0, false},
    {FL_OP_MATMUL, "matmul.c", offsetof(fl_matmul_args, c), 0, false},
    {FL_OP_SVD, "svd.u", offsetof(fl_svd_args, u), 0, false},
    {FL_OP_SVD, "svd.s", offsetof(fl_svd_args, s), 0, false},
    {FL_OP_SVD, "svd.vt", offsetof(fl_svd_args, vt), 0, false},
    {FL_OP_QR, "qr.qt", offsetof(fl_qr_args, qt), 0, false},
    {FL_OP_QR, "qr.r", offsetof(fl_qr_args, r), 0, false},
};

static const output *find_output(const char *place)
{
    size_t length = strcspn(place, ":");
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (strlen(outputs[i].name) == length && strncmp(outputs[i].name, place, length) == 0)
            return &outputs[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- elements ---- */

static int64_t elements_of(const fl_buffer *b)
{
    int64_t count = 1;
    for (int d = 0; d < b->ndim; d++)
        count *= b->shape[d];
    return count;
}

/* The i-th element in row-major order. */
static void *element(const fl_buffer *b, int64_t i)
{
    int64_t offset = 0;
    for (int d = b->ndim - 1; d >= 0; d--) {
        offset += i % b->shape[d] * b->stride[d];
        i /= b->shape[d];
    }
    return (char *)b->data + (size_t)offset * (b->dtype == FL_U8                          ? 1
                                               : b->dtype == FL_I32 || b->dtype == FL_F32 ? 4
                                                                                          : 8);
}

static double largest(const fl_buffer *b)
{
    double found = 0;
    for (int64_t i = 0; i < elements_of(b); i++) {
        const void *at = element(b, i);
        double value = b->dtype == FL_F32 ? (double)*(const float *)at : *(const double *)at;
        if (isfinite(value) && fabs(value) > found)
            found = fabs(value);
    }
    return found > 0 ? found : 1;
}

static void falsify_element(const fl_buffer *b, void *at, bool exact)
{
    double by = exact || (b->dtype != FL_F32 && b->dtype != FL_F64) ? 0 : 1e-3 * largest(b);
    float *f = at;
    double *d = at;
    switch (b->dtype) {
    case FL_U8: *(uint8_t *)at ^= 1; break;
    case FL_I32: *(int32_t *)at ^= 1; break;
    case FL_I64: *(int64_t *)at ^= 1; break;
    case FL_F32: *f = !isfinite(*f) ? 0 : exact ? nextafterf(*f, INFINITY) : *f + (float)by; break;
    case FL_F64: *d = !isfinite(*d) ? 0 : exact ? nextafter(*d, (double)INFINITY) : *d + by; break;
    }
}

static fl_status falsify(fl_operation operation, const void *args)
{
    const char *place = getenv("FAULT_PLACE"), *where;
    const output *o;
    const fl_buffer *b;
    int64_t count;
    if (!place || !*place)
        return FL_OK;
    o = find_output(place);
    where = strchr(place, ':');
    if (!o || !where)
        return core->error(FL_E_ARGUMENT, "FAULT_PLACE is '%s'; expected such as sort.out:last", place);
    if (o->operation != operation)
        return FL_OK;
    b = (const fl_buffer *)(const void *)((const char *)args + o->at);
    count = elements_of(b);
    if (o->count_at)
        count = *(const int64_t *)((const fl_buffer *)(const void *)((const char *)args + o->count_at))->data;
    if (count == 0)
        return core->error(FL_E_ARGUMENT, "FAULT_PLACE is '%s', but there is no element", place);
    falsify_element(b,
                    element(b, strcmp(where, ":first") == 0    ? 0
                               : strcmp(where, ":middle") == 0 ? count / 2
                                                               : count - 1),
                    o->exact);
    return FL_OK;
}

/* -------------------------------------------------------------------------------------------------------- rows ---- */

static fl_status run_row(int i, const fl_context *context, const void *args, const fl_launch *launch)
{
    fl_status status = originals[i].run(context, args, launch);
    return status == FL_OK ? falsify(originals[i].operation, args) : status;
}

/* `run` does not get its row as an argument, so each row has a function of its own. */
#define ROW(i) \
    static fl_status run_##i(const fl_context *context, const void *args, const fl_launch *launch) \
    { \
        return run_row(0##i, context, args, launch); \
    }
#define NAME(i) run_##i,
/* 0 to 127, in octal digits. */
#define EIGHT(of, i) of(i##0) of(i##1) of(i##2) of(i##3) of(i##4) of(i##5) of(i##6) of(i##7)
#define SIXTY_FOUR(of, i) \
    EIGHT(of, i##0) \
    EIGHT(of, i##1) EIGHT(of, i##2) EIGHT(of, i##3) EIGHT(of, i##4) EIGHT(of, i##5) EIGHT(of, i##6) EIGHT(of, i##7)
SIXTY_FOUR(ROW, 0)
SIXTY_FOUR(ROW, 1)
static fl_status (*const runs[MOST_ROWS])(const fl_context *, const void *,
                                          const fl_launch *) = {SIXTY_FOUR(NAME, 0) SIXTY_FOUR(NAME, 1)};

static fl_status wrap(fl_plugin_device *device)
{
    if (device->row_count > MOST_ROWS)
        return core->error(FL_E_LIMIT, "serial has %zu rows; this plugin wraps %d", device->row_count, MOST_ROWS);
    for (size_t i = 0; i < device->row_count; i++) {
        originals[i] = rows[i] = device->rows[i];
        if (strcmp(rows[i].variant, "reference") != 0)
            rows[i].run = runs[i];
    }
    device->rows = rows;
    return FL_OK;
}

SERIAL_INSIDE("one-wrong", wrap)
