/* SPDX-License-Identifier: MIT
 *
 * Plots of sweeps: kernel_s over size, components and block, for each backend by itself.
 */
#include "page.h"

#include "support/statistics.h"
#include "sweep/show.h"
#include "view/row.h"
#include "view/units.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 64, MOST_COLUMNS = 16, MOST_LINES = 8 };

/* Different texts, in the order in which they were found. */
typedef struct names {
    int count, most, left_out;
    cell list[MOST_ROWS];
} names;

/* The place of the text, which is added; -1: there are `most` others. */
static int place_of(names *n, const char *text)
{
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->list[i].text, text) == 0)
            return i;
    if (n->count == n->most) {
        n->left_out++;
        return -1;
    }
    n->list[n->count] = cell_print("%s", text);
    return n->count++;
}

static int longest(const names *n)
{
    size_t most = 1;

    for (int i = 0; i < n->count; i++)
        most = strlen(n->list[i].text) > most ? strlen(n->list[i].text) : most;
    return (int)most;
}

/* How many values a sweep has of what it varies. */
typedef struct extent {
    size_t sizes, keeps, blocks;
    bool places; /* several sizes, or numbers of components */
} extent;

static size_t count_values(const json_t *rows, const char *key, const char *other)
{
    json_t *groups = rows_grouped(rows, (const char *const[]){key, other, NULL});
    const size_t count = json_object_size(groups);

    json_decref(groups);
    return count;
}

static extent extent_of(const json_t *rows)
{
    extent e = {count_values(rows, "size", "let"), count_values(rows, "keep_asked", NULL),
                count_values(rows, "block_asked", NULL), false};

    e.places = e.sizes > 1 || e.keeps > 1;
    return e;
}

/* Infinite: it is wrong. NaN: it was not measured. */
static double seconds_of(const json_t *row)
{
    const double seconds = row_number(row, "kernel_s");

    return row_is_wrong(row) ? (double)INFINITY : axis_shows(seconds) ? seconds : (double)NAN;
}

static cell title_of(const json_t *row, const char *over)
{
    return cell_print("%.24s, %.20s: kernel over %s", row_text(row, "exercise"), row_text(row, "resource"), over);
}

/* ---------------------------------------------------------------------------------------------------- heat map ---- */

enum { CELL = 22, FOOT = 52, LEAST_WIDTH = 72, RAMP_WIDTH = 96, RAMP_STEPS = 24 };

typedef struct heat {
    names rows, columns;
    double seconds[MOST_ROWS][MOST_COLUMNS]; /* as of seconds_of */
    bool noisy[MOST_ROWS][MOST_COLUMNS];
    double best[MOST_COLUMNS], most; /* of the work of each column the least; the largest ratio to it, at least 2 */
} heat;

/* Sets the colours' scale, which noisy cells decide only in columns without others. */
static void set_scale(heat *h, const extent *e, bool noisy)
{
    double best[MOST_COLUMNS];

    memcpy(best, h->best, sizeof best);
    for (int i = 0; i < MOST_ROWS * MOST_COLUMNS; i++)
        for (int k = 0; k < MOST_COLUMNS; k++) /* columns of blocks are of the same work */
            if ((k == i % MOST_COLUMNS || !e->places) && isnan(best[k]) &&
                isfinite(h->seconds[i / MOST_COLUMNS][i % MOST_COLUMNS]) &&
                h->noisy[i / MOST_COLUMNS][i % MOST_COLUMNS] == noisy)
                h->best[k] = fmin(h->best[k], h->seconds[i / MOST_COLUMNS][i % MOST_COLUMNS]);
    for (int i = 0; i < MOST_ROWS * MOST_COLUMNS; i++) {
        const int k = i % MOST_COLUMNS;
        const double ratio = h->seconds[i / MOST_COLUMNS][k] / h->best[k];
        if (isnan(best[k]) && h->noisy[i / MOST_COLUMNS][k] == noisy && isfinite(ratio))
            h->most = fmax(h->most, ratio);
    }
}

/* Rows are variants with their blocks and columns are sizes; of one size, variants and blocks. */
static heat heat_of(const json_t *results, const extent *e)
{
    heat h = {.rows.most = MOST_ROWS, .columns.most = MOST_COLUMNS, .most = 2};
    const json_t *row;
    size_t i;

    for (int k = 0; k < MOST_ROWS * MOST_COLUMNS; k++)
        h.best[k % MOST_COLUMNS] = h.seconds[k / MOST_COLUMNS][k % MOST_COLUMNS] = NAN;
    json_array_foreach(results, i, row)
    {
        const cell variant = variant_cell(row), block = sweep_block(row),
                   both = cell_print("%.60s %.16s", variant.text, *block.text == '-' ? "" : block.text);
        const int c = place_of(&h.columns, e->places ? sweep_size(row).text : block.text),
                  r = c < 0 ? -1 : place_of(&h.rows, e->places && e->blocks > 1 ? both.text : variant.text);
        if (r < 0)
            continue;
        if (seconds_of(row) < h.seconds[r][c] || isnan(h.seconds[r][c])) {
            h.seconds[r][c] = seconds_of(row);
            h.noisy[r][c] = row_is_noisy(row);
        }
    }
    set_scale(&h, e, false);
    set_scale(&h, e, true); /* of columns that have nothing but noise */
    return h;
}

/* Viridis, which stays in order for the colour-blind and in grey: 0 is yellow, 1 is violet. */
static cell ramp(double part)
{
    static const int stops[][3] = {{253, 231, 37}, {94, 201, 98}, {33, 145, 140}, {59, 82, 139}, {68, 1, 84}};
    const double place = 4 * fmin(fmax(part, 0), 1);
    const int i = place < 3 ? (int)place : 3;
    int mixed[3];

    for (int k = 0; k < 3; k++)
        mixed[k] = (int)lround(stops[i][k] + (place - i) * (stops[i + 1][k] - stops[i][k]));
    return cell_print("#%02x%02x%02x", (unsigned)mixed[0], (unsigned)mixed[1], (unsigned)mixed[2]);
}

static void put_cell(const canvas *c, const heat *h, int row, int column, double width)
{
    const double x = c->left + (column + 0.5) * width, y = c->top - (row + 0.5) * CELL,
                 seconds = h->seconds[row][column], part = log(seconds / h->best[column]) / log(h->most);

    if (isfinite(part)) {
        plot_box(c, x, y, width - 2, CELL - 2, ramp(part).text);
        plot_label(c, noisy_seconds(seconds, h->noisy[row][column]).text, x, y,
                   part < 0.45 ? "center front tc rgb '#14181c'" : "center front tc rgb '#ffffff'");
    } else if (isinf(seconds)) {
        plot_label(c, "wrong", x, y, "center front tc rgb '#d03040'");
    }
}

static void put_ramp(const canvas *c, const heat *h)
{
    const double left = c->left + plot_text_width("1.00x") + 6, step = (double)RAMP_WIDTH / RAMP_STEPS;

    plot_label(c, "1.00x", left - 6, 10, "right");
    for (int i = 0; i < RAMP_STEPS; i++)
        plot_box(c, left + (i + 0.5) * step, 10, step + 0.5, 12, ramp(i / (RAMP_STEPS - 1.0)).text);
    plot_label(c, format_factor(h->most).text, left + RAMP_WIDTH + 6, 10, "left");
}

static void add_heat(report_plots *plots, const json_t *rows, const extent *e)
{
    const json_t *first = json_array_get(rows, 0);
    const heat h = heat_of(rows, e);
    const int letters = longest(&h.rows);
    const char *over = !e->places ? "variant and block" : e->blocks > 1 ? "block and size" : "variant and size";
    const double wide = fmax(LEAST_WIDTH, plot_text_width("m") * longest(&h.columns) + 12);
    const double legend = plot_text_width("1.00x") + RAMP_WIDTH + plot_text_width(format_factor(h.most).text) + 12;
    canvas c;

    if (h.rows.count < 2 || h.columns.count < 2)
        return;
    c = plot_begin(plots, "sweep-map", title_of(first, over).text,
                   (int)fmax(26 + 7 * letters + fmax(h.columns.count * wide, legend), 320),
                   h.rows.count * CELL + FOOT + 8, letters);
    c.bottom = FOOT;
    plot_note_emulation(c.plot, first);
    plot_note(c.plot, e->places ? "colour: over the fastest of its column" : "colour: over the fastest");
    if (h.rows.left_out + h.columns.left_out > 0)
        plot_note(c.plot, cell_print("the first %d rows and %d columns", h.rows.count, h.columns.count).text);
    fprintf(c.script, "unset xtics\nset xrange [0:1]\n");
    for (int i = 0; i < h.columns.count; i++)
        plot_label(&c, h.columns.list[i].text, c.left + (i + 0.5) * wide, FOOT - 12, "center");
    for (int r = 0; r < h.rows.count; r++) {
        plot_label(&c, h.rows.list[r].text, c.left - 8, c.top - (r + 0.5) * CELL, "right");
        for (int i = 0; i < h.columns.count; i++)
            put_cell(&c, &h, r, i, wide);
    }
    put_ramp(&c, &h);
    fprintf(c.script, "plot NaN\n");
    plot_end(&c);
}

/* ------------------------------------------------------------------------------------------------------- lines ---- */

enum { LINES_WIDTH = 380, LINES_HEIGHT = 280, SAMPLE = 46 }; /* the key stands right of LINES_WIDTH */

/* Over sizes, numbers of components or, if all results have one of each, the blocks in the order in which they ran. */
typedef struct lines {
    cell key; /* the key of the axis x; "": blocks */
    const char *name;
    names series, blocks;
    double x[MOST_ROWS], least, most; /* of all lines together; the least and the most time */
    double y[MOST_LINES][MOST_ROWS];
    quartiles whiskers[MOST_LINES][MOST_ROWS];
    bool noisy[MOST_LINES][MOST_ROWS];
    bool flat[MOST_LINES]; /* it has no blocks: its time is that of each */
    int count;
} lines;

static bool has_key(const lines *l)
{
    return *l->key.text != '\0';
}

static int place_of_x(lines *l, const json_t *row)
{
    const double x = has_key(l) ? row_number(row, l->key.text) : place_of(&l->blocks, sweep_block(row).text);
    int i = 0;

    if (!axis_shows(x) && x != 0)
        return -1;
    while (i < l->count && l->x[i] != x)
        i++;
    if (i == MOST_ROWS)
        return -1;
    if (i == l->count)
        l->x[l->count++] = x;
    return i;
}

/* The name of --let of which these rows have several values; "elements" where there are several such names. */
static const char *varied_name(const json_t *rows)
{
    const char *name, *varied = NULL;
    json_t *unused;

    json_object_foreach(row_value(json_array_get(rows, 0), "let"), name, unused)
    {
        if (count_values(rows, cell_print("let.%.60s", name).text, NULL) < 2)
            continue;
        if (varied)
            return "elements";
        varied = name;
    }
    return varied;
}

/* Each line has the fastest block, where its axis is not that of blocks. */
static lines lines_of(const json_t *rows, const extent *e)
{
    const int by = e->sizes > 1 ? 0 : e->keeps > 1 ? 1 : 2;
    lines l = {cell_print("%s", (const char *const[]){"size", "keep_asked", ""}[by]),
               (const char *const[]){"size", "components", "block"}[by], .series.most = MOST_LINES,
               .blocks.most = MOST_ROWS, .least = INFINITY};
    const char *let = varied_name(rows);
    const json_t *row;
    size_t i;

    if (let) {
        l.name = let;
        l.key = cell_print(strcmp(let, "elements") == 0 ? "%s" : "let.%.60s", let);
    }
    for (int k = 0; k < MOST_LINES * MOST_ROWS; k++)
        l.y[k / MOST_ROWS][k % MOST_ROWS] = NAN;
    json_array_foreach(rows, i, row)
    {
        const cell variant = variant_cell(row),
                   of_keep =
                       cell_print("%.60s, %s", variant.text, format_components(row_number(row, "keep_asked")).text);
        const double y = seconds_of(row);
        const int s =
            isfinite(y) ? place_of(&l.series, e->sizes > 1 && e->keeps > 1 ? of_keep.text : variant.text) : -1;
        const bool flat = !has_key(&l) && *sweep_block(row).text == '-';
        const int place = s < 0 ? -1 : flat ? 0 : place_of_x(&l, row);
        if (place < 0)
            continue;
        l.flat[s] = flat;
        if (!(y >= l.y[s][place])) {
            l.y[s][place] = y;
            l.whiskers[s][place] = quartiles_of(row, "kernel_s");
            l.noisy[s][place] = row_is_noisy(row);
        }
    }
    for (int k = 0; k < MOST_LINES * MOST_ROWS; k++) {
        const double y = l.y[k / MOST_ROWS][k % MOST_ROWS];
        const quartiles q = l.whiskers[k / MOST_ROWS][k % MOST_ROWS];
        if (!isfinite(y))
            continue;
        l.least = fmin(l.least, axis_shows(q.low) ? fmin(y, q.low) : y);
        l.most = fmax(l.most, axis_shows(q.high) ? fmax(y, q.high) : y);
    }
    return l;
}

static const char *const colours[MOST_LINES] = {BLUE, ORANGE, VIOLET, GREY, "#1f9e6e", "#d0437a", "#a8871c", "#22a2b8"};

/* A logarithmic axis where the values are far apart, with room at both ends. */
static axis axis_of(double low, double high, double ratio)
{
    axis a = {low, high, low > 0 && high > ratio * low};
    const double room = a.log ? pow(high / low, 0.06) : 0.06 * (high - low);

    return a.log ? (axis){low / room, high * room, true} : (axis){low - room, high + room, false};
}

/* The axis of x, with a tic at each value whose label has room. */
static axis put_x(const canvas *c, const lines *l)
{
    double sorted[MOST_ROWS], end = -INFINITY;
    axis a;

    memcpy(sorted, l->x, sizeof sorted);
    sort_numbers(sorted, (size_t)l->count);
    a = axis_of(sorted[0], sorted[l->count - 1], 8);
    fprintf(c->script, "%sset xrange [%.9g:%.9g]\nset xlabel '%s'\nunset mxtics\nset xtics scale 0 (",
            a.log ? "set logscale x\n" : "", a.low, a.high, l->name);
    for (int i = 0; i < l->count; i++) {
        const cell label =
            has_key(l) ? cell_print(sorted[i] < 1e6 ? "%.0f" : "%.3g", sorted[i]) : l->blocks.list[(int)sorted[i]];
        const double half = plot_text_width(label.text) / 2, pixel = axis_pixel(&a, sorted[i], c->left, c->right);
        if (pixel - half < end + 6)
            continue;
        fprintf(c->script, isfinite(end) ? ", " : "");
        gnuplot_text(c->script, label.text);
        fprintf(c->script, " %.9g", sorted[i]);
        end = pixel + half;
    }
    fprintf(c->script, ")\n");
    return a;
}

static axis put_y(const canvas *c, const lines *l)
{
    axis a = axis_of(l->least, l->most, 30);

    a.low = a.log ? a.low : 0;
    fprintf(c->script,
            "%sset yrange [%.9g:%.9g]\nset ylabel 'kernel'\nset ytics format '%%.0s %%cs' scale 0\nunset mytics\n",
            a.log ? "set logscale y\n" : "", a.low, a.high);
    return a;
}

/* The marks of noise that are placed: texts that overlap cannot be read, and one says as much. */
typedef struct marks {
    int count;
    double x[MOST_LINES * MOST_ROWS], y[MOST_LINES * MOST_ROWS];
} marks;

static void put_noise(const canvas *c, marks *m, double x, double y)
{
    for (int i = 0; i < m->count; i++)
        if (fabs(m->x[i] - x) < plot_text_width("~") + 2 && fabs(m->y[i] - y) < LINE)
            return;
    m->x[m->count] = x;
    m->y[m->count++] = y;
    plot_label(c, "~", x, y, "left front");
}

/* The data of a line and, if its variant has what the axis is of, its points: gnuplot's own would be shapes with an id,
 * of which a page with several plots has more than one. */
static void put_line(const canvas *c, const lines *l, int s, const axis *x, const axis *y, marks *marks)
{
    fprintf(c->script, "$s%d << END\n", s);
    for (int i = 0; i < l->count; i++)
        if (isfinite(l->y[s][l->flat[s] ? 0 : i]))
            fprintf(c->script, "%.9g %.9g\n", l->x[i], l->y[s][l->flat[s] ? 0 : i]);
    fprintf(c->script, "END\n");
    for (int i = 0; i < l->count && !l->flat[s]; i++) {
        const double px = axis_pixel(x, l->x[i], c->left, c->right), py = axis_pixel(y, l->y[s][i], c->bottom, c->top);
        const quartiles q = l->whiskers[s][i];
        if (!isfinite(l->y[s][i]))
            continue;
        plot_point(c, px, py, 3.5, colours[s]);
        if (axis_shows(q.low) && axis_shows(q.high))
            plot_whisker(c, px, axis_pixel(y, q.low, c->bottom, c->top), px, axis_pixel(y, q.high, c->bottom, c->top),
                         false);
        if (l->noisy[s][i])
            put_noise(c, marks, s % 2 ? px - 6 - plot_text_width("~") : px + 6, py + 6);
    }
}

static void add_lines(report_plots *plots, const json_t *rows, const extent *e)
{
    const json_t *first = json_array_get(rows, 0);
    const lines l = lines_of(rows, e);
    const int width = LINES_WIDTH + SAMPLE + (int)plot_text_width("m") * longest(&l.series);
    marks placed = {.count = 0};
    axis x, y;
    canvas c;

    if (l.count < 2)
        return;
    c = plot_begin(plots, "sweep-lines", title_of(first, l.name).text, width, LINES_HEIGHT, 0);
    c.right = LINES_WIDTH - 12;
    plot_note_emulation(c.plot, first);
    if (has_key(&l) && e->blocks > 1)
        plot_note(c.plot, "the fastest block of each variant");
    if (l.series.left_out > 0)
        plot_note(c.plot, cell_print("the first %d lines", MOST_LINES).text);
    fprintf(c.script, "set rmargin at screen %.6f\nset key outside right top Left reverse samplen 1.2\n",
            (double)c.right / width);
    x = put_x(&c, &l);
    y = put_y(&c, &l);
    for (int s = 0; s < l.series.count; s++)
        put_line(&c, &l, s, &x, &y, &placed);
    for (int s = 0; s < l.series.count; s++) {
        fprintf(c.script, s ? ", $s%d" : "plot $s%d", s);
        fprintf(c.script, " smooth unique with lines lw 2%s lc rgb '%s' title ", l.flat[s] ? " dt 2" : "", colours[s]);
        gnuplot_text(c.script, cell_print("%s%s", l.flat[s] && l.noisy[s][0] ? "~ " : "", l.series.list[s].text).text);
    }
    fprintf(c.script, "\n");
    plot_end(&c);
}

/* ------------------------------------------------------------------------------------------------- all of them ---- */

/* The results of one backend. */
static void add_plots(report_plots *plots, const json_t *rows, int group)
{
    const extent e = extent_of(rows);
    int first = plots->count;

    if (plots->count + 2 > MOST_PLOTS) {
        plots->left_out++;
    } else if (e.places || e.blocks > 1) {
        add_heat(plots, rows, &e);
        add_lines(plots, rows, &e);
    } else {
        report_plots_times(plots, rows);
    }
    for (; first < plots->count; first++)
        plots->list[first].group = group;
}

void report_plots_sweeps(report_plots *plots, const json_t *sweeps)
{
    const json_t *sweep;
    const char *key;
    json_t *rows;
    size_t i;

    json_array_foreach(sweeps, i, sweep)
    {
        json_t *backends = rows_grouped(json_object_get(sweep, "results"),
                                        (const char *const[]){"exercise", "dtype", "resource", NULL});
        json_object_foreach(backends, key, rows) add_plots(plots, rows, (int)i);
        json_decref(backends);
    }
}
