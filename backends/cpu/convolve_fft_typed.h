/* SPDX-License-Identifier: MIT
 *
 * convolve_fft_typed.h - 2-D convolution by FFTs of tiles that stay in the cache. Included after convolve_typed.h,
 * once for each pair of types, with
 *     real, work the type of image, kernel and output, and the one that is transformed
 *     FN(name)   the name of a function for `real`, FT(name) for the pair
 */

#include "fft_typed.h"

typedef struct FT(filter) {
    const fl_convolve_args *c;
    fft_cut cut;
    const cpu_fft *plan;
    work *kernel;    /* its spectrum, divided by the elements of a tile */
    fft_norms norms; /* the kernel's */
    fft_found found;
} FT(filter);

static void FT(transform_kernel)(FT(filter) * f)
{
    const fl_convolve_args *c = f->c;
    const int64_t kh = c->kernel.shape[0], kw = c->kernel.shape[1], pitch = cpu_fft_pitch(f->cut.edge[1]);

    memset(f->kernel, 0, (size_t)(f->cut.edge[0] * pitch) * sizeof(work));
    f->norms = (fft_norms){0};
    for (int64_t p = 0; p < kh; p++)
        for (int64_t q = 0; q < kw; q++) {
            const real tap = FN(kernel_row)(c, p)[q];
            f->kernel[FT(wrapped)(p, kh, f->cut.edge[0]) * pitch + FT(wrapped)(q, kw, f->cut.edge[1])] = tap;
            cpu_fft_count(&f->norms, tap);
        }
    for (int64_t row = 0; row < f->cut.edge[0]; row += f->plan->group)
        cpu_fft_rows(f->plan, f->kernel, row);
    cpu_fft_columns(f->plan, f->kernel);
    FT(divide)(f->kernel, f->cut.edge[0] * pitch, (double)f->cut.edge[0] * (double)f->cut.edge[1]);
}

/* Where a thread works. */
typedef struct FT(room) {
    work *tile;
    real *line;    /* a row of the image under a tile's outputs */
    int32_t *last; /* for each column of outputs */
} FT(room);

/* Bytes that the parts of a room take. */
typedef struct FT(room_size) {
    size_t tile, line, last;
} FT(room_size);

static FT(room_size) FT(size_of_room)(const FT(filter) * f)
{
    const int64_t tile = f->cut.edge[0] * cpu_fft_pitch(f->cut.edge[1]), line = f->cut.step[1] + f->c->kernel.shape[1];

    return (FT(room_size)){(size_t)round_up(tile, CPU_LINE) * sizeof(work),
                           (size_t)round_up(line, CPU_LINE) * sizeof(real),
                           (size_t)round_up(f->cut.step[1], CPU_LINE) * sizeof(int32_t)};
}

/* The room of the calling thread. */
static FT(room) FT(room_in)(char *rooms, FT(room_size) size)
{
    char *const own = rooms + (size_t)omp_get_thread_num() * (size.tile + size.line + size.last);

    return (FT(room)){(work *)own, (real *)(own + size.tile), (int32_t *)(own + size.tile + size.line)};
}

/* Sets to 0 the sums that are too inaccurate because the image has zeros alone under the kernel, of which a transform
 * leaves remainders. Returns how many others are too inaccurate. */
static int64_t FT(clear_empty)(const FT(filter) * f, area t, FT(room) room, double least)
{
    const fl_convolve_args *c = f->c;
    const int64_t kh = c->kernel.shape[0], kw = c->kernel.shape[1], width = t.j1 - t.j0;
    const int64_t y0 = t.i0 + c->origin[0] - kh + 1, x0 = t.j0 + c->origin[1] - kw + 1;
    int64_t others = 0;

    for (int64_t j = 0; j < width; j++)
        room.last[j] = -1;
    for (int64_t r = 0; r < t.i1 - t.i0 + kh - 1; r++) {
        const bool inside = y0 + r >= 0 && y0 + r < c->image.shape[0];
        const real *const in = inside ? FN(padded_row)(c, y0 + r, x0, width + kw - 1, room.line) : NULL;
        const int64_t i = r - kh + 1;
        work *const sums = room.tile + i * cpu_fft_pitch(f->cut.edge[1]);
        int64_t at = -1; /* the last element of the row that is not 0 */

        for (int64_t x = 0; x < width + kw - 1 && inside; x++) {
            at = in[x] != 0 ? x : at;
            if (x >= kw - 1 && at > x - kw)
                room.last[x - kw + 1] = (int32_t)r;
        }
        for (int64_t j = 0; j < width && i >= 0; j++)
            if (fabs((double)sums[j]) >= least) {
                continue;
            } else if (room.last[j] >= i) {
                others++;
            } else {
                FN(out_row)(c, t.i0 + i)[t.j0 + j] = 0;
                sums[j] = (work)least;
            }
    }
    return others;
}

/* The sums of an area that the transform leaves too inaccurate: one by one, or, where they are many, with all others.
 */
static void FT(sum_again)(const FT(filter) * f, area t, FT(room) room, double least, int64_t small)
{
    const int64_t pitch = cpu_fft_pitch(f->cut.edge[1]), many = (t.i1 - t.i0) * (t.j1 - t.j0) / FEW_SUMS;

    if (small * elements_of(&f->c->kernel) > f->cut.edge[0] * f->cut.edge[1]) /* which clear_empty looks at */
        small = FT(clear_empty)(f, t, room, least);
    if (small > many) {
        FN(tile)(f->c, t, room.line);
        return;
    }
    for (int64_t i = t.i0; i < t.i1 && small > 0; i++)
        for (int64_t j = t.j0; j < t.j1; j++)
            if (!(fabs((double)room.tile[(i - t.i0) * pitch + j - t.j0]) >= least)) {
                FN(out_row)(f->c, i)[j] = FN(definition)(f->c, i, j);
                small--;
            }
}

/* Loads a tile of the image and transforms its rows. */
static fft_norms FT(load_tile)(const FT(filter) * f, area t, work *tile)
{
    const fl_convolve_args *c = f->c;
    const int64_t pitch = cpu_fft_pitch(f->cut.edge[1]), y0 = t.i0 + c->origin[0] - c->kernel.shape[0] + 1;
    const int64_t x0 = t.j0 + c->origin[1] - c->kernel.shape[1] + 1;
    fft_norms norms = {0};

    for (int64_t row = 0; row < f->cut.edge[0]; row += f->plan->group) {
        for (int64_t r = row; r < row + f->plan->group; r++) {
            const bool inside = y0 + r >= 0 && y0 + r < c->image.shape[0];
            FT(load_row)
            (inside ? FN(image_row)(c, y0 + r) : NULL, inside ? c->image.shape[1] : 0, x0, f->cut.edge[1],
             tile + r * pitch, &norms);
        }
        cpu_fft_rows(f->plan, tile, row);
    }
    return norms;
}

/* The sums of an area, directly. With a tolerance, which may be less than sums in `real` keep, those of fft-wide are in
 * `work`, for which the tile's memory is used. */
static void FT(sum_area)(const FT(filter) * f, area t, FT(room) room)
{
    const fl_convolve_args *c = f->c;

    if (sizeof(work) == sizeof(real) || f->found.tolerance == 0) {
        FN(tile)(c, t, room.line);
        return;
    }
    for (int64_t i = t.i0; i < t.i1; i++) {
        memset(room.tile, 0, (size_t)(t.j1 - t.j0) * sizeof(work));
        for (int64_t p = 0; p < c->kernel.shape[0]; p++) {
            const int64_t y = i + c->origin[0] - p;
            for (int64_t q = 0; q < c->kernel.shape[1] && y >= 0 && y < c->image.shape[0]; q++) {
                const int64_t x0 = c->origin[1] - q; /* the image's column, less the output's */
                const int64_t from = max64(t.j0, -x0), to = min64(t.j1, c->image.shape[1] - x0);
                const real *const in = FN(image_row)(c, y);
                const work tap = FN(kernel_row)(c, p)[q];
#pragma omp simd
                for (int64_t j = from; j < to; j++)
                    room.tile[j - t.j0] += tap * (work)in[j + x0];
            }
        }
        for (int64_t j = t.j0; j < t.j1; j++)
            FN(out_row)(c, i)[j] = (real)room.tile[j - t.j0];
    }
}

/* A tile that cannot be transformed is summed directly; one of zeros has sums of zero. Returns what the largest
 * magnitude of its sums is at least, as far as a call with a tolerance needs it. */
static double FT(convolve_tile)(const FT(filter) * f, int64_t n, FT(room) room)
{
    work *const tile = room.tile;
    const area t = fft_area(f->c, &f->cut, n);
    const fft_norms norms = FT(load_tile)(f, t, tile);
    const int64_t pitch = cpu_fft_pitch(f->cut.edge[1]), width = t.j1 - t.j0;
    const double elements = (double)f->cut.edge[0] * (double)f->cut.edge[1];
    const double terms = (double)min64(elements_of(&f->c->kernel), elements_of(&f->c->image)); /* of a sum, at most */
    const double error = norms.sum != 0 ? FT(error)(&norms, &f->norms, fft_log2(&f->cut)) : 0;
    const double least = f->found.tolerance > 0 ? 0 : FT(least_accurate)(error, terms);
    double largest = 0;
    int64_t small = 0;

    if (norms.sum != 0 && !FT(can_transform)(&norms, f->norms.sum, elements)) {
        FT(sum_area)(f, t, room);
        if (f->found.tolerance > 0)
            f->found.error[n] = 0;
        return 0;
    }
    if (norms.sum != 0) {
        cpu_fft_columns(f->plan, tile);
        FT(multiply)(f->kernel, tile, f->cut.edge[0] * pitch / 2);
        cpu_fft_columns_back(f->plan, tile);
    }
    for (int64_t i = t.i0; i < t.i1; i++) {
        if (norms.sum != 0 && (i - t.i0) % f->plan->group == 0)
            cpu_fft_rows_back(f->plan, tile, i - t.i0);
        small += FT(store_row)(tile + (i - t.i0) * pitch, least, FN(out_row)(f->c, i) + t.j0, width);
        if (f->found.tolerance > 0)
            largest = FT(largest)(tile + (i - t.i0) * pitch, width, largest);
    }
    if (small > 0)
        FT(sum_again)(f, t, room, least, small);
    return f->found.tolerance > 0 ? FT(note_tile)(&f->found, n, error, largest) : 0;
}

static fl_status FT(by_fft)(const fl_context *context, const fl_convolve_args *c, double tolerance)
{
    FT(filter) f = {.c = c, .cut = CPU_NAME(fft_cut)(c, sizeof(work)), .found = {.tolerance = tolerance}};
    const int64_t tiles = f.cut.tiles[0] * f.cut.tiles[1];
    const FT(room_size) size = FT(size_of_room)(&f);
    const int team = (int)min64(cpu_team(context, fft_flops(&f.cut)), max64(1, tiles));
    const size_t rooms = (size_t)team * (size.tile + size.line + size.last);
    const size_t errors = tolerance > 0 ? (size_t)round_up(tiles, CPU_LINE) * sizeof(double) : 0;
    double largest = 0;
    fl_status status;
    void *memory;

    if (f.cut.edge[0] == 0)
        return context->host->error(FL_E_UNSUPPORTED, "convolve: fft has no tile for a kernel of %lldx%lld: use tiled",
                                    (long long)c->kernel.shape[0], (long long)c->kernel.shape[1]);
    status = context->host->scratch(context, size.tile + rooms + errors, &memory);
    if (status == FL_OK)
        status = cpu_fft_plan(context->device, sizeof(work) == sizeof(float) ? FL_F32 : FL_F64, f.cut.edge[0],
                              f.cut.edge[1], memory, &f.plan);
    if (status != FL_OK)
        return status;
    f.kernel = memory;
    FT(transform_kernel)(&f);
    char *const threads = (char *)memory + size.tile;
    f.found.error = (double *)(threads + rooms);
#pragma omp parallel for schedule(dynamic) num_threads(team) reduction(max : largest)
    for (int64_t n = 0; n < tiles; n++)
        largest = fmax(largest, FT(convolve_tile)(&f, n, FT(room_in)(threads, size)));
    if (tolerance == 0)
        return FL_OK;
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (int64_t n = 0; n < tiles; n++) /* tiles that are not exact enough */
        if (!(f.found.error[n] <= tolerance * largest))
            FT(sum_area)(&f, fft_area(c, &f.cut, n), FT(room_in)(threads, size));
    return FL_OK;
}

static fl_status FT(run)(const fl_context *context, const void *args, const fl_launch *launch)
{
    if (FN(kernel_is_finite)(args))
        return FT(by_fft)(context, args, launch->tolerance);
    FN(by_definition)(context, args, launch);
    return FL_OK;
}
