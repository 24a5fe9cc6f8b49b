/* SPDX-License-Identifier: MIT
 *
 * inputs.h - the files of a batch: images or folders of factors, and the output of each.
 */
#ifndef FLYNN_APPS_BATCH_INPUTS_H
#define FLYNN_APPS_BATCH_INPUTS_H

#include "pipeline.h"

#include "support/options.h"

enum { MOST_PIPELINES = 8 };

/* One of --pipeline. */
typedef struct pipeline_choice {
    pipeline_mode mode;
    int streams;
} pipeline_choice;

typedef struct batch_options {
    int64_t rank; /* 0: not given */
    const char *folder, *factors;
    int64_t synthetic[3]; /* all 0: not given */
    bool resume;
    int64_t threads, chunk;
    const char *decompose_on, *svd;
    int pipeline_count;
    pipeline_choice pipelines[MOST_PIPELINES];
} batch_options;

/* Functions here end the command for names and sizes that cannot be used. */

/* The images among the arguments; else the folders in --factors that have a u.npy, or that folder itself; else random
 * matrices. */
batch_source inputs_find(const batch_options *own, const common_options *common);

/* Gives each input of --output-dir a file there; --resume: none to those whose file exists. */
void inputs_name_outputs(batch_source *source, const batch_options *own);

/* Makes the outputs' folder, unless it exists. */
void inputs_make_folder(const char *folder);

void inputs_free(batch_source *source);

#endif
