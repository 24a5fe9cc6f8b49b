/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include "support/fail.h"

#include <string.h>

const char *const exercise_names[EXERCISES] = {"increment", "sqrt",   "maximum",    "log_of_sum",
                                               "sort",      "select", "primes",     "convolve1d",
                                               "convolve",  "svd",    "reconstruct"};

const char *exercise_named(const char *name, const char *verb)
{
    const char *nearest;

    for (int i = 0; i < EXERCISES; i++)
        if (strcmp(exercise_names[i], name) == 0)
            return exercise_names[i];
    nearest = fl_nearest_name(name, exercise_names, EXERCISES);
    fail(EXIT_BAD_INPUT, "'%s' is no exercise to %s%s%s%s; expected increment, sqrt ... as `flynn --help` lists them",
         name, verb, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}
