/* SPDX-License-Identifier: MIT
 *
 * titles.h - the names that --columns may have in a command (command_line.titles): those of the columns of its tables.
 */
#pragma once

#include "columns.h"

/* All columns that a table of `fields` may have. Valid until the next call. */
const column *columns_known(unsigned in);

/* The titles of the tables, which a NULL ends, each once, and a NULL. Valid until the next call. */
const char *const *titles_of(const column *const *tables);
#define TITLES_OF(...) titles_of((const column *const[]){__VA_ARGS__, NULL})
