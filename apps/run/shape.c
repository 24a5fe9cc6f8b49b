/* SPDX-License-Identifier: MIT */
#include "shape.h"

int64_t output_size(const output_spec *o)
{
    int64_t size;

    shape_bytes(o->ndim, o->shape, 1, &size);
    return size;
}

int64_t exercise_elements(const exercise *e)
{
    int64_t most = 0;

    for (int i = 0; i < e->input_count; i++) {
        int64_t size = host_array_size(&e->inputs[i]);
        most = size > most ? size : most;
    }
    for (int i = 0; i < e->output_count; i++) {
        int64_t size = output_size(&e->outputs[i]);
        most = size > most ? size : most;
    }
    return most;
}

void exercise_output(exercise *e, fl_dtype dtype, int ndim, const int64_t *shape)
{
    output_spec *o = &e->outputs[e->output_count++];

    o->dtype = dtype;
    o->ndim = ndim;
    for (int d = 0; d < FL_MAX_DIMS; d++)
        o->shape[d] = d < ndim ? shape[d] : 1;
}

void exercise_whole(int64_t rows, int ndim, const int64_t *share, int64_t *whole)
{
    for (int d = 0; d < ndim; d++)
        whole[d] = d == 0 ? rows : share[d];
}

int exercise_whole_input(const exercise *e, int i, int64_t whole[FL_MAX_DIMS])
{
    exercise_whole(e->input_rows[i], FL_MAX_DIMS, e->inputs[i].shape, whole);
    return e->inputs[i].ndim;
}
