/* SPDX-License-Identifier: MIT
 *
 * registry.h - all exercises by name. Commands of many runs ask it, and name no exercise themselves.
 *
 * exercises/ and own/ have one file an exercise: its table (kind.h) and the functions in it.
 */
#pragma once

#include "exercise.h"

/* All exercises, in the order in which `flynn --help` lists them; NULL ends them. */
extern const exercise_kind *const exercises[];

/* The exercise of that name; NULL: there is none. */
const exercise_kind *exercise_find(const char *name);

/* The exercise of that name for a command that runs those for which `fits` is true: ends the command with exit code 2
 * where there is none: "'sorrt' is not an exercise that compare runs; did you mean 'sort'?". */
const exercise_kind *exercise_named(const char *name, const char *command, bool (*fits)(const exercise_kind *));

/* Ends the command if an option was given on the command line that it would pass on, and the exercise does not take. */
void exercise_refuse(const common_options *common, const exercise_kind *kind);

/* Returns whether compare, sweep and laws run the exercise; and whether taxonomy does. */
bool exercise_runs_among_others(const exercise_kind *kind);
bool exercise_shows_taxonomy(const exercise_kind *kind);
