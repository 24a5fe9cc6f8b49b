/* SPDX-License-Identifier: MIT
 *
 * registry.h - the exercises that commands of many runs can run by their names.
 */
#ifndef FLYNN_APPS_EXERCISES_REGISTRY_H
#define FLYNN_APPS_EXERCISES_REGISTRY_H

enum { EXERCISES = 11 };
extern const char *const exercise_names[EXERCISES];

/* The one of that name; ends the command (exit code 2) where there is none: "'sorrt' is no exercise to <verb>". */
const char *exercise_named(const char *name, const char *verb);

#endif
