/* SPDX-License-Identifier: MIT
 *
 * tuned.h - the winners of `flynn sweep --save`, kept in a file: the variant and block that an exercise uses on a
 * device if the user names neither.
 */
#pragma once

#include "support/problem.h"

#include <flynn/flynn.h>

/* The fastest choice to run an exercise. */
typedef struct tuned_choice {
    char variant[40];
    int block[3]; /* 0: the variant's own choice */
} tuned_choice;

/* The work for which it is the fastest. */
typedef struct tuned_work {
    const char *exercise;
    const char *dtype;    /* of its result */
    int64_t elements;     /* of its largest array */
    const char *text;     /* "text_key" of the result; "": the exercise has no text of the user's */
    const char *resource; /* the device's */
    const char *name;     /* the device's */
} tuned_work;

/* Saves the choice; replaces one for the same number of elements. */
bool tuned_save(const tuned_work *work, const tuned_choice *choice, problem *why);

/* The saved choice for this work: of those whose number of elements lies between the same two powers of two, the
 * nearest in size. false if there is none or the file cannot be read. */
bool tuned_find(const tuned_work *work, tuned_choice *choice);

/* Removes the choices saved on this host for the exercise (NULL: for all); `count`: how many. */
bool tuned_forget(const char *exercise, int *count, problem *why);

/* The file's path; "" if the environment names no folder. */
const char *tuned_path(void);
