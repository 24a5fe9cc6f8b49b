/* SPDX-License-Identifier: MIT
 *
 * The kinds of arrays that words make, and their elements.
 */
#include "made.h"
#include "made_kind.h"

#include "course.h"
#include "fill.h"

#include "support/memory.h"

#include <math.h>
#include <string.h>

/* The first value of the word: of zeros 0, since they have no key. */
static double constant_at(const made_array *made, int64_t i, const int64_t *index)
{
    (void)i, (void)index;
    return made->value[0];
}

static double one_at(const made_array *made, int64_t i, const int64_t *index)
{
    (void)made, (void)i, (void)index;
    return 1;
}

static double range_at(const made_array *made, int64_t i, const int64_t *index)
{
    (void)index;
    return made->value[0] + made->value[1] * (double)i;
}

/* 1 in the middle of each tile, as in the courses' image. */
static double impulse_at(const made_array *made, int64_t i, const int64_t *index)
{
    const int64_t every = (int64_t)made->value[0];

    (void)i;
    for (int d = 0; d < made->ndim; d++)
        if (index[d] % every != every / 2)
            return 0;
    return 1;
}

static double gaussian_at(const made_array *made, int64_t i, const int64_t *index)
{
    (void)i;
    return course_gaussian_at((int)made->value[0], made->ndim, made->shape, index);
}

static double phantom_at(const made_array *made, int64_t i, const int64_t *index)
{
    (void)i;
    return course_phantom_at(made->shape[0], made->shape[1], index[0], index[1]);
}

static const char *const widths[] = {[GAUSSIAN_WIDE] = "wide", [GAUSSIAN_NARROW] = "narrow", NULL};

const made_kind made_kinds[MADE_KINDS] = {
    {"zeros", constant_at, FL_F32, 1, FL_MAX_DIMS, {{0}}, {0, 0}},
    {"ones", one_at, FL_F32, 1, FL_MAX_DIMS, {{0}}, {1, 1}},
    {"fill", constant_at, FL_F32, 1, FL_MAX_DIMS, {{"value", KEY_ANY, 0, NULL}}, {0, 0}},
    {"range", range_at, FL_F32, 1, FL_MAX_DIMS, {{"from", KEY_FINITE, 0, NULL}, {"by", KEY_FINITE, 1, NULL}}, {0, 0}},
    {"random", NULL, FL_F32, 1, FL_MAX_DIMS, {{"from", KEY_FINITE, 0, NULL}, {"to", KEY_FINITE, 1, NULL}}, {0, 0}},
    {"integers", NULL, FL_I32, 1, FL_MAX_DIMS, {{"from", KEY_WHOLE, 0, NULL}, {"below", KEY_WHOLE, 10, NULL}}, {0, 0}},
    {"impulses", impulse_at, FL_F32, 1, FL_MAX_DIMS, {{"every", KEY_COUNT, COURSE_TILE, NULL}}, {0, 1}},
    {"gaussian", gaussian_at, FL_F32, 1, FL_MAX_DIMS, {{"width", KEY_NAME, GAUSSIAN_WIDE, widths}}, {0, 1}},
    {"phantom", phantom_at, FL_F32, 2, 2, {{0}}, {0, 1}},
};

/* Steps to the next position in row-major order. */
static void step(const made_array *made, int64_t *index)
{
    int d = made->ndim - 1;

    while (d > 0 && ++index[d] == made->shape[d])
        index[d--] = 0;
    if (d == 0)
        index[0]++;
}

bool made_elements(const made_array *made, int64_t first, int64_t count, const char *word, host_array *array,
                   problem *why)
{
    int64_t index[FL_MAX_DIMS] = {0}, rest = first;

    *array = (host_array){0};
    if (!memory_allows(word, (double)count * (double)fl_dtype_size(made->dtype), why) ||
        !host_array_create(array, made->dtype, 1, &count, word, why))
        return false;
    if (made->kind->at == NULL) {
        random_fill(array, first, made->value[0], made->value[1], made->kind->keys[0].type == KEY_WHOLE, made->seed);
        return true;
    }
    for (int d = made->ndim - 1; d > 0 && made->shape[d] > 0; d--) {
        index[d] = rest % made->shape[d];
        rest /= made->shape[d];
    }
    index[0] = rest;
    for (int64_t i = 0; i < count; i++, step(made, index))
        host_array_set(array, i, made->kind->at(made, first + i, index));
    return true;
}
