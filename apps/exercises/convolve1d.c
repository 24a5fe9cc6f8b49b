/* SPDX-License-Identifier: MIT
 *
 * flynn convolve1d: the one-dimensional convolution exercise.
 */
#include "convolution.h"

#include "support/fail.h"
#include "words/course.h"

#include <inttypes.h>

typedef struct convolve1d_options {
    convolution_options shared;
    int taps;
} convolve1d_options;

static const char *const taps[] = {"15", "225", NULL};
static const own_option options[] = {
    CONVOLUTION_MODE_OPTION("full (default), same (length) or valid (no border)"),
    CONVOLUTION_GAUSSIAN_OPTION,
    {"taps", OPTION_CHOICE, offsetof(convolve1d_options, taps), "N",
     .help = "15 (default), its diagonal, or 225, all of it", .names = taps, .void_with = 2},
    {0},
};

static host_array make_part(const exercise *e, int64_t first, int64_t count)
{
    return course_signal_part(first, count, exercise_dtype(e, FL_F64));
}

static host_array make(const exercise *e, int i)
{
    const convolve1d_options *own = e->own;
    int64_t count = exercise_size(e);
    const int64_t first = i == 0 ? group_part(1, &count) : 0;

    if (i == 0)
        return make_part(e, first, count);
    return course_gaussian_line(own->shared.gaussian, own->taps == 1, e->inputs[0].dtype);
}

/* "convolve1d full: signal 4194304 f64, kernel 15 f64, result 4194318 f64" */
static void plan(exercise *e)
{
    const host_array *signal = &e->inputs[0], *kernel = &e->inputs[1];
    const fl_dtype dtype = exercise_float_dtype(e);
    int64_t length, share;

    must(fl_convolve1d_shape(e->input_rows[0], kernel->shape[0], convolution_mode(e), &length));
    share = length;
    group_part(1, &share);
    exercise_output(e, dtype, 1, &share);
    exercise_title(e, "convolve1d %s: signal %" PRId64 " %s, kernel %" PRId64 " %s, result %" PRId64 " %s",
                   convolution_modes[convolution_mode(e)], e->input_rows[0], fl_dtype_name(signal->dtype),
                   kernel->shape[0], fl_dtype_name(kernel->dtype), length, fl_dtype_name(dtype));
}

static void expect(exercise *e)
{
    convolution_expect(e, make_part);
}

const exercise_kind convolve1d_exercise = {
    .name = "convolve1d",
    .summary = "convolve a signal with a kernel",
    .help = "Convolves a signal with a kernel, as scipy.signal.convolve does with two vectors.\v"
            "SIGNAL is a .npy file of one dimension. Without it: the course's image row after row, 2048 columns of "
            "16x16 zeros with a one at [8, 8], --size (2048 * 2048) elements, in f64. KERNEL is a .npy file of one "
            "dimension. Without it: the course's Gaussian in the signal's dtype, its diagonal or with --taps=225 all "
            "of it. --dtype=f32|f64 converts both; f32 with f32 is computed in f32, every other pair in f64.\v"
            "\tthe course's, on the best backend\n"
            "-b serial,simd,omp --size=1M\tthree backends side by side\n"
            "x.npy taps.npy -o out.npy\tyour own arrays\n",
    .arguments = "[SIGNAL [KERNEL]]",
    .input_count = 2,
    .inputs = {{"signal", 1, 1, false}, {"kernel", 1, 1, false}},
    .dtypes = DTYPES_FLOAT,
    .tolerates = true,
    .seeds_calls = true, /* the check's samples */
    .options = options,
    .own_size = sizeof(convolve1d_options),
    .own = &(const convolve1d_options){.shared = {.mode = FL_FULL}},
    .made = "the course's signal",
    .size = 2048 * 2048,
    .largest = INT64_C(1) << 40,
    .laws = {1 << 22, 1, NULL},
    .taxonomy_size = 1 << 22,
    .distributed = 1, /* the signal */
    .steps = {make, plan, convolution_call, expect, convolution_check, convolution_release},
};
