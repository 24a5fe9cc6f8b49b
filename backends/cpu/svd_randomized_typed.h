/* SPDX-License-Identifier: MIT
 *
 * svd_randomized_typed.h - the randomized decomposition in the type `real`; included by svd.c after svd_typed.h.
 */

/* Four products with one x, which is loaded once for them. */
KERNEL void FN(dot4)(const real *restrict x, const real *y, int64_t stride, int64_t n, real *restrict sums)
{
    const real *y0 = y, *y1 = y + stride, *y2 = y + 2 * stride, *y3 = y + 3 * stride;
    real s0 = 0, s1 = 0, s2 = 0, s3 = 0;

#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (int64_t i = 0; i < n; i++) {
        s0 += x[i] * y0[i];
        s1 += x[i] * y1[i];
        s2 += x[i] * y2[i];
        s3 += x[i] * y3[i];
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
}

/* out += f[0] y[0] + ... + f[3] y[3] */
KERNEL void FN(add4)(real *restrict out, const real *f, const real *restrict y, int64_t stride, int64_t n)
{
    const real *y0 = y, *y1 = y + stride, *y2 = y + 2 * stride, *y3 = y + 3 * stride;
    const real f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3];

#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        out[i] += f0 * y0[i] + f1 * y1[i] + f2 * y2[i] + f3 * y3[i];
}

/* out[c, i] = x[c] . y[i]: x y' */
static void FN(times_transposed)(FN(rows_of) x, FN(rows_of) y, FN(rows_of) out, int threads)
{
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t strip = 0; strip < (y.count + 3) / 4; strip++) { /* four rows of y stay in the cache */
        const int64_t i0 = strip * 4, end = i0 + 4 < y.count ? i0 + 4 : y.count;
        for (int64_t c = 0; c < x.count; c++) {
            if (end - i0 == 4)
                FN(dot4)
            (x.data + c * x.stride, y.data + i0 * y.stride, y.stride, x.width, out.data + c * out.stride + i0);
            for (int64_t i = i0; i < end && end - i0 < 4; i++)
                out.data[c * out.stride + i] = FN(dot)(x.data + c * x.stride, y.data + i * y.stride, x.width);
        }
    }
}

/* out[c] = sum over i of x[c, i] y[i]: x y, in strips of columns, one a thread at a time. */
static void FN(times)(FN(rows_of) x, FN(rows_of) y, FN(rows_of) out, int threads)
{
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t x0 = 0; x0 < y.width; x0 += STRIP) {
        const int64_t width = min64(STRIP, y.width - x0);
        for (int64_t c = 0; c < x.count; c++)
            memset(out.data + c * out.stride + x0, 0, (size_t)width * sizeof(real));
        for (int64_t i = 0; i < y.count; i += 4)
            for (int64_t c = 0; c < x.count; c++) {
                real *to = out.data + c * out.stride + x0;
                const real *factors = x.data + c * x.stride + i;
                if (i + 4 <= y.count)
                    FN(add4)(to, factors, y.data + i * y.stride + x0, y.stride, width);
                for (int64_t r = i; r < y.count && i + 4 > y.count; r++)
                    FN(add1)(to, factors[r - i], y.data + r * y.stride + x0, width);
            }
    }
}

/* a = q r: the columns of q, which are rows here, and r = q' a. */
static void FN(qr)(const fl_qr_args *args, int threads)
{
    const int scale = jacobi_scale(FN(largest)(&args->a));
    const real *from = args->a.data;
    FN(rows_of) q = {args->qt.data, args->qt.shape[0], args->qt.shape[1], args->qt.stride[0]};

    for (int64_t i = 0; i < q.width; i++)
        for (int64_t c = 0; c < q.count; c++)
            q.data[c * q.stride + i] = (real)ldexp((double)from[i * args->a.stride[0] + c], scale);
    FN(orthonormalize)(q, threads);
    FN(times)
    (q, (FN(rows_of)){(real *)args->a.data, args->a.shape[0], args->a.shape[1], args->a.stride[0]},
     (FN(rows_of)){args->r.data, args->r.shape[0], args->r.shape[1], args->r.stride[0]}, threads);
}

/* u = q' w, where q's rows are orthonormal and w has the left vectors of what they leave of a; s; vt. */
static void FN(put_randomized)(const fl_svd_args *args, FN(rows_of) q, const jacobi *j, const double *value, int scale)
{
    real *u = args->u.data;

    for (int64_t i = 0; i < args->u.shape[0]; i++)
        for (int64_t c = 0; c < args->u.shape[1]; c++) {
            double sum = 0;
            for (int64_t p = 0; p < q.count; p++)
                sum += (double)q.data[p * q.stride + i] * j->rotation[c][p];
            u[i * args->u.stride[0] + c] = (real)sum;
        }
    FN(put_rows)(&args->vt, j->column);
    for (int64_t c = 0; c < args->s.shape[0]; c++)
        ((real *)args->s.data)[c] = (real)ldexp(value[c], -scale);
}

/* a, but times 2^scale where that is not 1, which needs room for it. */
static FN(rows_of) FN(scaled)(const fl_buffer *a, int scale, real *room)
{
    const real *from = a->data;

    if (scale == 0)
        return (FN(rows_of)){(real *)a->data, a->shape[0], a->shape[1], a->stride[0]};
    for (int64_t i = 0; i < a->shape[0]; i++)
        for (int64_t x = 0; x < a->shape[1]; x++)
            room[i * a->shape[1] + x] = (real)ldexp((double)from[i * a->stride[0] + x], scale);
    return (FN(rows_of)){room, a->shape[0], a->shape[1], a->shape[1]};
}

/* The steps of Halko, Martinsson and Tropp's algorithms 4.4 and 5.1, on rows: a sketch of a's range by random vectors,
 * sharpened by powers of a a', an orthonormal basis q of it, and the decomposition of what is left of a in it. */
static bool FN(sketch)(const fl_svd_args *args, FN(rows_of) a, FN(rows_of) x, FN(rows_of) q, jacobi *j, int scale,
                       double *value, int threads)
{
    FN(gaussian)(x, args->seed, 0);
    FN(times_transposed)(x, a, q, threads);
    FN(orthonormalize)(q, threads);
    for (int power = 0; power < SVD_POWERS; power++) {
        FN(times)(q, a, x, threads);
        FN(orthonormalize)(x, threads);
        FN(times_transposed)(x, a, q, threads);
        FN(orthonormalize)(q, threads);
    }
    FN(times)(q, a, x, threads);
    for (int64_t c = 0; c < x.count; c++)
        for (int64_t i = 0; i < x.width; i++)
            j->column[c][i] = (double)x.data[c * x.stride + i];
    if (!jacobi_decompose(j, FN(tolerance)(x.width), FN(nothing)(), value))
        return false;
    FN(put_randomized)(args, q, j, value, scale);
    return true;
}

static fl_status FN(randomized)(const fl_context *context, const fl_svd_args *args, int threads, int *sweeps)
{
    const int64_t m = args->a.shape[0], n = args->a.shape[1], l = svd_sketch(args);
    const int exponent = jacobi_scale(FN(largest)(&args->a)), scale = exponent < -8 || exponent > 8 ? exponent : 0;
    double *value = malloc((size_t)l * sizeof *value);
    real *memory = malloc((size_t)(l * (m + n) + (scale ? m * n : 0)) * sizeof *memory);
    fl_status status = FL_OK;
    jacobi j;

    if (!value || !memory || !jacobi_create(&j, l, n, threads)) {
        status = context->host->error(FL_E_MEMORY, "svd: out of memory for the sketch of randomized");
    } else {
        FN(rows_of) x = {memory, l, n, n}, q = {memory + l * n, l, m, m};
        if (!FN(sketch)(args, FN(scaled)(&args->a, scale, memory + l * (m + n)), x, q, &j, scale, value, threads))
            status = context->host->error(FL_E_DEVICE, "svd: jacobi did not converge in %d sweeps", (int)JACOBI_SWEEPS);
        *sweeps = j.sweeps;
        jacobi_free(&j);
    }
    free(value);
    free(memory);
    return status;
}
