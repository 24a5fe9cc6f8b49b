/* SPDX-License-Identifier: MIT
 *
 * Whether the checks of `flynn batch` find what may be wrong with factors, and with what was made from them.
 */
#include "checks/factors.h"

#include "support/random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { M = 37, N = 29, K = 6, SEED = 3 };

/* a = left diag(values) right', of which the leading K are kept. */
static double left[M][N], right[N][N], values[N];
static float a[M * N], u[M * K], s[K], vt[K * N], y[M * N];
static const host_array a_array = {FL_F32, 2, {M, N, 1, 1}, a}, u_array = {FL_F32, 2, {M, K, 1, 1}, u},
                        s_array = {FL_F32, 1, {K, 1, 1, 1}, s}, vt_array = {FL_F32, 2, {K, N, 1, 1}, vt},
                        y_array = {FL_F32, 2, {M, N, 1, 1}, y};

static double random_number(random_state *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-52 - 1;
}

/* N orthonormal columns of `rows` random elements, by Gram and Schmidt, twice. */
static void fill_orthonormal(double (*columns)[N], int rows, random_state *random)
{
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < rows; i++)
            columns[i][j] = random_number(random);
        for (int p = 0; p < 2 * j; p++) {
            double sum = 0;
            for (int i = 0; i < rows; i++)
                sum += columns[i][j] * columns[i][p % j];
            for (int i = 0; i < rows; i++)
                columns[i][j] -= sum * columns[i][p % j];
        }
        double length = 0;
        for (int i = 0; i < rows; i++)
            length += columns[i][j] * columns[i][j];
        for (int i = 0; i < rows; i++)
            columns[i][j] /= sqrt(length);
    }
}

/* The product of the factors, as a device would give it. */
static void multiply(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int p = 0; p < K; p++)
                sum += u[i * K + p] * s[p] * vt[p * N + j];
            y[i * N + j] = sum;
        }
}

/* Factor p is the q-th of the decomposition. */
static void take_factor(int p, int q)
{
    s[p] = (float)values[q];
    for (int i = 0; i < M; i++)
        u[i * K + p] = (float)left[i][q];
    for (int j = 0; j < N; j++)
        vt[p * N + j] = (float)right[j][q];
}

static void fill(void)
{
    random_state random = random_start(1);

    fill_orthonormal(left, M, &random);
    fill_orthonormal(right, N, &random);
    for (int q = 0; q < N; q++)
        values[q] = 10 / (q + 1.0);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int q = 0; q < N; q++)
                sum += left[i][q] * values[q] * right[j][q];
            a[i * N + j] = (float)sum;
        }
    for (int p = 0; p < K; p++)
        take_factor(p, p);
    multiply();
}

static bool factors_ok(bool exact)
{
    return batch_check_factors(&a_array, &u_array, &s_array, &vt_array, &y_array, exact, SEED).ok;
}

static bool product_ok(void)
{
    return batch_check_product(&u_array, &s_array, &vt_array, &y_array, SEED).ok;
}

Test(batch_check, right, .init = fill)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        compare_result found = batch_check_factors(&a_array, &u_array, &s_array, &vt_array, &y_array, true, seed);
        cr_assert(found.ok && found.failed == 0, "seed %d: %g, expected %g within %g", (int)seed, found.worst_result,
                  found.worst_expected, found.worst_bound);
        cr_assert(batch_check_product(&u_array, &s_array, &vt_array, &y_array, seed).ok, "seed %d", (int)seed);
    }
    cr_expect(factors_ok(false));
}

/* A matrix of zeros has a decomposition, too. */
Test(batch_check, zeros, .init = fill)
{
    memset(a, 0, sizeof a);
    memset(s, 0, sizeof s);
    multiply();
    cr_expect(factors_ok(true) && product_ok());
    a[17] = 1;
    cr_expect(!factors_ok(true));
}

Test(batch_check, one_element_of_the_product, .init = fill)
{
    for (int i = 0; i < M * N; i++) {
        const float before = y[i];
        y[i] += 1e-3F;
        cr_assert(!product_ok(), "element %d", i);
        y[i] = NAN;
        cr_assert(!product_ok(), "element %d is not a number", i);
        y[i] = before;
    }
    cr_expect(product_ok());
}

Test(batch_check, samples, .init = fill)
{
    compare_result found = compare_start();

    batch_check_samples(&u_array, &s_array, &vt_array, y, 8, SEED, &found);
    cr_expect(found.ok && found.compared == 8);
    for (int i = 0; i < M * N; i++)
        y[i] += i % N > 0 && i >= N ? 1e-3F : 0;
    batch_check_samples(&u_array, &s_array, &vt_array, y, 8, SEED, &found);
    cr_expect(!found.ok && found.failed >= 6 && found.compared == 16, "%d of the 8", (int)found.failed);
}

Test(batch_check, u_not_orthonormal, .init = fill)
{
    for (int i = 0; i < M * K; i++) {
        const float before = u[i];
        u[i] += 1e-3F;
        multiply();
        cr_assert(!factors_ok(true) && !factors_ok(false), "element %d", i);
        u[i] = before;
    }
    for (int i = 0; i < M; i++) /* u s is as it was, and so is the product */
        u[i * K + 2] *= 1.01F;
    s[2] /= 1.01F;
    multiply();
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
}

/* Only the lengths tell: what is added to u is nothing to a'. */
Test(batch_check, u_with_more, .init = fill)
{
    double more[M];

    for (int i = 0; i < M; i++)
        more[i] = i % 3 - 1;
    for (int p = 0; p < 2 * N; p++) {
        double sum = 0;
        for (int i = 0; i < M; i++)
            sum += more[i] * left[i][p % N];
        for (int i = 0; i < M; i++)
            more[i] -= sum * left[i][p % N];
    }
    for (int i = 0; i < M; i++)
        u[i * K + 1] += (float)(0.01 * more[i]);
    multiply();
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
}

/* A value so small that its vector does not matter to the product has a vector all the same. */
Test(batch_check, vt_of_no_length, .init = fill)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int q = K - 1; q < N; q++)
                a[i * N + j] -= (float)(left[i][q] * values[q] * right[j][q]);
    s[K - 1] = 0;
    multiply();
    cr_expect(factors_ok(true) && factors_ok(false));
    for (int j = 0; j < N; j++)
        vt[(K - 1) * N + j] *= 2;
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
}

/* Two vectors of singular values that are zero are the same one. */
Test(batch_check, repeated_vectors_of_no_length, .init = fill)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            a[i * N + j] = 0;
            for (int q = 0; q < K - 2; q++)
                a[i * N + j] += (float)(left[i][q] * values[q] * right[j][q]);
        }
    s[K - 2] = s[K - 1] = 0;
    multiply();
    cr_expect(factors_ok(true) && factors_ok(false));
    memcpy(vt + (K - 1) * N, vt + (K - 2) * N, N * sizeof *vt);
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
    take_factor(K - 1, K - 1);
    s[K - 1] = 0;
    for (int i = 0; i < M; i++)
        u[i * K + K - 1] = u[i * K + K - 2];
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
}

Test(batch_check, vt_wrong, .init = fill)
{
    for (int i = 0; i < K * N; i++) {
        const float before = vt[i];
        vt[i] += 1e-3F;
        multiply();
        cr_assert(!factors_ok(true) && !factors_ok(false), "element %d", i);
        vt[i] = before;
    }
}

/* Two rows in each other's place: orthonormal, but not the right vectors. */
Test(batch_check, vt_swapped, .init = fill)
{
    for (int j = 0; j < N; j++) {
        const float before = vt[1 * N + j];
        vt[1 * N + j] = vt[4 * N + j];
        vt[4 * N + j] = before;
    }
    multiply();
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
}

Test(batch_check, s_wrong, .init = fill)
{
    for (int p = 0; p < K; p++) {
        const float before = s[p];
        s[p] *= 1.001F;
        multiply();
        cr_assert(!factors_ok(true) && !factors_ok(false), "value %d", p);
        s[p] = before;
    }
}

/* All right but for their order. */
Test(batch_check, s_not_in_order, .init = fill)
{
    take_factor(2, 3);
    take_factor(3, 2);
    multiply();
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
}

Test(batch_check, s_negative, .init = fill)
{
    s[K - 1] = -s[K - 1];
    for (int j = 0; j < N; j++)
        vt[(K - 1) * N + j] = -vt[(K - 1) * N + j];
    multiply();
    cr_expect(!factors_ok(true) && !factors_ok(false) && product_ok());
}

/* The values and vectors are right, and in order, but they are not the leading ones. What is not exact may do so. */
Test(batch_check, one_left_out, .init = fill)
{
    for (int out = 0; out < K; out++) {
        for (int p = 0; p < K; p++)
            take_factor(p, p < out ? p : p + 1);
        multiply();
        cr_assert(!factors_ok(true), "the %d-th", out);
        cr_assert(factors_ok(false) && product_ok(), "the %d-th", out);
    }
}

/* The best k of a subspace that is not a's own: as a randomized decomposition. */
Test(batch_check, not_exact, .init = fill)
{
    const float c = cosf(0.3F), d = sinf(0.3F);
    double length = 0, row[N];

    for (int i = 0; i < M; i++) /* the last left vector turned into one that was left out */
        u[i * K + K - 1] = (float)(c * left[i][K - 1] + d * left[i][K]);
    for (int j = 0; j < N; j++) { /* a'u = v s */
        row[j] = c * values[K - 1] * right[j][K - 1] + d * values[K] * right[j][K];
        length += row[j] * row[j];
    }
    s[K - 1] = (float)sqrt(length);
    for (int j = 0; j < N; j++)
        vt[(K - 1) * N + j] = (float)(row[j] / sqrt(length));
    multiply();
    cr_expect(factors_ok(false) && !factors_ok(true) && product_ok());
}

Test(batch_check, not_a_number, .init = fill)
{
    s[1] = NAN;
    cr_expect(!factors_ok(true) && !product_ok());
    fill();
    u[5] = NAN;
    cr_expect(!factors_ok(true) && !product_ok());
    fill();
    vt[5] = INFINITY;
    cr_expect(!factors_ok(true) && !product_ok());
}
