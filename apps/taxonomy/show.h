/* SPDX-License-Identifier: MIT
 *
 * show.h - the findings of `flynn taxonomy` as tables.
 */
#pragma once

#include "view/columns.h"

/* The columns of a taxonomy's "steps", and those of its "misd" whose names are known before. */
extern const column taxonomy_step_columns[], taxonomy_misd_columns[];

/* A row and a column for each answer of "misd", whose differences are between; the columns' texts are the document's. A
 * new reference. */
enum { MISD_COLUMNS = 20 };
json_t *taxonomy_misd(const json_t *misd, column *columns);

/* "convolve1d, 20014 f32" */
cell taxonomy_title(const json_t *taxonomy);

/* Prints the document's key "taxonomy", and what its "results" show in sentences. */
void taxonomy_show(const json_t *taxonomy, const json_t *results);
