/* SPDX-License-Identifier: MIT
 *
 * ceiling.h - the table of flynn ceiling, which the page of flynn report shows too.
 */
#ifndef FLYNN_APPS_LOOK_CEILING_H
#define FLYNN_APPS_LOOK_CEILING_H

#include "view/columns.h"

/* Of rows_within(ceilings, "quantities"). */
extern const column ceiling_columns[];

#endif
