/* SPDX-License-Identifier: MIT
 *
 * reconstruct_typed.h - the loops of reconstruct.c for one type. Included once for each, with
 *     real     the type: float, double
 *     wide     the type that `reference` sums in: double, long double
 *     FN(name) the name of a function for that type: name_f32_v3
 *
 * `c` is always what to compute; n counts the batch, i and j rows and columns of the result, p the terms of a sum:
 * y[n, i, j] = sum over p of u[n, i, p] * s[n, p] * vt[n, p, j]. All multiply s into u first, as the formula has it
 * from left to right: where a product overflows, it does so in all of them.
 */

static inline const real *FN(u_row)(const fl_reconstruct_args *c, int64_t n, int64_t i)
{
    return (const real *)c->u.data + n * c->u.stride[0] + i * c->u.stride[1];
}

static inline const real *FN(s_of)(const fl_reconstruct_args *c, int64_t n)
{
    return (const real *)c->s.data + n * c->s.stride[0];
}

static inline const real *FN(vt_row)(const fl_reconstruct_args *c, int64_t n, int64_t p)
{
    return (const real *)c->vt.data + n * c->vt.stride[0] + p * c->vt.stride[1];
}

static inline real *FN(y_row)(const fl_reconstruct_args *c, int64_t n, int64_t i)
{
    return (real *)c->y.data + n * c->y.stride[0] + i * c->y.stride[1];
}

/* ------------------------------------------------------------------------------------------------- naive ---- */

/* The textbook's loops for one row. The one over columns is innermost: its loads and stores are of neighbours, and its
 * sums do not wait for each other. */
KERNEL void FN(naive_row)(const fl_reconstruct_args *c, int64_t n, int64_t i)
{
    const real *u = FN(u_row)(c, n, i), *s = FN(s_of)(c, n);
    real *restrict y = FN(y_row)(c, n, i);

    for (int64_t j = 0; j < columns_of(c); j++)
        y[j] = 0;
    for (int64_t p = 0; p < c->rank; p++) {
        const real *restrict vt = FN(vt_row)(c, n, p);
        const real us = u[p] * s[p];
#pragma omp simd
        for (int64_t j = 0; j < columns_of(c); j++)
            y[j] += us * vt[j];
    }
}

static fl_status FN(naive)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    (void)context, (void)launch;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, launch->flops))
    for (int64_t n = 0; n < batch_of(c); n++)
        for (int64_t i = 0; i < rows_of(c); i++)
            FN(naive_row)(c, n, i);
    return FL_OK;
}

/* ------------------------------------------------------------------------------------------------- tiled ---- */

/* Adds the terms p0 to p1 to the columns j0 to j1 of row i, TERMS at a time: so many loads of vt share one load and one
 * store of each sum. */
KERNEL void FN(tiled_row)(const fl_reconstruct_args *c, const tile *t, int64_t i, int64_t p0, int64_t p1)
{
    const real *u = FN(u_row)(c, t->n, i), *s = FN(s_of)(c, t->n);
    const int64_t width = t->j1 - t->j0;
    real *restrict y = FN(y_row)(c, t->n, i) + t->j0;
    int64_t p = p0;

    for (; p + TERMS <= p1; p += TERMS) {
        const real *restrict v0 = FN(vt_row)(c, t->n, p) + t->j0, *restrict v1 = FN(vt_row)(c, t->n, p + 1) + t->j0;
        const real *restrict v2 = FN(vt_row)(c, t->n, p + 2) + t->j0, *restrict v3 = FN(vt_row)(c, t->n, p + 3) + t->j0;
        const real a0 = u[p] * s[p], a1 = u[p + 1] * s[p + 1], a2 = u[p + 2] * s[p + 2], a3 = u[p + 3] * s[p + 3];
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            y[j] = y[j] + a0 * v0[j] + a1 * v1[j] + a2 * v2[j] + a3 * v3[j];
    }
    for (; p < p1; p++) {
        const real *restrict v = FN(vt_row)(c, t->n, p) + t->j0;
        const real a = u[p] * s[p];
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            y[j] += a * v[j];
    }
}

static void FN(tiled_tile)(const fl_reconstruct_args *c, const tile *t)
{
    for (int64_t i = t->i0; i < t->i1; i++)
        memset(FN(y_row)(c, t->n, i) + t->j0, 0, (size_t)(t->j1 - t->j0) * sizeof(real));
    for (int64_t p = 0; p < c->rank; p += DEPTH)
        for (int64_t i = t->i0; i < t->i1; i++)
            FN(tiled_row)(c, t, i, p, min64(p + DEPTH, c->rank));
}

static fl_status FN(tiled)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    const int64_t tiles = launch->grid[0] * launch->grid[1] * launch->grid[2];

    (void)context;
#pragma omp parallel for schedule(dynamic) num_threads(cpu_team(context, launch->flops))
    for (int64_t index = 0; index < tiles; index++) {
        const tile t = tile_of(c, launch, index);
        FN(tiled_tile)(c, &t);
    }
    return FL_OK;
}

/* ---------------------------------------------------------------------------------------------- register ---- */

/* After Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM Transactions on Mathematical
 * Software 34, 2008: both factors are rearranged so that the innermost loop reads them one element after the other,
 * and a block of PANEL_ROWS x PANEL_WIDTH sums stays in registers while it does. */

/* A vector of the processor, which may lie anywhere an element may. The compiler's own vectors and not `omp simd`: of
 * an array of sums within such a loop gcc 12 makes memory, not registers. */
#if CPU_VECTOR_BITS > 64
typedef real FN(vector) __attribute__((vector_size(CPU_VECTOR_BITS / 8), may_alias, aligned(sizeof(real))));
#else
typedef real FN(vector);
#endif
#define PANEL_WIDTH (PANEL_VECTORS * LANES(real))

/* Both factors of some results of a batch, rearranged. For each PANEL_DEPTH terms (the last time fewer): panels of
 * PANEL_ROWS rows of u times s, term by term; panels of PANEL_WIDTH columns of vt, term by term. Rows and columns
 * beyond the end are zeros. */
typedef struct FN(packed) {
    real *u, *vt;
    int64_t rows, columns; /* in whole panels */
    int64_t first;         /* result of the batch */
} FN(packed);

static inline real *FN(u_panel)(const FN(packed) * packed, const fl_reconstruct_args *c, int64_t n, int64_t p,
                                int64_t i)
{
    int64_t depth = min64(PANEL_DEPTH, c->rank - p);

    return packed->u + ((n - packed->first) * c->rank + p) * packed->rows + i * depth;
}

static inline real *FN(vt_panel)(const FN(packed) * packed, const fl_reconstruct_args *c, int64_t n, int64_t p,
                                 int64_t j)
{
    int64_t depth = min64(PANEL_DEPTH, c->rank - p);

    return packed->vt + ((n - packed->first) * c->rank + p) * packed->columns + j * depth;
}

KERNEL void FN(pack_u)(const FN(packed) * packed, const fl_reconstruct_args *c, int64_t n, int64_t i)
{
    const real *s = FN(s_of)(c, n);

    for (int64_t p0 = 0; p0 < c->rank; p0 += PANEL_DEPTH) {
        real *restrict panel = FN(u_panel)(packed, c, n, p0, i);
        int64_t depth = min64(PANEL_DEPTH, c->rank - p0);
        for (int64_t r = 0; r < PANEL_ROWS; r++) {
            const real *u = i + r < rows_of(c) ? FN(u_row)(c, n, i + r) + p0 : NULL;
            for (int64_t p = 0; p < depth; p++)
                panel[p * PANEL_ROWS + r] = u ? u[p] * s[p0 + p] : 0;
        }
    }
}

KERNEL void FN(pack_vt)(const FN(packed) * packed, const fl_reconstruct_args *c, int64_t n, int64_t j)
{
    const int64_t width = min64(PANEL_WIDTH, columns_of(c) - j);

    for (int64_t p0 = 0; p0 < c->rank; p0 += PANEL_DEPTH) {
        real *restrict panel = FN(vt_panel)(packed, c, n, p0, j);
        int64_t depth = min64(PANEL_DEPTH, c->rank - p0);
        for (int64_t p = 0; p < depth; p++) {
            const real *vt = FN(vt_row)(c, n, p0 + p) + j;
            for (int64_t x = 0; x < width; x++)
                panel[p * PANEL_WIDTH + x] = vt[x];
            for (int64_t x = width; x < PANEL_WIDTH; x++)
                panel[p * PANEL_WIDTH + x] = 0;
        }
    }
}

/* out[r, x] = (add ? out[r, x] : 0) + sum over p of u[p, r] * vt[p, x] */
KERNEL void FN(multiply_panels)(const real *restrict u, const real *restrict vt, int64_t depth, bool add,
                                real *restrict out, int64_t pitch)
{
    FN(vector) sum[PANEL_ROWS][PANEL_VECTORS] = {0};

    for (int64_t p = 0; p < depth; p++) {
        const FN(vector) *row = (const FN(vector) *)(vt + p * PANEL_WIDTH);
#pragma GCC unroll 16
        for (int r = 0; r < PANEL_ROWS; r++)
#pragma GCC unroll 4
            for (int v = 0; v < PANEL_VECTORS; v++)
                sum[r][v] += u[p * PANEL_ROWS + r] * row[v];
    }
#pragma GCC unroll 16
    for (int r = 0; r < PANEL_ROWS; r++) {
        FN(vector) *to = (FN(vector) *)(out + r * pitch);
#pragma GCC unroll 4
        for (int v = 0; v < PANEL_VECTORS; v++)
            if (add)
                to[v] += sum[r][v];
            else
                to[v] = sum[r][v];
    }
}

/* The same for a block that the result's edge cuts: by way of one that it does not. */
static void FN(multiply_at_edge)(const real *u, const real *vt, int64_t depth, bool add, real *out, int64_t pitch,
                                 int64_t rows, int64_t columns)
{
    real whole[PANEL_ROWS * PANEL_WIDTH];

    FN(multiply_panels)(u, vt, depth, false, whole, PANEL_WIDTH);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t x = 0; x < columns; x++)
            out[r * pitch + x] = (add ? out[r * pitch + x] : 0) + whole[r * PANEL_WIDTH + x];
}

/* A panel of vt stays in the first cache while all panels of u pass by, which stay in the second. */
static void FN(blocked_tile)(const FN(packed) * packed, const fl_reconstruct_args *c, const tile *t)
{
    const int64_t pitch = c->y.stride[1];

    for (int64_t p = 0; p < c->rank; p += PANEL_DEPTH) {
        const int64_t depth = min64(PANEL_DEPTH, c->rank - p);
        for (int64_t j = t->j0; j < t->j1; j += PANEL_WIDTH)
            for (int64_t i = t->i0; i < t->i1; i += PANEL_ROWS) {
                const real *u = FN(u_panel)(packed, c, t->n, p, i), *vt = FN(vt_panel)(packed, c, t->n, p, j);
                real *out = FN(y_row)(c, t->n, i) + j;
                const int64_t rows = min64(PANEL_ROWS, t->i1 - i), columns = min64(PANEL_WIDTH, t->j1 - j);
                if (rows == PANEL_ROWS && columns == PANEL_WIDTH)
                    FN(multiply_panels)(u, vt, depth, p > 0, out, pitch);
                else
                    FN(multiply_at_edge)(u, vt, depth, p > 0, out, pitch, rows, columns);
            }
    }
}

/* The results `first` to `end` of the batch, whose factors fit into `packed`. */
static void FN(blocked_part)(const fl_context *context, const FN(packed) * packed, const fl_reconstruct_args *c,
                             int64_t end, const fl_launch *launch)
{
    const int64_t down = packed->rows / PANEL_ROWS, across = packed->columns / PANEL_WIDTH;
    const int64_t tiles = launch->grid[0] * launch->grid[1];

    (void)context;
#pragma omp parallel num_threads(cpu_team(context, launch->flops))
    {
#pragma omp for schedule(static) collapse(2)
        for (int64_t n = packed->first; n < end; n++)
            for (int64_t panel = 0; panel < down + across; panel++) {
                if (panel < down)
                    FN(pack_u)(packed, c, n, panel * PANEL_ROWS);
                else
                    FN(pack_vt)(packed, c, n, (panel - down) * PANEL_WIDTH);
            }
#pragma omp for schedule(dynamic)
        for (int64_t index = packed->first * tiles; index < end * tiles; index++) {
            const tile t = tile_of(c, launch, index);
            FN(blocked_tile)(packed, c, &t);
        }
    }
}

static fl_status FN(blocked)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    FN(packed) packed = {.rows = round_up(rows_of(c), PANEL_ROWS), .columns = round_up(columns_of(c), PANEL_WIDTH)};
    const int64_t one = (packed.rows + packed.columns) * c->rank, fit = PACKED_BYTES / ((int64_t)sizeof(real) * one);
    const int64_t many = min64(fit > 1 ? fit : 1, batch_of(c));
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)(many * one) * sizeof(real), &memory);

    if (status != FL_OK)
        return status;
    packed.u = memory;
    packed.vt = packed.u + many * packed.rows * c->rank;
    for (packed.first = 0; packed.first < batch_of(c); packed.first += many)
        FN(blocked_part)(context, &packed, c, min64(packed.first + many, batch_of(c)), launch);
    return FL_OK;
}
#undef PANEL_WIDTH

/* ----------------------------------------------------------------------------------------------- library ---- */

static void FN(scale_row)(const fl_reconstruct_args *c, int64_t n, int64_t i, real *restrict to)
{
    const real *restrict u = FN(u_row)(c, n, i), *restrict s = FN(s_of)(c, n);

#pragma omp simd
    for (int64_t p = 0; p < c->rank; p++)
        to[p] = u[p] * s[p];
}

static fl_status FN(library)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    const int64_t rows = rows_of(c), rank = c->rank;
    blas_product product = {.dtype = c->y.dtype,
                            .m = rows,
                            .n = columns_of(c),
                            .k = rank,
                            .alpha = 1,
                            .b = c->vt.data,
                            .c = c->y.data,
                            .a_stride = rank,
                            .b_stride = max64(c->vt.stride[1], columns_of(c)), /* of a single row it may be anything */
                            .c_stride = max64(c->y.stride[1], columns_of(c)),
                            .batch = batch_of(c),
                            .a_step = rows * rank,
                            .b_step = c->vt.stride[0],
                            .c_step = c->y.stride[0]};
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)(batch_of(c) * rows * rank) * sizeof(real), &memory);

    if (status != FL_OK)
        return status;
    product.a = memory;
#pragma omp parallel for collapse(2) schedule(static) num_threads(cpu_team(context, (double)(rows * rank)))
    for (int64_t n = 0; n < batch_of(c); n++)
        for (int64_t i = 0; i < rows; i++)
            FN(scale_row)(c, n, i, (real *)memory + (n * rows + i) * rank);
    return cpu_blas_multiply(context->host, cpu_team(context, launch->flops), &product);
}

/* --------------------------------------------------------------------------------------------- reference ---- */

#ifdef CPU_REFERENCE
/* Strips of a row, so that vt is read along its rows too; the sums are the definition's, term by term. */
static fl_status FN(reference)(const fl_context *context, const fl_reconstruct_args *c, const fl_launch *launch)
{
    (void)context, (void)launch;
    for (int64_t n = 0; n < batch_of(c); n++)
        for (int64_t i = 0; i < rows_of(c); i++)
            for (int64_t j = 0; j < columns_of(c); j += STRIP) {
                const int64_t width = min64(STRIP, columns_of(c) - j);
                wide sum[STRIP] = {0};
                for (int64_t p = 0; p < c->rank; p++)
                    for (int64_t x = 0; x < width; x++)
                        sum[x] += (wide)FN(u_row)(c, n, i)[p] * FN(s_of)(c, n)[p] * FN(vt_row)(c, n, p)[j + x];
                for (int64_t x = 0; x < width; x++)
                    FN(y_row)(c, n, i)[j + x] = (real)sum[x];
            }
    return FL_OK;
}
#endif
