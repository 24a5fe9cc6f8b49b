/* SPDX-License-Identifier: MIT */
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows from `first` up to, not including, `end`. */
typedef struct rows {
    int64_t first, end;
} rows;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t count_of(rows r)
{
    return larger(r.end - r.first, 0);
}

static rows both(rows a, rows b)
{
    return (rows){larger(a.first, b.first), smaller(a.end, b.end)};
}

/* One convolution on one rank. Rows are counted in the whole image and the whole result. */
typedef struct convolving {
    fl_group *group;
    fl_device *device;
    const fl_array *image, *kernel;
    fl_array *out;
    fl_run run;
    fl_dtype dtype;               /* of the image */
    size_t line;                  /* bytes of a row of it */
    int64_t height, result, taps; /* rows of the whole image, of the whole result, of the kernel */
    int64_t origin[2];            /* of the result in that of mode full */
    rows own, wanted;             /* of the image here, and of the result */
    rows interior;                /* of the result, from this rank's rows alone */
    char *above, *below;          /* the halo: rows before and after this rank's */
    rows halo_above, halo_below;
    fl_array *edge[2]; /* the image rows that the rows of the result beside the interior need */
    fl_group_timing cost;
} convolving;

static rows share_of(const convolving *c, int64_t count, int rank)
{
    int64_t first, share;

    fl_group_share(c->group, count, rank, &first, &share);
    return (rows){first, first + share};
}

/* The rows of the image that rows of the result need. */
static rows needed(const convolving *c, rows of)
{
    const int64_t first = of.first + c->origin[0] - (c->taps - 1), end = of.end + c->origin[0];

    return count_of(of) > 0 ? (rows){larger(first, 0), smaller(end, c->height)} : (rows){0, 0};
}

/* The rows of the result that need no other rank's; none: an empty range at the end of those wanted. */
static rows find_interior(const convolving *c)
{
    rows in = c->wanted;

    if (c->own.first > 0)
        in.first = larger(in.first, c->own.first - c->origin[0] + c->taps - 1);
    if (c->own.end < c->height)
        in.end = smaller(in.end, c->own.end - c->origin[0]);
    return count_of(c->own) > 0 && in.first < in.end ? in : (rows){c->wanted.end, c->wanted.end};
}

/* ------------------------------------------------------------------------------------------------- halo ---- */

/* Copies rows of this rank's image to the host. */
static fl_status read_rows(const convolving *c, rows r, void *to)
{
    fl_array *view;
    fl_status status = fl_array_view(c->image, (int64_t[]){r.first - c->own.first, 0},
                                     (int64_t[]){count_of(r), fl_array_shape(c->image, 1)}, &view);

    if (status == FL_OK)
        status = fl_array_to_host(view, to);
    fl_array_free(view);
    return status;
}

/* What this rank sends: the rows that others need. `to` is zeroed. */
static fl_status pack(const convolving *c, fl_piece *to)
{
    fl_status status = FL_OK;

    for (int r = 0; r < c->group->info.size && status == FL_OK; r++) {
        const rows part = both(c->own, needed(c, share_of(c, c->result, r)));
        if (r == c->group->info.rank || count_of(part) == 0)
            continue;
        to[r].bytes = count_of(part) * (int64_t)c->line;
        to[r].data = malloc((size_t)to[r].bytes);
        status = to[r].data ? read_rows(c, part, to[r].data) : dist_fail(FL_E_MEMORY, "out of host memory");
    }
    return status;
}

/* Where this rank receives: each rank's rows, in their order. */
static void place(const convolving *c, fl_piece *from)
{
    for (int r = 0; r < c->group->info.size; r++) {
        const bool is_above = r < c->group->info.rank;
        const rows halo = is_above ? c->halo_above : c->halo_below, part = both(share_of(c, c->height, r), halo);
        if (r == c->group->info.rank || count_of(part) == 0)
            continue;
        from[r].bytes = count_of(part) * (int64_t)c->line;
        from[r].data = (is_above ? c->above : c->below) + (part.first - halo.first) * (int64_t)c->line;
    }
}

static fl_status exchange(convolving *c)
{
    const int size = c->group->info.size;
    fl_piece *to = calloc((size_t)size, sizeof *to), *from = calloc((size_t)size, sizeof *from);
    double start = dist_now();
    fl_status status;

    c->above = dist_scratch(c->group, 0, (size_t)count_of(c->halo_above) * c->line);
    c->below = dist_scratch(c->group, 1, (size_t)count_of(c->halo_below) * c->line);
    status = to && from && c->above && c->below ? pack(c, to) : dist_fail(FL_E_MEMORY, "out of host memory");
    c->cost.stage_s += dist_now() - start;
    start = dist_now();
    status = fl_group_agree(c->group, status, fl_last_error());
    c->cost.wait_s += dist_now() - start;
    start = dist_now();
    if (status == FL_OK) {
        place(c, from);
        status = c->group->link->exchange(to, from);
    }
    c->cost.link_s += dist_now() - start;
    for (int r = 0; to && r < size; r++) {
        c->cost.bytes += (double)to[r].bytes;
        free(to[r].data);
    }
    free(to);
    free(from);
    return status;
}

/* -------------------------------------------------------------------------------------------- computing ---- */

/* Queues the rows `of` of the result from `image`, whose first row is `first` of the whole. */
static fl_status queue(const convolving *c, const fl_array *image, int64_t first, rows of, const fl_run *run)
{
    const int64_t origin[] = {of.first + c->origin[0] - first, c->origin[1]};
    fl_array *view;
    fl_status status = fl_array_view(c->out, (int64_t[]){of.first - c->wanted.first, 0},
                                     (int64_t[]){count_of(of), fl_array_shape(c->out, 1)}, &view);

    if (status == FL_OK)
        status = fl_convolve_window(c->device, image, c->kernel, origin, view, run);
    fl_array_free(view);
    return status;
}

/* Rows `part` of the whole image, from the halo and this rank's own. */
static fl_status assemble(convolving *c, rows part, fl_array **edge)
{
    const int64_t shape[] = {count_of(part), fl_array_shape(c->image, 1)};
    const rows above = both(part, c->halo_above), own = both(part, c->own), below = both(part, c->halo_below);
    char *host = dist_scratch(c->group, 2, (size_t)shape[0] * c->line);
    fl_status status = FL_OK;

    if (!host)
        return FL_E_MEMORY;
    if (count_of(above) > 0)
        memcpy(host + (above.first - part.first) * (int64_t)c->line,
               c->above + (above.first - c->halo_above.first) * (int64_t)c->line, (size_t)count_of(above) * c->line);
    if (count_of(below) > 0)
        memcpy(host + (below.first - part.first) * (int64_t)c->line,
               c->below + (below.first - c->halo_below.first) * (int64_t)c->line, (size_t)count_of(below) * c->line);
    if (count_of(own) > 0)
        status = read_rows(c, own, host + (own.first - part.first) * (int64_t)c->line);
    if (status == FL_OK)
        status = fl_array_from_host(c->device, c->dtype, 2, shape, host, edge);
    return status;
}

/* The rows of the result before and after the interior. */
static fl_status compute_edges(convolving *c)
{
    const rows edges[] = {{c->wanted.first, c->interior.first}, {c->interior.end, c->wanted.end}};
    fl_run run = c->run;
    fl_status status = FL_OK;

    if (count_of(c->interior) > 0)
        run.timing = NULL; /* it has the interior's */
    for (int i = 0; i < 2 && status == FL_OK; i++) {
        const rows part = needed(c, edges[i]);
        const double start = dist_now();
        if (count_of(edges[i]) == 0)
            continue;
        status = assemble(c, part, &c->edge[i]);
        c->cost.stage_s += dist_now() - start;
        if (status == FL_OK)
            status = queue(c, c->edge[i], part.first, edges[i], &run);
    }
    return status;
}

static fl_status wait_for(const convolving *c)
{
    return c->run.stream ? fl_stream_wait(c->run.stream) : fl_device_wait(c->device);
}

static fl_status compute(convolving *c)
{
    const double start = dist_now();
    fl_status status = FL_OK, exchanged;

    if (count_of(c->interior) > 0)
        status = queue(c, c->image, c->own.first, c->interior, &c->run);
    exchanged = fl_group_agree(c->group, status, fl_last_error());
    if (exchanged == FL_OK)
        exchanged = exchange(c);
    if (exchanged != FL_OK)
        return exchanged;
    status = compute_edges(c);
    if (status == FL_OK)
        status = wait_for(c);
    c->cost.local_s = dist_now() - start - c->cost.stage_s - c->cost.link_s - c->cost.wait_s;
    return fl_group_agree(c->group, status, fl_last_error());
}

/* ------------------------------------------------------------------------------------------------ shapes ---- */

static fl_status refuse(const convolving *c, const char *why)
{
    char text[300];

    snprintf(text, sizeof text, "fl_group_convolve: %s", why);
    return fl_group_agree(c->group, *why ? FL_E_ARGUMENT : FL_OK, text);
}

/* Finds what each rank has and computes, where all shapes fit. */
static fl_status measure(convolving *c, fl_mode mode)
{
    const int rank = c->group->info.rank;
    const int64_t width = fl_array_shape(c->image, 1);
    const int64_t kernel[] = {fl_array_shape(c->kernel, 0), fl_array_shape(c->kernel, 1)};
    int64_t whole[] = {0, width}, result[2];
    const bool matrices = fl_array_ndim(c->image) == 2 && fl_array_ndim(c->kernel) == 2 && fl_array_ndim(c->out) == 2;
    fl_status status = refuse(c, !matrices || width == 0 || kernel[0] == 0 || kernel[1] == 0
                                     ? "image, kernel and out are no matrices with columns"
                                     : "");

    c->height = fl_array_shape(c->image, 0);
    if (status == FL_OK && c->group->link)
        status = c->group->link->reduce(&c->height, 1, FL_I64, FL_SUM);
    if (status != FL_OK)
        return status;
    whole[0] = c->height;
    status = fl_convolve_shape(whole, kernel, mode, result);
    status = fl_group_agree(c->group, status, fl_last_error());
    if (status != FL_OK)
        return status;
    c->taps = kernel[0];
    c->result = result[0];
    for (int d = 0; d < 2; d++)
        c->origin[d] = mode == FL_FULL ? 0 : mode == FL_SAME ? (kernel[d] - 1) / 2 : kernel[d] - 1;
    c->own = share_of(c, c->height, rank);
    c->wanted = share_of(c, c->result, rank);
    c->interior = find_interior(c);
    c->halo_above = both(needed(c, c->wanted), (rows){0, c->own.first});
    c->halo_below = both(needed(c, c->wanted), (rows){c->own.end, c->height});
    return refuse(c, c->height == 0 ? "the image has no rows"
                     : mode == FL_VALID && (whole[0] < kernel[0] || whole[1] < kernel[1])
                         ? "in mode valid the image contains the kernel"
                     : fl_array_shape(c->image, 0) != count_of(c->own)
                         ? "this rank's image is not its share of the rows"
                     : fl_array_shape(c->out, 0) != count_of(c->wanted) || fl_array_shape(c->out, 1) != result[1]
                         ? "this rank's out is not its share of the result"
                         : "");
}

fl_status fl_group_convolve(fl_group *group, fl_device *device, const fl_array *image, const fl_array *kernel,
                            fl_mode mode, fl_array *out, const fl_run *run, fl_group_timing *timing)
{
    convolving c = {.group = group,
                    .device = device,
                    .image = image,
                    .kernel = kernel,
                    .out = out,
                    .dtype = fl_array_dtype(image),
                    .line = (size_t)fl_array_shape(image, 1) * fl_dtype_size(fl_array_dtype(image))};
    fl_status status;

    if (run)
        c.run = *run;
    if (group->info.size == 1) {
        status = fl_convolve(device, image, kernel, mode, out, run);
        status = fl_group_agree(group, status == FL_OK ? wait_for(&c) : status, fl_last_error());
    } else {
        status = measure(&c, mode);
        if (status == FL_OK)
            status = compute(&c);
        for (int i = 0; i < 2; i++)
            fl_array_free(c.edge[i]);
    }
    if (timing)
        *timing = c.cost;
    return status;
}
