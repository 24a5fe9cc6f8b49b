/* SPDX-License-Identifier: MIT
 *
 * test_laws_fit.c - the serial fraction, from points whose own is known.
 */
#include "laws/fit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static const double threads[] = {1, 2, 3, 4, 6, 8, 16, 64};
static const double fractions[] = {0, 0.01, 0.1, 0.25, 0.5, 0.9, 1};

/* Points of the law itself, each off by `noise` times a number in -1..1, and with a spread of `spread`. */
static void make(scaling_law law, double fraction, double noise, double spread, scaling_point *points)
{
    uint64_t state = 12345;

    for (int i = 0; i < COUNT(threads); i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double random = (double)(state >> 11) / (double)(UINT64_C(1) << 52) - 1;
        double speed_up = scaling_value(law, fraction, threads[i]) * (threads[i] > 1 ? 1 + noise * random : 1);
        points[i] = (scaling_point){threads[i], speed_up, spread * speed_up};
    }
}

Test(laws_fit, values_of_the_laws)
{
    cr_expect(fabs(scaling_value(AMDAHL, 0.1, 10) - 1 / 0.19) < 1e-12);
    cr_expect(fabs(scaling_value(GUSTAFSON, 0.1, 10) - 9.1) < 1e-12);
    for (int i = 0; i < COUNT(fractions); i++)
        for (int law = AMDAHL; law <= GUSTAFSON; law++)
            cr_expect(fabs(scaling_value((scaling_law)law, fractions[i], 1) - 1) < 1e-12, "n = 1");
}

Test(laws_fit, gives_the_fraction_back)
{
    scaling_point points[COUNT(threads)];

    for (int law = AMDAHL; law <= GUSTAFSON; law++)
        for (int i = 0; i < COUNT(fractions); i++) {
            make((scaling_law)law, fractions[i], 0, 0, points);
            scaling_fit fit = scaling_fit_of((scaling_law)law, points, COUNT(threads));
            cr_expect(fabs(fit.fraction - fractions[i]) < 1e-12, "law %d: %g for %g", law, fit.fraction, fractions[i]);
            cr_expect(fit.largest_deviation < 1e-9 && fit.rms_deviation < 1e-9 && fit.not_described == 0);
            cr_expect(fit.points == COUNT(threads) && fit.standard_error < 0.01);
        }
}

Test(laws_fit, noise_is_within_its_error)
{
    scaling_point points[COUNT(threads)];

    for (int law = AMDAHL; law <= GUSTAFSON; law++) {
        make((scaling_law)law, 0.1, 0.03, 0.03, points);
        scaling_fit fit = scaling_fit_of((scaling_law)law, points, COUNT(threads));
        cr_expect(fabs(fit.fraction - 0.1) <= 3 * fit.standard_error, "law %d: %g +- %g", law, fit.fraction,
                  fit.standard_error);
        cr_expect(fit.fraction != 0.1 && !fit.clipped && fit.rms_deviation > 0 && fit.rms_deviation < 0.05);
        cr_expect(fit.rms_deviation <= fit.largest_deviation && fit.not_described == 0);
    }
}

/* Where points scatter more than their spreads say, the error is that of the scatter. */
Test(laws_fit, the_error_knows_the_scatter)
{
    scaling_point points[COUNT(threads)];

    make(AMDAHL, 0.1, 0.2, 0.001, points);
    scaling_fit fit = scaling_fit_of(AMDAHL, points, COUNT(threads));
    cr_expect(fabs(fit.fraction - 0.1) <= 3 * fit.standard_error, "%g +- %g", fit.fraction, fit.standard_error);
    cr_expect(fit.not_described > 0);
}

/* A point that is known badly counts little. */
Test(laws_fit, weights)
{
    scaling_point points[COUNT(threads)];

    make(AMDAHL, 0.1, 0, 0.01, points);
    points[3].speed_up = 1;
    points[3].spread = 100;
    cr_expect(fabs(scaling_fit_of(AMDAHL, points, COUNT(threads)).fraction - 0.1) < 1e-4);
    points[3].spread = 0.001;
    cr_expect(fabs(scaling_fit_of(AMDAHL, points, COUNT(threads)).fraction - 0.1) > 1e-2);
}

Test(laws_fit, superlinear_is_clipped_and_not_described)
{
    scaling_point points[] = {{1, 1, 0}, {2, 2.4, 0.05}, {4, 6, 0.1}, {8, 13, 0.2}};

    for (int law = AMDAHL; law <= GUSTAFSON; law++) {
        scaling_fit fit = scaling_fit_of((scaling_law)law, points, COUNT(points));
        cr_expect(fit.clipped && fit.unclipped < 0 && fit.fraction == 0);
        cr_expect(fit.not_described == 3 && fit.largest_deviation > 0.5);
    }
}

Test(laws_fit, slower_with_more_is_clipped)
{
    scaling_point points[] = {{1, 1, 0}, {2, 0.8, 0.01}, {4, 0.6, 0.01}, {8, 0.4, 0.01}};
    scaling_fit fit = scaling_fit_of(AMDAHL, points, COUNT(points));

    cr_expect(fit.clipped && fit.unclipped > 1 && fit.fraction == 1 && fit.not_described == 3);
}

/* What a saturated memory does: no more from four threads on. */
Test(laws_fit, a_plateau_is_not_described)
{
    scaling_point points[] = {{1, 1, 0}, {2, 2, 0.02}, {4, 4, 0.04}, {8, 4, 0.04}, {16, 4, 0.04}};
    scaling_fit fit = scaling_fit_of(AMDAHL, points, COUNT(points));

    cr_expect(!fit.clipped && fit.not_described >= 2);
}

/* Within 5 %, or within the spread. */
Test(laws_fit, describes)
{
    cr_expect(scaling_describes(AMDAHL, 0, &(scaling_point){4, 4.19, 0}));
    cr_expect(!scaling_describes(AMDAHL, 0, &(scaling_point){4, 4.21, 0}));
    cr_expect(!scaling_describes(AMDAHL, 0, &(scaling_point){4, 3.79, 0.1}));
    cr_expect(scaling_describes(AMDAHL, 0, &(scaling_point){4, 3.5, 0.6}));
}

Test(laws_fit, nothing_but_one_thread)
{
    scaling_fit fit = scaling_fit_of(AMDAHL, &(scaling_point){1, 1, 0}, 1);

    cr_expect(isnan(fit.fraction) && !fit.clipped);
}
