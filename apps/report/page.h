/* SPDX-License-Identifier: MIT
 *
 * page.h - the page that `flynn report` writes: HTML that needs nothing but itself.
 */
#ifndef FLYNN_APPS_REPORT_PAGE_H
#define FLYNN_APPS_REPORT_PAGE_H

#include "plots.h"

#include <stdio.h>

/* A picture of a PNG file. */
typedef struct report_picture {
    const char *path, *caption; /* the caption is "" where there is none */
    file_bytes file;
} report_picture;

enum { PLOTS_TIMES, PLOTS_ROOFLINE, PLOTS_LAWS, PLOTS_BATCH, PLOTS };

typedef struct report_machine {
    /* "machine": as the documents have it. Lists of all its documents: "results", "ceilings", "skipped", "failed",
     * "laws", "batches" (values of "batch"), "sweeps" (whole documents), "wrong" (results, also of sweeps, that failed
     * their check), "wrong_runs" (of batches). "lost_images": an object, the failures in batches by their messages. */
    json_t *data;
    report_plots plots[PLOTS];
} report_machine;

typedef struct report_page {
    int machine_count;
    report_machine *machines;
    json_t *pairs; /* a list of documents of `flynn compare --against` */
    int picture_count;
    report_picture *pictures;
    json_t *sources; /* a list of names: what the page was made from */
} report_page;

/* The lines of style.css, ended by NULL. */
extern const char *const report_style[];

/* How many results, exercises, runs of batches and images failed. */
int report_failures(const report_page *page);

void report_page_write(FILE *out, const report_page *page);

#endif
