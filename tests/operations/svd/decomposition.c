/* SPDX-License-Identifier: MIT */
#include "decomposition.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void factors_free(struct factors *f)
{
    matrix_free(&f->u);
    matrix_free(&f->s);
    matrix_free(&f->vt);
}

int64_t shorter(const struct matrix *a)
{
    return a->shape[0] < a->shape[1] ? a->shape[0] : a->shape[1];
}

fl_dtype computed_in(const struct matrix *a)
{
    return a->dtype == FL_F32 ? FL_F32 : FL_F64;
}

struct factors decompose(fl_device *device, const struct matrix *a, int64_t k, uint64_t seed, const fl_run *run,
                         const char *what)
{
    const fl_dtype dtype = computed_in(a);
    const bool views = (a->shape[0] + k) % 2 == 0;
    fl_array *in = views ? array_inside(device, a) : array_from(device, a);
    struct guarded u = guarded_create(device, dtype, 2, (int64_t[]){a->shape[0], k}, views ? 3 : 0);
    struct guarded s = guarded_create(device, dtype, 1, &k, views ? 2 : 0);
    struct guarded vt = guarded_create(device, dtype, 2, (int64_t[]){k, a->shape[1]}, views ? 5 : 0);
    struct factors f;
    fl_status status = fl_svd(device, in, seed, u.out, s.out, vt.out, run);
    status = status ? status : fl_device_wait(device);
    cr_assert(status == FL_OK, "%s: %s", what, fl_last_error());
    f.u = guarded_read(&u, what);
    f.vt = guarded_read(&vt, what);
    f.s = matrix_create(dtype, 1, k);
    guarded_copy(&s, f.s.data, what);
    guarded_free(&u);
    guarded_free(&s);
    guarded_free(&vt);
    fl_array_free(in);
    return f;
}

double rounding_of(const struct matrix *a, bool single)
{
    double longest = (double)(a->shape[0] > a->shape[1] ? a->shape[0] : a->shape[1]);
    return (16 + 4 * sqrt(longest)) * (single || computed_in(a) == FL_F32 ? FLT_EPSILON : DBL_EPSILON);
}

double rounding(const struct matrix *a)
{
    return rounding_of(a, false);
}

bool is_single(const char *variant)
{
    return strcmp(variant, "single") == 0;
}

/* The elements divided by `scale`, in row-major order, of the transpose if `transposed`: the sums below run along rows.
 * Free it. */
static double *rows_of(const struct matrix *x, bool transposed, double scale)
{
    const int64_t m = x->shape[0], n = x->shape[1];
    double *rows = malloc((size_t)(m * n) * sizeof *rows);
    cr_assert(rows, "out of memory");
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            rows[transposed ? j * m + i : i * n + j] = matrix_get(x, i, j) / scale;
    return rows;
}

/* Its own errors, of thousands of equal products, do not count. */
static double dot(const double *x, const double *y, int64_t n)
{
    long double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (long double)x[i] * y[i];
    return (double)sum;
}

/* |x x' - 1|, the largest: the rows (`of_columns`: the columns) are orthonormal. */
static double off_orthonormal(const struct matrix *x, bool of_columns)
{
    const int64_t count = x->shape[of_columns], length = x->shape[!of_columns];
    double *rows = rows_of(x, of_columns, 1), worst = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double off = fabs(dot(rows + i * length, rows + j * length, length) - (i == j));
            worst = off <= worst ? worst : off; /* NaN stays */
        }
    free(rows);
    return worst;
}

/* |a' u - v diag(s)| (from_u), |a v - u diag(s)|: the largest, of a matrix whose largest value is `first`. */
static double off_pairs(const struct matrix *a, const struct factors *f, bool from_u, double first)
{
    const int64_t length = a->shape[!from_u], width = a->shape[from_u];
    const double scale = first > 0 ? first : 1;
    double *of_a = rows_of(a, from_u, scale), *from = rows_of(from_u ? &f->u : &f->vt, from_u, 1),
           *to = rows_of(from_u ? &f->vt : &f->u, !from_u, 1), worst = 0;
    for (int64_t j = 0; j < f->s.shape[1]; j++)
        for (int64_t i = 0; i < width; i++) {
            const double off = fabs(dot(of_a + i * length, from + j * length, length) -
                                    matrix_get(&f->s, 0, j) / scale * to[j * width + i]);
            worst = off <= worst ? worst : off;
        }
    free(of_a);
    free(from);
    free(to);
    return worst;
}

double off_product(const struct matrix *a, const struct factors *f, double first)
{
    const int64_t k = f->s.shape[1];
    const double scale = first > 0 ? first : 1;
    double *u = rows_of(&f->u, false, 1), *v = rows_of(&f->vt, true, 1), norm = 0;
    for (int64_t i = 0; i < a->shape[0]; i++) {
        for (int64_t p = 0; p < k; p++)
            u[i * k + p] *= matrix_get(&f->s, 0, p) / scale;
        for (int64_t j = 0; j < a->shape[1]; j++)
            norm = hypot(norm, matrix_get(a, i, j) / scale - dot(u + i * k, v + j * k, k));
    }
    free(u);
    free(v);
    return norm;
}

double tail(const struct matrix *values, int64_t k)
{
    double first = matrix_get(values, 0, 0), norm = 0;
    for (int64_t i = values->shape[1]; i-- > k;)
        norm = hypot(norm, first > 0 ? matrix_get(values, 0, i) / first : 0);
    return norm;
}

double randomized_bound(const struct matrix *a, const struct matrix *values, int64_t k)
{
    return k + 10 >= shorter(a) ? tail(values, k) : sqrt(2 + (double)k / 9) * tail(values, k);
}

double expect_decomposition(const struct matrix *a, const struct factors *f, const struct matrix *values,
                            const char *variant, const char *what)
{
    const bool randomized = strcmp(variant, "randomized") == 0, single = is_single(variant);
    const double orthonormal = rounding_of(a, single), first = matrix_get(values, 0, 0),
                 e = orthonormal + (single ? FLT_EPSILON / 2 * tail(values, 0) : 0); /* of a, rounded to f32 */
    const int64_t k = f->s.shape[1];
    const double least = tail(values, k), below = randomized ? randomized_bound(a, values, k) : 0;
    double part = 0;
    for (int64_t j = 0; j < k; j++) {
        double s = matrix_get(&f->s, 0, j), exact = matrix_get(values, 0, j), scale = first > 0 ? first : 1;
        cr_expect(s >= 0 && (j == 0 || s <= matrix_get(&f->s, 0, j - 1)), "%s: value %lld is %g", what, (long long)j,
                  s);
        cr_expect((s - exact) / scale <= e && (exact - s) / scale <= e + below,
                  "%s: value %lld: expected %.17g, got %.17g", what, (long long)j, exact, s);
        part = fmax(part, (s - exact) / scale / e);
        part = fmax(part, (exact - s) / scale / (e + below));
    }
    double of_u = off_orthonormal(&f->u, true), of_vt = off_orthonormal(&f->vt, false);
    cr_expect(of_u <= orthonormal, "%s: u'u is off by %g, allowed %g", what, of_u, orthonormal);
    cr_expect(of_vt <= orthonormal, "%s: vt vt' is off by %g, allowed %g", what, of_vt, orthonormal);
    double left = off_pairs(a, f, true, first), right = off_pairs(a, f, false, first);
    /* `randomized` decomposes twice, by QR and the remaining factor by SVD: u has the errors of twice as many steps. */
    const double twice = randomized ? e * sqrt(2) : e;
    cr_expect(left <= twice, "%s: a'u - v s is %g, allowed %g", what, left, twice);
    cr_expect(randomized || right <= e, "%s: a v - u s is %g, allowed %g", what, right, e);
    /* The Frobenius norm of that many columns, each as far off. */
    double off = off_product(a, f, first), most = (randomized ? below : least) + e * sqrt((double)shorter(a));
    cr_expect(off <= most && off >= least - e * sqrt((double)shorter(a)), "%s: a - u s vt is %g, allowed %g to %g",
              what, off, least, most);
    part = fmax(part, fmax(of_u, of_vt) / orthonormal);
    return fmax(part, fmax(left / twice, randomized ? 0 : right / e));
}
