/* SPDX-License-Identifier: MIT */
#include "bars.h"

#include "view/units.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { BARS_WIDTH = 400, BAND = 40 };

typedef struct time_axis {
    double low, high; /* its ends, in seconds */
    double step;      /* between tics; log: their ratio */
    bool log;
} time_axis;

double plot_step(double high, int tics)
{
    double step = pow(10, floor(log10(high / tics)));

    return high / step <= tics         ? step
           : high / (2 * step) <= tics ? 2 * step
           : high / (5 * step) <= tics ? 5 * step
                                       : 10 * step;
}

/* Logarithmic where the bar of the least time would be too short to see. At the right, 62 pixels for a number. */
static time_axis axis_of(double least, double most, const frame *f)
{
    time_axis a = {.log = most > 30 * least};
    double room = (double)(f->right - f->left) / (f->right - f->left - 62);

    if (a.log) {
        a.low = pow(10, floor(log10(0.8 * least)));
        a.high = a.low * pow(most / a.low, room);
        a.step = log10(a.high / a.low) > 5 ? 100 : 10;
    } else {
        a.high = room * most;
        a.step = plot_step(a.high, (f->right - f->left) / 50);
    }
    return a;
}

/* False for a time that was not measured or that no axis could show. */
static bool has_bar(double seconds)
{
    return seconds > 1e-15 && seconds < 1e15;
}

static int longest_label(const bar_row *rows, int count)
{
    int most = 0;

    for (int i = 0; i < count; i++)
        most = (int)strlen(rows[i].label) > most ? (int)strlen(rows[i].label) : most;
    return most;
}

static double pixel_of(const time_axis *a, const frame *f, double seconds)
{
    double part = a->log ? log(seconds / a->low) / log(a->high / a->low) : (seconds - a->low) / (a->high - a->low);

    return f->left + part * (f->right - f->left);
}

/* The bars of a row, `line` bands from the top, with their numbers. */
static void put_bars(FILE *script, const bar_row *row, int line, const time_axis *a, const frame *f)
{
    static const char *const colours[] = {BLUE, ORANGE};
    const bool both = has_bar(row->seconds[0]) && has_bar(row->seconds[1]);
    double middle = f->top - (line + 0.5) * BAND;

    plot_label(script, row->label, f->left - 8, middle, f, "right");
    for (int k = 0; k < 2; k++) {
        double seconds = row->seconds[k], y = middle + (!both ? 0 : k ? -7 : 7), x;
        if (!has_bar(seconds))
            continue;
        x = pixel_of(a, f, seconds);
        plot_bar(script, f->left, x, y, f, colours[k]);
        plot_label(script, format_seconds(seconds).text, x + 5, y, f, "left");
    }
}

report_plot *plot_add_times(report_plots *plots, const char *kind, const char *title, const bar_row *rows, int count)
{
    double least = INFINITY, most = 0;
    report_plot *p = plot_add(plots, kind, title, BARS_WIDTH, count * BAND + 34);
    frame f = {p->width, p->height, 12 + LETTER * longest_label(rows, count), p->width - 14, 26, p->height - 8};
    time_axis a;
    size_t size;
    FILE *script = plot_script(p, &size);

    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            if (has_bar(rows[i].seconds[k])) {
                least = fmin(least, rows[i].seconds[k]);
                most = fmax(most, rows[i].seconds[k]);
            }
    if (!(most > 0))
        least = most = 1;
    a = axis_of(least, most, &f);
    if (a.log)
        snprintf(p->note, sizeof p->note, "logarithmic");
    plot_frame(script, &f);
    fprintf(script,
            "%sset xtics %g format '%%.0s %%cs' scale 0\nset xrange [%.9g:%.9g]\nunset ytics\nset yrange [0:1]\n",
            a.log ? "set logscale x\nunset mxtics\n" : "", a.step, a.low, a.high);
    for (int i = 0; i < count; i++)
        put_bars(script, &rows[i], i, &a, &f);
    fprintf(script, "plot NaN\n");
    plot_close(script);
    return p;
}
