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

/* The command on several ranks: what the link between them moves. Returns the exit code. */
int ceiling_of_network(const common_options *common);
