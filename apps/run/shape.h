/* SPDX-License-Identifier: MIT
 *
 * shape.h - the shapes of an exercise's arrays, of this process and of all ranks together.
 */
#pragma once

#include "kind.h"

/* Elements of an output. */
int64_t output_size(const output_spec *o);

/* How large the work is: the elements of its largest array. */
int64_t exercise_elements(const exercise *e);

/* `whole`: the shape of an array that has `rows` rows on all ranks together. `share`: the shape of this rank's part. */
void exercise_whole(int64_t rows, int ndim, const int64_t *share, int64_t *whole);
/* exercise_whole of the i-th input, whose dimensions it returns. */
int exercise_whole_input(const exercise *e, int i, int64_t whole[FL_MAX_DIMS]);

void exercise_output(exercise *e, fl_dtype dtype, int ndim, const int64_t *shape);
