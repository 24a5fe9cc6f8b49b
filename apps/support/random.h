/* SPDX-License-Identifier: MIT
 *
 * random.h - reproducible random numbers: the same seed gives the same numbers everywhere.
 */
#pragma once

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
typedef struct random_state {
    uint64_t counter;
} random_state;

random_state random_start(uint64_t seed);

/* The number that is added to the counter: 2^64 divided by the golden ratio. */
static const uint64_t random_step = 0x9e3779b97f4a7c15u;

/* Inline, since it fills large arrays. */
static inline uint64_t random_next(random_state *state)
{
    uint64_t z = state->counter += random_step;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Sets the state as after `count` calls of random_next. */
void random_skip(random_state *state, uint64_t count);
/* 0 to limit - 1 (limit > 0); probabilities differ by at most limit / 2^64. */
int64_t random_below(random_state *state, int64_t limit);
/* Fills `signs` with 1 and -1. */
void random_signs(random_state *state, double *signs, int64_t count);
