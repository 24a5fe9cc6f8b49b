/* SPDX-License-Identifier: MIT
 * Elements from the memory of one rank's device to another's. */
#include "group.h"

#include <stdlib.h>
#include <string.h>

enum { STAGED_BYTES = 16 << 20 }; /* of all ranks' pieces that are on their way at a time */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t row_bytes(const fl_array *array)
{
    int64_t bytes = (int64_t)fl_dtype_size(fl_array_dtype(array));

    for (int d = 1; d < fl_array_ndim(array); d++)
        bytes *= fl_array_shape(array, d);
    return bytes;
}

static fl_piece piece_of(const fl_rows *rows)
{
    const int64_t row = rows->of ? row_bytes(rows->of) : 0;

    return rows->of && rows->count > 0
               ? (fl_piece){(char *)fl_array_data(rows->of) + rows->first * row, rows->count * row}
               : (fl_piece){0};
}

/* Both ends of all copies, as the link and the vendor's library take them. */
typedef struct moving {
    fl_group *group;
    fl_stream *stream;
    const fl_rows *to, *from;
    fl_piece *sent, *got;
    fl_group_timing *cost;
} moving;

/* ------------------------------------------------------------------------------------------------ staged ---- */

/* Staged copies go in rounds, in which each pair of ranks exchanges as many rows as fit into its part of a buffer:
 * while the link has one round, the device writes the next one to the host and reads the last one from there. */
typedef struct staging {
    moving *m;
    int64_t part;    /* bytes of a pair of ranks in a round */
    int64_t rounds;  /* of the longest piece of all ranks */
    char *memory[2]; /* of a round that is even or odd: what is sent, then what is received */
} staging;

/* The rows of a piece that a round has. */
static fl_rows rows_of(const staging *s, const fl_rows *rows, int64_t round)
{
    const int64_t each = rows->of ? s->part / row_bytes(rows->of) : 0;
    const int64_t first = smaller(round * each, rows->count);

    return (fl_rows){rows->of, rows->first + first, smaller(each, rows->count - first)};
}

/* Queues the copy of these rows to or from the host. */
static fl_status copy_rows(const fl_rows *rows, char *host, fl_stream *stream, bool to_host)
{
    int64_t start[FL_MAX_DIMS] = {rows->first}, shape[FL_MAX_DIMS] = {rows->count};
    fl_array *view;
    fl_status status;

    for (int d = 1; d < fl_array_ndim(rows->of); d++)
        shape[d] = fl_array_shape(rows->of, d);
    status = fl_array_view(rows->of, start, shape, &view);
    if (status == FL_OK)
        status = to_host ? fl_array_read(view, host, stream) : fl_array_write(view, host, stream);
    fl_array_free(view);
    return status;
}

/* Queues the copies of a round's rows between the device and its part of the buffer. */
static fl_status copy_round(const staging *s, int64_t round, bool to_host)
{
    const fl_group *group = s->m->group;
    char *memory = s->memory[round % 2] + (to_host ? 0 : group->info.size * s->part);
    fl_status status = FL_OK;

    for (int r = 0; r < group->info.size && status == FL_OK && round < s->rounds; r++) {
        const fl_rows rows = rows_of(s, to_host ? &s->m->to[r] : &s->m->from[r], round);
        if (rows.of && rows.count > 0 && r != group->info.rank)
            status = copy_rows(&rows, memory + r * s->part, to_host ? group->on.reading : group->on.writing, to_host);
    }
    return status;
}

static fl_status exchange_round(const staging *s, int64_t round)
{
    const fl_group *group = s->m->group;
    char *memory = s->memory[round % 2];
    const dist_part part = dist_begin("link");
    fl_status status;

    for (int r = 0; r < group->info.size; r++) {
        const fl_rows to = rows_of(s, &s->m->to[r], round), from = rows_of(s, &s->m->from[r], round);
        const bool other = r != group->info.rank;
        s->m->sent[r] = (fl_piece){memory + r * s->part, other && to.of ? to.count * row_bytes(to.of) : 0};
        s->m->got[r] = (fl_piece){memory + (group->info.size + r) * s->part,
                                  other && from.of ? from.count * row_bytes(from.of) : 0};
    }
    status = group->link->exchange(s->m->sent, s->m->got);
    dist_end(part, &s->m->cost->link_s);
    return status;
}

/* Finds the rounds that all ranks agree on, and the memory. */
static fl_status plan(staging *s)
{
    fl_group *group = s->m->group;
    int64_t widest = 1, bytes;
    fl_status status = FL_OK;

    for (int r = 0; r < group->info.size; r++) {
        const fl_rows *const both[] = {&s->m->to[r], &s->m->from[r]};
        for (int i = 0; i < 2; i++)
            if (both[i]->of && row_bytes(both[i]->of) > widest)
                widest = row_bytes(both[i]->of);
    }
    status = group->link->reduce(&widest, 1, FL_I64, FL_MAXIMUM);
    s->part = STAGED_BYTES / group->info.size / widest * widest;
    s->part = s->part > widest ? s->part : widest;
    for (int r = 0; r < group->info.size; r++) {
        const fl_rows *to = &s->m->to[r];
        const int64_t each = to->of ? s->part / row_bytes(to->of) : 1,
                      rounds = to->of ? (to->count + each - 1) / each : 0;
        if (r != group->info.rank && rounds > s->rounds)
            s->rounds = rounds;
    }
    if (status == FL_OK)
        status = group->link->reduce(&s->rounds, 1, FL_I64, FL_MAXIMUM);
    bytes = 2 * group->info.size * s->part;
    for (int i = 0; i < 2 && status == FL_OK && s->rounds > i; i++) {
        void *memory;
        status = dist_pinned(group, i, (size_t)bytes, &memory);
        s->memory[i] = memory;
    }
    return fl_group_agree(group, status, fl_last_error());
}

static fl_status move_rounds(const staging *s)
{
    const dist_device *on = &s->m->group->on;
    fl_status status = copy_round(s, 0, true);

    for (int64_t round = 0; round < s->rounds; round++) {
        if (status == FL_OK)
            status = fl_stream_wait(on->reading);
        if (status == FL_OK)
            status = copy_round(s, round + 1, true);
        status = fl_group_agree(s->m->group, status, fl_last_error());
        if (status != FL_OK)
            return status;
        status = exchange_round(s, round);
        if (status == FL_OK)
            status = fl_stream_wait(on->writing); /* what the last but one received has left the buffer */
        if (status == FL_OK)
            status = copy_round(s, round, false);
    }
    return status == FL_OK ? fl_stream_wait(on->writing) : status;
}

/* Waits for the work that is queued, here and on the other ranks. */
static fl_status wait_for_ranks(moving *m)
{
    const dist_part part = dist_begin("wait for ranks");
    fl_status status = m->stream ? fl_stream_wait(m->stream) : fl_device_wait(m->group->on.device);

    status = fl_group_agree(m->group, status, fl_last_error());
    dist_end(part, &m->cost->wait_s);
    return status;
}

static fl_status move_staged(moving *m)
{
    staging s = {.m = m};
    fl_status status = wait_for_ranks(m);
    dist_part part;
    double linked;

    if (status == FL_OK)
        status = plan(&s);
    if (status != FL_OK) /* of all ranks */
        return status;
    part = dist_begin("staging");
    linked = m->cost->link_s;
    status = move_rounds(&s);
    dist_end(part, &m->cost->stage_s);
    m->cost->stage_s -= m->cost->link_s - linked;
    return fl_group_agree(m->group, status, fl_last_error());
}

/* ------------------------------------------------------------------------------------------ other paths ---- */

/* The link reads and writes where the elements are. */
static fl_status move_by_link(moving *m)
{
    fl_status status = wait_for_ranks(m);
    const dist_part part = dist_begin("link");

    if (status == FL_OK)
        status = m->group->link->exchange(m->sent, m->got);
    dist_end(part, &m->cost->link_s);
    return status;
}

static fl_status move_directly(moving *m)
{
    dist_device *on = &m->group->on;
    fl_status status = fl_event_record(on->events[0], m->stream);

    if (status == FL_OK)
        status = fl_communicator_exchange(on->communicator, m->stream, m->sent, m->got);
    return status == FL_OK ? fl_event_record(on->events[1], m->stream) : status;
}

fl_status dist_moved(fl_group *group, fl_group_timing *cost)
{
    double seconds = 0;
    fl_status status = FL_OK;

    if (group->on.path == DIST_DIRECT)
        status = fl_event_elapsed(group->on.events[0], group->on.events[1], &seconds);
    cost->link_s += seconds;
    return status;
}

fl_status dist_move(fl_group *group, fl_status status, fl_stream *stream, const fl_rows *to, const fl_rows *from,
                    fl_group_timing *cost)
{
    static fl_status (*const ways[])(moving *) = {[DIST_HOST] = move_by_link,
                                                  [DIST_STAGED] = move_staged,
                                                  [DIST_DEVICE] = move_by_link,
                                                  [DIST_DIRECT] = move_directly};
    const size_t size = (size_t)group->info.size;
    moving m = {group, stream, to, from, calloc(size, sizeof *m.sent), calloc(size, sizeof *m.got), cost};

    if (status == FL_OK && (!m.sent || !m.got))
        status = dist_fail(FL_E_MEMORY, "out of host memory");
    status = fl_group_agree(group, status, fl_last_error());
    for (int r = 0; r < group->info.size && status == FL_OK; r++) {
        if (r == group->info.rank)
            continue;
        m.sent[r] = piece_of(&to[r]);
        m.got[r] = piece_of(&from[r]);
        cost->bytes += (double)m.sent[r].bytes;
    }
    if (status == FL_OK)
        status = ways[group->on.path](&m);
    free(m.sent);
    free(m.got);
    return status;
}

fl_status fl_group_move(fl_group *group, fl_device *device, const fl_rows *to, const fl_rows *from, fl_stream *stream,
                        fl_group_timing *timing)
{
    const fl_run run = {.stream = stream};
    fl_group_timing cost = {0};
    fl_status status;

    dist_call(group, "fl_group_move");
    status = dist_use(group, device);
    if (status == FL_OK && group->info.size > 1)
        status = dist_move(group, FL_OK, stream, to, from, &cost);
    if (status != FL_OK)
        return status;
    status = dist_finish(device, &run);
    if (status == FL_OK && group->info.size > 1)
        status = dist_moved(group, &cost);
    if (timing)
        *timing = cost;
    return fl_group_agree(group, status, fl_last_error());
}
