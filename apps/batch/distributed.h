/* SPDX-License-Identifier: MIT
 *
 * distributed.h - a batch on several ranks (ranks/group.h): rank 0 lists the images, each rank takes the next ones that
 * no other has and runs its own pipeline, and the reports of all become one.
 */
#pragma once

#include "batch.h"

/* Ends the command where an option or a source is given that several ranks do not take. */
void ranks_refuse(const batch_command *c);

/* Rank 0's source becomes that of all. */
void ranks_share_source(batch_source *source);

/* The reports of all ranks become one on each of them, which has what each rank did in `parts`; rank 0 has the failures
 * of all. Alone: nothing. */
void ranks_merge(pipeline_report *all, const char *resource);

/* An error that its rank prints at once. */
void ranks_print_error(const char *text);

/* The keys of a run that several ranks have: "ranks", "imbalance", "link", "per_rank". */
void ranks_put(json_t *run, const pipeline_report *report);
