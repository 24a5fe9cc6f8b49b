/* SPDX-License-Identifier: MIT */
#include "random.h"

static const uint64_t step = 0x9e3779b97f4a7c15u;

random_state random_start(uint64_t seed)
{
    return (random_state){seed};
}

uint64_t random_next(random_state *state)
{
    uint64_t z = state->counter += step;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void random_skip(random_state *state, uint64_t count)
{
    state->counter += count * step;
}

int64_t random_below(random_state *state, int64_t limit)
{
    return (int64_t)(random_next(state) % (uint64_t)limit);
}

void random_signs(random_state *state, double *signs, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        signs[i] = random_below(state, 2) ? 1 : -1;
}
