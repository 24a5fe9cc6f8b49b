/* SPDX-License-Identifier: MIT
 *
 * columns.h - the tables of flynn compare, which the page of flynn report shows too.
 */
#ifndef FLYNN_APPS_COMPARE_COLUMNS_H
#define FLYNN_APPS_COMPARE_COLUMNS_H

#include "view/columns.h"

/* Of "results", after rows_rank. */
extern const column compare_columns[];

/* Of "pairs": a result in two runs. */
extern const column compare_pair_columns[];

#endif
