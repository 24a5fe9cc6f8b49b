/* SPDX-License-Identifier: MIT
 *
 * bars.h - times as bars, for `flynn report`.
 */
#ifndef FLYNN_APPS_REPORT_BARS_H
#define FLYNN_APPS_REPORT_BARS_H

#include "plot.h"

/* Two times of one label; only times from 1e-15 to 1e15 s have a bar. */
typedef struct bar_row {
    char label[64];
    double seconds[2];
} bar_row;

/* A plot of a blue and an orange bar for each row. Logarithmic, and noted so, above a ratio of 30. */
report_plot *plot_add_times(report_plots *plots, const char *kind, const char *title, const bar_row *rows, int count);

/* The distance of at most `tics` tics up to `high`: 1, 2 or 5 times a power of ten. */
double plot_step(double high, int tics);

#endif
