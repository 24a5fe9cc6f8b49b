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
    char *data;                 /* the file */
    size_t size;
} report_picture;

/* What is told of one machine. */
typedef struct report_machine {
    json_t *machine;            /* as the documents have it */
    json_t *results, *ceilings; /* lists: of all its documents */
    json_t *wrong;              /* those of its results, a sweep's too, that failed their check */
    json_t *skipped, *failed;
    json_t *sweeps, *laws, *batches; /* lists: documents of sweeps; what others have under "laws" and "batch" */
    json_t *wrong_runs;              /* of batches: those that failed their check */
    json_t *lost_images;             /* an object: what failed in batches, by its message */
    report_plots times, rooflines, scalings, in_batches;
} report_machine;

typedef struct report_page {
    int machine_count;
    report_machine *machines;
    json_t *pairs; /* a list of documents of `flynn compare --against` */
    int picture_count;
    report_picture *pictures;
    json_t *sources; /* a list of names: what the page was made from */
} report_page;

/* How many checks of the page's results failed, what could not be run included. */
int report_failures(const report_page *page);

void report_page_write(FILE *out, const report_page *page);

#endif
