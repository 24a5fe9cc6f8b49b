/* SPDX-License-Identifier: MIT
 *
 * plots.h - the plots of `flynn report`, from the documents that --json wrote, as scripts for gnuplot.
 */
#ifndef FLYNN_APPS_REPORT_PLOTS_H
#define FLYNN_APPS_REPORT_PLOTS_H

#include "plot.h"

#include <jansson.h>

/* kernel_s and total_s of each backend: a chart for each exercise, dtype and shape of the results. */
void report_plots_times(report_plots *plots, const json_t *results);

/* Operations per compulsory byte and the rate that was reached, beneath the roof of the device's ceilings: a plot for
 * each device that has both. (Williams, Waterman and Patterson, "Roofline", CACM 52, 2009.) */
void report_plots_roofline(report_plots *plots, const json_t *results, const json_t *ceilings);

/* The measured speed-ups of `flynn laws`, of a GPU's batches the matrices a second, beside Amdahl's and Gustafson's
 * curves: a plot for each entry. */
void report_plots_laws(report_plots *plots, const json_t *laws);

#endif
