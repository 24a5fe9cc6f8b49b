/* SPDX-License-Identifier: MIT
 *
 * flynn map: a function of one's own for each element.
 */
#include "registry.h"
#include "map_inputs.h"

#include "harness/reference.h"
#include "support/fail.h"
#include "support/memory.h"
#include "support/options.h"
#include "view/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const own_option options[] = {
    {"rtol", OPTION_REAL, offsetof(map_options, relative), "R", "Relative tolerance of the check (f32 1e-5, f64 1e-12)",
     .group = GROUP_HOW},
    {"atol", OPTION_REAL, offsetof(map_options, absolute), "A", "Absolute one (1e-6, 1e-14 of the largest element)",
     .group = GROUP_HOW},
    {0},
};

static void settle(exercise *e)
{
    if (e->word)
        option_refuse(&e->common, TAKES_FUNCTION, "the function is the first argument");
}

/* "map: log(x + y), 10000000 f32, 10000000 f32 -> f32" */
static void plan(exercise *e)
{
    const map_options *own = e->own;
    const fl_function_info *info = &own->info;
    char inputs[sizeof e->title] = "";
    int64_t shape[FL_MAX_DIMS];
    const int ndim = map_broadcast(e, shape);

    for (int i = 0; i < e->input_count; i++)
        snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), ", %s %s",
                 format_shape(e->inputs[i].ndim, e->inputs[i].shape).text, fl_dtype_name(e->inputs[i].dtype));
    exercise_output(e, info->result, ndim, shape);
    exercise_title(e, "map: %.160s%s -> %s", own->word, inputs, fl_dtype_name(info->result));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    map_options *own = e->own;
    const fl_array *inputs[FL_MAX_INPUTS];
    fl_function *function;
    fl_status status = user_function_on(&own->function, device, &function);

    if (status != FL_OK)
        return status;
    for (int i = 0; i < e->input_count; i++)
        inputs[i] = in[i];
    user_function_enter("function");
    status = fl_map(device, function, inputs, e->input_count, out[0], run);
    user_function_leave();
    return status;
}

/* ------------------------------------------------------------------------------------------------- check ---- */

/* What the unoptimised code gives for some elements, or for all. */
typedef struct expected_elements {
    int64_t count, *index; /* row-major, ascending */
    host_array value;
    double largest; /* of the finite ones, without sign */
} expected_elements;

/* All, unless that would take much longer than the work: then as many as are soon done, evenly spread. */
static int64_t elements_to_check(const exercise *e)
{
    enum { SAMPLES = 65536, MOST = 1 << 24 };
    const int64_t all = output_size(&e->outputs[0]), most = ((const map_options *)e->own)->info.loops ? SAMPLES : MOST;

    if (e->common.check == CHECK_FULL || (e->common.check == CHECK_AUTO && all <= most))
        return all;
    return int64_smaller(all, SAMPLES);
}

/* The elements of one input that those of the output are made of. */
static fl_array *gather(const exercise *e, int input, const expected_elements *x, fl_device *device)
{
    const host_array *in = &e->inputs[input];
    const size_t size = fl_dtype_size(in->dtype);
    host_array some = reference_array(in->dtype, 1, &x->count);
    fl_array *there;

    for (int64_t i = 0; i < x->count; i++)
        memcpy((char *)some.data + (size_t)i * size,
               (const char *)in->data + (size_t)map_index_in(e, input, x->index[i]) * size, size);
    there = reference_upload(device, &some, false);
    host_array_free(&some);
    return there;
}

static void expect(exercise *e)
{
    const int64_t all = output_size(&e->outputs[0]);
    fl_device *device = reference_device("map", "reference");
    expected_elements *x = memory_zeroed(1, sizeof *x);
    fl_array *in[FL_MAX_INPUTS], *out;

    x->count = elements_to_check(e);
    x->index = memory_zeroed((size_t)x->count, sizeof *x->index);
    for (int64_t i = 0; i < x->count; i++)
        x->index[i] = (int64_t)((double)i / (double)x->count * (double)all);
    for (int i = 0; i < e->input_count; i++)
        in[i] = gather(e, i, x, device);
    must(fl_array_create(device, e->outputs[0].dtype, 1, &x->count, &out));
    must(call(e, device, in, &out, &(fl_run){.variant = "reference"}));
    x->value = reference_fetch(out);
    for (int i = 0; i < e->input_count; i++)
        fl_array_free(in[i]);
    fl_device_close(device);
    for (int64_t i = 0; i < x->count; i++) {
        const double value = fabs(host_array_get(&x->value, i));
        x->largest = isfinite(value) && value > x->largest ? value : x->largest;
    }
    e->expected = x;
}

/* Another rounding, or another logarithm, changes the last bits of a sum that cancels, so the bound has a part that is
 * relative to the largest element. Integers are equal. */
static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const map_options *own = e->own;
    const expected_elements *x = e->expected;
    const host_array *result = &m->results[0];
    const bool real = fl_dtype_is_float(result->dtype), narrow = result->dtype == FL_F32;
    const double relative = !real ? 0 : own->relative >= 0 ? own->relative : narrow ? 1e-5 : 1e-12;
    const double absolute = !real ? 0 : own->absolute >= 0 ? own->absolute : (narrow ? 1e-6 : 1e-14) * x->largest;
    compare_result found = compare_start();

    snprintf(method, size, real ? "unoptimised code, %s, rtol %g, atol %.2g" : "unoptimised code, %s, exactly",
             x->count == host_array_size(result) ? "all elements" : "sampled", relative, absolute);
    for (int64_t i = 0; i < x->count; i++) {
        const double wanted = host_array_get(&x->value, i);
        const double got = reference_got(result, x->index[i], &x->value, i);
        compare_add(&found, x->index[i], got, wanted, absolute + relative * fabs(wanted));
    }
    return found;
}

static void release(exercise *e)
{
    expected_elements *x = e->expected;

    if (x) {
        host_array_free(&x->value);
        free(x->index);
        free(x);
    }
    user_function_free(&((map_options *)e->own)->function);
}

static const char *why_scalar(const exercise *e)
{
    return ((const map_options *)e->own)->info.loops ? "the function's loops may end at another time for each element"
                                                     : NULL;
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const map_options *own = e->own;

    (void)m;
    json_put(row, "function", json_text(own->word));
}

const exercise_kind map_exercise = {
    .name = "map",
    .summary = "a function of one's own for each element",
    .help = "Computes a function for each element: an expression of x, y, z and w, the inputs in their order, or the "
            "last function of a text in C (a file that ends in .c).\v"
            "An INPUT is a .npy or .png file, a number, or a range FIRST:END[:STEP], which is numpy.arange. Shapes are "
            "broadcast as NumPy does it. Without inputs: vectors of ten million random numbers in 0..1 (--size, "
            "--dtype, --seed). The C compiler `cc` compiles the function, and what it made is kept for the next time.\v"
            "'log(x + y)' a.npy b.npy -o c.npy\tan expression of two arrays\n"
            "'x > 0 ? sqrt(x) * 2 : 0' -b serial,simd,omp\tside by side\n"
            "prime.c 0:1000000\ta function in C of a million numbers\n",
    .arguments = "[FUNCTION [INPUT...]]",
    .input_count = FL_MAX_INPUTS,
    .takes_function = true,
    .first_is_text = true,
    .least_files = 1,
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_BLOCK,
    .options = options,
    .own_size = sizeof(map_options),
    .own = &(const map_options){.word = "log(x + y)", .relative = -1, .absolute = -1},
    .made = "the random vectors",
    .size = 10000000,
    .laws = {10000000, 1, NULL},
    .taxonomy_size = 1 << 20,
    .not_everywhere = true,
    .steps = {NULL, plan, call, expect, check, release},
    .settle = settle,
    .take = map_take,
    .why_scalar = why_scalar,
    .add_json = add_json,
};
