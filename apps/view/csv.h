/* SPDX-License-Identifier: MIT
 *
 * csv.h - the "results" of a JSON document as a table of comma-separated values.
 */
#ifndef FLYNN_APPS_VIEW_CSV_H
#define FLYNN_APPS_VIEW_CSV_H

#include "support/problem.h"

#include <jansson.h>

/* Writes a list of objects: a line of column names, then one line an object, quoted as RFC 4180 has it, with plain line
 * ends. The columns are the objects' keys in the order in which they first appear; an object within is taken apart
 * ("check.ok"), a list of whole numbers is one cell ("block": 16x16x1), other lists are left out. null and what an
 * object lacks are empty cells. To a file (whole or not at all), or to stdout for a NULL path. Ends the command (fail)
 * where memory is short. */
bool csv_write(const json_t *results, const char *path, problem *why);

#endif
