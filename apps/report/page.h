/* SPDX-License-Identifier: MIT
 *
 * page.h - the page that `flynn report` writes: HTML that needs nothing but itself.
 */
#pragma once

#include "plot.h"

#include <jansson.h>

typedef struct report_picture {
    char *path;
    const char *caption; /* "": none */
    file_bytes file;
} report_picture;

enum { PLOTS_TIMES, PLOTS_ROOFLINE, PLOTS_LAWS, PLOTS_BATCH, PLOTS_SWEEPS, PLOTS_TAXONOMIES, PLOTS };

typedef struct report_machine {
    /* "machine": as the documents have it. Lists of all its documents: "results", "ceilings", "skipped", "failed",
     * "laws", "taxonomies", "batches" (values of "batch"), "sweeps" (whole documents), "wrong" (results, also of sweeps
     * and of taxonomies' answers, that failed their check), "unchecked" (results that nothing checks), "wrong_runs" (of
     * batches), "stopped" (texts: what ended a document early, and what did not run). "lost_images": an object, the
     * failures in batches by their messages. "seen": an object, of each list the texts of its values as keys. */
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
    problem without; /* its text: why the page has tables alone; "": it has plots */
} report_page;

/* The lines of style.css, ended by NULL. */
extern const char *const report_style[];

/* How many results, exercises, runs of batches and images failed. */
int report_failures(const report_page *page);

/* What ran, what was right, fastest and noisy, the devices' limits, and the machine: the first lines of its part. */
void report_headline_write(FILE *out, const json_t *data);

/* The first line on two runs: how many of their pairs became faster, slower ... */
void report_pairs_headline_write(FILE *out, const json_t *pairs);

/* Writes a report_page. */
void report_page_write(FILE *out, const void *of);

/* The size of a result's work, as people name it: the shape of the first input, or the number of elements where there
 * is none. */
cell report_size(const json_t *row);

/* kernel_s and total_s of each backend: a chart for each exercise, dtype and shape of the results, up to MOST_PLOTS. */
void report_plots_times(report_plots *plots, const json_t *results);

/* Operations per compulsory byte and the rate that was reached, beneath the roof of the device's ceilings: a plot for
 * each device that has both, up to MOST_PLOTS. (Williams, Waterman and Patterson, "Roofline", CACM 52, 2009.) */
void report_plots_roofline(report_plots *plots, const json_t *results, const json_t *ceilings);

/* The measured speed-ups of `flynn laws`, of a GPU's batches the matrices a second, with Amdahl's and Gustafson's
 * curves: a plot for each entry. */
void report_plots_laws(report_plots *plots, const json_t *laws);

/* Two plots a batch: the wall time of each run, and the part of it that each thread and engine was busy. */
void report_plots_batch(report_plots *plots, const json_t *batches);

/* kernel_s of each backend of a sweep over what it varies: a heat map where that is two of size, block and variant, and
 * lines; bars where it is nothing but the variant. Plots of one document share a group. */
void report_plots_sweeps(report_plots *plots, const json_t *sweeps);

/* kernel_s and total_s of the steps of `flynn taxonomy`: a plot for each entry, which is its group. */
void report_plots_taxonomies(report_plots *plots, const json_t *taxonomies);

/* Returns, in words, what the page needs and the value of a document's key "batch" lacks; NULL: nothing. */
const char *report_batch_lacks(const json_t *batch);

/* Puts the stages of each run in the order in which an image goes through them, and adds the numbers that older
 * documents lack. */
void report_batch_prepare(json_t *batch);

/* Writes all batches of a machine, with their plots. */
void report_batch_write(FILE *out, const json_t *batches, const report_plots *plots);
