/* SPDX-License-Identifier: MIT */
#include "plot.h"
#include "gnuplot.h"

#include "support/fail.h"
#include "support/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ a plot ---- */

report_plot *plot_add(report_plots *plots, const char *kind, const char *title, int width, int height)
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

FILE *plot_script(report_plot *p, size_t *size)
{
    FILE *script = open_memstream(&p->script, size);

    if (!script)
        fail(EXIT_BROKEN, "out of memory for a plot");
    fprintf(script, "unset key\nset border 0\nset style fill solid 1 noborder\n"
                    "set grid xtics lt 1 lc rgb '#cccccc' lw 1\n");
    return script;
}

void plot_close(FILE *script)
{
    if (fclose(script) != 0)
        fail(EXIT_BROKEN, "out of memory for a plot");
}

void plot_frame(FILE *script, const frame *f)
{
    fprintf(script,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\nset bmargin at screen %.6f\nset tmargin at screen "
            "%.6f\n",
            (double)f->left / f->width, (double)f->right / f->width, (double)f->bottom / f->height,
            (double)f->top / f->height);
}

void plot_label(FILE *script, const char *text, double x, double y, const frame *f, const char *how)
{
    fprintf(script, "set label ");
    gnuplot_text(script, text);
    fprintf(script, " at screen %.6f,%.6f %s\n", x / f->width, y / f->height, how);
}

void plot_bar(FILE *script, double x0, double x1, double y, const frame *f, const char *colour)
{
    fprintf(script, "set object rectangle from screen %.6f,%.6f to screen %.6f,%.6f fc rgb '%s' fs solid noborder\n",
            x0 / f->width, (y - 6) / f->height, x1 / f->width, (y + 6) / f->height, colour);
}

/* -------------------------------------------------------------------------------------------------- drawing ---- */

file_bytes report_plot_draw(const report_plot *plot, plot_format format)
{
    /* A picture is twice as fine: for slides and paper. */
    static const struct {
        const char *terminal, *more;
        int fineness;
    } formats[] = {
        [PLOT_INLINE] = {"svg", "dynamic font 'sans-serif,12' noenhanced", 1},
        [PLOT_SVG] = {"svg", "dynamic font 'sans-serif,12' noenhanced background rgb 'white'", 1},
        [PLOT_PNG] = {"pngcairo", "font 'sans-serif,9' fontscale 2 linewidth 2 noenhanced", 2},
    };
    const int fineness = formats[format].fineness;
    char terminal[160];
    file_bytes drawn;

    snprintf(terminal, sizeof terminal, "%s size %d,%d %s", formats[format].terminal, fineness * plot->width,
             fineness * plot->height, formats[format].more);
    drawn = gnuplot_draw(terminal, plot->script);
    if (format == PLOT_INLINE)
        gnuplot_svg_bare((char *)drawn.data);
    return drawn;
}

void report_plots_free(report_plots *plots)
{
    for (int i = 0; i < plots->count; i++)
        free(plots->list[i].script);
    free(plots->list);
    *plots = (report_plots){.count = 0};
}
