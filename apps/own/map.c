/* SPDX-License-Identifier: MIT
 *
 * flynn map: the user's function for each element.
 */
#include "run/registry.h"
#include "map_inputs.h"

#include "run/reference.h"
#include "options/options.h"
#include "support/fail.h"
#include "view/json.h"

#include <stdio.h>
#include <string.h>

static const own_option options[] = {
    {"rtol", OPTION_REAL, offsetof(map_options, relative), "R", "Relative tolerance of the check (f32 1e-5, f64 1e-12)",
     .group = GROUP_HOW},
    {"atol", OPTION_REAL, offsetof(map_options, absolute), "A", "Absolute one (1e-6, 1e-14 of the largest element)",
     .group = GROUP_HOW},
    {"lanes", OPTION_FLAG, offsetof(map_options, lanes), .help = "Only print the function over lanes of simd and omp",
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
    int64_t shape[FL_MAX_DIMS], whole[FL_MAX_DIMS];
    const int ndim = map_broadcast(e, shape);

    for (int i = 0; i < e->input_count; i++) {
        const int of_input = exercise_whole_input(e, i, whole);
        snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), ", %s %s", format_shape(of_input, whole).text,
                 fl_dtype_name(e->inputs[i].dtype));
    }
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
    user_function_enter("function", true);
    return user_function_leave(fl_map(device, function, inputs, e->input_count, out[0], run));
}

/* ------------------------------------------------------------------------------------------------- check ---- */

/* Computes what is expected by the same text without optimisation. A text with loops may take long for each element:
 * then fewer are compared. */
static void expect(exercise *e)
{
    enum { MOST_OF_LOOPS = 65536 };
    const double seconds = 0.5; /* that, and the estimate before: less than 1 s */

    reference_expect(e, ((const map_options *)e->own)->info.loops ? MOST_OF_LOOPS : REFERENCE_MOST, seconds);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const map_options *own = e->own;
    const host_array *result = &m->results[0];
    const reference_bound bound = user_bound(own->relative, own->absolute, result->dtype, e->expected);

    snprintf(method, size,
             fl_dtype_is_float(result->dtype) ? "unoptimised code, %s, rtol %g, atol %.2g"
                                              : "unoptimised code, %s, exactly",
             reference_is_whole(e) ? "all elements" : "sampled", bound.relative, bound.absolute);
    return reference_verdict(reference_compare(result, e->expected, &bound), m->timing.variant, method, size);
}

static void release(exercise *e)
{
    reference_free(e);
    user_function_free(&((map_options *)e->own)->function);
}

static const char *why_scalar(const exercise *e)
{
    static char lanes[1], why[300];
    const map_options *own = e->own;

    if (!own->info.loops || fl_function_lanes(own->function.text, own->function.shown_as, lanes, 1) == FL_OK)
        return NULL;
    snprintf(why, sizeof why, "the function's loops may end at another time for each element (%s)", fl_last_error());
    return why;
}

static json_t *text(const exercise *e)
{
    return json_text(((const map_options *)e->own)->function.text);
}

static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    const map_options *own = e->own;

    (void)m;
    json_put(row, "function", json_text(own->word));
}

const exercise_kind map_exercise = {
    .name = "map",
    .summary = "your own function for each element",
    .help =
        "Computes a function for each element: an expression of x, y, z and w, the inputs in their order, or the "
        "last function of a text in C (a file that ends in .c).\v"
        "An INPUT is a .npy or .png file, a word that makes an array (random:64x64, see `flynn help --long show`), a "
        "number, or a range FIRST:END[:STEP], which is numpy.arange. Shapes are "
        "broadcast as NumPy does it. Without inputs: vectors of ten million random numbers in 0..1 (--size, "
        "--dtype, --seed). The C compiler `cc` compiles the function; the compiled code is kept for the next time.\v"
        "'log(x + y)' a.npy b.npy -b simd,omp\tan expression on two backends\n"
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
    .distributed = PARTED_RESULT, /* map_take says which inputs are shared */
    .steps = {NULL, plan, call, expect, check, release},
    .settle = settle,
    .take = map_take,
    .why_scalar = why_scalar,
    .text = text,
    .add_json = add_json,
};
