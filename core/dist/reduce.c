/* SPDX-License-Identifier: MIT
 *
 * reduce.c - fl_group_reduce_array: each rank reduces its share, and the results are put together in the order of
 * ranks.
 */
#include "group.h"

#include <stdlib.h>
#include <string.h>

/* A rank's result: the sum or extreme in the member that fits `dtype` (f64 for f32 and f64, else i64), and the place of
 * an extreme among the rank's elements. */
typedef struct answer {
    int64_t count, place, whole;
    double real;
} answer;

/* One reduction on one rank. */
typedef struct reducing {
    fl_device *device;
    const fl_array *x, *y;
    fl_reduction reduction;
    fl_dtype dtype; /* of the result */
    const fl_run *run;
} reducing;

/* ------------------------------------------------------------------------------------------------ one rank ---- */

/* The element of an array of one element; the member that its dtype does not say is 0. */
static fl_status read_number(const fl_array *array, answer *a)
{
    union {
        uint8_t u8;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value = {.i64 = 0};
    const fl_status status = fl_array_to_host(array, &value);

    a->whole = 0;
    a->real = 0;
    switch (fl_array_dtype(array)) {
    case FL_U8: a->whole = value.u8; break;
    case FL_I32: a->whole = value.i32; break;
    case FL_I64: a->whole = value.i64; break;
    case FL_F32: a->real = (double)value.f32; break;
    case FL_F64: a->real = value.f64; break;
    }
    return status;
}

/* The element at a place in row-major order. */
static fl_status read_at(const fl_array *array, int64_t place, answer *a)
{
    const int ndim = fl_array_ndim(array);
    int64_t start[FL_MAX_DIMS], one[FL_MAX_DIMS];
    fl_array *view = NULL;
    fl_status status;

    for (int d = ndim - 1; d >= 0; d--) {
        start[d] = place % fl_array_shape(array, d);
        place /= fl_array_shape(array, d);
        one[d] = 1;
    }
    status = fl_array_view(array, start, one, &view);
    if (status == FL_OK)
        status = read_number(view, a);
    fl_array_free(view);
    return status;
}

static fl_status reduce_here(const reducing *r, answer *own)
{
    const int64_t one = 1;
    const bool places = r->reduction == FL_ARGMIN || r->reduction == FL_ARGMAX;
    fl_array *out = NULL;
    fl_status status = fl_array_create(r->device, r->dtype, 1, &one, &out);

    own->count = fl_array_size(r->x);
    if (status == FL_OK && (own->count > 0 || r->reduction == FL_SUM)) {
        status = r->y ? fl_dot(r->device, r->x, r->y, FL_ALL_AXES, out, r->run)
                      : fl_reduce(r->device, r->x, r->reduction, FL_ALL_AXES, out, r->run);
        if (status == FL_OK)
            status = dist_finish(r->device, r->run);
        if (status == FL_OK)
            status = read_number(out, own);
        own->place = own->whole;
        if (status == FL_OK && places)
            status = read_at(r->x, own->place, own);
    }
    fl_array_free(out);
    return status;
}

/* --------------------------------------------------------------------------------------------- all of them ---- */

/* Does b, of later elements, take the place of `a`? Of integers `real` is 0, of floats `whole` is. */
static bool beats(const answer *b, const answer *a, bool most)
{
    if (a->count == 0 || a->real != a->real)
        return a->count == 0;
    if (b->real != b->real)
        return true;
    return most ? b->real > a->real || b->whole > a->whole : b->real < a->real || b->whole < a->whole;
}

/* In the order of the ranks, so that the bits are the same each time. */
static answer combine(const reducing *r, const answer *of, int ranks)
{
    const bool most = r->reduction == FL_MAXIMUM || r->reduction == FL_ARGMAX;
    answer all = {.count = 0};

    for (int i = 0; i < ranks; i++) {
        const int64_t before = all.count;
        if (r->reduction == FL_SUM) {
            all.whole = (int64_t)((uint64_t)all.whole + (uint64_t)of[i].whole);
            all.real += of[i].real;
        } else if (of[i].count > 0 && beats(&of[i], &all, most)) {
            all = of[i];
            all.place += before;
        }
        all.count = before + of[i].count;
    }
    return all;
}

static fl_status store(const reducing *r, const answer *all, void *result)
{
    const bool places = r->reduction == FL_ARGMIN || r->reduction == FL_ARGMAX;
    const int64_t whole = places ? all->place : all->whole;
    const float single = (float)all->real;
    const int32_t narrow = (int32_t)whole;
    const uint8_t byte = (uint8_t)whole;

    if (all->count == 0 && r->reduction != FL_SUM)
        return dist_fail(FL_E_ARGUMENT, "fl_group_reduce_array: no rank has an element; expected at least one for an "
                                        "extreme");
    switch (r->dtype) {
    case FL_U8: memcpy(result, &byte, sizeof byte); break;
    case FL_I32: memcpy(result, &narrow, sizeof narrow); break;
    case FL_I64: memcpy(result, &whole, sizeof whole); break;
    case FL_F32: memcpy(result, &single, sizeof single); break;
    case FL_F64: memcpy(result, &all->real, sizeof all->real); break;
    }
    return FL_OK;
}

fl_status fl_group_reduce_array(fl_group *group, fl_device *device, const fl_array *x, const fl_array *y,
                                fl_reduction reduction, fl_dtype dtype, void *result, const fl_run *run,
                                fl_group_timing *timing)
{
    const reducing r = {device, x, y, reduction, dtype, run};
    const double start = dist_now();
    const size_t ranks = (size_t)group->info.size;
    fl_group_timing cost = {0};
    answer own = {.count = 0}, combined, *all = calloc(ranks, sizeof *all);
    fl_status status = all ? FL_OK : dist_fail(FL_E_MEMORY, "out of host memory");

    dist_call(group, "fl_group_reduce_array of %s by %d to %s", fl_dtype_name(fl_array_dtype(x)), (int)reduction,
              fl_dtype_name(dtype));
    if (status == FL_OK)
        status = reduce_here(&r, &own);
    cost.local_s = dist_now() - start;
    status = fl_group_agree(group, status, fl_last_error());
    cost.wait_s = dist_now() - start - cost.local_s;
    if (status == FL_OK)
        status = fl_group_gather(group, &own, all, sizeof own);
    if (status == FL_OK) {
        combined = combine(&r, all, group->info.size);
        status = store(&r, &combined, result);
    }
    cost.link_s = dist_now() - start - cost.local_s - cost.wait_s;
    cost.bytes = status == FL_OK ? (double)((ranks - 1) * sizeof own) : 0;
    free(all);
    if (timing)
        *timing = cost;
    return status;
}
