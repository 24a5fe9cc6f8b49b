/* SPDX-License-Identifier: MIT
 * How exact the variants of each operation are. */
#ifndef FLYNN_CORE_BOUNDS_H
#define FLYNN_CORE_BOUNDS_H

#include <flynn/plugin.h>
#include <stddef.h>

/* The error of an operation's variant that does not state its own: fl_host.bound. */
double core_operation_bound(fl_operation operation, const char *variant, const void *args);

/* The least tolerance (fl_run) that the row takes for these arguments, checked ones of its operation; INFINITY: none.
 * `device`: the plugin's.
 */
double core_bound(void *device, const fl_row *row, const void *args);

/* Writes a bound with two digits, rounded up, so that what a message names is accepted; returns `text`. */
const char *core_bound_text(char *text, size_t size, double bound);

#endif
