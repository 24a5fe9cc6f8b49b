/* SPDX-License-Identifier: MIT
 *
 * matrix_product_typed.h - the loops of matrix_product.c for one type. Included once for each, with
 *     real     the type: float, double, uint32_t, uint64_t (integers wrap)
 *     FN(name) the name of a function for that type: name_f32_v3
 *
 * `m` is always what to compute; n counts the batch, i and j rows and columns of the result, p the terms of a sum. All
 * multiply s into a first, as the formula has it from left to right: where a product overflows, it does so in all of
 * them.
 */

static inline const real *FN(a_at)(const matrix_product *m, int64_t n, int64_t i, int64_t p)
{
    return (const real *)m->a + n * m->a_step + i * m->a_row + p * m->a_term;
}

static inline const real *FN(s_of)(const matrix_product *m, int64_t n)
{
    return m->s ? (const real *)m->s + n * m->s_step : NULL;
}

static inline const real *FN(b_at)(const matrix_product *m, int64_t n, int64_t p, int64_t j)
{
    return (const real *)m->b + n * m->b_step + p * m->b_term + j * m->b_column;
}

static inline real *FN(c_at)(const matrix_product *m, int64_t n, int64_t i, int64_t j)
{
    return (real *)m->c + n * m->c_step + i * m->c_row + j;
}

/* ------------------------------------------------------------------------------------------------- tiled ---- */

/* The factor of row p of b: a[n, i, p] * s[n, p]. */
static inline real FN(factor)(const matrix_product *m, const real *a, const real *s, int64_t p)
{
    const real factor = a[p * m->a_term];

    return s ? factor * s[p] : factor;
}

/* Adds the terms p0 to p1 to the columns j0 to j1 of row i, TERMS at a time: so many loads of b share one load and one
 * store of each sum. */
KERNEL void FN(tiled_row)(const matrix_product *m, const tile *t, int64_t i, int64_t p0, int64_t p1)
{
    const real *a = FN(a_at)(m, t->n, i, 0), *s = FN(s_of)(m, t->n);
    const int64_t width = t->j1 - t->j0;
    real *restrict c = FN(c_at)(m, t->n, i, t->j0);
    int64_t p = p0;

    for (; p + TERMS <= p1; p += TERMS) {
        const real *restrict b0 = FN(b_at)(m, t->n, p, t->j0), *restrict b1 = FN(b_at)(m, t->n, p + 1, t->j0);
        const real *restrict b2 = FN(b_at)(m, t->n, p + 2, t->j0), *restrict b3 = FN(b_at)(m, t->n, p + 3, t->j0);
        const real a0 = FN(factor)(m, a, s, p), a1 = FN(factor)(m, a, s, p + 1), a2 = FN(factor)(m, a, s, p + 2),
                   a3 = FN(factor)(m, a, s, p + 3);
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            c[j] = c[j] + a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
    }
    for (; p < p1; p++) {
        const real *restrict b = FN(b_at)(m, t->n, p, t->j0);
        const real factor = FN(factor)(m, a, s, p);
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            c[j] += factor * b[j];
    }
}

static void FN(tiled_tile)(const matrix_product *m, const fl_launch *launch, int64_t index)
{
    const tile t = tile_of(m, launch, index);

    for (int64_t i = t.i0; i < t.i1; i++)
        memset(FN(c_at)(m, t.n, i, t.j0), 0, (size_t)(t.j1 - t.j0) * sizeof(real));
    for (int64_t p = 0; p < m->terms; p += DEPTH)
        for (int64_t i = t.i0; i < t.i1; i++)
            FN(tiled_row)(m, &t, i, p, min64(p + DEPTH, m->terms));
}

static fl_status FN(tiled)(const fl_context *context, const matrix_product *m, const fl_launch *launch)
{
    const int64_t tiles = launch->grid[0] * launch->grid[1] * launch->grid[2];

    (void)context;
#pragma omp parallel for schedule(dynamic) num_threads(cpu_team(context, launch->flops))
    for (int64_t index = 0; index < tiles; index++)
        FN(tiled_tile)(m, launch, index);
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
 * PANEL_ROWS rows of a times s, term by term; panels of PANEL_WIDTH columns of b, term by term. Rows and columns
 * beyond the end are zeros. */
typedef struct FN(packed) {
    real *a, *b;
    int64_t rows, columns; /* in whole panels */
    int64_t first;         /* result of the batch */
} FN(packed);

/* The place in `packed` of the n-th matrix of the batch, which `step` repeats if it is 0. */
static inline int64_t FN(place)(const FN(packed) * packed, int64_t n, int64_t step)
{
    return step != 0 ? n - packed->first : 0;
}

static inline real *FN(a_panel)(const FN(packed) * packed, const matrix_product *m, int64_t n, int64_t p, int64_t i)
{
    int64_t depth = min64(PANEL_DEPTH, m->terms - p);

    return packed->a + (FN(place)(packed, n, m->a_step) * m->terms + p) * packed->rows + i * depth;
}

static inline real *FN(b_panel)(const FN(packed) * packed, const matrix_product *m, int64_t n, int64_t p, int64_t j)
{
    int64_t depth = min64(PANEL_DEPTH, m->terms - p);

    return packed->b + (FN(place)(packed, n, m->b_step) * m->terms + p) * packed->columns + j * depth;
}

/* to[x * to_step] = from[x] for `count` elements, zeros for the others of `all`. */
static inline void FN(spread)(const real *restrict from, int64_t count, int64_t all, real *restrict to, int64_t to_step)
{
    for (int64_t x = 0; x < count; x++)
        to[x * to_step] = from[x];
    for (int64_t x = count; x < all; x++)
        to[x * to_step] = 0;
}

/* The loads are of neighbours, whichever way the matrix is stored. */
KERNEL void FN(pack_a)(const FN(packed) * packed, const matrix_product *m, int64_t n, int64_t i)
{
    const real *s = FN(s_of)(m, n);
    const int64_t height = min64(PANEL_ROWS, m->rows - i);

    for (int64_t p0 = 0; p0 < m->terms; p0 += PANEL_DEPTH) {
        real *restrict panel = FN(a_panel)(packed, m, n, p0, i);
        int64_t depth = min64(PANEL_DEPTH, m->terms - p0);
        if (m->a_term == 1)
            for (int64_t r = 0; r < PANEL_ROWS; r++)
                FN(spread)
        (FN(a_at)(m, n, r < height ? i + r : i, p0), r < height ? depth : 0, depth, panel + r, PANEL_ROWS);
        else for (int64_t p = 0; p < depth; p++)
            FN(spread)(FN(a_at)(m, n, i, p0 + p), height, PANEL_ROWS, panel + p * PANEL_ROWS, 1);
        for (int64_t p = 0; s && p < depth; p++)
            for (int64_t r = 0; r < PANEL_ROWS; r++)
                panel[p * PANEL_ROWS + r] *= s[p0 + p];
    }
}

KERNEL void FN(pack_b)(const FN(packed) * packed, const matrix_product *m, int64_t n, int64_t j)
{
    const int64_t width = min64(PANEL_WIDTH, m->columns - j);

    for (int64_t p0 = 0; p0 < m->terms; p0 += PANEL_DEPTH) {
        real *restrict panel = FN(b_panel)(packed, m, n, p0, j);
        int64_t depth = min64(PANEL_DEPTH, m->terms - p0);
        if (m->b_column == 1)
            for (int64_t p = 0; p < depth; p++)
                FN(spread)(FN(b_at)(m, n, p0 + p, j), width, PANEL_WIDTH, panel + p * PANEL_WIDTH, 1);
        else
            for (int64_t x = 0; x < PANEL_WIDTH; x++)
                FN(spread)
        (FN(b_at)(m, n, p0, x < width ? j + x : j), x < width ? depth : 0, depth, panel + x, PANEL_WIDTH);
    }
}

/* out[r, x] = (add ? out[r, x] : 0) + sum over p of a[p, r] * b[p, x] */
KERNEL void FN(multiply_panels)(const real *restrict a, const real *restrict b, int64_t depth, bool add,
                                real *restrict out, int64_t pitch)
{
    FN(vector) sum[PANEL_ROWS][PANEL_VECTORS] = {0};

    for (int64_t p = 0; p < depth; p++) {
        const FN(vector) *row = (const FN(vector) *)(b + p * PANEL_WIDTH);
#pragma GCC unroll 16
        for (int r = 0; r < PANEL_ROWS; r++)
#pragma GCC unroll 4
            for (int v = 0; v < PANEL_VECTORS; v++)
                sum[r][v] += a[p * PANEL_ROWS + r] * row[v];
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

/* Multiplies a block that the result's edge cuts: into a whole block beside, whose valid part is copied. */
static void FN(multiply_at_edge)(const real *a, const real *b, int64_t depth, bool add, real *out, int64_t pitch,
                                 int64_t rows, int64_t columns)
{
    real whole[PANEL_ROWS * PANEL_WIDTH];

    FN(multiply_panels)(a, b, depth, false, whole, PANEL_WIDTH);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t x = 0; x < columns; x++)
            out[r * pitch + x] = (add ? out[r * pitch + x] : 0) + whole[r * PANEL_WIDTH + x];
}

/* A panel of b stays in the first cache while all panels of a pass by, which stay in the second. */
static void FN(blocked_tile)(const FN(packed) * packed, const matrix_product *m, const fl_launch *launch, int64_t index)
{
    const tile t = tile_of(m, launch, index);
    const int64_t pitch = m->c_row;

    for (int64_t p = 0; p < m->terms; p += PANEL_DEPTH) {
        const int64_t depth = min64(PANEL_DEPTH, m->terms - p);
        for (int64_t j = t.j0; j < t.j1; j += PANEL_WIDTH)
            for (int64_t i = t.i0; i < t.i1; i += PANEL_ROWS) {
                const real *a = FN(a_panel)(packed, m, t.n, p, i), *b = FN(b_panel)(packed, m, t.n, p, j);
                real *out = FN(c_at)(m, t.n, i, j);
                const int64_t rows = min64(PANEL_ROWS, t.i1 - i), columns = min64(PANEL_WIDTH, t.j1 - j);
                if (rows == PANEL_ROWS && columns == PANEL_WIDTH)
                    FN(multiply_panels)(a, b, depth, p > 0, out, pitch);
                else
                    FN(multiply_at_edge)(a, b, depth, p > 0, out, pitch, rows, columns);
            }
    }
}

/* Whether the n-th a or b is to be rearranged: a repeated one once. */
static inline bool FN(is_new)(const FN(packed) * packed, int64_t n, int64_t step)
{
    return step != 0 || n == packed->first;
}

/* The results `first` to `end` of the batch, whose factors fit into `packed`. */
static void FN(blocked_part)(const fl_context *context, const FN(packed) * packed, const matrix_product *m, int64_t end,
                             const fl_launch *launch)
{
    const int64_t down = packed->rows / PANEL_ROWS, across = packed->columns / PANEL_WIDTH;
    const int64_t tiles = launch->grid[0] * launch->grid[1];

    (void)context;
#pragma omp parallel num_threads(blocked_team(context->device, launch->flops))
    {
#pragma omp for schedule(static) collapse(2)
        for (int64_t n = packed->first; n < end; n++)
            for (int64_t panel = 0; panel < down + across; panel++) {
                if (panel < down && FN(is_new)(packed, n, m->a_step))
                    FN(pack_a)(packed, m, n, panel * PANEL_ROWS);
                else if (panel >= down && FN(is_new)(packed, n, m->b_step))
                    FN(pack_b)(packed, m, n, (panel - down) * PANEL_WIDTH);
            }
#pragma omp for schedule(dynamic)
        for (int64_t index = packed->first * tiles; index < end * tiles; index++)
            FN(blocked_tile)(packed, m, launch, index);
    }
}

static fl_status FN(blocked)(const fl_context *context, const matrix_product *m, const fl_launch *launch)
{
    FN(packed) packed = {.rows = round_up(m->rows, PANEL_ROWS), .columns = round_up(m->columns, PANEL_WIDTH)};
    const int64_t one = (packed.rows + packed.columns) * m->terms, fit = PACKED_BYTES / ((int64_t)sizeof(real) * one);
    const int64_t many = min64(fit > 1 ? fit : 1, m->batch);
    void *memory;
    fl_status status = context->host->scratch(context, (size_t)(many * one) * sizeof(real), &memory);

    if (status != FL_OK)
        return status;
    packed.a = memory;
    packed.b = packed.a + many * packed.rows * m->terms;
    for (packed.first = 0; packed.first < m->batch; packed.first += many)
        FN(blocked_part)(context, &packed, m, min64(packed.first + many, m->batch), launch);
    return FL_OK;
}

static fl_status FN(register)(const fl_context *context, const matrix_product *m, const fl_launch *launch)
{
    if (!is_little(m))
        return FN(blocked)(context, m, launch);
#pragma omp parallel for schedule(static) num_threads(blocked_team(context->device, launch->flops))
    for (int64_t index = 0; index < launch->grid[0] * launch->grid[1] * launch->grid[2]; index++)
        FN(tiled_tile)(m, launch, index);
    return FL_OK;
}
#undef PANEL_WIDTH
