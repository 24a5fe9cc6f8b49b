/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include "view/units.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { BARS_WIDTH = 400, BAND = 40, NUMBER = 62 }; /* pixels; the number behind the longest bar */

/* False for a time that was not measured or that no axis could show. */
static bool has_bar(double seconds)
{
    return seconds > 1e-15 && seconds < 1e15;
}

/* Writes the axis: logarithmic where the bar of the least time would be too short to see. */
static axis put_axis(canvas *c, const bar_row *rows, int count)
{
    const double room = (double)(c->right - c->left) / (c->right - c->left - NUMBER);
    double least = INFINITY, most = 0, step;
    axis a = {.low = 0};

    for (int i = 0; i < 2 * count; i++) {
        const double seconds = rows[i / 2].seconds[i % 2];
        least = has_bar(seconds) ? fmin(least, seconds) : least;
        most = has_bar(seconds) ? fmax(most, seconds) : most;
    }
    if (!(most > 0))
        least = most = 1;
    a.log = most > 30 * least;
    if (a.log) {
        a.low = pow(10, floor(log10(0.8 * least)));
        a.high = a.low * pow(most / a.low, room);
        step = log10(a.high / a.low) > 5 ? 100 : 10;
        snprintf(c->plot->note, sizeof c->plot->note, "logarithmic");
    } else {
        a.high = room * most;
        step = axis_step(a.high, (c->right - c->left) / 50);
    }
    fprintf(c->script, "%sset xtics %g format '%%.0s %%cs' scale 0\nset xrange [%.9g:%.9g]\n",
            a.log ? "set logscale x\nunset mxtics\n" : "", step, a.low, a.high);
    return a;
}

/* The bars of a row around `middle`, with their numbers. */
static void put_bars(const canvas *c, const bar_row *row, double middle, const axis *a)
{
    static const char *const colours[] = {BLUE, ORANGE};
    const bool both = has_bar(row->seconds[0]) && has_bar(row->seconds[1]);

    plot_label(c, row->label, c->left - 8, middle, "right");
    for (int k = 0; k < 2; k++) {
        const double seconds = row->seconds[k], y = middle + (!both ? 0 : k ? -7 : 7);
        if (!has_bar(seconds))
            continue;
        const double x = axis_pixel(a, seconds, c->left, c->right);
        plot_bar(c, c->left, x, y, colours[k]);
        plot_label(c, format_seconds(seconds).text, x + 5, y, "left");
    }
}

report_plot *plot_add_times(report_plots *plots, const char *kind, const char *title, const bar_row *rows, int count)
{
    int letters = 1;
    canvas c;
    axis a;

    for (int i = 0; i < count; i++)
        letters = (int)strlen(rows[i].label) > letters ? (int)strlen(rows[i].label) : letters;
    c = plot_begin(plots, kind, title, BARS_WIDTH, count * BAND + 34, letters);
    a = put_axis(&c, rows, count);
    for (int i = 0; i < count; i++)
        put_bars(&c, &rows[i], c.top - (i + 0.5) * BAND, &a);
    plot_rows_end(&c);
    return c.plot;
}
