/* SPDX-License-Identifier: MIT
 *
 * inputs.h - the files of a batch: images or folders of factors, and the output of each.
 */
#ifndef FLYNN_APPS_BATCH_INPUTS_H
#define FLYNN_APPS_BATCH_INPUTS_H

#include "pipeline.h"

/* Functions here end the command for names that cannot be used. */

/* `count` images. */
batch_source inputs_images(const char *const *files, int count);

/* The folders in `folder` that have a u.npy, or the folder itself. */
batch_source inputs_factors(const char *folder);

/* Bytes of all files of factors. */
int64_t inputs_bytes(const batch_source *source);

/* Gives each input a file in `folder`. resume: no output for those whose file exists. */
void inputs_name_outputs(batch_source *source, const char *folder, bool resume);

/* Makes the outputs' folder, unless it exists. */
void inputs_make_folder(const char *folder);

void inputs_free(batch_source *source);

#endif
