/* SPDX-License-Identifier: MIT
 *
 * plots.c - the report's plots: times, rooflines, scaling with the fitted laws, and the steps of a taxonomy.
 */
#include "page.h"

#include "look/ceiling.h"
#include "view/columns.h"
#include "view/row.h"
#include "view/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 256 };

cell report_size(const json_t *row)
{
    const json_t *inputs = json_object_get(row, "input_shapes"), *whole = json_object_get(row, "array_shape");
    const bool none = json_is_array(inputs) && json_array_size(inputs) == 0;

    return cell_value(json_array_size(inputs) > 0 ? json_array_get(inputs, 0)
                      : whole                     ? whole
                                                  : json_object_get(row, none ? "elements" : "shape"));
}

static cell title_of(const json_t *row)
{
    return cell_print("%.32s, %.8s, %.40s", row_text(row, "exercise"), row_text(row, "dtype"), report_size(row).text);
}

void report_plots_times(report_plots *plots, const json_t *results)
{
    json_t *charts = rows_grouped(results, (const char *const[]){"exercise", "dtype", "shape", "input_shapes", NULL}),
           *chart, *row;
    bar_row rows[MOST_POINTS];
    const char *key;
    size_t i;

    json_object_foreach(charts, key, chart) json_array_foreach(chart, i, row)
    {
        const int place = (int)(i % MOST_POINTS), last = i + 1 == json_array_size(chart) || place + 1 == MOST_POINTS;
        rows[place] = bar_row_of(row, row_text(row, "variant"), "kernel_s", "total_s");
        if (last && plots->count < MOST_PLOTS)
            plot_add_times(plots, "times", title_of(row).text, rows, place + 1);
        else
            plots->left_out += last;
    }
    json_decref(charts);
}

enum { ROOF_WIDTH = 600, ROOF_HEIGHT = 420 };

typedef struct point {
    double x, y;   /* operations a byte, operations a second over 1e9 */
    double px, py; /* in pixels */
    const json_t *row;
} point;

typedef struct roof {
    double bandwidth, f32, f64; /* GB/s, GFLOP/s; NaN: not measured */
    const json_t *ceiling;
    axis x, y;
    canvas c;
    int count, without, beyond; /* points; results that have no operations; results beyond MOST_POINTS */
    point points[MOST_POINTS];
} roof;

/* Collects the results of the device. */
static void collect_points(roof *r, const json_t *results)
{
    const json_t *row;
    size_t i;

    json_array_foreach(results, i, row)
    {
        double x = row_number(row, "flops") / row_number(row, "bytes"), y = row_number(row, "gflops");
        if (!axis_shows(x) || !axis_shows(y))
            r->without++;
        else if (r->count == MOST_POINTS)
            r->beyond++;
        else
            r->points[r->count++] = (point){.x = x, .y = y, .row = row};
    }
}

static double pixel_of_x(const roof *r, double x)
{
    return axis_pixel(&r->x, x, r->c.left, r->c.right);
}

static double pixel_of_y(const roof *r, double y)
{
    return axis_pixel(&r->y, y, r->c.bottom, r->c.top);
}

/* The rate at a time of the kernel, as the height of a point in pixels within the axis. */
static double pixel_at(const roof *r, const point *p, double seconds)
{
    const double y = p->y * row_number(p->row, "kernel_s") / seconds;

    return axis_shows(y) ? fmin(fmax(pixel_of_y(r, y), r->c.bottom), r->c.top) : (double)NAN;
}

/* The axes hold all points, and both parts of the roof. */
static void fit_axes(roof *r)
{
    const double peak = fmax(r->f32, r->f64), ridge = peak / r->bandwidth;
    axis x = {ridge / 10, ridge * 10, true}, y = {peak / 10, peak, true};

    for (int i = 0; i < r->count; i++) {
        const point *p = &r->points[i];
        x = (axis){fmin(x.low, p->x), fmax(x.high, p->x), true};
        y = (axis){fmin(y.low, p->y), fmax(y.high, p->y), true};
    }
    r->x = (axis){pow(10, floor(log10(x.low / 1.5))), 4 * x.high, true};
    r->y = (axis){y.low / 3, 3 * y.high, true};
    for (int i = 0; i < r->count; i++) {
        r->points[i].px = pixel_of_x(r, r->points[i].x);
        r->points[i].py = pixel_of_y(r, r->points[i].y);
    }
}

/* A text: its left middle and its width, in pixels. */
typedef struct box {
    double x, y, width;
} box;

/* Returns whether a roof crosses the text. A roof whose peak is not known is that of the memory. */
static bool is_crossed(const roof *r, const box *b)
{
    for (int i = 0; i <= b->width; i += 4) {
        const double x = r->x.low * pow(r->x.high / r->x.low, (b->x + i - r->c.left) / (r->c.right - r->c.left));
        if (fabs(b->y - pixel_of_y(r, fmin(x * r->bandwidth, r->f32))) < LINE / 2 ||
            fabs(b->y - pixel_of_y(r, fmin(x * r->bandwidth, r->f64))) < LINE / 2)
            return true;
    }
    return false;
}

static bool hides_point(const roof *r, const box *b)
{
    for (int i = 0; i < r->count; i++)
        if (fabs(b->y - r->points[i].py) < LINE - 4 && r->points[i].px > b->x - 5 &&
            r->points[i].px < b->x + b->width + 5)
            return true;
    return false;
}

/* Returns whether the text overlaps neither a roof, a point nor one of the `count` placed texts. */
static bool is_free(const roof *r, const box *placed, int count, const box *b)
{
    if (b->x < r->c.left || b->x + b->width > ROOF_WIDTH || b->y < r->c.bottom + LINE / 2 || is_crossed(r, b) ||
        hides_point(r, b))
        return false;
    for (int i = 0; i < count; i++)
        if (fabs(b->y - placed[i].y) < LINE - 1 && b->x < placed[i].x + placed[i].width &&
            placed[i].x < b->x + b->width)
            return false;
    return true;
}

/* The place of a text: right of its point, or wherever there is room close to it. */
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

static void put_points(const roof *r, box *placed, int count)
{
    for (int i = 0; i < r->count; i++) {
        const point *p = &r->points[i];
        const cell label = cell_print("%s%.32s", row_is_noisy(p->row) ? "~ " : "", row_text(p->row, "exercise"));
        const quartiles q = quartiles_of(p->row, "kernel_s");
        plot_point(&r->c, p->px, p->py, 4.5, colour_of(p->row));
        plot_whisker(&r->c, p->px, pixel_at(r, p, q.high), p->px, pixel_at(r, p, q.low), false);
        placed[count] = place(r, placed, count, p, plot_text_width(label.text));
        if (placed[count].x < p->px) /* its letters may be narrower or wider than expected: away from the point */
            plot_label(&r->c, label.text, placed[count].x + placed[count].width, placed[count].y, "right front");
        else
            plot_label(&r->c, label.text, placed[count].x, placed[count].y, "left front");
        count++;
    }
}

/* "~" where something disturbed the measurement of the ceiling under the key. */
static const char *mark_of(const roof *r, const char *key)
{
    const json_t *quantity;
    size_t i;

    json_array_foreach(json_object_get(r->ceiling, "quantities"), i,
                       quantity) if (strcmp(row_text(quantity, "key"), key) == 0) return row_is_noisy(quantity)
        ? "~"
        : "";
    return "";
}

/* GFLOP/s of a tic of 1. */
static double unit_of(const roof *r)
{
    return fmax(fmax(r->f32, 0), fmax(r->f64, 0)) < 1e3 ? 1 : 1e3;
}

/* A roof's edge: the memory up to the ridge, and then the arithmetic, with its name at the right end, or where it hides
 * no point, on the side that the other roof is not; above both where they are too close for that. */
static box put_roof(const roof *r, double peak, double other, const char *dtype)
{
    const cell label = cell_print("%s%s %s", mark_of(r, dtype), format_rate(1e9 * peak, "FLOP/s").text, dtype);
    const double width = plot_text_width(label.text), apart = pixel_of_y(r, other) - pixel_of_y(r, peak);
    box b = {r->c.right - width, pixel_of_y(r, peak) + (peak < other ? -9 : 9), width};

    if (hides_point(r, &b) && apart > 0 && apart < 2 * LINE)
        b.y += apart + 18 + LINE;
    while (hides_point(r, &b) && b.x > (r->c.left + r->c.right) / 2.0)
        b.x -= 10;
    fprintf(r->c.script, "$%s << END\n%.9g %.9g\n%.9g %.9g\n%.9g %.9g\nEND\n", dtype, r->x.low,
            r->x.low * r->bandwidth / unit_of(r), peak / r->bandwidth, peak / unit_of(r), r->x.high, peak / unit_of(r));
    plot_label(&r->c, label.text, b.x + width, b.y, "right front");
    return b;
}

/* Below the slope's lower end. */
static box put_bandwidth(const roof *r)
{
    const cell label = cell_print("%s%s", mark_of(r, "copy"), format_rate(1e9 * r->bandwidth, "B/s").text);
    const double x = fmax(r->x.low, r->y.low / r->bandwidth);
    const box b = {pixel_of_x(r, x) + 26, pixel_of_y(r, x * r->bandwidth) + 11, plot_text_width(label.text)};

    plot_label(&r->c, label.text, b.x, b.y, "left front");
    return b;
}

static void draw_roof(roof *r)
{
    FILE *script = r->c.script;
    box placed[MOST_POINTS + 3];
    int roofs = 0;

    fprintf(script,
            "set logscale xy\nset xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n"
            "set xtics format '%%g' scale 0\nset ytics format '%%g' scale 0\nunset mxtics\nunset mytics\n"
            "set xlabel 'arithmetic intensity (FLOP/byte)'\nset ylabel '%sFLOP/s'\n",
            r->x.low, r->x.high, r->y.low / unit_of(r), r->y.high / unit_of(r), unit_of(r) > 1 ? "T" : "G");
    placed[roofs++] = put_bandwidth(r);
    if (r->f32 > 0)
        placed[roofs++] = put_roof(r, r->f32, r->f64, "f32");
    if (r->f64 > 0)
        placed[roofs++] = put_roof(r, r->f64, r->f32, "f64");
    put_points(r, placed, roofs);
    fprintf(script, "plot");
    if (r->f32 > 0)
        fprintf(script, " $f32 with lines lw 2 lc rgb '" BLUE "'%s", r->f64 > 0 ? "," : "");
    if (r->f64 > 0)
        fprintf(script, " $f64 with lines lw 2 lc rgb '" ORANGE "'");
    fprintf(script, "\n");
    plot_end(&r->c);
}

/* Writes what the plot leaves out. */
static void put_note(const roof *r, report_plot *plot)
{
    plot_note_emulation(plot, r->points[0].row);
    if (r->without > 0)
        plot_note(plot, cell_print("%d result%s without floating-point operations left out", r->without,
                                   r->without > 1 ? "s" : "")
                            .text);
    if (r->beyond > 0)
        plot_note(plot, cell_print("the first %d points of %d", r->count, r->count + r->beyond).text);
}

/* `results` are those of the ceiling's device. */
static void add_roofline(report_plots *plots, const json_t *results, const json_t *ceiling)
{
    roof r = {ceiling_rate(ceiling, "copy") / 1e9, ceiling_rate(ceiling, "f32") / 1e9,
              ceiling_rate(ceiling, "f64") / 1e9, ceiling, .count = 0};
    const cell title = cell_print("%.40s: %.80s", row_text(ceiling, "resource"), row_text(ceiling, "device"));

    collect_points(&r, results);
    if (r.count == 0 || !axis_shows(r.bandwidth) || !axis_shows(fmax(r.f32, r.f64)))
        return;
    if (plots->count == MOST_PLOTS) {
        plots->left_out++;
        return;
    }
    r.c = plot_begin(plots, "roofline", title.text, ROOF_WIDTH, ROOF_HEIGHT, 0);
    put_note(&r, r.c.plot);
    fit_axes(&r);
    draw_roof(&r);
}

void report_plots_roofline(report_plots *plots, const json_t *results, const json_t *ceilings)
{
    static const char *const keys[] = {"resource", NULL};
    json_t *devices = rows_grouped(results, keys);
    const json_t *ceiling;
    size_t i;

    json_array_foreach(ceilings, i, ceiling)
    {
        char *device = row_key(ceiling, keys);
        add_roofline(plots, json_object_get(devices, device), ceiling);
        free(device);
    }
    json_decref(devices);
}

enum { LAWS_WIDTH = 480, LAWS_HEIGHT = 340 };

/* The kinds of points with the colours of their circles, and the law that describes them. */
static const struct scaling {
    const char *kind, *colour, *law, *formula; /* NULL: the batch's law is that of the first */
} scalings[] = {
    {"strong", BLUE, "amdahl", "1/(s_strong+(1-s_strong)/x)"},
    {"weak", ORANGE, "gustafson", "s_weak+(1-s_weak)*x"},
    {"batch", BLUE, NULL, NULL},
};
enum { SCALINGS = sizeof scalings / sizeof *scalings };

/* The largest of the measured points. */
typedef struct reach {
    double n, speed_up;
} reach;

/* The measured points as a block of data: n, the speed-up, the lower end of its whisker and the whisker's length (the
 * quartiles of the point's own times), and its mark. */
static void put_points_of(FILE *script, const char *name, const json_t *points, reach *most)
{
    const json_t *point;
    size_t i;

    fprintf(script, "$%s << END\n", name);
    json_array_foreach(points, i, point)
    {
        double n = row_number(point, "n"), speed_up = row_number(point, "speed_up");
        if (!(n > 0) || !(speed_up > 0))
            continue;
        const quartiles q = quartiles_of(point, "kernel_s");
        const double work = speed_up * row_number(point, "kernel_s"), low = work / q.high, high = work / q.low;
        const bool known = axis_shows(low) && axis_shows(high);
        fprintf(script, "%.9g %.9g %.9g %.9g \"%s\"\n", n, speed_up, known ? low : speed_up, known ? high - low : 0,
                row_is_noisy(point) ? "~" : "");
        most->n = fmax(most->n, n);
        most->speed_up = fmax(most->speed_up, known ? high : speed_up);
    }
    fprintf(script, "END\n");
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

/* The axes, the curves of the fitted laws over n workers, and the points on them. */
static void put_curves(FILE *script, const json_t *laws, const reach *most)
{
    const double high = 1.05 * fmax(most->n, 2);

    fprintf(script, "set xrange [%.9g:%.9g]\nset samples 200\nset xtics %.9g format '%%g' scale 0\nset xlabel ",
            1 - (high - 1) / 50, high, fmax(1, ceil(most->n / 8)));
    gnuplot_text(script, json_is_string(json_object_get(laws, "unit")) ? row_text(laws, "unit") : "n");
    fprintf(script, "\nradius = %.9g\nlist = \"rate*x lw 1 dt 2 lc rgb '" GREY "'\"\n", (high - 1) / (LAWS_WIDTH / 4));
    put_height(script, laws, most->speed_up);
    for (const struct scaling *s = scalings; s->law; s++) {
        const double fraction = row_number(json_object_get(laws, s->law), "serial_fraction");
        if (isfinite(fraction))
            fprintf(script, "s_%s = %.9g\nlist = list.\", rate*(%s) lw 2 lc rgb '%s'\"\n", s->kind, fraction,
                    s->formula, s->colour);
    }
    for (const struct scaling *s = scalings; s < scalings + SCALINGS; s++)
        if (json_array_size(json_object_get(laws, s->kind)) > 0)
            fprintf(script,
                    "list = list.\", $%s using 1:(rate*$3):(0):(rate*$4) with vectors heads size screen %.6f,90 lw 1.5 "
                    "lc rgb 'black'\"\n"
                    "list = list.\", $%s using 1:(rate*$2):(radius) with circles lc rgb '%s'\"\n"
                    "list = list.\", $%s using 1:(rate*$2):5 with labels %s\"\n",
                    s->kind, 3.5 / LAWS_WIDTH, s->kind, s->colour, s->kind,
                    s->law == scalings[1].law ? "right offset -1,0.5" : "left offset 1,0.5");
    fprintf(script, "eval \"plot \".list\n");
}

static void add_laws(report_plots *plots, const json_t *laws)
{
    const cell title = cell_print("%.32s, %.40s", row_text(laws, "exercise"), row_text(laws, "backend"));
    reach most = {1, 1};
    size_t points = 0;
    canvas c;

    for (int k = 0; k < SCALINGS; k++)
        points += json_array_size(json_object_get(laws, scalings[k].kind));
    if (points == 0)
        return;
    c = plot_begin(plots, "laws", title.text, LAWS_WIDTH, LAWS_HEIGHT, 0);
    plot_note_emulation(c.plot, laws);
    for (int k = 0; k < SCALINGS; k++)
        put_points_of(c.script, scalings[k].kind, json_object_get(laws, scalings[k].kind), &most);
    put_curves(c.script, laws, &most);
    plot_end(&c);
}

void report_plots_laws(report_plots *plots, const json_t *laws)
{
    const json_t *value;
    size_t i;

    json_array_foreach(laws, i, value) add_laws(plots, value);
}

void report_plots_taxonomies(report_plots *plots, const json_t *taxonomies)
{
    const json_t *taxonomy, *step;
    bar_row rows[MOST_POINTS];
    size_t i, k;

    json_array_foreach(taxonomies, i, taxonomy)
    {
        const cell title = cell_print("%.32s, %.8s", row_text(taxonomy, "exercise"), row_text(taxonomy, "dtype"));
        int count = 0;
        json_array_foreach(json_object_get(taxonomy, "steps"), k, step) if (count < MOST_POINTS) rows[count++] =
            bar_row_of(step, row_text(step, "flynn_class"), "kernel_s", "total_s");
        if (count > 0 && plots->count < MOST_PLOTS)
            plot_add_times(plots, "taxonomy", title.text, rows, count)->group = (int)i;
        else
            plots->left_out += count > 0;
    }
}
