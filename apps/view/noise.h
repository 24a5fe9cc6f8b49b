/* SPDX-License-Identifier: MIT
 *
 * noise.h - rows whose times are not to be relied on: why, and the line below a table that says so. The mark of their
 * values is column_text's.
 */
#pragma once

#include <jansson.h>

/* Puts `disturbed` into a row that has its times: the cause that was counted during the timed passes, or where that is
 * "" that the times vary by more than half; null where neither is, and for an emulation, whose times mean nothing. */
void noise_put(json_t *row, const char *counted);

/* Prints, where rows are noisy, one line: how many, why the first of them is, and what to do; `more` (NULL: nothing)
 * ends it. */
void noise_print(const json_t *rows, const char *more);
