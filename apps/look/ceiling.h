/* SPDX-License-Identifier: MIT
 *
 * ceiling.h - the table of flynn ceiling, which the page of flynn report shows too, and its part for several ranks.
 */
#pragma once

#include "options/options.h"
#include "view/columns.h"

#include <flynn/bench.h>

/* The columns of the rows that rows_within(ceilings, "quantities") returns. */
extern const column ceiling_columns[], network_columns[];

/* Bytes or operations a second: the quantity of a device in "ceilings"; NaN where it was not measured. */
double ceiling_rate(const json_t *device, const char *key);

/* Returns whether the median is known to within a quarter: by the interval that holds it, below six samples by all of
 * them. */
bool ceiling_is_known(const fl_bench_statistics *s);
/* [low, high] of that interval; [] below six samples. */
json_t *ceiling_interval(const fl_bench_statistics *s);

/* Adds a note that is printed after the results, so that an error before them stays a single line. */
void ceiling_note(json_t *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the notes and frees them. */
void ceiling_print_notes(json_t *notes);

/* The command on several ranks: what the link between them moves. Returns the exit code. */
int ceiling_of_network(const common_options *common);
