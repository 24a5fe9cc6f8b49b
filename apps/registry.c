/* SPDX-License-Identifier: MIT
 *
 * registry.c - the list of exercises, and how a name finds one.
 */
#include "run/registry.h"

#include "options/typed.h"
#include "support/fail.h"

#include <stdio.h>
#include <string.h>

/* One line an exercise, in the order of `flynn --help`. */
/* clang-format off */
#define EACH_EXERCISE(use) \
    use(increment) \
    use(sqrt) \
    use(maximum) \
    use(log_of_sum) \
    use(map) \
    use(kernel) \
    use(sort) \
    use(search_sorted) \
    use(select) \
    use(transpose) \
    use(histogram) \
    use(reduce) \
    use(scan) \
    use(primes) \
    use(convolve1d) \
    use(convolve) \
    use(svd) \
    use(reconstruct) \
    use(matmul) \
    use(allclose)
/* clang-format on */

#define DECLARE(name) extern const exercise_kind name##_exercise;
#define ADDRESS(name) &name##_exercise,
EACH_EXERCISE(DECLARE)
const exercise_kind *const exercises[] = {EACH_EXERCISE(ADDRESS) NULL};
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
    nearest = typed_nearest(name, names, count);
    if (nearest) {
        typed_change(name, nearest);
        typed_refuse("'%s' is not an exercise that %s runs; did you mean '%s'?", name, command, nearest);
    }
    fail(EXIT_BAD_INPUT, "'%s' is not an exercise that %s runs; expected one of %s", name, command, list);
}
