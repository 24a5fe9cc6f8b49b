/* SPDX-License-Identifier: MIT
 *
 * plot.h - the parts that all plots of `flynn report` share: scripts for gnuplot, and drawing them.
 */
#ifndef FLYNN_APPS_REPORT_PLOT_H
#define FLYNN_APPS_REPORT_PLOT_H

#include "files/file_bytes.h"

#include <stdio.h>

/* Seen as well on white as on black. */
#define BLUE "#2f7ed8"
#define ORANGE "#d9730d"
#define GREY "#808080"

enum { LETTER = 7, LINE = 15 }; /* pixels of a text at 12 points */

typedef struct report_plot {
    char name[128];  /* of a file: letters, digits and -_. */
    char title[256]; /* as people read it */
    char note[256];  /* what the plot leaves out; "": nothing */
    int width, height;
    char *script;
} report_plot;

typedef struct report_plots {
    int count;
    report_plot *list;
} report_plots;

/* A plot without a script, at the end; valid until the next one. */
report_plot *plot_add(report_plots *plots, const char *kind, const char *title, int width, int height);

/* The plot's script, open for writing after the lines that begin every plot; `size` must live until it is closed. */
FILE *plot_script(report_plot *p, size_t *size);
void plot_close(FILE *script);

/* Where the axes are, in pixels from the left and from the bottom. */
typedef struct frame {
    int width, height, left, right, bottom, top;
} frame;
void plot_frame(FILE *script, const frame *f);

/* A text at (x, y) in pixels; `how` holds further words of gnuplot's `set label`: "right". */
void plot_label(FILE *script, const char *text, double x, double y, const frame *f, const char *how);

/* A horizontal bar from x0 to x1, around y, in pixels. */
void plot_bar(FILE *script, double x0, double x1, double y, const frame *f, const char *colour);

/* As a part of a page, or as a file; with a NUL behind it. */
typedef enum plot_format { PLOT_INLINE, PLOT_SVG, PLOT_PNG } plot_format;
file_bytes report_plot_draw(const report_plot *plot, plot_format format);

void report_plots_free(report_plots *plots);

#endif
