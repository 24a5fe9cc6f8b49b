/* SPDX-License-Identifier: MIT
 *
 * csv.h - the "results" of a JSON document as comma-separated values (RFC 4180).
 */
#pragma once

#include "support/problem.h"

#include <jansson.h>

/* Writes a list of objects: a line of column names, then a line for each object, with plain line ends. The columns are
 * the objects' keys in the order in which they first appear. The keys of an inner object are columns of their own
 * ("check.ok"), a list of whole numbers is one cell ("block": 16x16x1), other lists are left out. null and missing keys
 * are empty cells. Writes a file (whole or not at all), or stdout for a NULL path. Ends the command (fail) where memory
 * is short. */
bool csv_write(const json_t *results, const char *path, problem *why);
