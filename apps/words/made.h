/* SPDX-License-Identifier: MIT
 *
 * made.h - arrays that a word makes: KIND:SHAPE[,KEY=VALUE]..., such as random:64x64,seed=3.
 *
 * The room words/ turns a word of the command line into an array: of a file, or made here.
 */
#pragma once

#include "support/host_array.h"

enum { MOST_MADE_KEYS = 2 };

/* A kind of arrays; the table is in made.c. */
typedef struct made_kind made_kind;

typedef struct made_array {
    const made_kind *kind;
    fl_dtype dtype;
    int ndim;
    int64_t shape[FL_MAX_DIMS]; /* 1 beyond ndim */
    uint64_t seed;
    double value[MOST_MADE_KEYS]; /* the values of the kind's keys, in their order */
} made_array;

/* Returns whether the word has the form of one that makes an array: letters, then a colon. A path with a slash has not,
 * nor has a name that ends in .npy or .png. */
bool made_is_word(const char *word);
/* Returns whether its letters name a kind of arrays. */
bool made_has_kind(const char *word);
/* Returns whether it makes random numbers, which depend on a seed that the word does not give. */
bool made_takes_seed(const char *word);

/* Reads the word; `seed` and `usual` hold where it has no key `seed` or `dtype`. A NULL `usual` is f32, of integers
 * i32. false, with a problem, where something in the word is wrong. */
bool made_read(const char *word, uint64_t seed, const fl_dtype *usual, made_array *made, problem *why);

/* Makes `count` elements from `first` on, in row-major order, as an array of one dimension, which --max-memory must
 * allow; `word` begins an error message. */
bool made_elements(const made_array *made, int64_t first, int64_t count, const char *word, host_array *array,
                   problem *why);
