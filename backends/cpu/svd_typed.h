/* SPDX-License-Identifier: MIT
 *
 * svd_typed.h - Jacobi's decomposition and orthonormal rows in the type `real`; included by svd.c and host_svd.c for
 * f32 and f64, which also say what FN(name) is.
 */

/* Rows of length `width`, `stride` apart. */
typedef struct FN(rows_of) {
    real *data;
    int64_t count, width, stride;
} FN(rows_of);

/* The rows of a, or all its elements as one if they follow each other. */
static FN(rows_of) FN(rows_in)(const fl_buffer *a)
{
    const int64_t m = a->shape[0], n = a->shape[1];

    return a->stride[0] == n ? (FN(rows_of)){a->data, 1, m * n, m * n} : (FN(rows_of)){a->data, m, n, a->stride[0]};
}

static bool FN(is_finite)(const fl_buffer *a)
{
    const FN(rows_of) rows = FN(rows_in)(a);
    int64_t wrong = 0;

    for (int64_t i = 0; i < rows.count; i++) {
        const real *row = rows.data + i * rows.stride;
#pragma omp simd reduction(+ : wrong)
        for (int64_t x = 0; x < rows.width; x++)
            wrong += !(row[x] - row[x] == 0); /* infinity less itself is NaN */
    }
    return wrong == 0;
}

static double FN(largest)(const fl_buffer *a)
{
    const FN(rows_of) rows = FN(rows_in)(a);
    real most = 0;

    for (int64_t i = 0; i < rows.count; i++) {
        const real *row = rows.data + i * rows.stride;
#pragma omp simd reduction(max : most)
        for (int64_t x = 0; x < rows.width; x++) {
            const real size = row[x] < 0 ? -row[x] : row[x];
            most = size > most ? size : most;
        }
    }
    return (double)most;
}

/* ------------------------------------------------------------------------------------------------ jacobi ---- */

/* The columns of a tall matrix, the rows of a wide one, times 2^scale. */
static void FN(jacobi_fill)(jacobi *j, const fl_buffer *a, int scale)
{
    const bool tall = a->shape[0] >= a->shape[1];
    const int64_t across = tall ? a->stride[1] : a->stride[0], along = tall ? a->stride[0] : a->stride[1];
    const real *from = a->data;

    for (int64_t c = 0; c < j->count; c++)
        for (int64_t e = 0; e < j->length; e++)
            j->column[c][e] = ldexp((double)from[c * across + e * along], scale);
}

/* Vectors as the columns of `to`. */
static void FN(put_columns)(const fl_buffer *to, double *const *vectors)
{
    real *data = to->data;

    for (int64_t i = 0; i < to->shape[0]; i++)
        for (int64_t c = 0; c < to->shape[1]; c++)
            data[i * to->stride[0] + c] = (real)vectors[c][i];
}

static void FN(put_rows)(const fl_buffer *to, double *const *vectors)
{
    real *data = to->data;

    for (int64_t c = 0; c < to->shape[0]; c++)
        for (int64_t i = 0; i < to->shape[1]; i++)
            data[c * to->stride[0] + i] = (real)vectors[c][i];
}

/* For f32 an angle is right to a 64th of a unit of rounding; for f64 to rounding in a sum over a column. */
static double FN(tolerance)(int64_t length)
{
    return sizeof(real) == sizeof(float) ? FLT_EPSILON / 64 : DBL_EPSILON * sqrt((double)length);
}

/* A value of which this is a part of all may as well be 0, to a fraction of a unit of rounding. */
static double FN(nothing)(void)
{
    return sizeof(real) == sizeof(float) ? FLT_EPSILON / 256 : DBL_EPSILON / 4;
}

static fl_status FN(jacobi)(const fl_context *context, const fl_svd_args *args, int threads, int *sweeps)
{
    const bool tall = args->a.shape[0] >= args->a.shape[1];
    const int64_t count = args->a.shape[tall], length = args->a.shape[!tall];
    const int scale = jacobi_scale(FN(largest)(&args->a));
    double *value = malloc((size_t)count * sizeof *value);
    jacobi j;

    if (!value || !jacobi_create(&j, count, length, threads)) {
        free(value);
        return context->host->error(FL_E_MEMORY, "svd: out of memory for the columns of jacobi");
    }
    FN(jacobi_fill)(&j, &args->a, scale);
    const bool done = jacobi_decompose(&j, FN(tolerance)(length), FN(nothing)(), value);
    if (done) {
        FN(put_columns)(&args->u, tall ? j.column : j.rotation);
        FN(put_rows)(&args->vt, tall ? j.rotation : j.column);
        for (int64_t i = 0; i < args->s.shape[0]; i++)
            ((real *)args->s.data)[i] = (real)ldexp(value[i], -scale);
    }
    *sweeps = j.sweeps;
    jacobi_free(&j);
    free(value);
    return done ? FL_OK
                : context->host->error(FL_E_DEVICE, "svd: jacobi did not converge in %d sweeps", (int)JACOBI_SWEEPS);
}

/* ----------------------------------------------------------------------------------------- orthonormal rows ---- */

KERNEL real FN(dot)(const real *x, const real *y, int64_t n)
{
    real sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

KERNEL void FN(add1)(real *restrict out, real f, const real *restrict y, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] += f * y[i];
}

/* Counts on from `counter`, so that each element depends on the seed and its place alone. */
static void FN(gaussian)(FN(rows_of) x, uint64_t seed, uint64_t counter)
{
    for (int64_t c = 0; c < x.count; c++, counter += (uint64_t)x.width)
        for (int64_t i = 0; i < x.width; i++)
            x.data[c * x.stride + i] = (real)random_normal(seed, counter + (uint64_t)i);
}

/* Sums by blocks, for the reason that jacobi_square gives. */
static double FN(length)(FN(rows_of) x, int64_t c)
{
    enum { BLOCK = 64 };
    const real *row = x.data + c * x.stride;
    double sum = 0;

    for (int64_t i = 0; i < x.width; i += BLOCK)
        sum += (double)FN(dot)(row + i, row + i, x.width - i < BLOCK ? x.width - i : BLOCK);
    return sqrt(sum);
}

static void FN(divide)(FN(rows_of) x, int64_t c, double by)
{
    real *row = x.data + c * x.stride;

    for (int64_t i = 0; i < x.width; i++)
        row[i] = (real)((double)row[i] / by);
}

/* A random row less its parts along those before it: where the matrix has no further direction, any will do. */
static void FN(any_direction)(FN(rows_of) x, int64_t c)
{
    real *row = x.data + c * x.stride;

    FN(gaussian)((FN(rows_of)){row, 1, x.width, x.stride}, 0, (uint64_t)c << 32);
    for (int twice = 0; twice < 2; twice++)
        for (int64_t before = 0; before < c; before++) {
            const real *other = x.data + before * x.stride;
            FN(add1)(row, -FN(dot)(row, other, x.width), other, x.width);
        }
}

/* One pass: each row, made one of length one, is taken out of all later ones, by as many threads. If almost
 * nothing of a row remains, the row depended on the earlier ones, and the remainder is rounding. Returns the smallest
 * remainder of a row. */
static double FN(gram_schmidt)(FN(rows_of) x, int threads)
{
    const double nothing = 16 * sqrt((double)x.width) * (sizeof(real) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON);
    double least = 1;

    (void)threads;
    for (int64_t c = 0; c < x.count; c++)
        if (FN(length)(x, c) > 0)
            FN(divide)(x, c, FN(length)(x, c));
    for (int64_t c = 0; c < x.count; c++) {
        const real *row = x.data + c * x.stride;
        const double left = FN(length)(x, c);
        least = left < least ? left : least;
        if (left <= nothing)
            FN(any_direction)(x, c);
        FN(divide)(x, c, FN(length)(x, c));
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t later = c + 1; later < x.count; later++) {
            real *other = x.data + later * x.stride;
            FN(add1)(other, -FN(dot)(row, other, x.width), row, x.width);
        }
    }
    return least;
}

/* Makes the rows orthonormal: modified Gram-Schmidt, twice, which is enough for independent rows (Giraud, Langou and
 * Rozloznik, "The loss of orthogonality in the Gram-Schmidt orthogonalization process", 2005); and again where a pass
 * took half of a row away (Daniel, Gragg, Kaufman and Stewart, "Reorthogonalization and stable algorithms for updating
 * the Gram-Schmidt QR factorization", 1976): any_direction chose it among rows that were not orthonormal yet. */
static void FN(orthonormalize)(FN(rows_of) x, int threads)
{
    enum { MOST_PASSES = 6 };

    FN(gram_schmidt)(x, threads);
    for (int pass = 1; pass < MOST_PASSES && FN(gram_schmidt)(x, threads) < 0.5; pass++)
        continue;
}
