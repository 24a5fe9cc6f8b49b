/* SPDX-License-Identifier: MIT
 *
 * test_reduce_check.c - the command's check of sums, extremes and places: what its bounds excuse, and what they do not.
 */
#include "checks/reduce.h"

#include "run/reference.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

enum { MANY = 1 << 20 };

static host_array vector(fl_dtype dtype, int64_t count, void *data)
{
    return (host_array){dtype, 1, {count, 1, 1, 1}, data};
}

static bool is_right(const host_array *x, const host_array *y, fl_reduction reduction, bool naive, fl_dtype dtype,
                     void *result)
{
    const host_array one = vector(dtype, 1, result);

    return reduce_compare(&(reduce_work){x, y, reduction, FL_ALL_AXES, naive}, &one).ok;
}

/* The sum of 2^20 ones may be off by (log2 n + 41) u n = 3.8, and that of one loop by n u n = 65536. */
Test(reduce_check, a_loop_may_be_further_off_than_pairs)
{
    static float ones[MANY];
    const host_array x = vector(FL_F32, MANY, ones);
    static const struct {
        float off;
        bool of_pairs, of_a_loop;
    } cases[] = {{0, true, true}, {3.75F, true, true}, {4, false, true}, {65536, false, true}, {65537, false, false}};

    for (int i = 0; i < MANY; i++)
        ones[i] = 1;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        float sum = MANY + cases[c].off;
        cr_expect(is_right(&x, NULL, FL_SUM, false, FL_F32, &sum) == cases[c].of_pairs, "pairs: %g",
                  (double)cases[c].off);
        cr_expect(is_right(&x, NULL, FL_SUM, true, FL_F32, &sum) == cases[c].of_a_loop, "loop: %g",
                  (double)cases[c].off);
    }
}

/* Of three numbers (2 + 1) u * 3, whatever the variant, and of their products one u * 3 more: the last bit of 3 is 4 u.
 */
Test(reduce_check, few_numbers)
{
    float ones[] = {1, 1, 1};
    const host_array x = vector(FL_F32, 3, ones);

    for (int bits = 0; bits < 5; bits++) {
        float sum = 3 + (float)bits * 2 * FLT_EPSILON;
        cr_expect(is_right(&x, NULL, FL_SUM, false, FL_F32, &sum) == (bits <= 2), "sum, %d bits", bits);
        cr_expect(is_right(&x, &x, FL_SUM, false, FL_F32, &sum) == (bits <= 3), "dot, %d bits", bits);
    }
}

/* Products that underflow are off by up to half the smallest number, ω, each: here to 0. Sums of such numbers are
 * exact. */
Test(reduce_check, products_that_underflow)
{
    float numbers[64], right = 0, wrong = 130 * FLT_TRUE_MIN;
    const host_array x = vector(FL_F32, 64, numbers);

    for (int i = 0; i < 64; i++)
        numbers[i] = 0x1.fp-76F; /* the square is 0.47 ω, the sum of 64 of them 30 ω */
    cr_expect(is_right(&x, &x, FL_SUM, false, FL_F32, &right));
    cr_expect(!is_right(&x, &x, FL_SUM, false, FL_F32, &wrong));
    for (int i = 0; i < 64; i++)
        numbers[i] = FLT_TRUE_MIN;
    cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_F32, &right));
}

/* A sum without what it loses has lost the ones. */
Test(reduce_check, the_expected_sum_is_exact)
{
    double numbers[] = {1, 0x1p70, 1, -0x1p70, 0x1p-40};
    double sum = 2 + 0x1p-40;
    const host_array x = vector(FL_F64, 5, numbers);
    const host_array result = vector(FL_F64, 1, &sum);
    const compare_result found = reduce_compare(&(reduce_work){&x, NULL, FL_SUM, FL_ALL_AXES, false}, &result);

    cr_expect(found.ok && found.max_abs == 0, "off by %g", found.max_abs);
}

Test(reduce_check, extremes_and_their_places)
{
    float numbers[] = {2, 9, -4, 9, -4};
    float most = 9, least = -4, nan = NAN;
    int64_t first_most = 1, first_least = 2, next = 3;
    const host_array x = vector(FL_F32, 5, numbers);

    cr_expect(is_right(&x, NULL, FL_MAXIMUM, false, FL_F32, &most) &&
              !is_right(&x, NULL, FL_MAXIMUM, false, FL_F32, &least));
    cr_expect(is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &least) &&
              !is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &most));
    cr_expect(is_right(&x, NULL, FL_ARGMAX, false, FL_I64, &first_most) &&
              !is_right(&x, NULL, FL_ARGMAX, false, FL_I64, &next));
    cr_expect(is_right(&x, NULL, FL_ARGMIN, false, FL_I64, &first_least));
    numbers[3] = NAN;
    cr_expect(is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &nan) &&
              !is_right(&x, NULL, FL_MINIMUM, false, FL_F32, &least));
    cr_expect(is_right(&x, NULL, FL_ARGMIN, false, FL_I64, &next) &&
              is_right(&x, NULL, FL_ARGMAX, false, FL_I64, &next));
}

/* Integers wrap, and are wrong where they differ beyond the digits of a double. */
Test(reduce_check, integers)
{
    int64_t numbers[] = {INT64_MAX, 2, INT64_C(1) << 60}, sum = (int64_t)((uint64_t)1 << 60 | (uint64_t)1 << 63) + 1;
    int64_t most = INT64_MAX;
    const host_array x = vector(FL_I64, 3, numbers);

    cr_expect(is_right(&x, NULL, FL_SUM, false, FL_I64, &sum));
    cr_expect(is_right(&x, NULL, FL_MAXIMUM, false, FL_I64, &most));
    sum--;
    most--;
    cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_I64, &sum));
    cr_expect(!is_right(&x, NULL, FL_MAXIMUM, false, FL_I64, &most));
}

/* 0 1 2 / 3 4 5: a wrong sum is reported at its place. */
Test(reduce_check, along_an_axis)
{
    int32_t numbers[] = {0, 1, 2, 3, 4, 5};
    int64_t columns[] = {3, 5, 7}, rows[] = {3, 12};
    const host_array x = {FL_I32, 2, {2, 3, 1, 1}, numbers}, of_columns = vector(FL_I64, 3, columns),
                     of_rows = vector(FL_I64, 2, rows);
    compare_result found;

    cr_expect(reduce_compare(&(reduce_work){&x, NULL, FL_SUM, 0, false}, &of_columns).ok);
    cr_expect(reduce_compare(&(reduce_work){&x, NULL, FL_SUM, 1, false}, &of_rows).ok);
    columns[1]++;
    found = reduce_compare(&(reduce_work){&x, NULL, FL_SUM, 0, false}, &of_columns);
    cr_expect(!found.ok && found.failed == 1 && found.worst_index == 1 && found.compared == 3);
}

/* ------------------------------------------------------------------------- every way through the lanes and parts ----
 */

/* Above this many elements the check takes parts. */
enum { PART = 1 << 20 };

/* Numbers of which every sum is exact in f64: neighbours differ, and equal ones are far apart. */
static host_array numbers(fl_dtype dtype, int ndim, const int64_t *shape)
{
    host_array x = reference_array(dtype, ndim, shape);

    for (int64_t i = 0; i < host_array_size(&x); i++)
        host_array_set(&x, i, (double)(i * 7919 % 251) - (dtype == FL_U8 ? 0 : 100));
    return x;
}

/* The definition in one plain loop. `inner`: how far elements of a result are from each other. */
static double expected_one(const reduce_work *w, int64_t first, int64_t length, int64_t inner)
{
    double sum = 0, extreme = 0;
    int64_t place = 0;

    for (int64_t k = 0; k < length; k++) {
        const double x = host_array_get(w->x, first + k * inner),
                     y = w->y ? host_array_get(w->y, first + k * inner) : 1;
        const bool least = w->reduction == FL_MINIMUM || w->reduction == FL_ARGMIN;
        sum += x * y;
        if (k == 0 || (least ? x < extreme : x > extreme)) {
            extreme = x;
            place = k;
        }
    }
    return w->reduction == FL_SUM                                     ? sum
           : w->reduction == FL_MINIMUM || w->reduction == FL_MAXIMUM ? extreme
                                                                      : (double)place;
}

/* The right results are right exactly; with the last one changed it alone is wrong, at its place. */
static void expect_all(const reduce_work *w, fl_dtype dtype, const char *what)
{
    const host_array *x = w->x;
    const int64_t length = w->axis < 0 ? host_array_size(x) : x->shape[w->axis];
    int64_t inner = 1, count = 1;

    for (int d = 0; d < x->ndim && w->axis >= 0; d++) {
        inner *= d > w->axis ? x->shape[d] : 1;
        count *= d != w->axis ? x->shape[d] : 1;
    }
    host_array result = reference_array(dtype, 1, (int64_t[]){count});
    for (int64_t i = 0; i < count; i++)
        host_array_set(&result, i, expected_one(w, i / inner * length * inner + i % inner, length, inner));
    compare_result found = reduce_compare(w, &result);
    cr_expect(found.ok && found.max_abs == 0 && found.compared == count, "%s: off by %g at %lld", what, found.max_abs,
              (long long)found.worst_index);
    if (count == 0)
        return;
    host_array_set(&result, count - 1, host_array_get(&result, count - 1) + 1);
    found = reduce_compare(w, &result);
    cr_expect(!found.ok && found.failed == 1 && found.worst_index == count - 1, "%s: %lld are wrong", what,
              (long long)found.failed);
    host_array_free(&result);
}

static void expect_reductions(fl_dtype dtype, int ndim, const int64_t *shape, int axis)
{
    host_array x = numbers(dtype, ndim, shape), y = numbers(dtype, ndim, shape);
    const bool empty = host_array_size(&x) == 0;
    char what[160];

    for (int reduction = FL_SUM; reduction <= (empty ? FL_SUM : FL_ARGMAX); reduction++) {
        const fl_dtype own = fl_reduce_dtype(dtype, (fl_reduction)reduction);
        for (int form = 0; form < (reduction == FL_SUM ? 4 : 1); form++) { /* one array or two, in i64 or in f64 */
            const reduce_work w = {&x, form % 2 ? &y : NULL, (fl_reduction)reduction, axis, false};
            const fl_dtype to = reduction == FL_SUM && (form / 2 || own == FL_F32) ? FL_F64 : own;
            snprintf(what, sizeof what, "%s %s, axis %d, reduction %d, form %d", fl_dtype_name(dtype),
                     format_shape(ndim, shape).text, axis, reduction, form);
            expect_all(&w, to, what);
        }
    }
    host_array_free(&x);
    host_array_free(&y);
}

/* Around the numbers of lanes (64 of a result, 512 results), of the elements for which lanes are several results (256),
 * and of those of a part. */
Test(reduce_check, sizes)
{
    const int64_t sizes[] = {0,   1,   2,   63,  64,  65,       255,      256,          257,
                             319, 320, 321, 511, 512, PART - 1, PART + 1, 2 * PART + 65};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int dtype = FL_U8; dtype <= FL_F64; dtype++)
            if (sizes[s] < PART - 1 || dtype == FL_I64 || dtype == FL_F32)
                expect_reductions((fl_dtype)dtype, 1, (int64_t[]){sizes[s]}, FL_ALL_AXES);
}

Test(reduce_check, axes)
{
    const int64_t shapes[][3] = {{3, 5, 7},   {5, 2, 511}, {2, 3, 512}, {3, 2, 513}, {2, 600, 3}, {70, 300, 1},
                                 {600, 9, 1}, {1, 65, 64}, {9, 2, 600}, {0, 4, 5},   {4, 0, 5},   {4, 5, 0}};
    const int64_t tall[] = {PART + 1, 2, 1}, wide[] = {2, PART + 1, 1};

    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int axis = 0; axis < 3; axis++)
            for (int dtype = FL_U8; dtype <= FL_F64; dtype++)
                if (s < 5 || dtype == FL_I32 || dtype == FL_F32)
                    expect_reductions((fl_dtype)dtype, 3, shapes[s], axis);
    expect_reductions(FL_F32, 3, tall, 0);
    expect_reductions(FL_F32, 3, wide, 1);
}

/* Of equal extremes the first counts, though a later one is in an earlier lane, and NaN is one that no number beats. */
Test(reduce_check, the_first_of_equal_extremes)
{
    static const int64_t places[][2] = {{0, 1}, {63, 64}, {70, 3 * 64 + 1}, {PART - 1, PART}, {PART + 9, 2 * PART + 1}};
    host_array x = reference_array(FL_F32, 1, (int64_t[]){2 * PART + 65}), whole;
    float nan = NAN;

    for (int64_t i = 0; i < 2 * PART + 65; i++)
        host_array_set(&x, i, 5);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        int64_t first = places[p][0], second = places[p][1], zero = 0;
        for (int lowest = 0; lowest < 2; lowest++) { /* argmax of 9 among 5, argmin of 1 */
            const fl_reduction place = lowest ? FL_ARGMIN : FL_ARGMAX;
            host_array_set(&x, first, lowest ? 1 : 9);
            host_array_set(&x, second, lowest ? 1 : 9);
            whole = reference_convert(&x, FL_I64);
            cr_expect(is_right(&x, NULL, place, false, FL_I64, &first), "f32, pair %zu", p);
            cr_expect(!is_right(&x, NULL, place, false, FL_I64, &second), "f32, pair %zu", p);
            cr_expect(is_right(&whole, NULL, place, false, FL_I64, &first), "i64, pair %zu", p);
            cr_expect(!is_right(&whole, NULL, place, false, FL_I64, &second), "i64, pair %zu", p);
            host_array_free(&whole);
        }
        host_array_set(&x, first, NAN);
        host_array_set(&x, second, NAN);
        host_array_set(&x, 2 * PART + 64, INFINITY);
        for (int reduction = FL_MINIMUM; reduction <= FL_MAXIMUM; reduction++)
            cr_expect(is_right(&x, NULL, (fl_reduction)reduction, false, FL_F32, &nan), "NaN, pair %zu", p);
        for (int reduction = FL_ARGMIN; reduction <= FL_ARGMAX; reduction++) {
            cr_expect(is_right(&x, NULL, (fl_reduction)reduction, false, FL_I64, &first), "NaN, pair %zu", p);
            cr_expect(!is_right(&x, NULL, (fl_reduction)reduction, false, FL_I64, &second), "NaN, pair %zu", p);
        }
        host_array_set(&x, first, 5);
        host_array_set(&x, second, 5);
        host_array_set(&x, 2 * PART + 64, 5);
        cr_expect(is_right(&x, NULL, FL_ARGMAX, false, FL_I64, &zero));
    }
    host_array_free(&x);
}

/* The ends of what a dtype holds are extremes, too. */
Test(reduce_check, extremes_at_the_ends)
{
    double lowest[] = {-INFINITY, -INFINITY}, highest[] = {INFINITY, INFINITY};
    int64_t least[] = {INT64_MIN, INT64_MIN}, most[] = {INT64_MAX, INT64_MAX}, zero = 0;
    const host_array ends[] = {vector(FL_F64, 2, lowest), vector(FL_F64, 2, highest), vector(FL_I64, 2, least),
                               vector(FL_I64, 2, most)};

    for (int e = 0; e < 4; e++)
        for (int reduction = FL_MINIMUM; reduction <= FL_ARGMAX; reduction++)
            cr_expect(is_right(&ends[e], NULL, (fl_reduction)reduction, false,
                               reduction >= FL_ARGMIN ? FL_I64 : ends[e].dtype,
                               reduction >= FL_ARGMIN ? (void *)&zero : ends[e].data),
                      "%d of %d", reduction, e);
}

/* A compensation is NaN next to an infinite sum, which stays infinite. */
Test(reduce_check, sums_that_are_not_finite)
{
    host_array x = reference_array(FL_F32, 1, (int64_t[]){PART + 300});
    const int64_t sizes[] = {300, PART + 300};

    for (int s = 0; s < 2; s++) {
        float infinite = INFINITY, nan = NAN, finite = FLT_MAX;
        x.shape[0] = sizes[s];
        for (int64_t i = 0; i < sizes[s]; i++)
            host_array_set(&x, i, 1);
        host_array_set(&x, 77, INFINITY);
        cr_expect(is_right(&x, NULL, FL_SUM, false, FL_F32, &infinite));
        cr_expect(is_right(&x, &x, FL_SUM, false, FL_F32, &infinite));
        cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_F32, &nan));
        cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_F32, &finite));
        host_array_set(&x, sizes[s] - 1, -INFINITY);
        cr_expect(is_right(&x, NULL, FL_SUM, false, FL_F32, &nan));
        cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_F32, &infinite));
    }
    host_array_free(&x);
}

#if LDBL_MAX_EXP > DBL_MAX_EXP
/* A sum that leaves the range on its way has a finite result. */
Test(reduce_check, sums_that_overflow_on_their_way)
{
    double numbers_there_and_back[] = {DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, 3}, roots[] = {1e200, 1e200, 1e200},
           signs[] = {1e200, -1e200, 1e-200}, sum = 3, product = 1, infinite = INFINITY;
    const host_array x = vector(FL_F64, 5, numbers_there_and_back), y = vector(FL_F64, 3, roots),
                     z = vector(FL_F64, 3, signs);

    cr_expect(is_right(&x, NULL, FL_SUM, false, FL_F64, &sum));
    cr_expect(!is_right(&x, NULL, FL_SUM, false, FL_F64, &infinite));
    cr_expect(is_right(&y, &z, FL_SUM, false, FL_F64, &product));
    cr_expect(!is_right(&y, &z, FL_SUM, false, FL_F64, &infinite));
}
#endif

/* Large numbers that cancel, within a lane, between lanes and between parts, leave the ones; products leave what they
 * lose in f64. */
Test(reduce_check, cancellation)
{
    const int64_t sizes[][2] = {{3, 1}, {300, 1}, {3 * PART, 1}, {600, 3}, {3, 600}};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t rows = sizes[s][0], columns = sizes[s][1];
        host_array x = reference_array(FL_F64, 2, sizes[s]), y = reference_array(FL_F64, 2, sizes[s]);
        host_array sums = reference_array(FL_F64, 1, &columns), products = reference_array(FL_F64, 1, &columns);
        for (int64_t k = 0; k < rows; k++) {
            for (int64_t c = 0; c < columns; c++) {
                host_array_set(&x, k * columns + c, k % 3 == 1 ? 1 : k % 3 == 0 ? 1e16 : -1e16);
                host_array_set(&sums, c, (double)(rows / 3));
                host_array_set(&products, c, -0x1p-60);
            }
        }
        compare_result found = reduce_compare(&(reduce_work){&x, NULL, FL_SUM, 0, false}, &sums);
        cr_expect(found.ok && found.max_abs == 0, "sums %zu: off by %g", s, found.max_abs);
        for (int64_t i = 0; i < rows * columns; i++) {
            const int64_t k = i / columns;
            host_array_set(&x, i, k == 0 ? 1 + 0x1p-30 : k == rows - 1 ? -1 : 0);
            host_array_set(&y, i, k == 0 ? 1 - 0x1p-30 : 1);
        }
        found = reduce_compare(&(reduce_work){&x, &y, FL_SUM, 0, false}, &products);
        cr_expect(found.ok && found.max_abs == 0, "products %zu: off by %g", s, found.max_abs);
        host_array_free(&x);
        host_array_free(&y);
        host_array_free(&sums);
        host_array_free(&products);
    }
}

/* The bound of n ones is (log2 n + 41) u n: 24.5 units in the last place of 256, 25.5 of 1024. */
Test(reduce_check, the_bound_along_each_axis)
{
    const struct {
        int64_t shape[2];
        int axis, units;
    } cases[] = {{{256, 5}, 0, 24}, {{5, 256}, 1, 24}, {{1024, 5}, 0, 25}, {{5, 1024}, 1, 25}};

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        host_array x = reference_array(FL_F32, 2, cases[c].shape);
        const int64_t n = cases[c].shape[cases[c].axis];
        for (int64_t i = 0; i < host_array_size(&x); i++)
            host_array_set(&x, i, 1);
        for (int side = -1; side <= 1; side += 2) {
            for (int outside = 0; outside < 2; outside++) {
                float sums[5];
                for (int i = 0; i < 5; i++)
                    sums[i] = (float)n;
                sums[3] += (float)((cases[c].units + outside) * side) * FLT_EPSILON * (float)n;
                const host_array result = vector(FL_F32, 5, sums);
                const compare_result found =
                    reduce_compare(&(reduce_work){&x, NULL, FL_SUM, cases[c].axis, false}, &result);
                cr_expect(found.failed == outside && found.worst_index == 3, "case %zu: %lld are wrong", c,
                          (long long)found.failed);
            }
        }
        host_array_free(&x);
    }
}
