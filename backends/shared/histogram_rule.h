/* SPDX-License-Identifier: MIT
 *
 * histogram_rule.h - which bin of a histogram an element falls into, for CPU and GPU backends.
 *
 * The edges decide: edge(b) = lo + b * width, rounded after each operation. A division for each element would be slow,
 * and (x - lo) * scale alone gives the neighbour of the right bin where x is close to an edge. So the position
 * (x - lo) * scale is an estimate, and x is compared with the edge that is nearest to it: where the errors of estimate
 * and edges together are below half a bin, this bin or the one below is right. Where they are larger (the bins are
 * hardly wider than the spacing of floating-point numbers), the bin is searched for by bisection.
 */
#ifndef FLYNN_HISTOGRAM_RULE_H
#define FLYNN_HISTOGRAM_RULE_H

#include <flynn/operations.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Added and subtracted, it rounds a double below 2^51 to a whole number. */
#define HISTOGRAM_ROUNDER 0x1.8p52

typedef struct histogram_rule {
    double lo, hi, width;
    int64_t bins;
    bool clip;
    /* The estimate of x's position, in bins: (x - lo + shift) * scale. Integers are moved to the middle between two of
     * them where all edges are whole numbers: away from the edges. */
    double scale, shift;
    /* Estimate and edges err by less than this, in bins: further than that from a whole number, the estimate is right
     * without a look at the edge. */
    double tolerance;
    bool nearest; /* the nearest edge decides; else bisection */
} histogram_rule;

/* Edges lo + b * width are whole numbers, without rounding. */
static inline bool histogram_edges_are_whole(const histogram_rule *rule)
{
    return rule->lo == floor(rule->lo) && rule->width == floor(rule->width) && fabs(rule->lo) < 0x1p52 &&
           fabs(rule->hi) < 0x1p52 && rule->width * (double)rule->bins == rule->hi - rule->lo;
}

/* More than the errors of an estimate with numbers that are rounded by `unit` (2^-53 for f64) and of the edges. An
 * estimate takes five operations, an edge three, each of them on a number of at most `bins` bins: that is less than
 * 16 units. The sum lo + b * width is rounded to the spacing of lo and hi. */
static inline double histogram_tolerance(const histogram_rule *rule, double unit)
{
    const double largest = fmax(fabs(rule->lo), fabs(rule->hi));

    return 16 * unit * (double)rule->bins + 4 * largest * 0x1p-53 * rule->scale;
}

static inline histogram_rule histogram_rule_of(const fl_histogram_args *args)
{
    const double bins = (double)args->out.shape[0], length = args->hi - args->lo;
    histogram_rule rule = {args->lo, args->hi, length / bins, args->out.shape[0], args->clip != 0, bins / length,
                           0,        0,        false};
    const bool integers = args->in.dtype == FL_U8 || args->in.dtype == FL_I32 || args->in.dtype == FL_I64;

    if (integers && histogram_edges_are_whole(&rule))
        rule.shift = 0.5;
    rule.tolerance = histogram_tolerance(&rule, 0x1p-53);
    /* Nothing is lost to underflow, and a bin's number fits into an int32_t. */
    rule.nearest = rule.tolerance < 0.5 && rule.width > 0x1p-960 && rule.scale > 0x1p-960 && rule.bins < INT32_MAX;
    return rule;
}

#endif
