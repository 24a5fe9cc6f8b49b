/* SPDX-License-Identifier: MIT
 *
 * show.h - what a sweep found: which combination is the best where, and all of them as a table.
 *
 * The rows are results of an exercise with four keys more: `size`, `variant_asked` and `block_asked`, as the
 * combination had them (null: none asked for), and `spread`. Those of user's kernels have also what kernel_rows_put
 * adds.
 */
#pragma once

#include "view/columns.h"

/* Gives each result of the document its `relative`, and the document `best`: one entry a size and backend. */
void sweep_table_fill(json_t *document);

/* Views of the document's "results", without and with their totals, "best" and "cannot_run". */
const column *sweep_columns(void);
extern const column sweep_copies_columns[], sweep_best_columns[], sweep_refused_columns[];

/* With --with-copies: for each device with a memory of its own from which size on it is faster, with its copies, than
 * the fastest processor of these rows; a list of texts, of which there is at least one. A new reference. */
json_t *sweep_copies(const json_t *rows);

/* Cells of a result: "512, 20 components", the size that was asked for, else its shape; "32x8", or "-" for a variant
 * without blocks. */
cell sweep_size(const json_t *row);
cell sweep_block(const json_t *row);

/* The combination of a result or of one that did not run: "simd:v4 tiled, size 512, block 32x8"; to be freed. */
char *sweep_text(const json_t *entry);

/* `totals`: the table has them. */
void sweep_table_show(const json_t *document, bool totals);
