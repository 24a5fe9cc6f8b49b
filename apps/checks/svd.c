/* SPDX-License-Identifier: MIT */
#include "svd.h"

#include "ranks/group.h"
#include "run/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERSAMPLING = 10, TIMES = 5 }; /* of `randomized`: flynn.h; of a reconstruction */
enum { MOST_COLUMNS = 4096 };          /* of a matrix that several ranks have */

struct svd_oracle {
    fl_device *device;
    host_array a;        /* f64; this rank's rows */
    int64_t m, n, least; /* of the whole matrix */
    double norm;         /* ||a||_F */
    host_array values;   /* f64, all of them; data NULL: not known */
    double unsure;       /* a square of a value may be wrong by this */
};

static host_array transpose(const host_array *x)
{
    host_array t = reference_array(FL_F64, 2, (int64_t[]){x->shape[1], x->shape[0]});

    for (int64_t i = 0; i < x->shape[0]; i++)
        for (int64_t j = 0; j < x->shape[1]; j++)
            ((double *)t.data)[j * x->shape[0] + i] = ((const double *)x->data)[i * x->shape[1] + j];
    return t;
}

/* x y, in f64: a reconstruction from factors all of whose values are 1. */
static host_array multiply(const svd_oracle *oracle, const host_array *x, const host_array *y)
{
    enum { PIECE = 128 };
    const int64_t inner = x->shape[1], rows = x->shape[0], columns = y->shape[1], longest = int64_smaller(inner, PIECE);
    host_array ones = reference_array(FL_F64, 1, &longest),
               product = reference_array(FL_F64, 2, (int64_t[]){rows, columns});
    fl_array *left = reference_upload(oracle->device, x, false), *right = reference_upload(oracle->device, y, false),
             *scales;

    for (int64_t i = 0; i < longest; i++)
        ((double *)ones.data)[i] = 1;
    scales = reference_upload(oracle->device, &ones, false);
    memset(product.data, 0, (size_t)(rows * columns) * sizeof(double));
    for (int64_t at = 0; at < inner; at += PIECE) {
        const int64_t size = int64_smaller(inner - at, PIECE);
        fl_array *piece[4];
        host_array part;
        must(fl_array_view(left, (int64_t[]){0, at}, (int64_t[]){rows, size}, &piece[0]));
        must(fl_array_view(scales, (int64_t[]){0}, &size, &piece[1]));
        must(fl_array_view(right, (int64_t[]){at, 0}, (int64_t[]){size, columns}, &piece[2]));
        must(fl_array_create(oracle->device, FL_F64, 2, (int64_t[]){rows, columns}, &piece[3]));
        must(fl_reconstruct(oracle->device, piece[0], piece[1], piece[2], size, piece[3], NULL));
        for (int i = 0; i < 3; i++)
            fl_array_free(piece[i]);
        part = reference_fetch(piece[3]);
        for (int64_t i = 0; i < rows * columns; i++)
            ((double *)product.data)[i] += ((const double *)part.data)[i];
        host_array_free(&part);
    }
    fl_array_free(left);
    fl_array_free(right);
    fl_array_free(scales);
    host_array_free(&ones);
    return product;
}

/* The norm of all rows, from the norm of this rank's rows. */
static double norm_of_all(double own)
{
    const double most = group_most(own);

    return most > 0 ? most * sqrt(group_sum(own / most * (own / most))) : 0;
}

/* All singular values of a matrix in f64. */
static host_array values_of(fl_device *device, const host_array *a)
{
    const int64_t m = a->shape[0], n = a->shape[1], least = int64_smaller(m, n);
    fl_array *matrix = reference_upload(device, a, false), *u, *s, *vt;
    host_array values;

    must(fl_array_create(device, FL_F64, 2, (int64_t[]){m, least}, &u));
    must(fl_array_create(device, FL_F64, 1, &least, &s));
    must(fl_array_create(device, FL_F64, 2, (int64_t[]){least, n}, &vt));
    must(fl_svd(device, matrix, 0, u, s, vt, NULL));
    values = reference_fetch(s);
    fl_array_free(matrix);
    fl_array_free(u);
    fl_array_free(vt);
    return values;
}

static double *numbers_of(const host_array *array)
{
    return array->data;
}

/* The roots of the eigenvalues of a'a, which is the sum of all ranks' rows; rank 0 finds them. */
static void find_values_together(svd_oracle *o)
{
    const double rounding = unit_roundoff(FL_F64) * sqrt((double)int64_larger(o->m, o->n));
    host_array at = transpose(&o->a), gram = multiply(o, &at, &o->a);

    group_add(gram.data, o->n * o->n);
    if (group_prints())
        o->values = values_of(o->device, &gram);
    else
        o->values = reference_array(FL_F64, 1, &o->n);
    group_broadcast(o->values.data, o->n * (int64_t)sizeof(double));
    o->unsure = 16 * rounding * numbers_of(&o->values)[0];
    for (int64_t j = 0; j < o->n; j++)
        numbers_of(&o->values)[j] = sqrt(numbers_of(&o->values)[j]);
    host_array_free(&at);
    host_array_free(&gram);
}

svd_oracle *svd_oracle_create(const host_array *a)
{
    svd_oracle *o = memory_zeroed(1, sizeof *o);

    o->device = reference_device("svd", NULL);
    o->m = group_count(a->shape[0]);
    o->n = a->shape[1];
    o->least = int64_smaller(o->m, o->n);
    o->a = reference_convert(a, FL_F64);
    for (int64_t i = 0, size = host_array_size(&o->a); i < size; i++)
        o->norm = hypot(o->norm, numbers_of(&o->a)[i]);
    o->norm = norm_of_all(o->norm);
    if (!group_is_distributed())
        o->values = values_of(o->device, &o->a);
    else if (o->n <= MOST_COLUMNS)
        find_values_together(o);
    return o;
}

void svd_oracle_free(svd_oracle *oracle)
{
    host_array_free(&oracle->a);
    host_array_free(&oracle->values);
    fl_device_close(oracle->device);
    free(oracle);
}

/* Adds the values from the smallest on, so that the small ones are not lost next to the largest. */
double svd_oracle_tail(const svd_oracle *oracle, int64_t k)
{
    const double *value = oracle->values.data;
    double norm = 0;

    if (k == 0 || !value)
        return k == 0 ? oracle->norm : (double)NAN;
    for (int64_t i = oracle->least; i-- > k;)
        norm = hypot(norm, value[i]);
    return norm;
}

double svd_oracle_randomized(const svd_oracle *oracle, int64_t k)
{
    if (k + OVERSAMPLING >= oracle->least)
        return svd_oracle_tail(oracle, k);
    return sqrt(2 + (double)k / (OVERSAMPLING - 1)) * svd_oracle_tail(oracle, k);
}

bool svd_is_randomized(const char *variant)
{
    return strcmp(variant, "randomized") == 0;
}

/* The variant that computes in f32. */
static bool is_single(const char *variant)
{
    return strcmp(variant, "single") == 0;
}

static double distance(const svd_oracle *oracle, const host_array *y)
{
    double norm = 0;

    for (int64_t i = 0, size = host_array_size(&oracle->a); i < size; i++)
        norm = hypot(norm, ((const double *)oracle->a.data)[i] - host_array_get(y, i));
    return norm_of_all(norm);
}

/* 0 where rounding makes the difference negative. */
static double implied_error(const svd_oracle *oracle, const host_array *s)
{
    const double norm = svd_oracle_tail(oracle, 0);
    double rest = 1;

    for (int64_t i = 0; i < s->shape[0] && norm > 0; i++)
        rest -= pow(host_array_get(s, i) / norm, 2);
    return norm * sqrt(fmax(rest, 0));
}

svd_report svd_oracle_report(const svd_oracle *oracle, fl_device *device, const host_array *factors)
{
    svd_report report;
    fl_array *arrays[4];
    fl_timing timing = {0};
    double times[TIMES];

    for (int i = 0; i < 3; i++)
        arrays[i] = reference_upload(device, &factors[i], false);
    must(fl_array_create(device, factors[0].dtype, 2, oracle->a.shape, &arrays[3]));
    for (int i = -1; i < TIMES; i++) { /* the first time is a cold one */
        must(fl_reconstruct(device, arrays[0], arrays[1], arrays[2], factors[1].shape[0], arrays[3],
                            &(fl_run){.timing = &timing}));
        if (i >= 0)
            times[i] = timing.kernel_s;
    }
    report.reconstruct_s = group_most(median(times, TIMES));
    report.y = reference_fetch(arrays[3]);
    report.error = distance(oracle, &report.y);
    report.implied_error = implied_error(oracle, &factors[1]);
    for (int i = 0; i < 3; i++)
        fl_array_free(arrays[i]);
    return report;
}

/* svd.h has g, e and s. */
typedef struct bounds {
    double relative, absolute; /* g e, and g e s[0], of `single` with the rounding of the matrix */
    double below;              /* how far a value may be below the exact one */
} bounds;

static bounds bounds_of(const svd_oracle *o, const host_array *s, const char *variant)
{
    const double unit = unit_roundoff(is_single(variant) ? FL_F32 : s->dtype),
                 first = o->values.data ? numbers_of(&o->values)[0] : host_array_get(s, 0),
                 relative = (16 + 4 * sqrt((double)int64_larger(o->m, o->n))) * 2 * unit,
                 absolute = relative * first + (is_single(variant) ? unit * o->norm : 0);

    return (bounds){relative, absolute,
                    absolute +
                        (svd_is_randomized(variant) && o->values.data ? svd_oracle_randomized(o, s->shape[0]) : 0)};
}

static void check_values(const svd_oracle *o, const host_array *s, const bounds *b, compare_result *found)
{
    for (int64_t j = 0; j < s->shape[0]; j++) {
        const double got = host_array_get(s, j), exact = o->values.data ? numbers_of(&o->values)[j] : got;
        const double before = j > 0 ? host_array_get(s, j - 1) : got;
        const double unsure = o->unsure > 0 ? o->unsure / fmax(got + exact, sqrt(o->unsure)) : 0;
        compare_add(found, j, got, exact, (got < exact ? b->below : b->absolute) + unsure);
        if (!(got >= 0 && got <= before))
            compare_add(found, j, got, got < 0 ? 0 : before, 0);
    }
}

/* The rows of xt are orthonormal. distributed: the ranks share the columns. */
static void check_orthonormal(const svd_oracle *o, const host_array *xt, bool distributed, const bounds *b,
                              compare_result *found)
{
    host_array x = transpose(xt), gram = multiply(o, xt, &x);
    const int64_t k = xt->shape[0];

    if (distributed)
        group_add(gram.data, k * k);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            compare_add(found, j, host_array_get(&gram, i * k + j), i == j, b->relative);
    host_array_free(&x);
    host_array_free(&gram);
}

/* y = diag(s) zt, where the rows of y are the other vectors through the matrix. */
static void check_pairs(const host_array *y, const host_array *s, const host_array *zt, bool of_u, const bounds *b,
                        compare_result *found)
{
    const int64_t k = zt->shape[0], width = zt->shape[1];

    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < width; i++)
            compare_add(found, of_u ? i * k + j : j, host_array_get(s, j) * host_array_get(zt, j * width + i),
                        host_array_get(y, j * width + i), b->absolute);
}

compare_result svd_oracle_check(const svd_oracle *o, const host_array *factors, const char *variant, char *method,
                                size_t size)
{
    const host_array *u = &factors[0], *s = &factors[1], *vt = &factors[2];
    const bool randomized = svd_is_randomized(variant);
    const bounds b = bounds_of(o, s, variant);
    host_array u64 = reference_convert(u, FL_F64), ut = transpose(&u64), v64 = reference_convert(vt, FL_F64),
               left = multiply(o, &ut, &o->a);
    compare_result found = compare_start();

    group_add(left.data, s->shape[0] * o->n);
    snprintf(method, size, "u'u, vt vt', a'u = v s%s%s%s", randomized ? "" : ", a v = u s",
             o->values.data ? ", exact singular values in f64" : "",
             is_single(variant) ? "; to the rounding of f32" : "");
    check_values(o, s, &b, &found);
    check_orthonormal(o, &ut, true, &b, &found);
    check_orthonormal(o, &v64, false, &b, &found);
    check_pairs(&left, s, &v64, false, &b, &found);
    if (!randomized) {
        host_array at = transpose(&o->a), right = multiply(o, &v64, &at);
        check_pairs(&right, s, &ut, true, &b, &found);
        host_array_free(&at);
        host_array_free(&right);
    }
    host_array_free(&u64);
    host_array_free(&ut);
    host_array_free(&v64);
    host_array_free(&left);
    return found;
}
