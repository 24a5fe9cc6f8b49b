/* SPDX-License-Identifier: MIT */
#include "random.h"

random_state random_start(uint64_t seed)
{
    return (random_state){seed};
}

void random_skip(random_state *state, uint64_t count)
{
    state->counter += count * random_step;
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
