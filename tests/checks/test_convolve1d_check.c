/* SPDX-License-Identifier: MIT
 *
 * test_convolve1d_check.c - the check of `flynn convolve1d` by itself: what is right passes, one wrong element does
 * not.
 */
#include "checks/convolve.h"

#include "run/exercise.h"
#include "support/fail.h"

#include <criterion/criterion.h>
#include <math.h>

enum { SIZE = 70, TAPS = 9 };

struct problem_of_two {
    host_array signal, kernel, result;
    convolve_oracle *oracle;
};

/* With a result as the library's default variant gives it. */
static struct problem_of_two create(fl_dtype dtype, fl_mode mode, check_choice choice)
{
    struct problem_of_two p = {.signal = exercise_random(dtype, 1, (int64_t[]){SIZE}, -1, 1, 1),
                               .kernel = exercise_random(dtype, 1, (int64_t[]){TAPS}, -1, 1, 2)};
    fl_device *device;
    fl_array *a, *b, *out;
    int64_t length;
    problem why;
    must(fl_device_open("serial", &device));
    p.oracle = convolve_oracle_create(&p.signal, &p.kernel, mode, choice, 3);
    must(fl_convolve1d_shape(SIZE, TAPS, mode, &length));
    must(fl_array_from_host(device, dtype, 1, p.signal.shape, p.signal.data, &a));
    must(fl_array_from_host(device, dtype, 1, p.kernel.shape, p.kernel.data, &b));
    must(fl_array_create(device, dtype, 1, &length, &out));
    must(fl_convolve1d(device, a, b, mode, out, NULL));
    cr_assert(host_array_create(&p.result, dtype, 1, &length, "a test", &why), "%s", why.text);
    must(fl_array_to_host(out, p.result.data));
    fl_array_free(a);
    fl_array_free(b);
    fl_array_free(out);
    fl_device_close(device);
    return p;
}

static void discard(struct problem_of_two *p)
{
    convolve_oracle_free(p->oracle);
    host_array_free(&p->signal);
    host_array_free(&p->kernel);
    host_array_free(&p->result);
}

static bool passes(const struct problem_of_two *p, const char *variant, int64_t *worst)
{
    char method[96];
    compare_result found = convolve_oracle_check(p->oracle, &p->result, variant, 0, method, sizeof method);
    *worst = found.worst_index;
    return found.ok;
}

/* Each element in turn is made wrong by `error` and, more so, NaN and infinite. */
static void check_each_element(struct problem_of_two *p, const char *variant, double error)
{
    int64_t worst;
    cr_expect(passes(p, variant, &worst), "%s: a right result fails at %lld", variant, (long long)worst);
    for (int64_t i = 0; i < host_array_size(&p->result); i++) {
        const double right = host_array_get(&p->result, i), wrong[] = {right + error, right - error, NAN, INFINITY};
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            host_array_set(&p->result, i, wrong[w]);
            cr_assert(!passes(p, variant, &worst) && worst == i, "%s: %.17g instead of %.17g at %lld passes", variant,
                      wrong[w], right, (long long)i);
        }
        host_array_set(&p->result, i, right);
    }
}

/* A unit of rounding is 6e-8 and 1.1e-16; the sums are of 9 products of numbers below 1, and fft's bound has the
 * signal's norm, which is below 9, the kernel's sum, below 9, and 20 (16 + 2). */
Test(convolve1d_check, one_wrong_element)
{
    for (int mode = FL_FULL; mode <= FL_VALID; mode++)
        for (int choice = CHECK_AUTO; choice <= CHECK_FULL; choice++) {
            struct problem_of_two f32 = create(FL_F32, (fl_mode)mode, (check_choice)choice);
            struct problem_of_two f64 = create(FL_F64, (fl_mode)mode, (check_choice)choice);
            check_each_element(&f32, "tiled", 9 * 25 * 6e-8);
            check_each_element(&f64, "tiled", 9 * 25 * 1.2e-16);
            check_each_element(&f32, "fft", 9 * 9 * 20 * 18 * 6e-8);
            check_each_element(&f64, "fft", 9 * 9 * 20 * 18 * 1.2e-16);
            discard(&f32);
            discard(&f64);
        }
}

/* 4096 samples of at most 78 elements leave none out but by a chance of e^-52. */
Test(convolve1d_check, samples)
{
    for (int mode = FL_FULL; mode <= FL_VALID; mode++) {
        struct problem_of_two f64 = create(FL_F64, (fl_mode)mode, CHECK_SAMPLED);
        check_each_element(&f64, "tiled", 9 * 25 * 1.2e-16);
        discard(&f64);
    }
}
