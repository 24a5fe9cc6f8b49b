/* SPDX-License-Identifier: MIT
 *
 * show.h - what `flynn taxonomy` found, as JSON and as tables.
 */
#ifndef FLYNN_APPS_TAXONOMY_SHOW_H
#define FLYNN_APPS_TAXONOMY_SHOW_H

#include "harness/verdict.h"
#include "support/host_array.h"

#include <flynn/flynn.h>
#include <jansson.h>

enum { MOST_STEPS = 16, MOST_VARIANTS = 16 };

/* The operation on one backend. */
typedef struct taxonomy_step {
    int result;            /* its place in "results" */
    fl_device_info device; /* as it was opened here */
    const char *variant;
    bool right;
    double kernel_s, spread_s, total_s; /* medians; interquartile range of the kernel's times */
    int64_t instructions;               /* of one call; -1: see `reason` */
    char reason[192];
    double speed_up, speed_up_with_copies; /* over the step before; NaN for the first, for emulations and wrong ones */
} taxonomy_step;

/* One variant's answer. */
typedef struct taxonomy_answer {
    const char *variant;
    host_array answer;
    compare_result check;
    char method[96];
} taxonomy_answer;

typedef struct taxonomy_found {
    const char *exercise;
    int64_t size, elements; /* of the result */
    fl_dtype dtype;
    int step_count;
    taxonomy_step steps[MOST_STEPS];
    char no_gpu[640]; /* why no GPU shows SIMT; "" where one does */
    fl_device_info misd_device;
    int answer_count;
    taxonomy_answer answers[MOST_VARIANTS];
} taxonomy_found;

/* Sets the steps' speed-ups. */
void taxonomy_speed_ups(taxonomy_found *found);

/* The document's key "taxonomy". */
json_t *taxonomy_json(const taxonomy_found *found);

/* Prints both tables; `taxonomy` is that key's value. */
void taxonomy_show(const taxonomy_found *found, const json_t *taxonomy);

#endif
