/* SPDX-License-Identifier: MIT
 *
 * plot.h - the parts that all plots of `flynn report` share: scripts for gnuplot, and drawing them by gnuplot, a
 * program that is looked for when it is needed.
 */
#pragma once

#include "files/file_bytes.h"
#include "view/columns.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Seen as well on white as on black. */
#define BLUE "#2f7ed8"
#define ORANGE "#d9730d"
#define VIOLET "#8a4fd0"
#define GREY "#808080"
#define PALE "#b4b4b4"

enum { LINE = 15 }; /* pixels of a line of text at 12 points */

typedef struct report_plot {
    char name[128];  /* of a file: letters, digits and -_. */
    char title[256]; /* as people read it */
    char note[256];  /* what the plot leaves out; "": nothing */
    int width, height;
    int group; /* of plots that stand together: the place of their document in its list */
    char *script;
    size_t script_size;
    file_bytes svg; /* as it stands in the page, with a NUL after it; empty until report_plots_draw */
} report_plot;

enum { MOST_PLOTS = 64 }; /* of a kind: gnuplot draws each, and they are the page's largest part */

typedef struct report_plots {
    int count, left_out; /* beyond MOST_PLOTS */
    report_plot *list;
} report_plots;

/* A plot whose script is being written. The axes are in pixels from the left and from the bottom. */
typedef struct canvas {
    report_plot *plot;
    FILE *script;
    int left, right, bottom, top;
} canvas;

/* Adds a plot; one canvas is open at a time. `letters` is the length of the longest label of rows, which stand left of
 * an axis of x alone; 0: there is an axis of y. */
canvas plot_begin(report_plots *plots, const char *kind, const char *title, int width, int height, int letters);
void plot_end(canvas *c);

/* The width of a text, in pixels. */
double plot_text_width(const char *text);

/* A text at (x, y) in pixels; `how` holds further words of gnuplot's `set label`: "right". */
void plot_label(const canvas *c, const char *text, double x, double y, const char *how);

/* A horizontal bar from x0 to x1, around y, in pixels. */
void plot_bar(const canvas *c, double x0, double x1, double y, const char *colour);

/* A filled rectangle around (x, y), in pixels. */
void plot_box(const canvas *c, double x, double y, double width, double height, const char *colour);

/* A disc around (x, y), in pixels. */
void plot_point(const canvas *c, double x, double y, double radius, const char *colour);

/* A whisker from (x0, y0) to (x1, y1), in pixels, behind points or in front of bars; nothing where an end is not a
 * number. */
void plot_whisker(const canvas *c, double x0, double y0, double x1, double y1, bool in_front);

/* Adds to the plot's note, after a semicolon. */
void plot_note(report_plot *plot, const char *text);

/* Says in the note of a plot of one device, of which `row` is a result, that the device is an emulation if it is. */
void plot_note_emulation(report_plot *plot, const json_t *row);

typedef struct axis {
    double low, high;
    bool log;
} axis;

/* The place of the value on an axis that reaches from pixel `from` to pixel `to`. */
double axis_pixel(const axis *a, double value, int from, int to);

/* The distance of at most `tics` tics up to `high`: 1, 2 or 5 times a power of ten. */
double axis_step(double high, int tics);

/* False for a number that was not measured or that no axis could show: only those from 1e-15 to 1e15. */
bool axis_shows(double value);

/* The quartiles of samples, which whiskers show; NaN below three samples, and where the time is not among them. */
typedef struct quartiles {
    double low, high;
} quartiles;

/* Those of a row's samples of the time under the key: "kernel_s", or "wall_s" of a run of a batch. */
quartiles quartiles_of(const json_t *row, const char *key);

/* "~1.20 ms" of a noisy row, else "1.20 ms". */
cell noisy_seconds(double seconds, bool noisy);

/* Two times of one label. */
typedef struct bar_row {
    char label[64];
    double seconds[2];
    quartiles quartiles[2];
    bool emulation, noisy;
} bar_row;

/* The row of a result or a run: its resource and `what`, and the times under two keys. */
bar_row bar_row_of(const json_t *row, const char *what, const char *first, const char *second);

/* A plot of a blue and an orange bar for each row, with whiskers. Above a ratio of 30 the axis is logarithmic, where
 * the length of a bar would mean nothing: points stand in their place, and a note says so. An emulation is grey and
 * does not set the scale, unless there is nothing else: a bar that is longer than the axis is broken, and an arrow
 * follows a point that is beyond it. */
report_plot *plot_add_times(report_plots *plots, const char *kind, const char *title, const bar_row *rows, int count);

/* Draws the plots as parts of a page, or as files; by one gnuplot, since it takes longer to start than to draw. Each
 * picture has a NUL after it. The caller frees them, and the list. */
typedef enum plot_format { PLOT_INLINE, PLOT_SVG, PLOT_PNG } plot_format;
file_bytes *report_plots_draw(report_plot *const *plots, int count, plot_format format);

void report_plots_free(report_plots *plots);

/* Returns whether gnuplot exists; else a problem with exit code 3 says how to get it. */
bool gnuplot_find(problem *why);

/* A text as gnuplot's scripts write one: in double quotes, with what is special there by its number. (Within single
 * quotes two apostrophes in a row end the text.) Control characters and bytes that are not UTF-8 are left out. */
void gnuplot_text(FILE *script, const char *text);

/* The `count` pictures that gnuplot draws by the script, each with a NUL after it; `end` is how one ends: "</svg>".
 * Ends the command when it draws fewer. */
void gnuplot_draw(const char *script, const char *end, file_bytes *drawn, int count);

/* Makes the SVG that gnuplot drew fit to stand in a page with others: no prologue, no ids, no titles. In place. */
void gnuplot_svg_bare(char *svg);

/* Adds colours for a dark screen to an SVG file that gnuplot drew. */
void gnuplot_svg_dark(file_bytes *svg);
