/* SPDX-License-Identifier: MIT
 *
 * runs.h - two saved runs side by side, of two machines or two weeks.
 */
#ifndef FLYNN_APPS_COMPARE_RUNS_H
#define FLYNN_APPS_COMPARE_RUNS_H

#include "view/columns.h"

/* {"schema", "older", "newer" (their machines), "pairs": [{"exercise", "dtype", "shape", "older", "newer" (resources),
 * "kernel", "total": {"older_s", "newer_s", "ratio" (older over newer: above 1 is faster), "verdict"}}], "unpaired"}. A
 * result is paired with that of the same exercise, dtype and shape on the backend requested by the same name, or else
 * on one of the same class. A verdict is "faster" or "slower" where the middle halves of both runs' times
 * lie apart and their medians by at least 2 %; "same" where the medians differ by less than 5 % and neither run spreads
 * by more; else "unclear", as with fewer than 3 times or a result that was wrong. */
json_t *compare_runs(const json_t *older, const json_t *newer);

void compare_runs_show(const json_t *verdicts, table_style style);

#endif
