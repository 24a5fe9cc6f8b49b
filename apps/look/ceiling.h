/* SPDX-License-Identifier: MIT
 *
 * ceiling.h - the table of flynn ceiling, which the page of flynn report shows too.
 */
#pragma once

#include "view/columns.h"

/* Of rows_within(ceilings, "quantities"). */
extern const column ceiling_columns[];

/* Bytes or operations a second: the quantity of a device in "ceilings"; NaN where it was not measured. */
double ceiling_rate(const json_t *device, const char *key);
