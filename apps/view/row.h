/* SPDX-License-Identifier: MIT
 *
 * row.h - reading a result as an exercise wrote it in its JSON (docs/commands/output.md).
 */
#pragma once

#include "support/statistics.h"

#include <jansson.h>
#include <stdbool.h>

/* The value of a key; "check.max_abs" goes into the object "check". NULL where there is none. */
json_t *row_value(const json_t *row, const char *key);

/* "-" and NaN for null, and for what is not there. */
const char *row_text(const json_t *row, const char *key);
double row_number(const json_t *row, const char *key);

/* Returns whether the row passed its check, failed it, or was not checked. */
bool row_is_right(const json_t *row);
bool row_is_wrong(const json_t *row);
bool row_is_unchecked(const json_t *row);
/* Returns whether the row can be compared with others: its result is right, and no emulation computed it. */
bool row_is_ranked(const json_t *row);

/* Returns whether the row's times are noisy: `disturbed` has a cause. A noisy row is never the best one. row_is_marked:
 * whether the key has true, or a text such as that cause; never of a ceiling that holds all the same (`steady`). */
bool row_is_noisy(const json_t *row);
bool row_is_marked(const json_t *row, const char *key);

/* Returns whether one of the rows failed its check. */
bool rows_have_wrong(const json_t *rows);

/* Statistics of a list of times; of a quantity's samples ("total", "kernel"), and their interquartile range over their
 * median. */
fl_bench_statistics row_statistics(const json_t *times);
fl_bench_statistics row_times(const json_t *row, const char *quantity);
double row_spread(const json_t *row, const char *quantity);

/* The values of the keys as JSON: equal for rows that have the same values, null for a missing one. Free it. */
char *row_key(const json_t *row, const char *const *keys);

/* The rows in groups of equal row_key: an object of lists, both in the order of the rows. A new reference. */
json_t *rows_grouped(const json_t *rows, const char *const *keys);

/* The rows in groups of the same work, whose times can be compared: of one exercise, dtype, shapes, `singular_values`
 * and `let`. A new reference. */
json_t *rows_by_work(const json_t *rows);

/* Adds to each row how it compares with the ranked rows of the same work (rows_by_work): `place` (its place by
 * total_s), `relative` (its total_s over the least), `speed_up` and `speed_up_with_copies` (kernel_s and total_s of the
 * scalar backend, or else of the first ranked row, over its own); null where the row itself is not ranked. A noisy row
 * has no place and no `relative`, and others are not compared with its total. Also `speed_up_disturbed`, whether noise
 * of this row or of the scalar one decides its speed-ups, and `spread`, that of its totals, to each. */
void rows_rank(json_t *rows);

/* A list of the objects under `key` of each row, with the row's own texts, numbers and truth values added to them: the
 * stages of runs, the quantities of ceilings. A new reference. */
json_t *rows_within(const json_t *rows, const char *key);
