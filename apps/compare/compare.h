/* SPDX-License-Identifier: MIT
 *
 * compare.h - the tables of flynn compare, which the page of flynn report shows too, and two saved runs side by side.
 */
#pragma once

#include "view/columns.h"

/* The columns of the rows in "pairs". */
extern const column compare_pair_columns[];

/* {"schema", "older", "newer" (their machines), "pairs": [{"exercise", "dtype", "shape", "older", "newer" (resources),
 * "older_disturbed", "newer_disturbed" (whether a row is noisy), "disturbed" (the cause in one of the two), "kernel",
 * "total": {"older_s", "newer_s", "ratio" (older over newer: above 1 is faster), "verdict"}}], "unpaired"}. A result is
 * paired with that of the same exercise, dtype and shape on the backend requested by the same name, or else on one of
 * the same class. A verdict is "noisy" where one of the rows is; "faster" or "slower" where the middle halves of both
 * runs' times lie apart and their medians by at least 2 %; "same" where the medians differ by less than 5 % and neither
 * run spreads by more; else "unclear", as with fewer than 3 times or a wrong result. */
json_t *compare_runs(const json_t *older, const json_t *newer);

void compare_runs_show(const json_t *verdicts, table_style style);
