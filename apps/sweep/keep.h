/* SPDX-License-Identifier: MIT
 *
 * keep.h - what --save and --forget of flynn sweep do.
 */
#pragma once

#include <jansson.h>

/* Saves the combination for the exercise's later runs, unless its variant may not replace `auto`: `offers` has what
 * each backend offers. */
void sweep_keep(json_t *best, const json_t *offers);

/* Removes the choices that were saved for the exercise; NULL: all. Prints how many. */
void sweep_forget(const char *exercise);
