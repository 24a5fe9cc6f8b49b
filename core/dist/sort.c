/* SPDX-License-Identifier: MIT */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rank's elements, sorted, in host memory. */
typedef struct sorted {
    fl_dtype dtype;
    size_t item; /* bytes of an element */
    int64_t count;
    const char *data;
} sorted;

/* Numbers in the order of fl_sort: -0 is +0, NaN the largest. */
static uint64_t key_of_float(uint64_t bits, int width)
{
    const uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
    const uint64_t infinity = width == 32 ? 0x7f800000 : 0x7ff0000000000000;

    if ((bits & ~sign) > infinity)
        return all;
    if (bits == sign)
        bits = 0;
    return bits & sign ? ~bits & all : bits | sign;
}

static uint64_t key_at(const sorted *s, int64_t i)
{
    uint64_t bits = 0;
    int32_t small;

    if (s->item == sizeof small) {
        memcpy(&small, s->data + i * (int64_t)sizeof small, sizeof small);
        bits = (uint32_t)small;
    } else {
        memcpy(&bits, s->data + i * (int64_t)sizeof bits, sizeof bits);
    }
    switch (s->dtype) {
    case FL_I32: return bits ^ 0x80000000;
    case FL_I64: return bits ^ 0x8000000000000000;
    default: return key_of_float(bits, s->item == sizeof small ? 32 : 64);
    }
}

/* How many elements have a key below `key`. */
static int64_t below(const sorted *s, uint64_t key)
{
    int64_t low = 0, high = s->count;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (key_at(s, middle) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------------------------------------------- cuts ---- */

/* What the ranks look for: cut c lies in the sorted whole before element first[c] of it, of rank c + 1. */
typedef struct cuts {
    int count;          /* size - 1 */
    int64_t *first;     /* [count] */
    uint64_t *key;      /* [count]: the key of the element after the cut */
    int64_t *lower;     /* [count]: elements of all ranks with a lower key */
    int64_t *own;       /* [count + 2]: where the cuts are in this rank's elements; 0 and its count around them */
    int64_t *equal;     /* [count]: elements of this rank with the key */
    int64_t *all_equal; /* [size][count] */
} cuts;

static void cuts_free(cuts *c)
{
    free(c->first);
    free(c->key);
    free(c->lower);
    free(c->own);
    free(c->equal);
    free(c->all_equal);
}

static bool cuts_create(cuts *c, const fl_group *group, int64_t whole)
{
    const size_t size = (size_t)group->info.size;
    int64_t share;

    *c = (cuts){.count = (int)size - 1,
                .first = calloc(size, sizeof *c->first),
                .key = calloc(size, sizeof *c->key),
                .lower = calloc(size, sizeof *c->lower),
                .own = calloc(size + 1, sizeof *c->own),
                .equal = calloc(size, sizeof *c->equal),
                .all_equal = calloc(size * size, sizeof *c->all_equal)};
    if (!c->first || !c->key || !c->lower || !c->own || !c->equal || !c->all_equal) {
        cuts_free(c);
        *c = (cuts){0};
        return false;
    }
    for (int i = 0; i < c->count; i++)
        fl_group_share(group, whole, i + 1, &c->first[i], &share);
    return true;
}

/* The largest key of which no more than first[i] elements are lower, bit by bit from the highest one. */
static fl_status find_keys(fl_group *group, cuts *c, const sorted *s)
{
    fl_status status = FL_OK;

    for (int bit = (int)(8 * s->item) - 1; bit >= 0 && status == FL_OK; bit--) {
        for (int i = 0; i < c->count; i++)
            c->own[i] = below(s, c->key[i] | (uint64_t)1 << bit);
        status = group->link->reduce(c->own, c->count, FL_I64, FL_SUM);
        for (int i = 0; i < c->count && status == FL_OK; i++)
            if (c->own[i] <= c->first[i])
                c->key[i] |= (uint64_t)1 << bit;
    }
    return status;
}

/* Of the elements with a cut's key the lower ranks' come first. */
static fl_status place_cuts(fl_group *group, cuts *c, const sorted *s)
{
    const int rank = group->info.rank;
    fl_status status;

    for (int i = 0; i < c->count; i++) {
        c->lower[i] = below(s, c->key[i]);
        c->equal[i] = (c->key[i] == UINT64_MAX ? s->count : below(s, c->key[i] + 1)) - c->lower[i];
        c->own[i + 1] = c->lower[i];
    }
    status = group->link->reduce(c->lower, c->count, FL_I64, FL_SUM);
    if (status == FL_OK)
        status = group->link->gather(c->equal, c->all_equal, c->count * (int64_t)sizeof *c->equal);
    for (int i = 0; i < c->count && status == FL_OK; i++) {
        int64_t wanted = c->first[i] - c->lower[i]; /* elements with the key before the cut, of all ranks */
        for (int r = 0; r < rank; r++)
            wanted -= c->all_equal[r * c->count + i];
        c->own[i + 1] += wanted < 0 ? 0 : wanted < c->equal[i] ? wanted : c->equal[i];
    }
    c->own[0] = 0;
    c->own[c->count + 1] = s->count;
    return status;
}

/* --------------------------------------------------------------------------------------------- exchange ---- */

/* The bytes that each rank sends here. */
static fl_status find_sizes(fl_group *group, const cuts *c, size_t item, int64_t *bytes)
{
    const int size = group->info.size, rank = group->info.rank;
    const int64_t row = (int64_t)(size + 1) * (int64_t)sizeof *c->own;
    int64_t *all = malloc((size_t)size * (size_t)row);
    fl_status status = fl_group_agree(group, all ? FL_OK : FL_E_MEMORY, "out of host memory");

    if (status == FL_OK)
        status = group->link->gather(c->own, all, row);
    for (int r = 0; r < size && status == FL_OK; r++)
        bytes[r] = (all[r * (size + 1) + rank + 1] - all[r * (size + 1) + rank]) * (int64_t)item;
    free(all);
    return status;
}

/* Each rank's piece of `s` to it, and all that are this rank's to `got`. */
static fl_status exchange(fl_group *group, const cuts *c, const sorted *s, char *got, double *sent)
{
    const int size = group->info.size;
    fl_piece *to = calloc((size_t)size, sizeof *to), *from = calloc((size_t)size, sizeof *from);
    int64_t *bytes = calloc((size_t)size, sizeof *bytes), at = 0;
    fl_status status = fl_group_agree(group, to && from && bytes ? FL_OK : FL_E_MEMORY, "out of host memory");

    if (status == FL_OK)
        status = find_sizes(group, c, s->item, bytes);
    for (int r = 0; r < size && status == FL_OK; r++) {
        to[r] =
            (fl_piece){(char *)s->data + c->own[r] * (int64_t)s->item, (c->own[r + 1] - c->own[r]) * (int64_t)s->item};
        from[r] = (fl_piece){got + at, bytes[r]};
        at += bytes[r];
        *sent += r == group->info.rank ? 0 : (double)to[r].bytes;
    }
    if (status == FL_OK)
        status = group->link->exchange(to, from);
    free(to);
    free(from);
    free(bytes);
    return status;
}

/* ------------------------------------------------------------------------------------------------- sort ---- */

/* One sort of this rank, and its memory in the host. */
typedef struct sorting {
    fl_group *group;
    fl_device *device;
    fl_array *out;
    const fl_run *run;
    bool in_host; /* arrays are in host memory */
    size_t bytes;
    void *staged, *got; /* staged: NULL where arrays are in host memory */
    fl_group_timing cost;
} sorting;

static fl_status wait_for(const sorting *s)
{
    return s->run->stream ? fl_stream_wait(s->run->stream) : fl_device_wait(s->device);
}

static fl_status sort_here(sorting *s, const fl_array *in, fl_timing *timing)
{
    const double start = dist_now();
    fl_run run = *s->run;
    fl_status status;

    run.timing = timing;
    status = fl_sort(s->device, in, s->out, &run);
    if (status == FL_OK)
        status = wait_for(s);
    s->cost.local_s += dist_now() - start;
    return status;
}

/* This rank's elements sorted, where the link can read them. */
static fl_status prepare(sorting *s, const fl_array *in, sorted *own)
{
    fl_status status = sort_here(s, in, s->run->timing);
    double start;

    if (status == FL_OK && (!(s->got = dist_scratch(s->group, 0, s->bytes)) ||
                            (!s->in_host && !(s->staged = dist_scratch(s->group, 1, s->bytes)))))
        status = FL_E_MEMORY;
    start = dist_now();
    if (status == FL_OK && !s->in_host)
        status = fl_array_read(s->out, s->staged, s->run->stream);
    if (status == FL_OK && !s->in_host)
        status = wait_for(s);
    s->cost.stage_s += dist_now() - start;
    own->data = s->in_host ? fl_array_data(s->out) : s->staged;
    return status;
}

static fl_status exchange_all(sorting *s, const sorted *own, int64_t whole)
{
    const double start = dist_now();
    fl_status status;
    cuts c;

    status = fl_group_agree(s->group, cuts_create(&c, s->group, whole) ? FL_OK : FL_E_MEMORY, "out of host memory");
    if (status == FL_OK)
        status = find_keys(s->group, &c, own);
    if (status == FL_OK)
        status = place_cuts(s->group, &c, own);
    if (status == FL_OK)
        status = exchange(s->group, &c, own, s->got, &s->cost.bytes);
    cuts_free(&c);
    s->cost.link_s += dist_now() - start;
    return status;
}

static fl_status finish(sorting *s)
{
    const double start = dist_now();
    fl_status status = fl_array_write(s->out, s->got, s->run->stream);

    if (status == FL_OK)
        status = wait_for(s);
    s->cost.stage_s += dist_now() - start;
    return status == FL_OK ? sort_here(s, s->out, NULL) : status;
}

/* The whole length, where each rank has its share of it. */
static fl_status measure(fl_group *group, const fl_array *in, const fl_array *out, int64_t *whole)
{
    const int64_t count = fl_array_size(in);
    int64_t first, share;
    char text[160] = "";
    fl_status status;

    if (fl_array_ndim(in) != 1 || fl_array_ndim(out) != 1 || fl_array_size(out) != count ||
        fl_array_dtype(in) != fl_array_dtype(out) || fl_array_dtype(in) == FL_U8)
        snprintf(text, sizeof text,
                 "fl_group_sort: in and out are not 1-D arrays of one length and dtype that is sorted");
    *whole = count;
    status = fl_group_agree(group, *text ? FL_E_ARGUMENT : FL_OK, text);
    if (status == FL_OK && group->link)
        status = group->link->reduce(whole, 1, FL_I64, FL_SUM);
    if (status != FL_OK)
        return status;
    fl_group_share(group, *whole, group->info.rank, &first, &share);
    if (share != count)
        snprintf(text, sizeof text, "fl_group_sort: this rank has %lld of %lld elements; expected its share, %lld",
                 (long long)count, (long long)*whole, (long long)share);
    return fl_group_agree(group, *text ? FL_E_ARGUMENT : FL_OK, text);
}

fl_status fl_group_sort(fl_group *group, fl_device *device, const fl_array *in, fl_array *out, const fl_run *run,
                        fl_group_timing *timing)
{
    static const fl_run usual = {0};
    const fl_dtype dtype = fl_array_dtype(in);
    sorting s = {.group = group,
                 .device = device,
                 .out = out,
                 .run = run ? run : &usual,
                 .in_host = fl_device_describe(device)->host_memory,
                 .bytes = (size_t)fl_array_size(in) * fl_dtype_size(dtype)};
    sorted own = {dtype, fl_dtype_size(dtype), fl_array_size(in), NULL};
    int64_t whole;
    double start;
    fl_status status = measure(group, in, out, &whole);

    if (status != FL_OK)
        return status;
    if (group->info.size == 1) {
        status = sort_here(&s, in, s.run->timing);
        status = fl_group_agree(group, status, fl_last_error());
    } else {
        status = prepare(&s, in, &own);
        start = dist_now();
        status = fl_group_agree(group, status, fl_last_error());
        s.cost.wait_s += dist_now() - start;
        if (status == FL_OK)
            status = exchange_all(&s, &own, whole);
        if (status == FL_OK) {
            status = finish(&s);
            status = fl_group_agree(group, status, fl_last_error());
        }
    }
    if (timing)
        *timing = s.cost;
    return status;
}
