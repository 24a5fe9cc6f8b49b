/* SPDX-License-Identifier: MIT
 *
 * total.c - what each rank's elements give, and how the ranks' results are put together.
 */
#include "total.h"

#include <string.h>

enum { TOTALS };

/* ------------------------------------------------------------------------------------------------ one rank ---- */

/* The element of an array of one element. */
static fl_status read_number(const fl_array *array, dist_total *total)
{
    union {
        uint8_t u8;
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value = {.i64 = 0};
    const fl_status status = fl_array_to_host(array, &value);

    total->whole = 0;
    total->real = 0;
    switch (fl_array_dtype(array)) {
    case FL_U8: total->whole = value.u8; break;
    case FL_I32: total->whole = value.i32; break;
    case FL_I64: total->whole = value.i64; break;
    case FL_F32: total->real = (double)value.f32; break;
    case FL_F64: total->real = value.f64; break;
    }
    return status;
}

fl_status dist_read_element(const fl_array *array, int64_t place, dist_total *total)
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
        status = read_number(view, total);
    fl_array_free(view);
    return status;
}

static fl_status reduce_here(const dist_reduction *r, dist_total *own)
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
            status = dist_read_element(r->x, own->place, own);
    }
    fl_array_free(out);
    return status;
}

fl_status dist_totals(fl_group *group, fl_status status, const dist_reduction *reduction, const dist_total **all,
                      fl_group_timing *cost)
{
    const double start = dist_now();
    dist_total own = {.count = 0}, *totals = dist_scratch(group, TOTALS, (size_t)group->info.size * sizeof own);
    double reduced, agreed;

    *all = totals;
    if (status == FL_OK)
        status = totals ? reduce_here(reduction, &own) : FL_E_MEMORY;
    reduced = dist_now();
    status = fl_group_agree(group, status, fl_last_error());
    agreed = dist_now();
    if (status == FL_OK)
        status = fl_group_gather(group, &own, totals, sizeof own);
    cost->local_s += reduced - start;
    cost->wait_s += agreed - reduced;
    cost->link_s += dist_now() - agreed;
    cost->bytes += status == FL_OK ? (double)(group->info.size - 1) * sizeof own : 0;
    return status;
}

/* --------------------------------------------------------------------------------------------- all of them ---- */

/* Returns whether b, of later elements, takes the place of `a`. Of integers `real` is 0, of floats `whole` is. */
static bool beats(const dist_total *b, const dist_total *a, bool most)
{
    if (a->count == 0 || a->real != a->real)
        return a->count == 0;
    if (b->real != b->real)
        return true;
    return most ? b->real > a->real || b->whole > a->whole : b->real < a->real || b->whole < a->whole;
}

dist_total dist_combine(fl_reduction reduction, const dist_total *of, int count)
{
    const bool most = reduction == FL_MAXIMUM || reduction == FL_ARGMAX;
    dist_total all = {.count = 0};

    for (int i = 0; i < count; i++) {
        const int64_t before = all.count;
        if (reduction == FL_SUM) {
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

void dist_store(const dist_total *total, fl_dtype dtype, void *element)
{
    const float single = (float)total->real;
    const int32_t narrow = (int32_t)total->whole;
    const uint8_t byte = (uint8_t)total->whole;

    switch (dtype) {
    case FL_U8: memcpy(element, &byte, sizeof byte); break;
    case FL_I32: memcpy(element, &narrow, sizeof narrow); break;
    case FL_I64: memcpy(element, &total->whole, sizeof total->whole); break;
    case FL_F32: memcpy(element, &single, sizeof single); break;
    case FL_F64: memcpy(element, &total->real, sizeof total->real); break;
    }
}
