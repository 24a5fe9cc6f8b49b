/* SPDX-License-Identifier: MIT
 *
 * sort.c - fl_group_sort: each rank sorts, the ranks find exact cuts, exchange what lies between them, and merge.
 */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One sort of this rank. */
typedef struct sorting {
    fl_group *group;
    fl_device *device;
    fl_array *out;
    const fl_run *run;
    fl_dtype dtype;
    int64_t count;    /* of this rank's elements */
    fl_array *sorted; /* those */
    fl_group_timing cost;
} sorting;

enum { ROOM_SORTED, ROOM_GOT, ROOM_MERGED, ROOM_VALUES, ROOM_PLACES };
enum { PINNED_VALUES, PINNED_PLACES };

static fl_status wait_for(const sorting *s)
{
    return s->run->stream ? fl_stream_wait(s->run->stream) : fl_device_wait(s->device);
}

/* How merges and searches run: as `auto`, in the caller's stream. */
static fl_run run_of(const sorting *s)
{
    return (fl_run){.stream = s->run->stream};
}

/* ------------------------------------------------------------------------------------------------- keys ---- */

/* Keys are unsigned numbers in the order of the elements, which fl_sort documents: of integers the bits with the sign
 * turned around; of floating-point numbers these, and of negative ones all bits turned around. */
static int width_of(fl_dtype dtype)
{
    return 8 * (int)fl_dtype_size(dtype);
}

static uint64_t all_ones(int width)
{
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* The element with this key; for keys below that of -infinity, which would be NaN, -infinity. */
static uint64_t bits_of(uint64_t key, fl_dtype dtype)
{
    const int width = width_of(dtype);
    const uint64_t sign = (uint64_t)1 << (width - 1), all = all_ones(width);
    const uint64_t infinity = width == 32 ? 0x7f800000 : 0x7ff0000000000000;
    uint64_t bits;

    if (!fl_dtype_is_float(dtype))
        return key ^ sign;
    bits = key & sign ? key ^ sign : ~key & all;
    return bits > (sign | infinity) ? sign | infinity : bits;
}

static void put_element(void *to, int64_t i, uint64_t bits, size_t size)
{
    const uint32_t narrow = (uint32_t)bits;

    memcpy((char *)to + (size_t)i * size, size == sizeof narrow ? (const void *)&narrow : (const void *)&bits, size);
}

/* ------------------------------------------------------------------------------------------------- cuts ---- */

enum {
    DIGIT_BITS = 8,
    TRIED = (1 << DIGIT_BITS) + 1
}; /* keys for each cut, the last one that of the next digit above */

/* The cuts that the ranks look for: cut c lies in the sorted whole before element first[c] of it, of rank c + 1. */
typedef struct cuts {
    int count;          /* size - 1 */
    int64_t *first;     /* [count] */
    uint64_t *key;      /* [count]: of the element after the cut, as far as it is known */
    int64_t *lower;     /* [count]: elements of all ranks with a lower key */
    int64_t *own;       /* [count + 2]: where the cuts are in this rank's elements; 0 and its count around them */
    int64_t *equal;     /* [count]: elements of this rank with the key */
    int64_t *all_equal; /* [size][count] */
    int64_t *all_own;   /* [size][count + 2] */
    int64_t *tried;     /* [count][TRIED]: how many elements of all ranks are below each key that is tried */
    int64_t *places;    /* the same of this rank, in pinned memory */
    void *values;       /* [count][TRIED]: the keys that are tried, as elements, in pinned memory */
} cuts;

static void cuts_free(cuts *c)
{
    free(c->first);
    free(c->key);
    free(c->lower);
    free(c->own);
    free(c->equal);
    free(c->all_equal);
    free(c->all_own);
    free(c->tried);
}

static fl_status cuts_create(cuts *c, fl_group *group, fl_dtype dtype, int64_t whole)
{
    const size_t size = (size_t)group->info.size;
    int64_t share;
    void *places = NULL;
    fl_status status;

    *c = (cuts){.count = (int)size - 1,
                .first = calloc(size, sizeof *c->first),
                .key = calloc(size, sizeof *c->key),
                .lower = calloc(size, sizeof *c->lower),
                .own = calloc(size + 1, sizeof *c->own),
                .equal = calloc(size, sizeof *c->equal),
                .all_equal = calloc(size * size, sizeof *c->all_equal),
                .all_own = calloc(size * (size + 1), sizeof *c->all_own),
                .tried = calloc(size * TRIED, sizeof *c->tried)};
    if (!c->first || !c->key || !c->lower || !c->own || !c->equal || !c->all_equal || !c->all_own || !c->tried) {
        cuts_free(c);
        *c = (cuts){0};
        return dist_fail(FL_E_MEMORY, "out of host memory");
    }
    for (int i = 0; i < c->count; i++)
        fl_group_share(group, whole, i + 1, &c->first[i], &share);
    status = dist_pinned(group, PINNED_VALUES, size * TRIED * fl_dtype_size(dtype), &c->values);
    if (status == FL_OK)
        status = dist_pinned(group, PINNED_PLACES, size * TRIED * sizeof *c->places, &places);
    c->places = places;
    return status;
}

/* places[i] = how many of this rank's elements are below values[i]; both in host memory. */
static fl_status search(const sorting *s, const void *values, int64_t *places, int64_t count)
{
    const fl_run run = run_of(s);
    fl_array *in = NULL, *out = NULL;
    fl_status status = dist_room(s->group, ROOM_VALUES, s->dtype, 1, &count, &in);

    if (status == FL_OK)
        status = dist_room(s->group, ROOM_PLACES, FL_I64, 1, &count, &out);
    if (status == FL_OK)
        status = fl_array_write(in, values, run.stream);
    if (status == FL_OK)
        status = fl_search_sorted(s->device, s->sorted, in, out, &run);
    if (status == FL_OK)
        status = fl_array_read(out, places, run.stream);
    if (status == FL_OK)
        status = wait_for(s);
    fl_array_free(in);
    fl_array_free(out);
    return status;
}

/* Returns whether a key with `digit` more in the digits from `shift` on is above all keys. */
static bool is_above_all(uint64_t key, int digit, int shift, int width)
{
    return (uint64_t)digit > (all_ones(width) - key) >> shift;
}

/* Counts this rank's elements below each tried key: the key known so far with every possible digit at `shift`. */
static fl_status count_below(const sorting *s, const cuts *c, int shift, int64_t *places, void *values)
{
    const int width = width_of(s->dtype);
    fl_status status;

    for (int i = 0; i < c->count; i++)
        for (int digit = 0; digit < TRIED; digit++) {
            const bool above = is_above_all(c->key[i], digit, shift, width);
            const uint64_t key = above ? 0 : c->key[i] + ((uint64_t)digit << shift);
            put_element(values, (int64_t)i * TRIED + digit, bits_of(key, s->dtype), fl_dtype_size(s->dtype));
        }
    status = search(s, values, places, (int64_t)c->count * TRIED);
    for (int i = 0; i < c->count; i++)
        for (int digit = TRIED - 1; digit > 0 && is_above_all(c->key[i], digit, shift, width); digit--)
            places[i * TRIED + digit] = s->count;
    return status;
}

/* Takes the largest digit at `shift` with which no more than first[i] elements have a lower key; for a cut after the
 * last element, where the cuts of ranks without elements are, that of the last element. */
static void take_digits(cuts *c, int shift, const int64_t *places)
{
    for (int i = 0; i < c->count; i++) {
        const int64_t *tried = c->tried + i * TRIED, *own = places + i * TRIED;
        int digit = TRIED - 2;
        while (digit > 0 && (tried[digit] > c->first[i] || tried[digit + 1] == tried[digit]))
            digit--;
        c->key[i] += (uint64_t)digit << shift;
        c->lower[i] = tried[digit];
        c->own[i + 1] = own[digit];
        c->equal[i] = own[digit + 1] - own[digit];
    }
}

/* The keys of the elements after the cuts, digit by digit from the highest one. A rank that fails takes part in what
 * all ranks do, until they agree on it. */
static fl_status find_keys(sorting *s, cuts *c)
{
    const int64_t count = (int64_t)c->count * TRIED;
    fl_status status = FL_OK, linked = FL_OK;

    for (int shift = width_of(s->dtype) - DIGIT_BITS; shift >= 0 && linked == FL_OK; shift -= DIGIT_BITS) {
        if (status == FL_OK)
            status = count_below(s, c, shift, c->places, c->values);
        memcpy(c->tried, c->places, (size_t)count * sizeof *c->tried);
        linked = s->group->link->reduce(c->tried, (int32_t)count, FL_I64, FL_SUM);
        take_digits(c, shift, c->places);
    }
    return linked == FL_OK ? status : linked;
}

/* Places each cut among the elements that have its key: those of lower ranks come first. */
static fl_status place_cuts(sorting *s, cuts *c)
{
    fl_status status = s->group->link->gather(c->equal, c->all_equal, c->count * (int64_t)sizeof *c->equal);

    for (int i = 0; i < c->count && status == FL_OK; i++) {
        int64_t wanted = c->first[i] - c->lower[i]; /* elements with the key before the cut, of all ranks */
        for (int r = 0; r < s->group->info.rank; r++)
            wanted -= c->all_equal[r * c->count + i];
        c->own[i + 1] += wanted < 0 ? 0 : wanted < c->equal[i] ? wanted : c->equal[i];
    }
    c->own[0] = 0;
    c->own[c->count + 1] = s->count;
    return status;
}

/* --------------------------------------------------------------------------------------------- exchange ---- */

/* The pieces that each rank sends, and where they go: this rank's elements by its cuts, and the others' one after the
 * other. */
typedef struct pieces {
    fl_rows *to, *from; /* [size] */
    fl_array *got;
} pieces;

static fl_status exchange(sorting *s, cuts *c, pieces *p)
{
    const int size = s->group->info.size, rank = s->group->info.rank;
    int64_t at = 0;
    fl_status status = s->group->link->gather(c->own, c->all_own, (size + 1) * (int64_t)sizeof *c->own);

    if (status != FL_OK)
        return status;
    for (int r = 0; r < size; r++) {
        const int64_t *cut = c->all_own + r * (size + 1) + rank;
        p->to[r] = (fl_rows){s->sorted, c->own[r], c->own[r + 1] - c->own[r]};
        p->from[r] = r == rank ? p->to[r] : (fl_rows){NULL, at, cut[1] - cut[0]};
        at += r == rank ? 0 : p->from[r].count;
    }
    status = dist_room(s->group, ROOM_GOT, s->dtype, 1, &at, &p->got);
    for (int r = 0; r < size; r++)
        p->from[r].of = r == rank ? s->sorted : p->got;
    return dist_move(s->group, status, s->run->stream, p->to, p->from, &s->cost);
}

/* ------------------------------------------------------------------------------------------------ merge ---- */

/* Merges neighbours of `runs` into the array `into`, one after the other; their number is halved. */
static fl_status merge_neighbours(const sorting *s, fl_array **runs, int *count, fl_array *into)
{
    static const int64_t none = 0;
    const fl_run run = run_of(s);
    int64_t at = 0;
    fl_status status = FL_OK;

    for (int i = 0; i < *count && status == FL_OK; i += 2) {
        const bool alone = i + 1 == *count;
        const int64_t length = fl_array_size(runs[i]) + (alone ? 0 : fl_array_size(runs[i + 1]));
        fl_array *merged = NULL, *nothing = NULL;
        status = fl_array_view(into, &at, &length, &merged);
        if (status == FL_OK && alone)
            status = fl_array_view(runs[i], &none, &none, &nothing);
        if (status == FL_OK)
            status = fl_merge(s->device, runs[i], alone ? nothing : runs[i + 1], merged, &run);
        fl_array_free(nothing);
        fl_array_free(runs[i]);
        if (!alone)
            fl_array_free(runs[i + 1]);
        runs[i] = NULL;
        runs[i + !alone] = NULL;
        runs[i / 2] = merged;
        at += length;
    }
    *count = (*count + 1) / 2;
    return status;
}

/* Merges them two by two, and the results again, the last time into the output. Results in between are in memory of
 * their own, then in that of the sorted elements, which the first merges have read, and so on in turns. */
static fl_status merge_runs(const sorting *s, fl_array **runs, int count)
{
    fl_array *rooms[] = {NULL, s->sorted};
    fl_status status = count > 2 ? dist_room(s->group, ROOM_MERGED, s->dtype, 1, &s->count, &rooms[0]) : FL_OK;

    for (int level = 0; count > 1 && status == FL_OK; level++)
        status = merge_neighbours(s, runs, &count, count > 2 ? rooms[level % 2] : s->out);
    fl_array_free(rooms[0]);
    return status;
}

static fl_status merge(const sorting *s, const pieces *p)
{
    const int size = s->group->info.size;
    fl_array **runs = calloc((size_t)size, sizeof *runs);
    fl_status status = runs ? FL_OK : dist_fail(FL_E_MEMORY, "out of host memory");

    for (int r = 0; r < size && status == FL_OK; r++)
        status = fl_array_view(p->from[r].of, &p->from[r].first, &p->from[r].count, &runs[r]);
    if (status == FL_OK)
        status = merge_runs(s, runs, size);
    if (status == FL_OK)
        status = wait_for(s);
    for (int r = 0; runs && r < size; r++)
        fl_array_free(runs[r]);
    free(runs);
    return status;
}

/* ------------------------------------------------------------------------------------------------- sort ---- */

static fl_status sort_here(sorting *s, const fl_array *in, fl_array *out)
{
    fl_status status = fl_sort(s->device, in, out, s->run);

    return status == FL_OK ? wait_for(s) : status;
}

static fl_status exchange_and_merge(sorting *s, cuts *c, pieces *p)
{
    fl_status status = find_keys(s, c);

    status = fl_group_agree(s->group, status, fl_last_error());
    if (status == FL_OK)
        status = place_cuts(s, c);
    if (status == FL_OK)
        status = exchange(s, c, p);
    if (status != FL_OK)
        return status;
    status = merge(s, p);
    if (status == FL_OK)
        status = dist_moved(s->group, &s->cost);
    return fl_group_agree(s->group, status, fl_last_error());
}

/* This rank's elements, sorted, and the memory for all that follows. */
static fl_status prepare(sorting *s, const fl_array *in, int64_t whole, cuts *c, pieces *p)
{
    const size_t size = (size_t)s->group->info.size;
    fl_status status = dist_room(s->group, ROOM_SORTED, s->dtype, 1, &s->count, &s->sorted);

    *p = (pieces){calloc(size, sizeof *p->to), calloc(size, sizeof *p->from), NULL};
    if (status == FL_OK && (!p->to || !p->from))
        status = dist_fail(FL_E_MEMORY, "out of host memory");
    if (status == FL_OK)
        status = cuts_create(c, s->group, s->dtype, whole);
    return status == FL_OK ? sort_here(s, in, s->sorted) : status;
}

static fl_status sort_with_others(sorting *s, const fl_array *in, int64_t whole)
{
    const double start = dist_now();
    dist_part part;
    pieces p = {0};
    cuts c = {0};
    fl_status status = dist_use(s->group, s->device);

    if (status != FL_OK)
        return status;
    status = prepare(s, in, whole, &c, &p);
    part = dist_begin("wait for ranks");
    status = fl_group_agree(s->group, status, fl_last_error());
    dist_end(part, &s->cost.wait_s);
    if (status == FL_OK)
        status = exchange_and_merge(s, &c, &p);
    s->cost.local_s = dist_now() - start - s->cost.link_s - s->cost.wait_s - s->cost.stage_s;
    fl_array_free(p.got);
    fl_array_free(s->sorted);
    cuts_free(&c);
    free(p.to);
    free(p.from);
    return status;
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
    sorting s = {.group = group,
                 .device = device,
                 .out = out,
                 .run = run ? run : &usual,
                 .dtype = fl_array_dtype(in),
                 .count = fl_array_size(in)};
    int64_t whole;
    fl_status status;

    dist_call(group, "fl_group_sort of %s", fl_dtype_name(s.dtype));
    status = measure(group, in, out, &whole);
    if (status != FL_OK)
        return status;
    if (group->info.size == 1) {
        const double start = dist_now();
        status = sort_here(&s, in, out);
        status = fl_group_agree(group, status, fl_last_error());
        s.cost.local_s = dist_now() - start;
    } else {
        status = sort_with_others(&s, in, whole);
    }
    if (timing)
        *timing = s.cost;
    return status;
}
