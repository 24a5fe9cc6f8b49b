/* SPDX-License-Identifier: MIT */
#include "plots.h"
#include "bars.h"
#include "gnuplot.h"

#include "look/ceiling.h"
#include "support/memory.h"
#include "view/columns.h"
#include "view/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 256 };

/* --------------------------------------------------------------------------------------------- times as bars ---- */

static void add_times(report_plots *plots, const char *title, const json_t *const *results, int count)
{
    bar_row rows[MOST_POINTS];

    for (int i = 0; i < count; i++) {
        rows[i] = (bar_row){.seconds = {row_number(results[i], "kernel_s"), row_number(results[i], "total_s")}};
        snprintf(rows[i].label, sizeof rows[i].label, "%.16s %.12s", row_text(results[i], "resource"),
                 row_text(results[i], "variant"));
    }
    plot_add_times(plots, "times", title, rows, count);
}

static cell title_of(const json_t *row)
{
    return cell_print("%.32s, %.8s, %.40s", row_text(row, "exercise"), row_text(row, "dtype"),
                      cell_value(json_object_get(row, "shape")).text);
}

void report_plots_times(report_plots *plots, const json_t *results)
{
    size_t count = json_array_size(results);
    const json_t *rows[MOST_POINTS];
    char *taken = memory_zeroed(count + 1, 1);

    for (size_t i = 0; i < count; i++) {
        const cell title = title_of(json_array_get(results, i));
        int same = 0;
        for (size_t j = i; j < count && same < MOST_POINTS; j++) {
            if (taken[j] || strcmp(title.text, title_of(json_array_get(results, j)).text) != 0)
                continue;
            taken[j] = 1;
            rows[same++] = json_array_get(results, j);
        }
        if (same > 0)
            add_times(plots, title.text, rows, same);
    }
    free(taken);
}

/* ------------------------------------------------------------------------------------------------- roofline ---- */

enum { ROOF_WIDTH = 600, ROOF_HEIGHT = 420 };

typedef struct point {
    double x, y;   /* operations a byte, operations a second over 1e9 */
    double px, py; /* in pixels */
    const json_t *row;
} point;

typedef struct roof {
    double bandwidth, f32, f64; /* GB/s, GFLOP/s; NaN: not measured */
    double x0, x1, y0, y1;
    frame f;
    int count;
    point points[MOST_POINTS];
} roof;

/* Collects the results of the device; returns how many of them have no operations. */
static int collect_points(roof *r, const json_t *results, const char *resource)
{
    int without = 0;
    const json_t *row;
    size_t i;

    json_array_foreach(results, i, row)
    {
        double x = row_number(row, "flops") / row_number(row, "bytes"), y = row_number(row, "gflops");
        if (strcmp(row_text(row, "resource"), resource) != 0 || r->count == MOST_POINTS)
            continue;
        if (x > 0 && y > 0 && isfinite(x) && isfinite(y))
            r->points[r->count++] = (point){.x = x, .y = y, .row = row};
        else
            without++;
    }
    return without;
}

static double pixel_of_x(const roof *r, double x)
{
    return r->f.left + log(x / r->x0) / log(r->x1 / r->x0) * (r->f.right - r->f.left);
}

static double pixel_of_y(const roof *r, double y)
{
    return r->f.bottom + log(y / r->y0) / log(r->y1 / r->y0) * (r->f.top - r->f.bottom);
}

/* The axes hold all points, and both parts of the roof. */
static void fit_axes(roof *r)
{
    double peak = fmax(r->f32, r->f64), ridge = peak / r->bandwidth;

    r->x0 = ridge / 10;
    r->x1 = ridge * 10;
    r->y1 = peak;
    r->y0 = peak / 10;
    for (int i = 0; i < r->count; i++) {
        r->x0 = fmin(r->x0, r->points[i].x);
        r->x1 = fmax(r->x1, r->points[i].x);
        r->y0 = fmin(r->y0, r->points[i].y);
        r->y1 = fmax(r->y1, r->points[i].y);
    }
    r->x0 = pow(10, floor(log10(r->x0 / 1.5)));
    r->x1 *= 4;
    r->y0 /= 3;
    r->y1 *= 3;
    for (int i = 0; i < r->count; i++) {
        r->points[i].px = pixel_of_x(r, r->points[i].x);
        r->points[i].py = pixel_of_y(r, r->points[i].y);
    }
}

/* A text: its left middle and its width, in pixels. */
typedef struct box {
    double x, y, width;
} box;

/* Does the text overlap neither a point nor one of the `count` placed texts? */
static bool is_free(const roof *r, const box *placed, int count, const box *b)
{
    if (b->x < r->f.left || b->x + b->width > r->f.width || b->y < r->f.bottom + LINE / 2)
        return false;
    for (int i = 0; i < r->count; i++)
        if (fabs(b->y - r->points[i].py) < LINE - 4 && r->points[i].px > b->x - 5 &&
            r->points[i].px < b->x + b->width + 5)
            return false;
    for (int i = 0; i < count; i++)
        if (fabs(b->y - placed[i].y) < LINE - 1 && b->x < placed[i].x + placed[i].width &&
            placed[i].x < b->x + b->width)
            return false;
    return true;
}

/* Right of its point, or wherever near it there is room. */
static box place(const roof *r, const box *placed, int count, const point *p, double width)
{
    for (int away = 0; away < 6; away++)
        for (int side = 0; side < 4; side++) {
            box b = {side % 2 ? p->px - 8 - width : p->px + 8, p->py + (side / 2 ? -1 : 1) * away * (LINE - 3), width};
            if (is_free(r, placed, count, &b))
                return b;
        }
    return (box){p->px + 8, p->py, width};
}

static const char *colour_of(const json_t *row)
{
    const char *dtype = row_text(row, "dtype");

    return strcmp(dtype, "f32") == 0 ? BLUE : strcmp(dtype, "f64") == 0 ? ORANGE : GREY;
}

static void put_points(FILE *script, const roof *r, box *placed, int count)
{
    for (int i = 0; i < r->count; i++) {
        const point *p = &r->points[i];
        const cell label = cell_print("%.32s", row_text(p->row, "exercise"));
        fprintf(script, "set object circle at screen %.6f,%.6f size screen %.6f fc rgb '%s' fs solid noborder front\n",
                p->px / r->f.width, p->py / r->f.height, 4.5 / r->f.width, colour_of(p->row));
        placed[count] = place(r, placed, count, p, LETTER * (double)strlen(label.text));
        plot_label(script, label.text, placed[count].x, placed[count].y, &r->f, "left front");
        count++;
    }
}

/* A roof's edge: the memory up to the ridge, and then the arithmetic, with its name at the right end, on the side that
 * the other roof is not. */
static box put_roof(FILE *script, const roof *r, double peak, double other, const char *dtype)
{
    cell label = cell_print("%.3g GFLOP/s %s", peak, dtype);
    const double width = LETTER * (double)strlen(label.text), y = pixel_of_y(r, peak) + (peak < other ? -9 : 9);

    fprintf(script, "$%s << END\n%.9g %.9g\n%.9g %.9g\n%.9g %.9g\nEND\n", dtype, r->x0, r->x0 * r->bandwidth,
            peak / r->bandwidth, peak, r->x1, peak);
    plot_label(script, label.text, r->f.right, y, &r->f, "right front");
    return (box){r->f.right - width, y, width};
}

/* Below the slope's lower end. */
static box put_bandwidth(FILE *script, const roof *r)
{
    cell label = cell_print("%.3g GB/s", r->bandwidth);
    const double x = fmax(r->x0, r->y0 / r->bandwidth);
    const box b = {pixel_of_x(r, x) + 26, pixel_of_y(r, x * r->bandwidth) + 11, LETTER * (double)strlen(label.text)};

    plot_label(script, label.text, b.x, b.y, &r->f, "left front");
    return b;
}

static void put_axes(FILE *script, const roof *r)
{
    fprintf(script,
            "set logscale xy\nset xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\nset xtics 10 format '%%g' scale 0\n"
            "set ytics 10 format '%%g' scale 0\nunset mxtics\nunset mytics\nset grid ytics lt 1 lc rgb '#cccccc' lw 1\n"
            "set xlabel 'operations a compulsory byte (FLOP/B)'\nset ylabel 'GFLOP/s'\n",
            r->x0, r->x1, r->y0, r->y1);
}

static void draw_roof(report_plot *p, const roof *r)
{
    box placed[MOST_POINTS + 3];
    int roofs = 0;
    size_t size;
    FILE *script = plot_script(p, &size);

    plot_frame(script, &r->f);
    put_axes(script, r);
    placed[roofs++] = put_bandwidth(script, r);
    if (r->f32 > 0)
        placed[roofs++] = put_roof(script, r, r->f32, r->f64, "f32");
    if (r->f64 > 0)
        placed[roofs++] = put_roof(script, r, r->f64, r->f32, "f64");
    put_points(script, r, placed, roofs);
    fprintf(script, "plot");
    if (r->f32 > 0)
        fprintf(script, " $f32 with lines lw 2 lc rgb '" BLUE "'%s", r->f64 > 0 ? "," : "");
    if (r->f64 > 0)
        fprintf(script, " $f64 with lines lw 2 lc rgb '" ORANGE "'");
    fprintf(script, "\n");
    plot_close(script);
}

static void add_roofline(report_plots *plots, const json_t *results, const json_t *ceiling)
{
    roof r = {ceiling_rate(ceiling, "copy") / 1e9, ceiling_rate(ceiling, "f32") / 1e9,
              ceiling_rate(ceiling, "f64") / 1e9, .count = 0};
    int without = collect_points(&r, results, row_text(ceiling, "resource"));
    report_plot *p;

    if (r.count == 0 || !(r.bandwidth > 0) || !(fmax(r.f32, r.f64) > 0))
        return;
    p = plot_add(plots, "roofline",
                 cell_print("%.40s: %s", row_text(ceiling, "resource"), row_text(ceiling, "device")).text, ROOF_WIDTH,
                 ROOF_HEIGHT);
    if (without > 0)
        snprintf(p->note, sizeof p->note, "%d result%s without floating-point operations left out", without,
                 without > 1 ? "s" : "");
    r.f = (frame){p->width, p->height, 72, p->width - 12, 52, p->height - 10};
    fit_axes(&r);
    draw_roof(p, &r);
}

void report_plots_roofline(report_plots *plots, const json_t *results, const json_t *ceilings)
{
    const json_t *ceiling;
    size_t i;

    json_array_foreach(ceilings, i, ceiling) add_roofline(plots, results, ceiling);
}

/* ----------------------------------------------------------------------------------------------------- laws ---- */

enum { LAWS_WIDTH = 480, LAWS_HEIGHT = 340 };

/* The largest of the measured points. */
typedef struct reach {
    double n, speed_up;
} reach;

/* The measured points as a block of data. */
static void put_scaling(FILE *script, const char *name, const json_t *points, reach *most)
{
    const json_t *point;
    size_t i;

    fprintf(script, "$%s << END\n", name);
    json_array_foreach(points, i, point)
    {
        double n = row_number(point, "n"), speed_up = row_number(point, "speed_up");
        if (!(n > 0) || !(speed_up > 0))
            continue;
        fprintf(script, "%.9g %.9g\n", n, speed_up);
        most->n = fmax(most->n, n);
        most->speed_up = fmax(most->speed_up, speed_up);
    }
    fprintf(script, "END\n");
}

/* The curve of the fitted law: over n workers, at the serial fraction s. */
static void put_law(FILE *script, const char *law, const json_t *fit, const char *formula, const char *colour)
{
    double fraction = row_number(fit, "serial_fraction");

    if (isfinite(fraction))
        fprintf(script, "s_%s = %.9g\nlist = list.\", rate*(%s) lw 2 lc rgb '%s'\"\n", law, fraction, formula, colour);
}

static void put_points_of(FILE *script, const json_t *laws, const char *name, const char *colour)
{
    if (json_array_size(json_object_get(laws, name)) > 0)
        fprintf(script, "list = list.\", $%s using 1:(rate*$2):(radius) with circles lc rgb '%s'\"\n", name, colour);
}

/* The scale of the speed-ups: for batches of a GPU, matrices a second, where one matrix takes kernel_s. A batch cannot
 * become as many times faster as it has matrices, so the plot is only as high as the points. */
static void put_height(FILE *script, const json_t *laws, double most)
{
    double rate = 1 / row_number(json_array_get(json_object_get(laws, "batch"), 0), "kernel_s");

    if (rate > 0 && isfinite(rate))
        fprintf(script,
                "rate = %.9g\nset yrange [0:%.9g]\nset ytics format '%%.0s %%c' scale 0\n"
                "set ylabel 'matrices a second'\n",
                rate, 1.2 * rate * most);
    else
        fprintf(script, "rate = 1\nset yrange [0:*]\nset ytics format '%%g' scale 0\nset ylabel 'speed-up'\n");
}

/* The axes, and the curves that there are. */
static void put_curves(FILE *script, const json_t *laws, const reach *most)
{
    double high = 1.05 * fmax(most->n, 2);

    fprintf(script,
            "set xrange [1:%.9g]\nset samples 200\nset xtics %.9g format '%%g' scale 0\n"
            "set grid ytics lt 1 lc rgb '#cccccc' lw 1\nset xlabel ",
            high, fmax(1, ceil(most->n / 8)));
    gnuplot_text(script, json_is_string(json_object_get(laws, "unit")) ? row_text(laws, "unit") : "n");
    fprintf(script, "\nradius = %.9g\nlist = \"rate*x lw 1 dt 2 lc rgb '" GREY "'\"\n", (high - 1) / (LAWS_WIDTH / 4));
    put_height(script, laws, most->speed_up);
    put_law(script, "strong", json_object_get(laws, "amdahl"), "1/(s_strong+(1-s_strong)/x)", BLUE);
    put_law(script, "weak", json_object_get(laws, "gustafson"), "s_weak+(1-s_weak)*x", ORANGE);
    put_points_of(script, laws, "strong", BLUE);
    put_points_of(script, laws, "weak", ORANGE);
    put_points_of(script, laws, "batch", BLUE);
    fprintf(script, "eval \"plot \".list\n");
}

static void add_laws(report_plots *plots, const json_t *laws)
{
    static const char *const kinds[] = {"strong", "weak", "batch"};
    frame f = {LAWS_WIDTH, LAWS_HEIGHT, 72, LAWS_WIDTH - 12, 52, LAWS_HEIGHT - 10};
    reach most = {1, 1};
    size_t size, points = 0;
    report_plot *p;
    FILE *script;

    for (int k = 0; k < 3; k++)
        points += json_array_size(json_object_get(laws, kinds[k]));
    if (points == 0)
        return;
    p = plot_add(plots, "laws", cell_print("%.32s, %.40s", row_text(laws, "exercise"), row_text(laws, "backend")).text,
                 LAWS_WIDTH, LAWS_HEIGHT);
    script = plot_script(p, &size);
    plot_frame(script, &f);
    for (int k = 0; k < 3; k++)
        put_scaling(script, kinds[k], json_object_get(laws, kinds[k]), &most);
    put_curves(script, laws, &most);
    plot_close(script);
}

void report_plots_laws(report_plots *plots, const json_t *laws)
{
    const json_t *value, *one;
    size_t i, k;

    json_array_foreach(laws, i, value)
    {
        if (json_is_object(value))
            add_laws(plots, value);
        json_array_foreach(value, k, one) add_laws(plots, one);
    }
}
