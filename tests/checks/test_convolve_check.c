/* SPDX-License-Identifier: MIT
 *
 * test_convolve_check.c - the check of `flynn convolve` and `flynn convolve1d` by itself: what it costs, and that it
 * finds one wrong element.
 */
#include "checks/convolve.h"

#include "run/exercise.h"
#include "support/fail.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "harness.h" /* last: its `must` takes the place of support/fail.h's */

static const char *const modes[] = {"full", "same", "valid"};

typedef struct operands {
    host_array image, kernel;
} operands;

static operands operands_of(int ndim, const int64_t *image, const int64_t *kernel, double least)
{
    return (operands){exercise_random(FL_F32, ndim, image, least, 1, 1),
                      exercise_random(FL_F32, ndim, kernel, least, 1, 2)};
}

static void operands_free(operands *o)
{
    host_array_free(&o->image);
    host_array_free(&o->kernel);
}

/* Shapes of image and kernel; of a signal the second lengths are 0. */
static const int64_t shapes[][2][2] = {
    {{512, 512}, {127, 127}}, {{127, 127}, {512, 512}}, {{500, 500}, {250, 250}}, {{4, 4}, {900, 900}},
    {{1, 70000}, {1, 3001}},  {{70000, 1}, {3000, 1}},  {{3, 40000}, {2, 5000}},  {{300, 300}, {300, 300}},
    {{200, 3}, {3, 200}},     {{640, 480}, {16, 16}},   {{31, 47}, {6, 4}},       {{1, 1}, {1, 1}},
    {{1, 1}, {400, 3}},       {{100000, 0}, {9000, 0}}, {{9000, 0}, {100000, 0}}, {{65536, 0}, {65536, 0}},
};

static bool can_be_valid(const int64_t *image, const int64_t *kernel)
{
    return (image[0] >= kernel[0] && image[1] >= kernel[1]) || (image[0] <= kernel[0] && image[1] <= kernel[1]);
}

static int64_t elements_of(int ndim, const int64_t *image, const int64_t *kernel, fl_mode mode)
{
    int64_t shape[] = {1, 1};

    must(ndim == 1 ? fl_convolve1d_shape(image[0], kernel[0], mode, shape)
                   : fl_convolve_shape(image, kernel, mode, shape));
    return shape[0] * shape[1];
}

/* Each element costs at most the products that it consists of, and all of them at most 2^28, or what 4096 elements
 * cost, or an eighth of a result of fewer than 2^15, or one element. */
static void expect_cheap_samples(const operands *in, fl_mode mode, int64_t terms, int64_t size, const char *shown)
{
    convolve_oracle *oracle = convolve_oracle_create(&in->image, &in->kernel, mode, CHECK_SAMPLED, 3);
    const double fewest = fmin(4096, (double)size / 8), most = fmax(0x1p28, fewest * (double)terms);
    int64_t elements, work = convolve_oracle_work(oracle, &elements);

    cr_expect(elements >= 1 && elements <= size, "%s: %lld of %lld elements", shown, (long long)elements,
              (long long)size);
    cr_expect(elements >= size / 8 || elements >= 4096, "%s: only %lld of %lld elements", shown, (long long)elements,
              (long long)size);
    cr_expect((double)elements <= fmax(1, fmax(fewest, 0x1p28 / (double)terms)), "%s: %lld elements", shown,
              (long long)elements);
    cr_expect(work > 0 && work <= elements * terms, "%s: %lld multiply-adds for %lld elements of %lld products", shown,
              (long long)work, (long long)elements, (long long)terms);
    cr_expect((double)work <= fmax(most, (double)terms), "%s: %lld multiply-adds", shown, (long long)work);
    convolve_oracle_free(oracle);
}

Test(convolve_check, cost_of_samples)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *image = shapes[i][0], *kernel = shapes[i][1];
        const int ndim = image[1] > 0 ? 2 : 1;
        operands in = operands_of(ndim, image, kernel, -1);
        const int64_t terms = fmin((double)host_array_size(&in.image), (double)host_array_size(&in.kernel));

        for (fl_mode mode = FL_FULL; mode <= (can_be_valid(image, kernel) ? FL_VALID : FL_SAME); mode++) {
            char shown[96];
            if (is_left_out(20))
                continue;
            snprintf(shown, sizeof shown, "%lldx%lld with %lldx%lld, %s", (long long)image[0], (long long)image[1],
                     (long long)kernel[0], (long long)kernel[1], modes[mode]);
            expect_cheap_samples(&in, mode, terms, elements_of(ndim, image, kernel, mode), shown);
        }
        operands_free(&in);
    }
}

/* `auto` compares all elements up to 2^30 multiply-adds (of vectors 2^29), those of the bounds included. */
Test(convolve_check, cost_of_auto)
{
    static const struct {
        int64_t edge, taps;
        double least;
        bool all;
    } cases[] = {{300, 40, 0, true}, {300, 80, 0, true}, {300, 80, -1, false}, {300, 127, 0, false}, {4, 400, 0, true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t image[] = {cases[i].edge, cases[i].edge}, kernel[] = {cases[i].taps, cases[i].taps};
        if (is_left_out(5))
            continue;
        operands in = operands_of(2, image, kernel, cases[i].least);
        const int64_t size = elements_of(2, image, kernel, FL_FULL);
        convolve_oracle *oracle;
        int64_t elements, work;

        oracle = convolve_oracle_create(&in.image, &in.kernel, FL_FULL, CHECK_AUTO, 3);
        work = convolve_oracle_work(oracle, &elements);
        cr_expect(work <= INT64_C(1) << 30, "%zu: %lld multiply-adds", i, (long long)work);
        cr_expect((elements == size) == cases[i].all, "%zu: %lld elements", i, (long long)elements);
        convolve_oracle_free(oracle);
        operands_free(&in);
    }
}

static host_array result_of(const operands *in, fl_mode mode)
{
    int64_t shape[2];
    fl_array *arrays[3];
    fl_device *device;
    host_array result;
    problem why;

    must(fl_device_open("serial", &device));
    must(fl_convolve_shape(in->image.shape, in->kernel.shape, mode, shape));
    must(fl_array_from_host(device, FL_F32, 2, in->image.shape, in->image.data, &arrays[0]));
    must(fl_array_from_host(device, FL_F32, 2, in->kernel.shape, in->kernel.data, &arrays[1]));
    must(fl_array_create(device, FL_F32, 2, shape, &arrays[2]));
    must(fl_convolve(device, arrays[0], arrays[1], mode, arrays[2], &(fl_run){.variant = "naive"}));
    cr_assert(host_array_create(&result, FL_F32, 2, shape, "a test", &why), "%s", why.text);
    must(fl_array_to_host(arrays[2], result.data));
    for (int i = 0; i < 3; i++)
        fl_array_free(arrays[i]);
    fl_device_close(device);
    return result;
}

static compare_result checked(const convolve_oracle *oracle, const host_array *result)
{
    char method[96];

    return convolve_oracle_check(oracle, result, "naive", 0, method, sizeof method);
}

/* What is right passes, and an element that is changed does not. */
static void expect_found(const operands *in, fl_mode mode, check_choice choice, const char *shown)
{
    convolve_oracle *oracle = convolve_oracle_create(&in->image, &in->kernel, mode, choice, 3);
    host_array result = result_of(in, mode);
    char method[96];
    compare_result found = convolve_oracle_check(oracle, &result, "naive", 0, method, sizeof method);

    cr_expect(strcmp(method, "reference") == 0 || choice == CHECK_SAMPLED, "%s: %s", shown, method);
    cr_expect(strncmp(method, "definition, all ", 16) == 0 || choice != CHECK_SAMPLED, "%s: %s", shown, method);
    cr_expect(found.ok && found.compared == host_array_size(&result), "%s: a right result fails at %lld", shown,
              (long long)found.worst_index);
    for (int64_t i = 0; i < host_array_size(&result); i++) {
        const double right = host_array_get(&result, i);
        host_array_set(&result, i, isfinite(right) ? right + 1e-3 : 1);
        found = checked(oracle, &result);
        cr_expect(!found.ok && found.failed == 1 && found.worst_index == i, "%s: element %lld", shown, (long long)i);
        host_array_set(&result, i, right);
    }
    host_array_free(&result);
    convolve_oracle_free(oracle);
}

static void multiply(host_array *array, double by)
{
    for (int64_t i = 0; i < host_array_size(array); i++)
        host_array_set(array, i, host_array_get(array, i) * by);
}

/* All elements of a small result are sampled. An infinity in the kernel makes NaN of the zeros around an image.
 * Products that underflow are off by more than a share of themselves. */
Test(convolve_check, one_wrong_element)
{
    static const int64_t small[][2][2] = {{{7, 5}, {3, 4}}, {{3, 4}, {7, 5}}, {{1, 9}, {5, 1}}, {{2, 6}, {2, 6}}};

    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        for (int special = 0; special < 4; special++) {
            const fl_mode last = can_be_valid(small[i][0], small[i][1]) ? FL_VALID : FL_SAME;
            operands in = operands_of(2, small[i][0], small[i][1], -1);

            if (special == 1)
                host_array_set(&in.kernel, host_array_size(&in.kernel) - 2, INFINITY);
            if (special == 2)
                host_array_set(&in.image, 1, NAN);
            if (special == 3) {
                multiply(&in.image, 1e-22);
                multiply(&in.kernel, 1e-22);
            }
            for (fl_mode mode = FL_FULL; mode <= last; mode++)
                for (check_choice choice = CHECK_FULL; choice <= CHECK_SAMPLED; choice++) {
                    char shown[64];
                    snprintf(shown, sizeof shown, "shape %zu, special %d, %s, %d", i, special, modes[mode], choice);
                    expect_found(&in, mode, choice, shown);
                }
            operands_free(&in);
        }
}

/* In bands each element has the expected value and the bound that it has in the whole, and its index. A kernel with an
 * infinity makes NaN of the zeros around the image, and of those alone. */
Test(convolve_check, bands)
{
    static const int64_t cases[][2][2] = {{{700, 300}, {9, 7}}, {{300, 700}, {1, 1}}, {{3, 70000}, {3, 5}}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (fl_mode mode = FL_FULL; mode <= FL_VALID; mode++)
            for (int special = 0; special < 2; special++) {
                if (is_left_out(6))
                    continue;
                operands in = operands_of(2, cases[i][0], cases[i][1], special ? -1 : 0);
                if (special)
                    host_array_set(&in.kernel, host_array_size(&in.kernel) / 2, INFINITY);
                convolve_oracle *whole = convolve_oracle_create(&in.image, &in.kernel, mode, CHECK_FULL, 3);
                convolve_oracle *later = convolve_oracle_later(&in.image, &in.kernel, mode, CHECK_FULL, 3);
                host_array result = result_of(&in, mode);
                const int64_t size = host_array_size(&result);
                compare_result a = checked(whole, &result), b = checked(later, &result);

                cr_expect(b.ok && b.compared == size && a.max_abs == b.max_abs && a.max_rel == b.max_rel,
                          "case %zu, %s: max_abs %g and %g, max_rel %g and %g", i, modes[mode], a.max_abs, b.max_abs,
                          a.max_rel, b.max_rel);
                for (int64_t at = 0; at < size; at += size / 3) {
                    const double right = host_array_get(&result, at);
                    host_array_set(&result, at, isfinite(right) ? right + 1e-3 : 1);
                    a = checked(whole, &result);
                    b = checked(later, &result);
                    cr_expect(!b.ok && b.failed == 1 && b.worst_index == at, "case %zu, %s: element %lld", i,
                              modes[mode], (long long)at);
                    cr_expect(a.worst_bound == b.worst_bound || (isnan(a.worst_bound) && isnan(b.worst_bound)),
                              "case %zu, %s: the bound of %lld is %g and %g", i, modes[mode], (long long)at,
                              a.worst_bound, b.worst_bound);
                    host_array_set(&result, at, right);
                }
                host_array_free(&result);
                convolve_oracle_free(whole);
                convolve_oracle_free(later);
                operands_free(&in);
            }
}

/* With a tolerance an element may be off by that part of the largest magnitude of the result, and no more; a wrong
 * element that is larger than the inputs can give allows the others nothing. */
Test(convolve_check, tolerance)
{
    for (int way = 0; way < 3; way++) { /* all elements, in bands, and samples of the definition */
        operands in = operands_of(2, (int64_t[]){300, 300}, (int64_t[]){5, 4}, -1);
        const check_choice choice = way == 2 ? CHECK_SAMPLED : CHECK_FULL;
        convolve_oracle *oracle =
            (way == 1 ? convolve_oracle_later : convolve_oracle_create)(&in.image, &in.kernel, FL_SAME, choice, 3);
        host_array result = result_of(&in, FL_SAME);
        const double right = host_array_get(&result, 0);
        double largest = 0;
        char method[96];

        for (int64_t i = 0; i < host_array_size(&result); i++)
            largest = fmax(largest, fabs(host_array_get(&result, i)));
        for (int part = 0; part < 3; part++) {
            static const double parts[] = {0.009, 0.011, 0.009};
            compare_result found;
            host_array_set(&result, 0, right + parts[part] * largest);
            host_array_set(&result, 300 * 300 - 1, part == 2 ? 1e9 : 0); /* a corner, which is compared in any way */
            found = convolve_oracle_check(oracle, &result, "fft", 0.01, method, sizeof method);
            cr_expect(found.failed == 1 + (part == 1), "way %d, part %d: %lld wrong", way, part,
                      (long long)found.failed);
            cr_expect(strstr(method, "; within 0.01 of the largest element"), "%s", method);
            cr_expect(convolve_oracle_check(oracle, &result, "naive", 0, method, sizeof method).failed == 2);
        }
        host_array_free(&result);
        convolve_oracle_free(oracle);
        operands_free(&in);
    }
}

/* Of a large result, the corners are compared, a fourth of the samples lies on the edges, and the others anywhere. */
Test(convolve_check, places_of_samples)
{
    const int64_t edge = 1500, size = edge * edge, corners[] = {0, edge - 1, size - edge, size - 1};
    operands in = operands_of(2, (int64_t[]){edge, edge}, (int64_t[]){1, 1}, 0);
    convolve_oracle *oracle = convolve_oracle_create(&in.image, &in.kernel, FL_SAME, CHECK_SAMPLED, 3);
    host_array result = result_of(&in, FL_SAME);
    float *values = result.data;
    int64_t count = checked(oracle, &result).compared, inside = 0;

    cr_assert(checked(oracle, &result).ok);
    cr_assert_eq(count, 1 << 19);
    for (int i = 0; i < 4; i++) {
        values[corners[i]] += 1;
        cr_expect_eq(checked(oracle, &result).worst_index, corners[i]);
        values[corners[i]] -= 1;
    }
    for (int64_t i = 0; i < edge; i++)
        values[i] = values[size - edge + i] = values[i * edge] = values[i * edge + edge - 1] = 9;
    cr_expect(checked(oracle, &result).failed >= count / 4);
    host_array_free(&result);
    result = result_of(&in, FL_SAME);
    values = result.data;
    for (int64_t i = edge + 1; i < size - edge; i += 100, inside++)
        values[i] = 9;
    cr_expect(checked(oracle, &result).failed > count / 200, "of %lld wrong elements too few are found",
              (long long)inside);
    host_array_free(&result);
    convolve_oracle_free(oracle);
    operands_free(&in);
}
