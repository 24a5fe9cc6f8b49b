/* SPDX-License-Identifier: MIT
 *
 * made_kind.h - what a kind of made arrays is, for the two files that read words and make elements.
 */
#pragma once

#include "made.h"

/* The values that a key takes. */
typedef enum key_type {
    KEY_ANY,    /* a number, also inf and nan */
    KEY_FINITE, /* a finite number */
    KEY_WHOLE,  /* a whole number */
    KEY_COUNT,  /* a whole number of at least 1 */
    KEY_NAME,   /* one of `names`: its place */
} key_type;

typedef struct made_key {
    const char *name; /* NULL: none */
    key_type type;
    double usual;
    const char *const *names; /* ended by NULL */
} made_key;

struct made_kind {
    const char *name;
    /* Element i, at the position `index`. NULL: random numbers from the first value up to the second. */
    double (*at)(const made_array *made, int64_t i, const int64_t *index);
    fl_dtype dtype; /* where neither the word nor its user names one */
    int least_ndim, most_ndim;
    made_key keys[MOST_MADE_KEYS];
    double extent[2]; /* least and largest element of a kind whose keys do not give them */
};

enum { MADE_RANGE = 3, MADE_KINDS = 9 }; /* the place of `range`; how many there are */
extern const made_kind made_kinds[MADE_KINDS];
