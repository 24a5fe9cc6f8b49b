/* SPDX-License-Identifier: MIT */
#include "fit.h"

#include <math.h>

static const double least_spread = 1e-3, tolerated = 0.05;

double scaling_value(scaling_law law, double fraction, double n)
{
    return law == AMDAHL ? 1 / (fraction + (1 - fraction) / n) : n - fraction * (n - 1);
}

double scaling_deviation(scaling_law law, double fraction, const scaling_point *point)
{
    return point->speed_up / scaling_value(law, fraction, point->n) - 1;
}

bool scaling_describes(scaling_law law, double fraction, const scaling_point *point)
{
    double difference = fabs(point->speed_up - scaling_value(law, fraction, point->n));

    return difference <= point->spread || fabs(scaling_deviation(law, fraction, point)) <= tolerated;
}

/* y = f x, and how far y is uncertain. */
typedef struct straight {
    double x, y, sigma;
} straight;

static straight straight_of(scaling_law law, const scaling_point *p)
{
    double spread = fmax(p->spread, least_spread * p->speed_up);

    if (law == AMDAHL)
        return (straight){1 - 1 / p->n, 1 / p->speed_up - 1 / p->n, spread / (p->speed_up * p->speed_up)};
    return (straight){p->n - 1, p->n - p->speed_up, spread};
}

/* How well the fraction that was found describes them. */
static void judge(scaling_law law, const scaling_point *points, int count, scaling_fit *fit)
{
    double squares = 0;
    int judged = 0;

    for (int i = 0; i < count; i++) {
        double deviation = scaling_deviation(law, fit->fraction, &points[i]);
        if (!(points[i].n > 1))
            continue;
        squares += deviation * deviation;
        fit->largest_deviation = fmax(fit->largest_deviation, fabs(deviation));
        fit->not_described += !scaling_describes(law, fit->fraction, &points[i]);
        judged++;
    }
    fit->rms_deviation = sqrt(squares / judged);
}

scaling_fit scaling_fit_of(scaling_law law, const scaling_point *points, int count)
{
    scaling_fit fit = {.points = count};
    double xx = 0, xy = 0, scatter = 0;
    int used = 0;

    for (int i = 0; i < count; i++) {
        straight s = straight_of(law, &points[i]);
        xx += s.x * s.x / (s.sigma * s.sigma);
        xy += s.x * s.y / (s.sigma * s.sigma);
        used += s.x > 0;
    }
    fit.unclipped = xy / xx;
    for (int i = 0; i < count; i++) {
        straight s = straight_of(law, &points[i]);
        scatter += pow((s.y - fit.unclipped * s.x) / s.sigma, 2);
    }
    fit.standard_error = sqrt(fmax(1, used > 1 ? scatter / (used - 1) : 1) / xx);
    fit.fraction = used ? fmin(fmax(fit.unclipped, 0), 1) : (double)NAN;
    fit.clipped = used && fit.fraction != fit.unclipped;
    judge(law, points, count, &fit);
    return fit;
}
