/* SPDX-License-Identifier: MIT
 *
 * map_inputs.h - the inputs of `flynn map`: files, numbers and ranges, in the dtypes that the function takes.
 */
#pragma once

#include "run/registry.h"
#include "function.h"

typedef struct map_options {
    const char *word;          /* what names the function: an expression, or a file */
    double relative, absolute; /* of the check; -1: not given */
    user_function function;
    fl_function_info info;
    bool lanes; /* only shows the function over lanes */
} map_options;

/* A number, or a range FIRST:END[:STEP] (numpy.arange), as an array; false: the word is neither. Ends the command where
 * the dtype does not hold it. */
bool numbers_from(const char *word, fl_dtype dtype, host_array *array);

/* Returns whether every value of one dtype exists in the other. */
bool dtype_fits(fl_dtype from, fl_dtype to);

/* exercise_kind.take */
void map_take(exercise *e);

/* The shape that all inputs are broadcast to, and its dimensions. Ends the command if there is none. */
int map_broadcast(const exercise *e, int64_t shape[FL_MAX_DIMS]);
