/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include "support/memory.h"
#include "view/row.h"
#include "view/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of a letter at 12 points, and of half a label such as "200 us" below the end of an axis. */
enum { LETTER = 7, HALF_LABEL = 21 };

static report_plot *add(report_plots *plots, const char *kind, const char *title, int width, int height)
{
    report_plot *p;
    size_t length;

    plots->list = memory_regrown(plots->list, (size_t)(plots->count + 1), sizeof *plots->list);
    p = &plots->list[plots->count++];
    *p = (report_plot){.width = width, .height = height};
    snprintf(p->title, sizeof p->title, "%s", title);
    /* Numbered, since titles may differ in nothing but signs that a name cannot have. */
    snprintf(p->name, sizeof p->name, "%02d-%s-%s", plots->count, kind, title);
    for (char *c = p->name; *c; c++)
        if (!isascii((unsigned char)*c) || (!isalnum((unsigned char)*c) && !strchr("-_.", *c)))
            *c = '-';
    for (length = strlen(p->name); length > 0 && p->name[length - 1] == '-'; length--)
        p->name[length - 1] = '\0';
    return p;
}

canvas plot_begin(report_plots *plots, const char *kind, const char *title, int width, int height, int letters)
{
    report_plot *p = add(plots, kind, title, width, height);
    canvas c = {p, memory_stream(&p->script, &p->script_size), 72, width - 12, 52, height - 10};

    if (letters > 0)
        c = (canvas){p, c.script, 12 + LETTER * letters, width - HALF_LABEL, 26, height - 8};
    fprintf(c.script,
            "unset key\nset border 0\nset style fill solid 1 noborder\nset grid xtics lt 1 lc rgb '#cccccc' lw 1\n"
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\nset bmargin at screen %.6f\n"
            "set tmargin at screen %.6f\n%s\n",
            (double)c.left / width, (double)c.right / width, (double)c.bottom / height, (double)c.top / height,
            letters > 0 ? "unset ytics\nset yrange [0:1]" : "set grid ytics lt 1 lc rgb '#cccccc' lw 1");
    return c;
}

void plot_end(canvas *c)
{
    fclose(c->script);
}

double plot_text_width(const char *text)
{
    return LETTER * (double)strlen(text);
}

void plot_label(const canvas *c, const char *text, double x, double y, const char *how)
{
    fprintf(c->script, "set label ");
    gnuplot_text(c->script, text);
    fprintf(c->script, " at screen %.6f,%.6f %s\n", x / c->plot->width, y / c->plot->height, how);
}

void plot_box(const canvas *c, double x, double y, double width, double height, const char *colour)
{
    const double w = c->plot->width, h = c->plot->height;

    fprintf(c->script, "set object rectangle from screen %.6f,%.6f to screen %.6f,%.6f fc rgb '%s' fs solid noborder\n",
            (x - width / 2) / w, (y - height / 2) / h, (x + width / 2) / w, (y + height / 2) / h, colour);
}

void plot_bar(const canvas *c, double x0, double x1, double y, const char *colour)
{
    plot_box(c, (x0 + x1) / 2, y, x1 - x0, 12, colour);
}

void plot_point(const canvas *c, double x, double y, double radius, const char *colour)
{
    fprintf(c->script, "set object circle at screen %.6f,%.6f size screen %.6f fc rgb '%s' fs solid noborder front\n",
            x / c->plot->width, y / c->plot->height, radius / c->plot->width, colour);
}

void plot_whisker(const canvas *c, double x0, double y0, double x1, double y1, bool in_front)
{
    const double w = c->plot->width, h = c->plot->height;

    if (isfinite(x0) && isfinite(x1) && isfinite(y0) && isfinite(y1))
        fprintf(c->script,
                "set arrow from screen %.6f,%.6f to screen %.6f,%.6f heads size screen %.6f,90 lw 1.5 lc rgb 'black' "
                "%s\n",
                x0 / w, y0 / h, x1 / w, y1 / h, 3.5 / w, in_front ? "front" : "back");
}

void plot_note(report_plot *plot, const char *text)
{
    const size_t used = strlen(plot->note);

    snprintf(plot->note + used, sizeof plot->note - used, "%s%s", used ? "; " : "", text);
}

void plot_note_emulation(report_plot *plot, const json_t *row)
{
    if (json_is_true(json_object_get(row, "emulation")))
        plot_note(plot, "an emulation: its times mean nothing");
}

double axis_pixel(const axis *a, double value, int from, int to)
{
    const double part = a->log ? log(value / a->low) / log(a->high / a->low) : (value - a->low) / (a->high - a->low);

    return from + part * (to - from);
}

double axis_step(double high, int tics)
{
    const double step = pow(10, floor(log10(high / tics)));

    return high / step <= tics         ? step
           : high / (2 * step) <= tics ? 2 * step
           : high / (5 * step) <= tics ? 5 * step
                                       : 10 * step;
}

quartiles quartiles_of(const json_t *row, const char *key)
{
    const json_t *samples = json_object_get(row, "times_s");
    const bool of_batch = json_is_array(samples) && strcmp(key, "wall_s") == 0;
    const fl_bench_statistics s =
        of_batch ? row_statistics(samples) : row_times(row, cell_print("%.*s", (int)strcspn(key, "_"), key).text);

    const double time = row_number(row, key), rounding = 1e-9 * time;
    const bool known = s.count >= 3 && s.first_quartile <= time + rounding && s.third_quartile >= time - rounding;

    return known ? (quartiles){s.first_quartile, s.third_quartile} : (quartiles){NAN, NAN};
}

cell noisy_seconds(double seconds, bool noisy)
{
    return cell_print("%s%s", noisy ? "~" : "", format_seconds(seconds).text);
}

enum { TIMES_WIDTH = 400, BAND = 40, NUMBER = 70 }; /* pixels; the number after the longest bar */

bar_row bar_row_of(const json_t *row, const char *what, const char *first, const char *second)
{
    bar_row bars = {.seconds = {row_number(row, first), row_number(row, second)},
                    .quartiles = {quartiles_of(row, first), quartiles_of(row, second)},
                    .emulation = json_is_true(json_object_get(row, "emulation")),
                    .noisy = row_is_noisy(row)};

    snprintf(bars.label, sizeof bars.label, "%.16s %.12s", row_text(row, "resource"), what);
    return bars;
}

bool axis_shows(double value)
{
    return value > 1e-15 && value < 1e15;
}

/* The least and the most time of the rows with their quartiles, of emulations or of the others; false: they have no
 * time. */
static bool reach_of(const bar_row *rows, int count, bool emulation, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int i = 0; i < 2 * count; i++) {
        const double seconds = rows[i / 2].seconds[i % 2];
        const quartiles q = rows[i / 2].quartiles[i % 2];
        if (rows[i / 2].emulation != emulation || !axis_shows(seconds))
            continue;
        *least = fmin(*least, axis_shows(q.low) ? fmin(seconds, q.low) : seconds);
        *most = fmax(*most, axis_shows(q.high) ? fmax(seconds, q.high) : seconds);
    }
    return *most > 0;
}

/* Writes the axis: logarithmic where the bar of the least time would be too short to see. */
static axis put_axis(canvas *c, const bar_row *rows, int count)
{
    const double room = (double)(c->right - c->left) / (c->right - c->left - NUMBER);
    double least, most, step;
    axis a = {.low = 0};

    if (!reach_of(rows, count, false, &least, &most) && !reach_of(rows, count, true, &least, &most))
        least = most = 1;
    a.log = most > 30 * least;
    if (a.log) {
        a.low = pow(10, floor(log10(0.8 * least)));
        a.high = a.low * pow(most / a.low, room);
        step = log10(a.high / a.low) > 5 ? 100 : 10;
        plot_note(c->plot, "logarithmic");
    } else {
        a.high = room * most;
        step = axis_step(a.high, (c->right - c->left) / 50);
    }
    fprintf(c->script, "%sset xtics %g format '%%.0s %%cs' scale 0\nset xrange [%.9g:%.9g]\n",
            a.log ? "set logscale x\nunset mxtics\n" : "", step, a.low, a.high);
    return a;
}

/* A time of a row as a point, or as a bar from the left; beyond the axis with an arrow, or broken. */
static void put_mark(const canvas *c, double x, double y, bool log, bool beyond, const char *colour)
{
    const double gap = beyond ? 12 : 0;

    if (log) {
        plot_point(c, x - gap, y, 4.5, colour);
    } else {
        plot_bar(c, c->left, x - gap, y, colour);
        if (beyond)
            plot_bar(c, x - gap + 4, x, y, colour);
    }
    if (log && beyond)
        fprintf(c->script,
                "set arrow from screen %.6f,%.6f to screen %.6f,%.6f head filled size screen %.6f,25 lw 1.5 lc rgb "
                "'%s' front\n",
                (x - gap) / c->plot->width, y / c->plot->height, x / c->plot->width, y / c->plot->height,
                6.0 / c->plot->width, colour);
}

/* One of the two times of a row, with its whisker and its number. */
static void put_time(const canvas *c, const bar_row *row, int k, double y, const axis *a)
{
    static const char *const colours[][2] = {{BLUE, ORANGE}, {GREY, PALE}};
    const double end = c->right - NUMBER, whole = axis_pixel(a, row->seconds[k], c->left, c->right),
                 x = fmin(fmax(whole, c->left + 1), end);
    const quartiles q = row->quartiles[k];
    double number = x;

    put_mark(c, x, y, a->log, whole > end + 1, colours[row->emulation][k]);
    if (whole <= end + 1 && axis_shows(q.low) && axis_shows(q.high)) {
        const double low = fmax(axis_pixel(a, q.low, c->left, c->right), c->left),
                     high = fmin(axis_pixel(a, q.high, c->left, c->right), end);
        plot_whisker(c, low, y, high, y, !a->log);
        number = fmax(x, high);
    }
    plot_label(c, noisy_seconds(row->seconds[k], row->noisy).text, number + (a->log ? 8 : 5), y, "left");
}

/* The two times of a row around `middle`. */
static void put_times(const canvas *c, const bar_row *row, double middle, const axis *a)
{
    const bool both = axis_shows(row->seconds[0]) && axis_shows(row->seconds[1]);

    plot_label(c, row->label, c->left - 8, middle + (row->emulation ? 7 : 0), "right");
    if (row->emulation)
        plot_label(c, "emulation", c->left - 8, middle - 8, "right");
    for (int k = 0; k < 2; k++)
        if (axis_shows(row->seconds[k]))
            put_time(c, row, k, middle + (!both ? 0 : k ? -7 : 7), a);
}

report_plot *plot_add_times(report_plots *plots, const char *kind, const char *title, const bar_row *rows, int count)
{
    int letters = 1, emulations = 0;
    canvas c;
    axis a;

    for (int i = 0; i < count; i++) {
        letters = (int)strlen(rows[i].label) > letters ? (int)strlen(rows[i].label) : letters;
        emulations += rows[i].emulation;
    }
    c = plot_begin(plots, kind, title, TIMES_WIDTH, count * BAND + 34, letters);
    a = put_axis(&c, rows, count);
    if (emulations > 0)
        plot_note(c.plot,
                  emulations < count ? "grey: an emulation, not to scale" : "an emulation: its times mean nothing");
    for (int i = 0; i < count; i++)
        put_times(&c, &rows[i], c.top - (i + 0.5) * BAND, &a);
    fprintf(c.script, "plot NaN\n");
    plot_end(&c);
    return c.plot;
}

file_bytes *report_plots_draw(report_plot *const *plots, int count, plot_format format)
{
    /* A picture is twice as fine: for slides and paper. A PNG ends with the chunk IEND and its checksum. */
    static const struct {
        const char *terminal, *more, *end;
        int fineness;
    } formats[] = {
        [PLOT_INLINE] = {"svg", "dynamic font 'sans-serif,12' noenhanced", "</svg>", 1},
        [PLOT_SVG] = {"svg", "dynamic font 'sans-serif,12' noenhanced background rgb 'white'", "</svg>", 1},
        [PLOT_PNG] = {"pngcairo", "font 'sans-serif,9' fontscale 2 linewidth 2 noenhanced", "IEND\xae\x42\x60\x82", 2},
    };
    const int fineness = formats[format].fineness;
    file_bytes *drawn = memory_zeroed((size_t)count, sizeof *drawn);
    char *script;
    size_t size;
    FILE *stream = memory_stream(&script, &size);

    fprintf(stream, "set encoding utf8\n");
    for (int i = 0; i < count; i++) /* each script defines all that it uses besides the settings */
        fprintf(stream, "reset\nset terminal %s size %d,%d %s\n%s", formats[format].terminal,
                fineness * plots[i]->width, fineness * plots[i]->height, formats[format].more, plots[i]->script);
    fclose(stream);
    gnuplot_draw(script, formats[format].end, drawn, count);
    free(script);
    for (int i = 0; i < count; i++) {
        if (format == PLOT_INLINE)
            gnuplot_svg_bare((char *)drawn[i].data);
        if (format == PLOT_SVG)
            gnuplot_svg_dark(&drawn[i]);
    }
    return drawn;
}

void report_plots_free(report_plots *plots)
{
    for (int i = 0; i < plots->count; i++) {
        free(plots->list[i].script);
        file_bytes_free(&plots->list[i].svg);
    }
    free(plots->list);
    *plots = (report_plots){.count = 0};
}
