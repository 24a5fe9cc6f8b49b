/* SPDX-License-Identifier: MIT
 *
 * show.h - what `flynn laws` measured: its points, the laws fitted to them, as JSON, as a table and in words.
 */
#pragma once

#include "sentences.h"

#include "view/columns.h"

/* Speed-ups with their spreads, and the fits: of threads and ranks Amdahl's law to the strong points and Gustafson's to
 * the weak ones, of batches both to the same. */
void laws_fit_all(laws_found *found);

/* The document's key "laws". */
json_t *laws_json(const laws_found *found);

/* Views of that key's value and of its fits; of its points, valid until the next call. */
extern const column laws_columns[], laws_fit_columns[];
const column *laws_point_columns(const json_t *laws);
/* What a point's n and time may be called instead; for laws_point_columns(NULL), which has all other columns. */
extern const column laws_unit_columns[];

/* The points of all kinds of scaling and both fits as lists of rows; new references. */
json_t *laws_points(const json_t *laws);
json_t *laws_fits(const json_t *laws);

/* Prints sentences, the table, the fits, and where they fail; `laws` and `results` are those keys' values. */
void laws_show(const laws_found *found, const json_t *laws, const json_t *results);
