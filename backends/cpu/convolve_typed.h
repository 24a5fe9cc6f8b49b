/* SPDX-License-Identifier: MIT
 *
 * convolve_typed.h - the loops of convolve.c for one type. Included once for each, with
 *     real     the type: float, double
 *     wide     the type that `reference` sums in: double, long double
 *     FN(name) the name of a function for that type: name_f32_v3
 *
 * `c` is always what to compute; i, j count rows and columns of the output, y, x of the image, p, q of the kernel:
 * out[i, j] = sum over p, q of image[i + origin[0] - p, j + origin[1] - q] * kernel[p, q], zero outside the image.
 */

static inline const real *FN(image_row)(const fl_convolve_args *c, int64_t y)
{
    return (const real *)c->image.data + y * c->image.stride[0];
}

static inline const real *FN(kernel_row)(const fl_convolve_args *c, int64_t p)
{
    return (const real *)c->kernel.data + p * c->kernel.stride[0];
}

static inline real *FN(out_row)(const fl_convolve_args *c, int64_t i)
{
    return (real *)c->out.data + i * c->out.stride[0];
}

/* ------------------------------------------------------------------------------------- infinities and NaN ---- */

KERNEL bool FN(all_finite)(const real *values, int64_t count)
{
    int bad = 0;

#pragma omp simd reduction(| : bad)
    for (int64_t n = 0; n < count; n++)
        bad |= !(values[n] - values[n] == 0); /* inf - inf is NaN */
    return !bad;
}

static bool FN(kernel_is_finite)(const fl_convolve_args *c)
{
    bool finite = true;

    for (int64_t p = 0; p < c->kernel.shape[0] && finite; p++)
        finite = FN(all_finite)(FN(kernel_row)(c, p), c->kernel.shape[1]);
    return finite;
}

/* One output by the definition and nothing else. The zeros outside the image are multiplied and added too: 0 * inf and
 * 0 * NaN are NaN, so a kernel that is not finite makes NaN of the border, in scipy.signal.convolve2d as here. */
static real FN(definition)(const fl_convolve_args *c, int64_t i, int64_t j)
{
    real sum = 0;

    for (int64_t p = 0; p < c->kernel.shape[0]; p++) {
        int64_t y = i + c->origin[0] - p;
        for (int64_t q = 0; q < c->kernel.shape[1]; q++) {
            int64_t x = j + c->origin[1] - q;
            bool inside = y >= 0 && y < c->image.shape[0] && x >= 0 && x < c->image.shape[1];
            sum += (inside ? FN(image_row)(c, y)[x] : 0) * FN(kernel_row)(c, p)[q];
        }
    }
    return sum;
}

/* For the kernels that are not finite: the fast loops are wrong for them, because they skip zeros. */
static void FN(by_definition)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch)
{
    (void)context, (void)launch;
#pragma omp parallel for schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t i = 0; i < c->out.shape[0]; i++)
        for (int64_t j = 0; j < c->out.shape[1]; j++)
            FN(out_row)(c, i)[j] = FN(definition)(c, i, j);
}

/* ------------------------------------------------------------------------------------------------- naive ---- */

/* The textbook's four loops for the columns j0 to j1 of one row. The one over columns is the innermost: the bounds of
 * the image are then bounds of that loop, and its sums do not wait for each other. */
KERNEL void FN(naive_row)(const fl_convolve_args *c, int64_t i, int64_t j0, int64_t j1)
{
    real *restrict out = FN(out_row)(c, i);
    int64_t y = i + c->origin[0], first = max64(0, y - c->image.shape[0] + 1), end = min64(c->kernel.shape[0], y + 1);

    for (int64_t j = j0; j < j1; j++)
        out[j] = 0;
    for (int64_t p = first; p < end; p++) {
        for (int64_t q = 0; q < c->kernel.shape[1]; q++) {
            const real *restrict image = FN(image_row)(c, y - p);
            const real weight = FN(kernel_row)(c, p)[q];
            int64_t shift = c->origin[1] - q, from = max64(j0, -shift), to = min64(j1, c->image.shape[1] - shift);
#pragma omp simd
            for (int64_t j = from; j < to; j++)
                out[j] += weight * image[j + shift];
        }
    }
}

static fl_status FN(naive)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch)
{
    const int64_t strip = NAIVE_STRIP;

    if (!FN(kernel_is_finite)(c)) {
        FN(by_definition)(context, c, launch);
        return FL_OK;
    }
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t i = 0; i < c->out.shape[0]; i++)
        for (int64_t j = 0; j < c->out.shape[1]; j += strip)
            FN(naive_row)(c, i, j, min64(j + strip, c->out.shape[1]));
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------------- tiled ---- */

/* `count` elements of the image's row y from column x0 on, zeros beyond its edges: the row itself where all of it lies
 * inside, else a copy in `line`. */
static const real *FN(padded_row)(const fl_convolve_args *c, int64_t y, int64_t x0, int64_t count, real *line)
{
    const real *row = FN(image_row)(c, y);
    int64_t from = max64(0, -x0), to = max64(from, min64(count, c->image.shape[1] - x0));

    if (from == 0 && to == count)
        return row + x0;
    memset(line, 0, (size_t)count * sizeof *line);
    if (from < to)
        memcpy(line + from, row + (x0 + from), (size_t)(to - from) * sizeof *line);
    return line;
}

/* Adds one row of the image to `rows` rows of the output (1 to TILE_ROWS, a constant wherever this is inlined):
 *     out[r * pitch + x] += sum over q of in[x - q] * kernel[r * next + q],  0 <= x < 2 * half
 * in two halves at a time: 2 * rows sums stay in registers and share rows + 2 loads, so that the multiply-adds and not
 * the loads are what it waits for. */
ALWAYS_INLINE void FN(add_to_rows)(const int rows, const real *restrict in, const real *restrict kernel, int64_t next,
                                   int64_t taps, real *restrict out, int64_t pitch, int64_t half)
{
#pragma omp simd
    for (int64_t x = 0; x < half; x++) {
        real a0 = out[x], b0 = out[x + half];
        real a1 = rows > 1 ? out[pitch + x] : 0, b1 = rows > 1 ? out[pitch + x + half] : 0;
        real a2 = rows > 2 ? out[2 * pitch + x] : 0, b2 = rows > 2 ? out[2 * pitch + x + half] : 0;
        real a3 = rows > 3 ? out[3 * pitch + x] : 0, b3 = rows > 3 ? out[3 * pitch + x + half] : 0;
        int64_t q = 0;
        do { /* there is a tap; a test for it before the loop would keep the loop over x from being vectorized */
            real a = in[x - q], b = in[x + half - q];
            a0 += a * kernel[q], b0 += b * kernel[q];
            if (rows > 1)
                a1 += a * kernel[next + q], b1 += b * kernel[next + q];
            if (rows > 2)
                a2 += a * kernel[2 * next + q], b2 += b * kernel[2 * next + q];
            if (rows > 3)
                a3 += a * kernel[3 * next + q], b3 += b * kernel[3 * next + q];
        } while (++q < taps);
        out[x] = a0, out[x + half] = b0;
        if (rows > 1)
            out[pitch + x] = a1, out[pitch + x + half] = b1;
        if (rows > 2)
            out[2 * pitch + x] = a2, out[2 * pitch + x + half] = b2;
        if (rows > 3)
            out[3 * pitch + x] = a3, out[3 * pitch + x + half] = b3;
    }
}

/* add_to_rows for any number of rows and columns. */
KERNEL void FN(add_row)(int64_t rows, const real *in, const real *kernel, int64_t next, int64_t taps, real *out,
                        int64_t pitch, int64_t width)
{
    int64_t half = width / 2;

    switch (rows) {
    case 1: FN(add_to_rows)(1, in, kernel, next, taps, out, pitch, half); break;
    case 2: FN(add_to_rows)(2, in, kernel, next, taps, out, pitch, half); break;
    case 3: FN(add_to_rows)(3, in, kernel, next, taps, out, pitch, half); break;
    default: FN(add_to_rows)(TILE_ROWS, in, kernel, next, taps, out, pitch, half); break;
    }
    if (width % 2 == 0)
        return;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t q = 0; q < taps; q++)
            out[r * pitch + width - 1] += in[width - 1 - q] * kernel[r * next + q];
}

/* Output rows come in groups of TILE_ROWS. Each row y of the image that such a group needs is read once, for all rows
 * of the kernel that meet it there: for the group's row r that is p = top + r - y. The kernel's columns from `first`
 * to `past` meet the image; the others would add zeros. */
static void FN(tile)(const fl_convolve_args *c, area t, real *line)
{
    int64_t kh = c->kernel.shape[0], kw = c->kernel.shape[1], width = t.j1 - t.j0;
    int64_t first = max64(0, t.j0 + c->origin[1] - c->image.shape[1] + 1), past = min64(kw, t.j1 + c->origin[1]);

    for (int64_t i = t.i0; i < t.i1; i += TILE_ROWS) {
        int64_t rows = min64(TILE_ROWS, t.i1 - i), top = i + c->origin[0];
        for (int64_t r = 0; r < rows; r++)
            memset(FN(out_row)(c, i + r) + t.j0, 0, (size_t)width * sizeof(real));
        for (int64_t y = max64(0, top - kh + 1); y < min64(c->image.shape[0], top + rows); y++) {
            const real *in = FN(padded_row)(c, y, t.j0 + c->origin[1] - kw + 1, width + kw - 1, line);
            int64_t r = max64(0, y - top), end = min64(rows, y - top + kh);
            FN(add_row)
            (end - r, in + kw - 1 - first, FN(kernel_row)(c, top + r - y) + first, c->kernel.stride[0], past - first,
             FN(out_row)(c, i + r) + t.j0, c->out.stride[0], width);
        }
    }
}

static fl_status FN(tiled)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch)
{
    const int64_t tiles = launch->grid[0] * launch->grid[1];
    const int team = cpu_team(context, launch->flops);
    const int64_t length = round_up(launch->block[0] + c->kernel.shape[1], CPU_LINE);
    fl_status status;
    void *lines;

    if (!FN(kernel_is_finite)(c)) {
        FN(by_definition)(context, c, launch);
        return FL_OK;
    }
    status = context->host->scratch(context, (size_t)(team * length) * sizeof(real), &lines);
    if (status != FL_OK)
        return status;
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (int64_t n = 0; n < tiles; n++)
        FN(tile)(c, tile_of(c, launch, n), (real *)lines + omp_get_thread_num() * length);
    return FL_OK;
}

/* --------------------------------------------------------------------------------------------- separable ---- */

/* A kernel as u v^T: v its row `row`, u[p] = kernel[p, column] / kernel[row, column], |u| <= 1. */
typedef struct FN(factors) {
    int64_t row, column;
} FN(factors);

/* u of that kernel's row p. */
static real FN(factor)(const fl_convolve_args *c, FN(factors) f, int64_t p)
{
    return FN(kernel_row)(c, p)[f.column] / FN(kernel_row)(c, f.row)[f.column];
}

/* Returns whether the kernel has rank one to rounding: each element within min(16, elements) units of rounding of the
 * product of its factors. The pivot is the element of largest magnitude: |u| <= 1, so that the sums along the rows lose
 * no digits to underflow that the sum of all would keep. All zeros, infinities and NaN fail. */
static bool FN(rank_one)(const fl_convolve_args *c, FN(factors) * f)
{
    int64_t kh = c->kernel.shape[0], kw = c->kernel.shape[1];
    const double tolerance = (double)min64(16, kh * kw) * EPSILON;
    double largest = 0;

    if (!FN(kernel_is_finite)(c))
        return false;
    *f = (FN(factors)){0, 0};
    for (int64_t p = 0; p < kh; p++)
        for (int64_t q = 0; q < kw; q++)
            if (fabs(FN(kernel_row)(c, p)[q]) > largest) {
                *f = (FN(factors)){p, q};
                largest = fabs(FN(kernel_row)(c, p)[q]);
            }
    for (int64_t p = 0; p < kh && largest > 0; p++) {
        const real u = FN(factor)(c, *f, p);
        for (int64_t q = 0; q < kw; q++) {
            real element = FN(kernel_row)(c, p)[q], product = u * FN(kernel_row)(c, f->row)[q];
            if (!(fabs(element - product) <= tolerance * fabs(element)))
                return false;
        }
    }
    return largest > 0;
}

/* out[x] = sum over t < count of in[x - t * step] * taps[t]; `count` is a multiple of FIR_TAPS. */
KERNEL void FN(fir)(const real *in, int64_t step, const real *taps, int64_t count, real *restrict out, int64_t width)
{
    memset(out, 0, (size_t)width * sizeof *out);
    for (int64_t t = 0; t < count; t += FIR_TAPS) {
        const real *in0 = in - t * step, *in1 = in0 - step, *in2 = in1 - step, *in3 = in2 - step;
        const real t0 = taps[t], t1 = taps[t + 1], t2 = taps[t + 2], t3 = taps[t + 3];
#pragma omp simd
        for (int64_t x = 0; x < width; x++)
            out[x] += t0 * in0[x] + t1 * in1[x] + t2 * in2[x] + t3 * in3[x];
    }
}

/* The factors, with zeros after them, and one thread's memory for a tile: a padded row of the image, and the rows of
 * the image summed along the row, of which a tile needs u_count - 1 more than it has. */
typedef struct FN(passes) {
    real *u, *v;
    int64_t u_count, v_count;
    int64_t line, pitch, per_thread; /* elements */
    real *memory;
} FN(passes);

static fl_status FN(prepare)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch,
                             FN(factors) f, int team, FN(passes) * s)
{
    int64_t kh = c->kernel.shape[0], kw = c->kernel.shape[1], each = CPU_LINE / (int64_t)sizeof(real);
    fl_status status;
    void *memory;

    s->u_count = round_up(kh, FIR_TAPS);
    s->v_count = round_up(kw, FIR_TAPS);
    s->line = round_up(launch->block[0] + s->v_count, each);
    s->pitch = round_up(launch->block[0], each) + each; /* no power of two: the rows would share a place in the cache */
    s->per_thread = s->line + s->pitch * (launch->block[1] + s->u_count);
    status = context->host->scratch(
        context, (size_t)(team * s->per_thread + round_up(s->u_count + s->v_count, each)) * sizeof(real), &memory);
    if (status != FL_OK)
        return status;
    s->memory = memory;
    s->u = s->memory + team * s->per_thread;
    s->v = s->u + s->u_count;
    memset(s->u, 0, (size_t)(s->u_count + s->v_count) * sizeof(real));
    for (int64_t p = 0; p < kh; p++)
        s->u[p] = FN(factor)(c, f, p);
    memcpy(s->v, FN(kernel_row)(c, f.row), (size_t)kw * sizeof(real));
    return FL_OK;
}

/* Along the rows, then down the columns, in a tile that stays in the cache. An output that is not finite is summed
 * again by the definition: infinities and NaN are then what they should be, and what only overflowed on the way is
 * finite. */
static void FN(separable_tile)(const fl_convolve_args *c, area t, const FN(passes) * s, real *line)
{
    int64_t width = t.j1 - t.j0, before = s->u_count - 1;
    int64_t first = t.i0 + c->origin[0] - before, x0 = t.j0 + c->origin[1] - s->v_count + 1;
    real *sums = line + s->line;

    for (int64_t m = 0; m < t.i1 - t.i0 + before; m++) {
        if (first + m < 0 || first + m >= c->image.shape[0]) {
            memset(sums + m * s->pitch, 0, (size_t)width * sizeof(real));
        } else {
            const real *in = FN(padded_row)(c, first + m, x0, width + s->v_count - 1, line);
            FN(fir)(in + s->v_count - 1, 1, s->v, s->v_count, sums + m * s->pitch, width);
        }
    }
    for (int64_t i = t.i0; i < t.i1; i++) {
        real *out = FN(out_row)(c, i);
        FN(fir)(sums + (i - t.i0 + before) * s->pitch, s->pitch, s->u, s->u_count, out + t.j0, width);
        for (int64_t j = FN(all_finite)(out + t.j0, width) ? t.j1 : t.j0; j < t.j1; j++)
            if (!FN(all_finite)(out + j, 1))
                out[j] = FN(definition)(c, i, j);
    }
}

static fl_status FN(by_factors)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch,
                                FN(factors) f)
{
    const int64_t tiles = launch->grid[0] * launch->grid[1];
    const int team = separable_team(context->device, c);
    FN(passes) s;
    fl_status status = FN(prepare)(context, c, launch, f, team, &s);

    if (status != FL_OK)
        return status;
#pragma omp parallel for schedule(static) num_threads(team)
    for (int64_t n = 0; n < tiles; n++)
        FN(separable_tile)(c, tile_of(c, launch, n), &s, s.memory + omp_get_thread_num() * s.per_thread);
    return FL_OK;
}

static fl_status FN(separable)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch)
{
    FN(factors) f;

    if (!FN(rank_one)(c, &f))
        return context->host->error(FL_E_ARGUMENT,
                                    "convolve: the kernel (%lldx%lld) is not of rank one, which "
                                    "`separable` needs: use tiled or auto",
                                    (long long)c->kernel.shape[0], (long long)c->kernel.shape[1]);
    return FN(by_factors)(context, c, launch, f);
}

/* -------------------------------------------------------------------------------------------------- auto ---- */

static bool FN(takes_separable)(const fl_convolve_args *c)
{
    FN(factors) f;

    return FN(rank_one)(c, &f);
}

static fl_status FN(by_rank)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch)
{
    fl_launch separable = *launch;
    FN(factors) f;

    if (!FN(rank_one)(c, &f))
        return FN(tiled)(context, c, launch);
    CPU_NAME(plan_separable)(context->device, c, &separable);
    return FN(by_factors)(context, c, &separable, f);
}

/* --------------------------------------------------------------------------------------------- reference ---- */

#ifdef CPU_REFERENCE
/* The oracle: the definition, summed in a wider type. What the kernel meets outside the image is multiplied by zero and
 * added like the rest (FN(definition) says why); its columns `from` to `to` meet the inside. Each row of the kernel is
 * summed by itself: a single sum would wait for every addition before the next. */
static fl_status FN(reference)(const fl_context *context, const fl_convolve_args *c, const fl_launch *launch)
{
    const int64_t kw = c->kernel.shape[1];

    (void)context, (void)launch;
    for (int64_t i = 0; i < c->out.shape[0]; i++) {
        for (int64_t j = 0; j < c->out.shape[1]; j++) {
            wide sum = 0;
            for (int64_t p = 0; p < c->kernel.shape[0]; p++) {
                int64_t y = i + c->origin[0] - p, x = j + c->origin[1];
                bool inside = y >= 0 && y < c->image.shape[0];
                int64_t from = inside ? min64(kw, max64(0, x - c->image.shape[1] + 1)) : kw;
                int64_t to = inside ? max64(from, min64(kw, x + 1)) : kw;
                const real *kernel = FN(kernel_row)(c, p), *image = FN(image_row)(c, inside ? y : 0);
                wide row_sum = 0;
                for (int64_t q = 0; q < from; q++)
                    row_sum += (wide)0 * kernel[q];
                for (int64_t q = from; q < to; q++)
                    row_sum += (wide)image[x - q] * kernel[q];
                for (int64_t q = to; q < kw; q++)
                    row_sum += (wide)0 * kernel[q];
                sum += row_sum;
            }
            FN(out_row)(c, i)[j] = (real)sum;
        }
    }
    return FL_OK;
}
#endif
