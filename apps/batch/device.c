/* SPDX-License-Identifier: MIT */
#include "device.h"

#include "run/reference.h"
#include "support/host_memory.h"
#include "support/fail.h"
#include "support/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SMALLEST_TO_CUT = 8 }; /* matrices of a chunk */

/* A part of an item: `count` matrices from the first-th on. */
typedef struct piece {
    batch_item *item;
    int64_t first, count;
} piece;

typedef struct piece_list {
    piece *list;
    int count, room;
    int64_t matrices;
} piece_list;

/* Memory for a chunk of at most `room` matrices, and the chunk that uses it now. */
typedef struct slot {
    fl_event *events[ENGINES + 1]; /* before the copies, and after each engine's part */
    matrix_shape shape;
    int64_t room;
    fl_array *arrays[ARRAYS];
    void *host[ARRAYS]; /* the same in host memory; on a CPU the arrays' own memory */
    size_t bytes;       /* of the arrays */
    piece_list pieces;
} slot;

struct batch_device {
    device_plan plan;
    const fl_device_info *info;
    fl_stream *streams[ENGINES]; /* all the same one if only one engine works at a time */
    slot slots[MOST_SLOTS];
    int next;                           /* slots are used in turn, so that the next one is always the oldest */
    int64_t shrink;                     /* chunks are 1 / shrink as large as planned */
    piece_list waiting[WAITING_SHAPES]; /* each of one shape, not yet a full chunk */
    engine_times times;
    device_report report;
};

static void add_piece(piece_list *list, piece p)
{
    piece *last = list->count > 0 ? &list->list[list->count - 1] : NULL;

    list->matrices += p.count;
    if (last && last->item == p.item && last->first + last->count == p.first) {
        last->count += p.count;
        return;
    }
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->list = memory_regrown(list->list, (size_t)list->room, sizeof *list->list);
    }
    list->list[list->count++] = p;
}

/* Adds up to `most` matrices from the front of a list to an empty one. */
static void copy_front(const piece_list *from, int64_t most, piece_list *to)
{
    for (int i = 0; i < from->count && to->matrices < most; i++) {
        piece part = from->list[i];
        part.count = int64_smaller(part.count, most - to->matrices);
        add_piece(to, part);
    }
}

static void remove_front(piece_list *pieces, int64_t matrices)
{
    int gone = 0;

    pieces->matrices -= matrices;
    while (gone < pieces->count && pieces->list[gone].count <= matrices)
        matrices -= pieces->list[gone++].count;
    pieces->count -= gone;
    memmove(pieces->list, pieces->list + gone, (size_t)pieces->count * sizeof *pieces->list);
    if (matrices > 0) {
        pieces->list[0].first += matrices;
        pieces->list[0].count -= matrices;
    }
}

static void empty(piece_list *pieces)
{
    pieces->count = 0;
    pieces->matrices = 0;
}

static void free_arrays(batch_device *d, slot *s)
{
    for (int i = 0; i < ARRAYS; i++) {
        if (!d->info->host_memory)
            host_memory_free(d->plan.device, d->plan.pinned, s->host[i]);
        fl_array_free(s->arrays[i]);
        s->host[i] = NULL;
        s->arrays[i] = NULL;
    }
    s->room = 0;
    s->bytes = 0;
}

static fl_status create_array(batch_device *d, slot *s, int i, const int64_t *shape)
{
    const size_t bytes = (size_t)s->room * bytes_of_array(&s->shape, i);
    fl_status status = fl_array_create(d->plan.device, s->shape.dtype, i == 1 ? 2 : 3, shape, &s->arrays[i]);

    if (status != FL_OK)
        return status;
    s->bytes += bytes;
    if (!d->info->host_memory)
        return host_memory_create(d->plan.device, d->plan.pinned, bytes, &s->host[i]);
    s->host[i] = fl_array_data(s->arrays[i]);
    return FL_OK;
}

static void count_memory(batch_device *d)
{
    int64_t bytes = 0;

    for (int i = 0; i < d->plan.slots; i++)
        bytes += (int64_t)d->slots[i].bytes;
    d->report.device_bytes = int64_larger(d->report.device_bytes, bytes);
    d->report.host_bytes = d->info->host_memory ? 0 : d->report.device_bytes;
}

/* Gives the slot arrays for `room` matrices of the shape. */
static fl_status prepare(batch_device *d, slot *s, const matrix_shape *shape, int64_t room)
{
    int64_t shapes[ARRAYS][3];
    fl_status status = FL_OK;

    if (s->room >= room && same_shape(&s->shape, shape))
        return FL_OK;
    free_arrays(d, s);
    s->shape = *shape;
    s->room = room;
    shapes_of_arrays(shape, room, shapes);
    for (int i = 0; i < ARRAYS && status == FL_OK; i++)
        status = create_array(d, s, i, shapes[i]);
    if (status != FL_OK)
        free_arrays(d, s);
    count_memory(d);
    return status;
}

/* Reports that a list's pieces will not come back, and empties it. */
static void lose(batch_device *d, piece_list *pieces)
{
    for (int i = 0; i < pieces->count; i++)
        d->plan.lost(d->plan.user, pieces->list[i].item, pieces->list[i].count);
    empty(pieces);
}

/* Waits for the slot's chunk and hands its pieces back. */
static fl_status complete(batch_device *d, slot *s)
{
    const char *y = s->host[RESULT];
    fl_status status;

    if (s->pieces.count == 0)
        return FL_OK;
    status = fl_event_wait(s->events[ENGINES]);
    if (status == FL_OK)
        status = engine_times_add(&d->times, s->events, d->report.busy_s);
    if (status != FL_OK)
        lose(d, &s->pieces);
    for (int i = 0; i < s->pieces.count; i++) {
        const piece *p = &s->pieces.list[i];
        d->plan.back(d->plan.user, p->item, p->first, p->count, y); /* which may free the item */
        y += (size_t)p->count * bytes_of_array(&s->shape, RESULT);
    }
    empty(&s->pieces);
    return status;
}

/* Completes everything that is under way, the oldest chunk first. */
static fl_status complete_all(batch_device *d)
{
    fl_status status = FL_OK;

    for (int i = 0; i < d->plan.slots; i++) {
        fl_status one = complete(d, &d->slots[(d->next + i) % d->plan.slots]);
        status = status == FL_OK ? one : status;
    }
    return status;
}

static const char *factor_at(const piece *p, int i)
{
    return (const char *)p->item->factors[i] + (size_t)p->first * bytes_of_array(&p->item->shape, i);
}

/* Returns whether the factors of `next` lie right after those of `p`, in memory that copies may be queued from. */
static bool follows(const piece *p, const piece *next)
{
    for (int i = 0; i < FACTORS; i++)
        if (factor_at(p, i) + (size_t)p->count * bytes_of_array(&p->item->shape, i) != factor_at(next, i))
            return false;
    return p->item->stays && next->item->stays;
}

static bool lies_together(const piece_list *pieces)
{
    bool together = pieces->list[0].item->stays;

    for (int i = 0; i + 1 < pieces->count && together; i++)
        together = follows(&pieces->list[i], &pieces->list[i + 1]);
    return together;
}

/* Copies the factors of the chunk to the slot's host memory. */
static void gather(slot *s)
{
    for (int i = 0; i < FACTORS; i++) {
        char *to = s->host[i];
        for (const piece *p = s->pieces.list; p < s->pieces.list + s->pieces.count; p++)
            to = mempcpy(to, factor_at(p, i), (size_t)p->count * bytes_of_array(&s->shape, i));
    }
}

/* Views of the chunk's part of the slot's arrays, or of the pool's for factors that lie there. */
static fl_status view_arrays(const slot *s, bool from_pool, fl_array **views)
{
    const piece *first = &s->pieces.list[0];
    int64_t shapes[ARRAYS][3];
    fl_status status = FL_OK;

    shapes_of_arrays(&s->shape, s->pieces.matrices, shapes);
    for (int i = 0; i < ARRAYS && status == FL_OK; i++) {
        const bool pool = from_pool && i < FACTORS;
        const int64_t start[3] = {pool ? first->item->pool_index + first->first : 0, 0, 0};
        status = fl_array_view(pool ? first->item->pool[i] : s->arrays[i], start, shapes[i], &views[i]);
    }
    return status;
}

static fl_status reconstruct(batch_device *d, const slot *s, fl_array **views)
{
    fl_run run = {.variant = d->plan.variant,
                  .stream = d->streams[ENGINE_KERNEL],
                  .timing = d->report.timing.variant ? NULL : &d->report.timing};

    memcpy(run.block, d->plan.block, sizeof run.block);
    return fl_reconstruct(d->plan.device, views[0], views[1], views[2], s->shape.keep, views[RESULT], &run);
}

/* Queues one engine's part of a chunk. On a CPU nothing is copied. */
static fl_status queue_part(batch_device *d, const slot *s, fl_array **views, bool in_place, int engine)
{
    fl_status status = FL_OK;

    if (engine == ENGINE_KERNEL)
        return reconstruct(d, s, views);
    if (d->info->host_memory)
        return FL_OK;
    if (engine == ENGINE_D2H)
        return fl_array_read(views[RESULT], s->host[RESULT], d->streams[ENGINE_D2H]);
    for (int i = 0; i < FACTORS && status == FL_OK; i++)
        status =
            fl_array_write(views[i], in_place ? factor_at(&s->pieces.list[0], i) : s->host[i], d->streams[ENGINE_H2D]);
    return status;
}

/* Queues the parts, each in its engine's stream and after the part before it. */
static fl_status queue_work(batch_device *d, slot *s, fl_array **views, bool in_place)
{
    fl_status status = fl_event_record(s->events[0], d->streams[0]);

    for (int e = 0; e < ENGINES && status == FL_OK; e++) {
        if (e > 0 && d->streams[e] != d->streams[e - 1])
            status = fl_stream_wait_event(d->streams[e], s->events[e]);
        if (status == FL_OK)
            status = queue_part(d, s, views, in_place, e);
        if (status == FL_OK)
            status = fl_event_record(s->events[e + 1], d->streams[e]);
    }
    return status;
}

/* Queues the slot's pieces. */
static fl_status queue_chunk(batch_device *d, slot *s)
{
    const bool together = lies_together(&s->pieces), in_place = together && !d->info->host_memory,
               from_pool = together && !in_place && s->pieces.list[0].item->pool;
    fl_array *views[ARRAYS] = {NULL};
    fl_status status;

    if (!in_place && !from_pool)
        gather(s);
    status = view_arrays(s, from_pool, views);
    if (status == FL_OK)
        status = queue_work(d, s, views, in_place);
    for (int i = 0; i < ARRAYS; i++)
        fl_array_free(views[i]);
    return status;
}

static void count_chunk(batch_device *d, const slot *s)
{
    const matrix_shape *m = &s->shape;
    const double count = (double)s->pieces.matrices, out = count * (double)bytes_of_array(m, RESULT);
    double in = 0;

    for (int i = 0; i < FACTORS; i++)
        in += count * (double)bytes_of_array(m, i);
    d->report.bytes[ENGINE_H2D] += d->info->host_memory ? 0 : in;
    d->report.bytes[ENGINE_D2H] += d->info->host_memory ? 0 : out;
    d->report.bytes[ENGINE_KERNEL] += in + out;
    d->report.flops += 2 * count * (double)m->rows * (double)m->columns * (double)m->keep;
    d->report.launches++;
    d->report.matrices += s->pieces.matrices;
    d->report.chunk = int64_larger(d->report.chunk, s->pieces.matrices);
}

/* Most matrices of a chunk of this shape. */
static int64_t chunk_of(const batch_device *d, const matrix_shape *shape)
{
    const int64_t fit = d->plan.chunk_bytes / (int64_t)bytes_of_array(shape, RESULT);

    return int64_larger(int64_smaller(fit, d->plan.chunk) / d->shrink, 1);
}

/* Most matrices of the next chunk of this shape: the first two are smaller, so that the later engines start sooner. */
static int64_t next_chunk_of(const batch_device *d, const matrix_shape *shape)
{
    const int64_t whole = chunk_of(d, shape), part = d->report.launches < 2 ? 4 >> d->report.launches : 1;

    return !d->info->host_memory && whole >= SMALLEST_TO_CUT ? whole / part : whole;
}

/* After running out of memory: frees all slots, and makes chunks smaller, then fewer. false: that is not possible any
 * more. */
static bool make_smaller(batch_device *d, int64_t chunk)
{
    for (int i = 0; i < d->plan.slots; i++)
        free_arrays(d, &d->slots[i]);
    if (chunk > 1)
        d->shrink *= 2;
    else if (d->plan.slots > 1)
        d->plan.slots /= 2;
    else
        return false;
    d->next = 0;
    d->report.smaller = true;
    note("%s is out of memory: the pipeline goes on with %s", d->info->resource,
         chunk > 1 ? "chunks of half the size" : "half as many chunks at a time");
    return true;
}

/* Queues one chunk of a list. */
static fl_status submit_chunk(batch_device *d, piece_list *waiting)
{
    const matrix_shape *shape = &waiting->list[0].item->shape;
    const int64_t chunk = chunk_of(d, shape), next = next_chunk_of(d, shape);
    slot *s = &d->slots[d->next];
    fl_status status = complete(d, s);

    if (status != FL_OK)
        return status;
    copy_front(waiting, next, &s->pieces);
    status = prepare(d, s, shape, chunk);
    if (status == FL_OK)
        status = queue_chunk(d, s);
    if (status == FL_OK) {
        count_chunk(d, s);
        remove_front(waiting, s->pieces.matrices);
        d->next = (d->next + 1) % d->plan.slots;
        return FL_OK;
    }
    empty(&s->pieces);
    if (status != FL_E_MEMORY)
        return status;
    for (int e = 0; e < ENGINES; e++)
        (void)fl_stream_wait(d->streams[e]); /* for parts of the chunk that were queued */
    status = complete_all(d);
    return status == FL_OK && !make_smaller(d, chunk) ? FL_E_MEMORY : status;
}

static fl_status submit_all(batch_device *d, piece_list *waiting)
{
    fl_status status = FL_OK;

    while (status == FL_OK && waiting->count > 0)
        status = submit_chunk(d, waiting);
    return status;
}

/* The list that the item waits in: the one of its shape, else an empty one, else the fullest, which is queued first.
 * Factors that stay in memory are copied from there in one piece, so a chunk holds only factors that are contiguous. */
static fl_status find_list(batch_device *d, batch_item *item, piece_list **found)
{
    const piece next = {item, 0, item->matrices};
    piece_list *unused = NULL, *fullest = &d->waiting[0];

    for (int i = 0; i < WAITING_SHAPES; i++) {
        piece_list *list = *found = &d->waiting[i];
        if (list->count == 0)
            unused = list;
        else if (same_shape(&list->list[0].item->shape, &item->shape))
            return !item->stays || follows(&list->list[list->count - 1], &next) ? FL_OK : submit_all(d, list);
        else if (list->matrices > fullest->matrices)
            fullest = list;
    }
    *found = unused ? unused : fullest;
    return submit_all(d, *found);
}

fl_status batch_device_add(batch_device *d, batch_item *item)
{
    const matrix_shape shape = item->shape;
    piece_list *waiting;
    fl_status status = find_list(d, item, &waiting);

    add_piece(waiting, (piece){item, 0, item->matrices});
    while (status == FL_OK && waiting->matrices >= next_chunk_of(d, &shape))
        status = submit_chunk(d, waiting);
    return status;
}

fl_status batch_device_finish(batch_device *d)
{
    fl_status status = FL_OK;

    for (int i = 0; i < WAITING_SHAPES && status == FL_OK; i++)
        status = submit_all(d, &d->waiting[i]);
    return status == FL_OK ? complete_all(d) : status;
}

batch_device *batch_device_create(const device_plan *plan)
{
    batch_device *d = memory_zeroed(1, sizeof *d);

    d->plan = *plan;
    d->info = fl_device_describe(plan->device);
    d->shrink = 1;
    d->times = engine_times_create(plan->device);
    for (int e = 0; e < ENGINES; e++)
        if (e == 0 || (plan->slots > 1 && !d->info->host_memory))
            must(fl_stream_create(plan->device, &d->streams[e]));
        else
            d->streams[e] = d->streams[0];
    for (int i = 0; i < plan->slots; i++)
        for (int e = 0; e <= ENGINES; e++)
            must(fl_event_create(plan->device, &d->slots[i].events[e]));
    return d;
}

void batch_device_begin(batch_device *d)
{
    d->report = (device_report){.timing = d->report.timing, .smaller = d->report.smaller};
    count_memory(d);
    engine_times_begin(&d->times, d->streams[0]);
}

device_report batch_device_report(batch_device *d)
{
    engine_times_together(&d->times, d->report.together_s);
    d->report.slots = d->plan.slots;
    return d->report;
}

void batch_device_free(batch_device *d)
{
    if (!d)
        return;
    (void)fl_device_wait(d->plan.device);
    for (int i = 0; i < WAITING_SHAPES; i++) {
        lose(d, &d->waiting[i]);
        free(d->waiting[i].list);
    }
    for (int i = 0; i < MOST_SLOTS; i++) {
        slot *s = &d->slots[i];
        lose(d, &s->pieces);
        free_arrays(d, s);
        for (int e = 0; e <= ENGINES; e++)
            fl_event_free(s->events[e]);
        free(s->pieces.list);
    }
    for (int e = 0; e < ENGINES; e++)
        if (e == 0 || d->streams[e] != d->streams[0])
            fl_stream_free(d->streams[e]);
    engine_times_free(&d->times);
    free(d);
}
