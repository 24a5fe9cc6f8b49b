/* SPDX-License-Identifier: MIT
 *
 * choices.h - which variant runs on each backend, and with which block: what the options name, what a saved sweep found
 * best, or `auto`.
 */
#pragma once

#include "passes.h"

typedef struct choice_list {
    int count;
    choice *list;
} choice_list;

/* A choice for each backend, or with a list of variants more; the caller frees the list. A name that no backend has
 * ends the command. */
choice_list choices_for(const exercise *e);

/* For `plan`, which knows the outputs: the block that a saved sweep found best on the first backend; false: none. */
bool choices_saved_block(const exercise *e, int block[3]);
