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
    bool exact;      /* sums that are less accurate than direct ones are computed again, directly */
    fft_table table; /* the kernel's, for fft-checked */
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
    double *sums;  /* for fft-checked: two for each column under a tile's outputs, and three for each output */
} FT(room);

/* Bytes that the parts of a room take. */
typedef struct FT(room_size) {
    size_t tile, line, last, sums;
} FT(room_size);

static inline size_t FT(whole_room)(FT(room_size) size)
{
    return size.tile + size.line + size.last + size.sums;
}

static FT(room_size) FT(size_of_room)(const FT(filter) * f)
{
    const int64_t tile = f->cut.edge[0] * cpu_fft_pitch(f->cut.edge[1]), line = f->cut.step[1] + f->c->kernel.shape[1];

    return (FT(room_size)){(size_t)round_up(tile, CPU_LINE) * sizeof(work),
                           (size_t)round_up(line, CPU_LINE) * sizeof(real),
                           (size_t)round_up(f->cut.step[1], CPU_LINE) * sizeof(int32_t),
                           FT(is_checked)(f->exact) ? (size_t)round_up(5 * line, CPU_LINE) * sizeof(double) : 0};
}

/* The room of the calling thread. */
static FT(room) FT(room_in)(char *rooms, FT(room_size) size)
{
    char *const own = rooms + (size_t)omp_get_thread_num() * FT(whole_room)(size);
    char *const line = own + size.tile, *const last = line + size.line;

    return (FT(room)){(work *)own, (real *)line, (int32_t *)last, (double *)(last + size.last)};
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

/* Computes again the sums of an area that are below `least`, with neighbours: rows and columns that a direct sum takes
 * together. */
KERNEL void FT(sum_again)(const FT(filter) * f, area t, FT(room) room, double least, int64_t small)
{
    const int64_t pitch = cpu_fft_pitch(f->cut.edge[1]), width = t.j1 - t.j0;
    int32_t *const is_small = room.last;

    if (small * elements_of(&f->c->kernel) > f->cut.edge[0] * f->cut.edge[1]) /* which clear_empty looks at */
        small = FT(clear_empty)(f, t, room, least);
    for (int64_t i = t.i0; i < t.i1 && small > 0; i += TILE_ROWS) {
        const int64_t rows = min64(TILE_ROWS, t.i1 - i);
        memset(is_small, 0, (size_t)width * sizeof *is_small);
        for (int64_t r = 0; r < rows; r++) {
            const work *const sums = room.tile + (i - t.i0 + r) * pitch;
#pragma omp simd
            for (int64_t j = 0; j < width; j++)
                is_small[j] |= !(fabs((double)sums[j]) >= least);
        }
        for (int64_t j = 0, end; j < width; j = end) {
            end = j + 1;
            if (!is_small[j])
                continue;
            for (int64_t x = end; x < min64(width, end + FEW_COLUMNS); x++)
                end = is_small[x] ? x + 1 : end;
            const int64_t together = min64(width, round_up(end - j, FEW_COLUMNS)), from = min64(j, width - together);
            FN(tile)(f->c, (area){i, i + rows, t.j0 + from, t.j0 + from + together}, room.line);
        }
    }
}

/* Raises the sums of an area that are below check->least, but accurate all the same, to it; returns how many others
 * are. Two sums for each column of the image, from the one before the first window on, follow a row of outputs down. */
KERNEL int64_t FT(check_tile)(const FT(filter) * f, area t, FT(room) room, const fft_check *check)
{
    const fl_convolve_args *c = f->c;
    const int64_t kh = c->kernel.shape[0], kw = c->kernel.shape[1], width = t.j1 - t.j0, columns = width + kw;
    const int64_t x0 = t.j0 + c->origin[1] - kw, y0 = t.i0 + c->origin[0]; /* rows of the image under the last one */
    double *const magnitudes = room.sums, *const squares = magnitudes + columns;
    double *const sum = squares + columns, *const square = sum + width, *const below = square + width;
    int64_t small = 0, from = -1, past = -1;

    memset(magnitudes, 0, (size_t)(2 * columns) * sizeof *magnitudes);
    for (int64_t i = 1 - kh; i < t.i1 - t.i0; i++) {
        const int64_t enters = y0 + i, leaves = enters - kh;
        if (enters >= 0 && enters < c->image.shape[0])
            FT(count_row)(FN(image_row)(c, enters), c->image.shape[1], x0, columns, 1, magnitudes, squares);
        if (i > 0 && leaves >= 0 && leaves < c->image.shape[0])
            FT(count_row)(FN(image_row)(c, leaves), c->image.shape[1], x0, columns, -1, magnitudes, squares);
        if (i < 0)
            continue;
        const int64_t first = max64(0, enters - c->image.shape[0] + 1), end = max64(first, min64(kh, enters + 1));
        if (first != from || end != past)
            CPU_NAME(fft_sum_below)(&f->table, first, end, x0 + kw, c->image.shape[1], below, width);
        from = first;
        past = end;
        double first_sum = 0, first_squares = 0;
#pragma omp simd reduction(+ : first_sum, first_squares)
        for (int64_t x = 0; x < kw; x++) {
            first_sum += magnitudes[x];
            first_squares += squares[x];
        }
        fft_window window = {first_sum, first_squares}; /* The first output moves it by one, as each other does. */
#pragma omp simd
        for (int64_t j = 0; j < width; j++) {
            sum[j] = magnitudes[j + kw] - magnitudes[j];
            square[j] = squares[j + kw] - squares[j];
        }
        double *const sums = (double *)(void *)(room.tile + i * cpu_fft_pitch(f->cut.edge[1]));
        small += CPU_NAME(fft_judge)(check, &window, sum, square, below, sums, width);
    }
    return small;
}

/* The elements of the image in the tile of an area. */
static double FT(inside)(const FT(filter) * f, area t)
{
    const fl_convolve_args *c = f->c;
    const int64_t start[2] = {t.i0, t.j0};
    double elements = 1;

    for (int d = 0; d < 2; d++) {
        const int64_t from = start[d] + c->origin[d] - c->kernel.shape[d] + 1;
        elements *= (double)max64(0, min64(from + f->cut.edge[d], c->image.shape[d]) - max64(from, 0));
    }
    return elements;
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
    const double terms = fft_terms(f->c);
    const double error = norms.sum != 0 ? FT(error)(&norms, &f->norms, fft_log2(&f->cut), FT(is_checked)(f->exact)) : 0;
    fft_check check = {.least = f->exact ? FT(least_accurate)(error, terms) : 0,
                       .needed = FT(least_terms)(error, terms)};
    double largest = 0;
    int64_t small = 0;

    if (norms.sum != 0 && (!FT(can_transform)(&norms, f->norms.sum, elements) ||
                           FT(is_in_vain)(f->exact, &norms, FT(inside)(f, t), f->norms.sum, check.needed))) {
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
        small += FT(store_row)(tile + (i - t.i0) * pitch, check.least, FN(out_row)(f->c, i) + t.j0, width);
        if (f->found.tolerance > 0)
            largest = FT(largest)(tile + (i - t.i0) * pitch, width, largest);
    }
    if (small > 0 && FT(is_checked)(f->exact)) {
        fft_set_check(&check, &f->table, &norms, f->cut.edge[0] + f->cut.edge[1]);
        small = FT(check_tile)(f, t, room, &check);
    }
    if (small > 0)
        FT(sum_again)(f, t, room, check.least, small);
    return f->found.tolerance > 0 ? FT(note_tile)(&f->found, n, error, largest) : 0;
}

static fl_status FT(by_fft)(const fl_context *context, const fl_convolve_args *c, double tolerance, bool exact)
{
    FT(filter) f = {.c = c, .exact = exact, .found = {.tolerance = tolerance}};
    f.cut = CPU_NAME(fft_cut)(c, sizeof(work), FT(is_checked)(exact));
    const int64_t tiles = f.cut.tiles[0] * f.cut.tiles[1];
    const FT(room_size) size = FT(size_of_room)(&f);
    const int team = (int)min64(cpu_team(context, fft_flops(&f.cut)), max64(1, tiles));
    const size_t rooms = (size_t)team * FT(whole_room)(size);
    const size_t errors = tolerance > 0 ? (size_t)round_up(tiles, CPU_LINE) * sizeof(double) : 0;
    const size_t table = FT(is_checked)(exact) ? (size_t)fft_table_size(&c->kernel) * sizeof(double) : 0;
    double largest = 0;
    fl_status status;
    void *memory;

    if (f.cut.edge[0] == 0)
        return context->host->error(FL_E_UNSUPPORTED, "convolve: fft has no tile for a kernel of %lldx%lld: use tiled",
                                    (long long)c->kernel.shape[0], (long long)c->kernel.shape[1]);
    status = context->host->scratch(context, size.tile + rooms + errors + table, &memory);
    if (status == FL_OK)
        status = cpu_fft_plan(context->device, sizeof(work) == sizeof(float) ? FL_F32 : FL_F64, f.cut.edge[0],
                              f.cut.edge[1], memory, &f.plan);
    if (status != FL_OK)
        return status;
    f.kernel = memory;
    FT(transform_kernel)(&f);
    char *const threads = (char *)memory + size.tile;
    f.found.error = (double *)(threads + rooms);
    if (FT(is_checked)(exact))
        f.table = CPU_NAME(fft_table_of)(&c->kernel, (double *)(threads + rooms));
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

/* `exact`: sums that are less accurate than direct ones are computed again. */
static fl_status FT(convolve)(const fl_context *context, const void *args, const fl_launch *launch, bool exact)
{
    if (FN(kernel_is_finite)(args))
        return FT(by_fft)(context, args, launch->tolerance, exact);
    FN(by_definition)(context, args, launch);
    return FL_OK;
}
