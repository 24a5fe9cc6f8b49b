/* SPDX-License-Identifier: MIT */
#include "elementwise.h"

/* "maximum: 256x256x256 f32, f32" */
static void plan(exercise *e, fl_dtype (*result)(const fl_dtype *inputs, int count))
{
    const host_array *x = &e->inputs[0], *y = &e->inputs[e->input_count - 1];
    const bool two = e->input_count == 2;
    int64_t whole[FL_MAX_DIMS];

    exercise_one_shape(e);
    exercise_output(e, result((fl_dtype[]){x->dtype, y->dtype}, e->input_count), x->ndim, x->shape);
    exercise_whole(e->input_rows[0], x->ndim, x->shape, whole);
    exercise_title(e, "%s: %s %s%s%s%s", e->kind->name, format_shape(x->ndim, whole).text, fl_dtype_name(x->dtype),
                   two ? ", " : "", two ? fl_dtype_name(y->dtype) : "", e->in_place ? " in place" : "");
}

void elementwise_plan(exercise *e)
{
    plan(e, fl_dtype_result);
}

void elementwise_float_plan(exercise *e)
{
    plan(e, fl_dtype_float_result);
}
