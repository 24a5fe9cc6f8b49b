/* SPDX-License-Identifier: MIT
 *
 * fit.h - the two laws of scaling, and the serial fraction f that fits measured points best.
 *
 * Amdahl's (G. Amdahl, AFIPS 1967), for work that stays the same: 1 / S = f + (1 - f) / n.
 * Gustafson's (J. Gustafson, CACM 31, 1988), for work that grows with n: S = n - f (n - 1).
 */
#pragma once

#include <stdbool.h>

typedef enum scaling_law { AMDAHL = 0, GUSTAFSON = 1 } scaling_law;

typedef struct scaling_point {
    double n;        /* threads, or the batch */
    double speed_up; /* T(1) / T(n); of work that grows, times how much more of it there is */
    double spread;   /* of the speed-up: what T(1)'s and T(n)'s make of it */
} scaling_point;

typedef struct scaling_fit {
    int points;                              /* that were measured, the one of n = 1 among them */
    double fraction;                         /* f, within 0..1 */
    double unclipped;                        /* what the points themselves would have */
    bool clipped;                            /* they differ */
    double standard_error;                   /* of `unclipped` */
    double largest_deviation, rms_deviation; /* of measured points from the law, relative to it; n > 1 */
    int not_described;                       /* points that deviate by more than their spread and by more than 5 % */
} scaling_fit;

/* The speed-up that the law has at n. */
double scaling_value(scaling_law law, double fraction, double n);

/* measured / law - 1. */
double scaling_deviation(scaling_law law, double fraction, const scaling_point *point);

/* Returns whether the point is within its spread, or within 5 %, of the law. */
bool scaling_describes(scaling_law law, double fraction, const scaling_point *point);

/* Both laws are straight lines in f through a known point: least squares, each point weighted by the inverse square of
 * its spread (at least 0.1 % of its speed-up, so that no point rules alone), taken as independent of each other. The
 * standard error is that of the weights, or where the points scatter more than their spreads that of the scatter. NaN
 * where no point has n > 1. */
scaling_fit scaling_fit_of(scaling_law law, const scaling_point *points, int count);
