/* SPDX-License-Identifier: MIT
 *
 * convolve.c - convolutions of shared rows: each rank gets the rows above and below its own from its neighbours.
 */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t count_of(dist_range r)
{
    return larger(r.end - r.first, 0);
}

enum { ROOM_PACKED, ROOM_EDGES };

/* Rows of the result before or after the interior, and what they need: this rank's rows, and the halo, which are
 * others'. */
typedef struct edge {
    dist_range of;   /* of the result */
    dist_range from; /* of the image */
    fl_array *image; /* those; NULL: the edge has no rows */
} edge;

/* One convolution on one rank. Rows are counted in the whole image and the whole result; those of a signal have one
 * element each. */
typedef struct convolving {
    const char *name; /* of the call */
    int ndim;         /* 2, or 1 */
    fl_group *group;
    fl_device *device;
    const fl_array *image, *kernel;
    fl_array *out;
    fl_run run;
    int64_t height, result, taps; /* rows of the whole image, of the whole result, of the kernel */
    int64_t origin[2];            /* of the result in that of mode full */
    bool swapped;                 /* the kernel contains the image: each rank needs all rows of that */
    dist_range own, wanted;       /* of the image here, and of the result */
    dist_range interior;          /* of the result, from this rank's rows alone */
    edge edges[2];                /* before and after the interior */
    fl_array *packed;             /* the rows that others need */
    fl_group_timing cost;
} convolving;

/* fl_convolve1d takes the longer input as the signal, and sums in the order of the other one: what a rank convolves
 * must not be shorter than the kernel where the whole signal is not. */
static bool keeps_order(const convolving *c)
{
    return c->ndim == 1 && c->height >= c->taps;
}

/* The rows of the image that rows of the result need. */
static dist_range needed(const convolving *c, dist_range of)
{
    const int64_t first = of.first + c->origin[0] - (c->taps - 1), end = of.end + c->origin[0];
    dist_range found = {larger(first, 0), smaller(end, c->height)};

    if (count_of(of) == 0)
        return (dist_range){0, 0};
    if (c->swapped)
        return (dist_range){0, c->height};
    if (keeps_order(c) && first < 0)
        found.end = larger(found.end, c->taps);
    if (keeps_order(c) && end > c->height)
        found.first = smaller(found.first, c->height - c->taps);
    return found;
}

/* The rows of the result that need no other rank's; none: an empty range at the end of those wanted. */
static dist_range find_interior(const convolving *c)
{
    const bool none = count_of(c->own) == 0 || (c->swapped && count_of(c->own) < c->height);
    dist_range in = c->wanted;

    if (c->own.first > 0)
        in.first = larger(in.first, c->own.first - c->origin[0] + c->taps - 1);
    if (c->own.end < c->height)
        in.end = smaller(in.end, c->own.end - c->origin[0]);
    if (keeps_order(c) && count_of(c->own) < c->taps)
        in.end = in.first;
    return !none && in.first < in.end ? in : (dist_range){c->wanted.end, c->wanted.end};
}

/* -------------------------------------------------------------------------------------------- computing ---- */

/* Queues the rows `of` of the result from `image`, whose first row is `first` of the whole. */
static fl_status queue(const convolving *c, const fl_array *image, int64_t first, dist_range of, const fl_run *run)
{
    const int64_t origin[] = {of.first + c->origin[0] - first, c->origin[1]};
    fl_array *view;
    fl_status status = fl_array_view(c->out, (int64_t[]){of.first - c->wanted.first, 0},
                                     (int64_t[]){count_of(of), fl_array_shape(c->out, 1)}, &view);

    if (status == FL_OK && c->ndim == 1)
        status = fl_convolve1d_window(c->device, image, c->kernel, origin[0], view, run);
    else if (status == FL_OK)
        status = fl_convolve_window(c->device, c->swapped ? c->kernel : image, c->swapped ? image : c->kernel, origin,
                                    view, run);
    fl_array_free(view);
    return status;
}

/* Checks the arguments and names the variant when nothing is to be computed, by a window without elements. */
static fl_status queue_nothing(convolving *c)
{
    const int64_t shape[] = {1, larger(fl_array_shape(c->image, 1), 1)}, none[] = {0, 0};
    fl_array *view = NULL;
    fl_status status = dist_room(c->group, ROOM_EDGES, fl_array_dtype(c->out), c->ndim, shape, &c->edges[0].image);

    if (status == FL_OK)
        status = fl_array_view(c->out, none, none, &view);
    if (status == FL_OK && c->ndim == 1)
        status = fl_convolve1d_window(c->device, c->edges[0].image, c->kernel, 0, view, &c->run);
    else if (status == FL_OK)
        status = fl_convolve_window(c->device, c->edges[0].image, c->kernel, none, view, &c->run);
    fl_array_free(view);
    return status;
}

/* Writes the result of an empty image or kernel. */
static fl_status write_zeros(convolving *c)
{
    void *zeros = calloc((size_t)fl_array_size(c->out) + 1, fl_dtype_size(fl_array_dtype(c->out)));
    fl_status status = dist_use(c->group, c->device);

    if (status != FL_OK) {
        free(zeros);
        return status;
    }
    status = zeros ? queue_nothing(c) : dist_fail(FL_E_MEMORY, "out of host memory");
    if (status == FL_OK)
        status = fl_array_write(c->out, zeros, c->run.stream);
    if (status == FL_OK)
        status = dist_finish(c->device, &c->run);
    fl_array_free(c->edges[0].image);
    free(zeros);
    return fl_group_agree(c->group, status, fl_last_error());
}

static fl_status compute_edges(convolving *c, fl_stream *stream)
{
    fl_run run = c->run;
    fl_status status = count_of(c->wanted) == 0 ? queue_nothing(c) : FL_OK;

    run.stream = stream;
    if (count_of(c->interior) > 0)
        run.timing = NULL; /* it has the interior's */
    for (int i = 0; i < 2 && status == FL_OK; i++)
        if (count_of(c->edges[i].of) > 0)
            status = queue(c, c->edges[i].image, c->edges[i].from.first, c->edges[i].of, &run);
    return status;
}

/* ------------------------------------------------------------------------------------------------- halo ---- */

/* Queues a copy of rows of this rank's image, converted to the dtype of the result, to rows of `to` from `at` on. */
static fl_status copy_rows(const convolving *c, dist_range r, fl_array *to, int64_t at, fl_stream *stream)
{
    const int64_t shape[] = {count_of(r), fl_array_shape(c->image, 1)};
    fl_array *from = NULL, *there = NULL;
    fl_status status = fl_array_view(c->image, (int64_t[]){r.first - c->own.first, 0}, shape, &from);

    if (status == FL_OK)
        status = fl_array_view(to, (int64_t[]){at, 0}, shape, &there);
    if (status == FL_OK)
        status = fl_convert(c->device, from, there, &(fl_run){.stream = stream});
    fl_array_free(from);
    fl_array_free(there);
    return status;
}

/* Queues the copies of the rows that others need: to[r]. */
static fl_status pack(convolving *c, fl_rows *to, fl_stream *stream)
{
    const int64_t width = fl_array_shape(c->image, 1);
    int64_t at = 0;
    fl_status status;

    for (int r = 0; r < c->group->info.size; r++) {
        const dist_range part = dist_both(c->own, needed(c, dist_share(c->group, c->result, r)));
        to[r] = (fl_rows){.first = at, .count = r == c->group->info.rank ? 0 : count_of(part)};
        at += to[r].count;
    }
    status = dist_room(c->group, ROOM_PACKED, fl_array_dtype(c->out), c->ndim, (int64_t[]){at, width}, &c->packed);
    for (int r = 0; r < c->group->info.size && status == FL_OK; r++) {
        to[r].of = c->packed;
        if (to[r].count > 0)
            status = copy_rows(c, dist_both(c->own, needed(c, dist_share(c->group, c->result, r))), c->packed,
                               to[r].first, stream);
    }
    return status;
}

/* Makes the memory of both edges and queues the copies of this rank's rows in them; the others' go to from[r]. A rank
 * sends rows to one edge alone: those of both are from this rank. */
static fl_status prepare_edges(convolving *c, fl_rows *from, fl_stream *stream)
{
    fl_status status = FL_OK;

    for (int i = 0; i < 2 && status == FL_OK; i++) {
        edge *e = &c->edges[i];
        const dist_range own = dist_both(e->from, c->own);
        if (count_of(e->of) == 0)
            continue;
        status = dist_room(c->group, ROOM_EDGES + i, fl_array_dtype(c->out), c->ndim,
                           (int64_t[]){count_of(e->from), fl_array_shape(c->image, 1)}, &e->image);
        if (status == FL_OK && count_of(own) > 0)
            status = copy_rows(c, own, e->image, own.first - e->from.first, stream);
        for (int r = 0; r < c->group->info.size; r++) {
            const dist_range part = dist_both(dist_share(c->group, c->height, r), e->from);
            if (r != c->group->info.rank && count_of(part) > 0)
                from[r] = (fl_rows){e->image, part.first - e->from.first, count_of(part)};
        }
    }
    return status;
}

/* Makes the work that is queued in `later` from now on wait for that in `earlier`. */
static fl_status order(fl_group *group, fl_stream *earlier, fl_stream *later)
{
    fl_event *event = group->on.events[2];
    fl_status status = fl_event_record(event, earlier);

    return status == FL_OK ? fl_stream_wait_event(later, event) : status;
}

/* Queues the interior in the caller's stream; at the same time the halo and the edges in another one, which goes before
 * it where both have work that is ready. */
static fl_status compute_parts(convolving *c, fl_rows *to, fl_rows *from)
{
    fl_stream *beside = c->group->on.reading;
    fl_status status = to && from ? FL_OK : dist_fail(FL_E_MEMORY, "out of host memory");

    if (status == FL_OK)
        status = order(c->group, c->run.stream, beside);
    if (status == FL_OK && count_of(c->interior) > 0)
        status = queue(c, c->image, c->own.first, c->interior, &c->run);
    if (status == FL_OK)
        status = pack(c, to, beside);
    if (status == FL_OK)
        status = prepare_edges(c, from, beside);
    status = dist_move(c->group, status, beside, to, from, &c->cost);
    if (status != FL_OK)
        return status;
    status = compute_edges(c, beside);
    if (status == FL_OK)
        status = order(c->group, beside, c->run.stream);
    if (status == FL_OK)
        status = dist_finish(c->device, &c->run);
    if (status == FL_OK)
        status = dist_moved(c->group, &c->cost);
    return fl_group_agree(c->group, status, fl_last_error());
}

static fl_status compute(convolving *c)
{
    const size_t size = (size_t)c->group->info.size;
    const double start = dist_now();
    fl_rows *to = calloc(size, sizeof *to), *from = calloc(size, sizeof *from);
    fl_status status = dist_use(c->group, c->device);

    if (status == FL_OK)
        status = compute_parts(c, to, from);
    c->cost.local_s = dist_now() - start - c->cost.stage_s - c->cost.link_s - c->cost.wait_s;
    for (int i = 0; i < 2; i++)
        fl_array_free(c->edges[i].image);
    fl_array_free(c->packed);
    free(to);
    free(from);
    return status;
}

/* ------------------------------------------------------------------------------------------------ shapes ---- */

static fl_status refuse(const convolving *c, const char *why)
{
    char text[300];

    snprintf(text, sizeof text, "%s: %s", c->name, why);
    return fl_group_agree(c->group, *why ? FL_E_ARGUMENT : FL_OK, text);
}

/* Finds what each rank has and computes, where all shapes fit. */
static fl_status measure(convolving *c, fl_mode mode)
{
    const int rank = c->group->info.rank;
    const int64_t width = fl_array_shape(c->image, 1);
    const int64_t kernel[] = {fl_array_shape(c->kernel, 0), fl_array_shape(c->kernel, 1)};
    int64_t whole[] = {0, width}, result[] = {0, 1};
    const int n = c->ndim;
    const bool fit = fl_array_ndim(c->image) == n && fl_array_ndim(c->kernel) == n && fl_array_ndim(c->out) == n;
    fl_status status = refuse(c, !fit                       ? "image, kernel and out have other dimensions"
                                 : n == 1 && kernel[0] == 0 ? "the kernel has no elements"
                                                            : "");

    c->taps = kernel[0];
    c->height = fl_array_shape(c->image, 0);
    if (status == FL_OK && c->group->link)
        status = c->group->link->reduce(&c->height, 1, FL_I64, FL_SUM);
    if (status != FL_OK)
        return status;
    whole[0] = c->height;
    if (n == 1)
        status = c->height == 0 ? FL_OK : fl_convolve1d_shape(c->height, c->taps, mode, result);
    else
        status = fl_convolve_shape(whole, kernel, mode, result);
    if (status != FL_OK)
        return fl_group_agree(c->group, status, fl_last_error());
    c->result = result[0];
    for (int d = 0; d < 2; d++)
        c->origin[d] = mode == FL_FULL ? 0 : mode == FL_SAME ? (kernel[d] - 1) / 2 : smaller(whole[d], kernel[d]) - 1;
    c->swapped = n == 2 && mode == FL_VALID && (whole[0] < kernel[0] || whole[1] < kernel[1]);
    c->own = dist_share(c->group, c->height, rank);
    c->wanted = dist_share(c->group, c->result, rank);
    c->interior = find_interior(c);
    c->edges[0].of = (dist_range){c->wanted.first, c->interior.first};
    c->edges[1].of = (dist_range){c->interior.end, c->wanted.end};
    for (int i = 0; i < 2; i++)
        c->edges[i].from = needed(c, c->edges[i].of);
    return refuse(c, n == 1 && c->height == 0 ? "all ranks together have nothing to convolve"
                     : fl_array_shape(c->image, 0) != count_of(c->own)
                         ? "this rank's image is not its share of the rows"
                     : fl_array_shape(c->out, 0) != count_of(c->wanted) || fl_array_shape(c->out, 1) != result[1]
                         ? "this rank's out is not its share of the result"
                         : "");
}

/* fl_convolve, or fl_convolve1d. */
typedef fl_status (*on_one_device)(fl_device *, const fl_array *, const fl_array *, fl_mode, fl_array *,
                                   const fl_run *);

static fl_status convolve(const char *name, int ndim, on_one_device alone, fl_group *group, fl_device *device,
                          const fl_array *image, const fl_array *kernel, fl_mode mode, fl_array *out, const fl_run *run,
                          fl_group_timing *timing)
{
    convolving c = {
        .name = name, .ndim = ndim, .group = group, .device = device, .image = image, .kernel = kernel, .out = out};
    fl_status status;

    dist_call(group, "%s of %s, kernel %lldx%lld, mode %d", name, fl_dtype_name(fl_array_dtype(out)),
              (long long)fl_array_shape(kernel, 0), (long long)fl_array_shape(kernel, 1), (int)mode);
    if (run)
        c.run = *run;
    if (group->info.size == 1) {
        status = alone(device, image, kernel, mode, out, run);
        status = fl_group_agree(group, status == FL_OK ? dist_finish(device, run) : status, fl_last_error());
    } else {
        status = measure(&c, mode);
        if (status == FL_OK)
            status = c.height == 0 || fl_array_shape(image, 1) == 0 || fl_array_size(kernel) == 0 ? write_zeros(&c)
                                                                                                  : compute(&c);
    }
    if (timing)
        *timing = c.cost;
    return status;
}

fl_status fl_group_convolve(fl_group *group, fl_device *device, const fl_array *image, const fl_array *kernel,
                            fl_mode mode, fl_array *out, const fl_run *run, fl_group_timing *timing)
{
    return convolve("fl_group_convolve", 2, fl_convolve, group, device, image, kernel, mode, out, run, timing);
}

fl_status fl_group_convolve1d(fl_group *group, fl_device *device, const fl_array *signal, const fl_array *kernel,
                              fl_mode mode, fl_array *out, const fl_run *run, fl_group_timing *timing)
{
    return convolve("fl_group_convolve1d", 1, fl_convolve1d, group, device, signal, kernel, mode, out, run, timing);
}
