/* SPDX-License-Identifier: MIT
 *
 * large_matrices.c - the cases of large.c on matrices: transpose, qr, convolve, reconstruct, matmul and svd.
 */
#include "large.h"

#include <inttypes.h>
#include <string.h>
#include <math.h>

enum { ROWS = 61 }; /* of a pattern of two dimensions: a prime number */

static float at2(int64_t i, int64_t j)
{
    return (float)value(i % ROWS * 31 + j, 1009);
}

/* A kernel of rank one, which every variant takes. */
static void test_convolve(int64_t height, int64_t width)
{
    static const float down[] = {1, 2, 1}, across[] = {1, 3, 2};
    pattern image = pattern_create(FL_F32, ROWS, width), out = pattern_create(FL_F32, ROWS, width - 2);
    pattern kernel = pattern_create(FL_F32, 3, 3);
    const char *variant;

    for (int64_t i = 0; i < 9; i++)
        ((float *)kernel.data)[i] = down[i / 3] * across[i % 3];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < width; j++) {
            float sum = 0;
            ((float *)image.data)[i * width + j] = at2(i, j);
            for (int64_t k = 0; k < 9; k++)
                sum += down[k / 3] * across[k % 3] * at2(i + 2 - k / 3, j + 2 - k % 3);
            if (j < width - 2)
                ((float *)out.data)[i * (width - 2) + j] = sum;
        }
    for (size_t v = 0; (variant = variant_of("convolve", FL_F32, v)) != NULL; v++) {
        fl_array *in, *weights, *result;
        case_begin();
        in = repeat(&image, height);
        weights = repeat(&kernel, 3);
        result = create_array(FL_F32, height - 2, width - 2);
        if (!problem[0] && done(fl_convolve(device, in, weights, FL_VALID, result, &(fl_run){.variant = variant})))
            expect(result, &out, strcmp(variant, "fft") == 0 ? 0.25 : 0); /* sums of whole numbers */
        case_end("convolve", variant, "f32", height * width);
        fl_array_free(in);
        fl_array_free(weights);
        fl_array_free(result);
    }
    pattern_free(&image);
    pattern_free(&out);
    pattern_free(&kernel);
}

/* Rows repeat after ROWS, and columns after as many: so do those of the result. */
static pattern checked(int64_t width)
{
    pattern p = pattern_create(FL_U8, ROWS, width);

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < width; j++)
            ((uint8_t *)p.data)[i * width + j] = (uint8_t)value(i * 31 + j % ROWS * 57, 251);
    return p;
}

static void test_transpose(int64_t height, int64_t width)
{
    pattern p = checked(width), turned = pattern_create(FL_U8, ROWS, height);
    const char *variant;

    for (int64_t j = 0; j < ROWS; j++)
        for (int64_t i = 0; i < height; i++)
            ((uint8_t *)turned.data)[j * height + i] = ((uint8_t *)p.data)[i % ROWS * width + j];
    for (size_t v = 0; (variant = variant_of("transpose", FL_U8, v)) != NULL; v++) {
        fl_array *in, *out;
        case_begin();
        in = repeat(&p, height);
        out = create_array(FL_U8, width, height);
        if (!problem[0] && done(fl_transpose(device, in, out, &(fl_run){.variant = variant})))
            expect(out, &turned, 0);
        case_end("transpose", variant, "u8", height * width);
        fl_array_free(in);
        fl_array_free(out);
    }
    pattern_free(&p);
    pattern_free(&turned);
}

/* The factor r of a matrix with few columns, whose elements are as large as the matrix's: q has orthonormal columns. */
static void test_qr(void)
{
    enum { COLUMNS = 5 };
    const int64_t rows = elements / COLUMNS;
    pattern p = pattern_create(FL_F32, ROWS, COLUMNS);
    float r[COLUMNS * COLUMNS] = {0};
    double squares = 0, expected = 0;
    fl_array *a, *qt, *factor;

    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        ((float *)p.data)[i] = at2(i / COLUMNS, i % COLUMNS);
    for (int64_t i = 0; i < rows * COLUMNS; i++)
        expected += pow(at2(i / COLUMNS, i % COLUMNS), 2);
    case_begin();
    a = repeat(&p, rows);
    qt = create_array(FL_F32, COLUMNS, rows);
    factor = create_array(FL_F32, COLUMNS, COLUMNS);
    if (!problem[0] && done(fl_qr(device, a, qt, factor, NULL)))
        done(fl_array_to_host(factor, r));
    for (int i = 0; i < COLUMNS * COLUMNS; i++)
        squares += (double)r[i] * r[i];
    if (!problem[0] && !(fabs(squares / expected - 1) < 1e-4))
        case_wrong("the squares of r have the sum %g, those of the matrix %g", squares, expected);
    case_end("qr", "naive", "f32", rows * COLUMNS);
    fl_array_free(a);
    fl_array_free(qt);
    fl_array_free(factor);
    pattern_free(&p);
}

/* y = u diag(s) vt of rank two, in integers; and its svd by the variant that such a matrix is small enough for. */
typedef struct product {
    pattern u, s, vt, y;
} product;

static product product_create(int64_t width)
{
    product p = {pattern_create(FL_F32, ROWS, 2), pattern_create(FL_F32, 2, 1), pattern_create(FL_F32, 2, width),
                 pattern_create(FL_F32, ROWS, width)};
    float *u = p.u.data, *s = p.s.data, *vt = p.vt.data;
    s[0] = 3, s[1] = 1;
    for (int64_t i = 0; i < ROWS; i++)
        u[2 * i] = (float)(1 + value(i, 17)), u[2 * i + 1] = (float)(value(i, 13) - 6);
    for (int64_t j = 0; j < width; j++)
        vt[j] = (float)(1 + value(j, 1009)), vt[width + j] = (float)(value(j, 997) - 500);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < width; j++)
            ((float *)p.y.data)[i * width + j] = s[0] * u[2 * i] * vt[j] + s[1] * u[2 * i + 1] * vt[width + j];
    return p;
}

static void test_reconstruct(const product *p, int64_t height, int64_t width)
{
    const char *variant;
    for (size_t v = 0; (variant = variant_of("reconstruct", FL_F32, v)) != NULL; v++) {
        fl_array *u, *s, *vt, *y;
        case_begin();
        u = repeat(&p->u, height);
        s = repeat(&p->s, 2);
        vt = repeat(&p->vt, 2);
        y = create_array(FL_F32, height, width);
        if (!problem[0] && done(fl_reconstruct(device, u, s, vt, 2, y, &(fl_run){.variant = variant})))
            expect(y, &p->y, 0);
        case_end("reconstruct", variant, "f32", height * width);
        fl_array_free(u);
        fl_array_free(s);
        fl_array_free(vt);
        fl_array_free(y);
    }
}

/* s is 3 and 1, which u is multiplied by: the same product. */
static void test_matmul(const product *p, int64_t height, int64_t width)
{
    pattern scaled = pattern_create(FL_F32, ROWS, 2);
    const char *variant;
    for (int64_t i = 0; i < 2 * ROWS; i++)
        ((float *)scaled.data)[i] = ((const float *)p->u.data)[i] * (i % 2 == 0 ? 3 : 1);
    for (size_t v = 0; (variant = variant_of("matmul", FL_F32, v)) != NULL; v++) {
        fl_array *a, *b, *c;
        case_begin();
        a = repeat(&scaled, height);
        b = repeat(&p->vt, 2);
        c = create_array(FL_F32, height, width);
        if (!problem[0] && done(fl_matmul(device, a, false, b, false, c, &(fl_run){.variant = variant})))
            expect(c, &p->y, 0);
        case_end("matmul", variant, "f32", height * width);
        fl_array_free(a);
        fl_array_free(b);
        fl_array_free(c);
    }
    pattern_free(&scaled);
}

static void test_svd(const product *p, int64_t height, int64_t width)
{
    fl_array *a, *u, *s, *vt, *y;
    case_begin();
    a = repeat(&p->y, height);
    u = create_array(FL_F32, height, 2);
    s = create_array(FL_F32, 2, 1);
    vt = create_array(FL_F32, 2, width);
    y = create_array(FL_F32, height, width);
    /* The largest element is 3 * 17 * 1009 + 6 * 500. */
    if (!problem[0] && done(fl_svd(device, a, 1, u, s, vt, &(fl_run){.variant = "randomized"})) &&
        done(fl_reconstruct(device, u, s, vt, 2, y, NULL)))
        expect_array(y, a, 1e-4 * 54459);
    case_end("svd", "randomized", "f32", height * width);
    fl_array_free(a);
    fl_array_free(u);
    fl_array_free(s);
    fl_array_free(vt);
    fl_array_free(y);
}

void test_matrices(void)
{
    const int64_t edge = (int64_t)sqrt((double)elements) + 2;
    product p;

    if (wanted("transpose") && edge > ROWS)
        test_transpose(edge + 1, edge);
    if (wanted("qr") && elements < INT32_MAX) /* whose rows are counted in 32 bits by LAPACK and the GPUs' solvers */
        test_qr();
    if (wanted("convolve"))
        test_convolve(edge + 1, edge);
    p = product_create(edge);
    if (wanted("reconstruct"))
        test_reconstruct(&p, edge + 1, edge);
    if (wanted("matmul"))
        test_matmul(&p, edge + 1, edge);
    if (wanted("svd"))
        test_svd(&p, edge + 1, edge);
    pattern_free(&p.u);
    pattern_free(&p.s);
    pattern_free(&p.vt);
    pattern_free(&p.y);
}
