/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include "support/fail.h"

#include <stdio.h>
#include <string.h>

extern const exercise_kind increment_exercise, sqrt_exercise, maximum_exercise, log_of_sum_exercise, sort_exercise,
    select_exercise, primes_exercise, convolve1d_exercise, convolve_exercise, svd_exercise, reconstruct_exercise,
    allclose_exercise;

const exercise_kind *const exercises[] = {
    &increment_exercise,
    &sqrt_exercise,
    &maximum_exercise,
    &log_of_sum_exercise,
    &sort_exercise,
    &select_exercise,
    &primes_exercise,
    &convolve1d_exercise,
    &convolve_exercise,
    &svd_exercise,
    &reconstruct_exercise,
    &allclose_exercise,
    NULL,
};
enum { EXERCISES = sizeof exercises / sizeof *exercises - 1 };

const exercise_kind *exercise_find(const char *name)
{
    for (int i = 0; i < EXERCISES; i++)
        if (strcmp(exercises[i]->name, name) == 0)
            return exercises[i];
    return NULL;
}

bool exercise_runs_among_others(const exercise_kind *kind)
{
    return !kind->only_alone;
}

bool exercise_shows_taxonomy(const exercise_kind *kind)
{
    return kind->taxonomy_size > 0;
}

void exercise_refuse(const common_options *common, const exercise_kind *kind)
{
    const unsigned takes = exercise_takes(kind) | (kind->size_option ? TAKES_SIZE : 0);

    option_refuse(common, TAKES_RUN & ~takes, "%s does not take it", kind->name);
}

const exercise_kind *exercise_named(const char *name, const char *command, bool (*fits)(const exercise_kind *))
{
    const exercise_kind *found = exercise_find(name);
    const char *names[EXERCISES], *nearest;
    char list[256] = "";
    size_t count = 0;

    if (found && fits(found))
        return found;
    for (int i = 0; i < EXERCISES; i++) {
        if (!fits(exercises[i]))
            continue;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", count ? ", " : "", exercises[i]->name);
        names[count++] = exercises[i]->name;
    }
    nearest = fl_nearest_name(name, names, count);
    if (nearest)
        fail(EXIT_BAD_INPUT, "'%s' is not an exercise that %s runs; did you mean '%s'?", name, command, nearest);
    fail(EXIT_BAD_INPUT, "'%s' is not an exercise that %s runs; expected one of %s", name, command, list);
}
