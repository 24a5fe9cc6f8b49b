/* SPDX-License-Identifier: MIT
 *
 * tuned.h - winners of `flynn sweep --save`, kept in a file between commands: what an exercise runs on a device when
 * neither variant nor block are asked for.
 */
#ifndef FLYNN_APPS_HARNESS_TUNED_H
#define FLYNN_APPS_HARNESS_TUNED_H

#include "support/problem.h"

#include <flynn/flynn.h>

/* What was the fastest way to run an exercise. */
typedef struct tuned_way {
    char variant[40];
    int block[3]; /* as it was asked for; 0: the variant's own choice */
} tuned_way;

/* For what it was the fastest. */
typedef struct tuned_work {
    const char *exercise;
    const char *dtype;    /* of its result */
    int64_t elements;     /* of its largest array */
    const char *resource; /* the device's */
    const char *name;     /* the device's */
} tuned_work;

/* Keeps the way, in place of one for as many elements. */
bool tuned_save(const tuned_work *work, const tuned_way *way, problem *why);

/* The way that is kept for this work: of those whose number of elements lies between the same two powers of two, the
 * one nearest in size; false when there is none. A file that cannot be read counts as none. */
bool tuned_find(const tuned_work *work, tuned_way *way);

/* Removes what is kept on this host for the exercise (NULL: for all); `count` is how many. */
bool tuned_forget(const char *exercise, int *count, problem *why);

/* The file's name; "" where the environment names no folder. */
const char *tuned_path(void);

#endif
