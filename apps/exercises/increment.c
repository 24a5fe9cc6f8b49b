/* SPDX-License-Identifier: MIT
 *
 * flynn increment: add one to each element.
 */
#include "elementwise.h"

typedef struct increment_options {
    int64_t shape[FL_MAX_DIMS]; /* zeros: not given */
    bool in_place;
} increment_options;

static const own_option options[] = {
    {"shape", OPTION_NUMBERS, offsetof(increment_options, shape), "HxW",
     .help = "Ones in this shape, such as 256x256 (1 to 4 numbers)", .least = 1, .most = FL_MAX_DIMS, .void_with = 1,
     .says_size = true},
    {"in-place", OPTION_FLAG, offsetof(increment_options, in_place),
     .help = "Increment the array itself, as the course does"},
    {0},
};

static host_array make(const exercise *e, int i)
{
    int64_t shape[FL_MAX_DIMS], first;
    const int ndim = exercise_made_shape(e, ((const increment_options *)e->own)->shape, 1, shape);
    host_array ones = exercise_share(exercise_dtype(e, FL_F64), ndim, shape, &first);

    for (int64_t n = i, size = host_array_size(&ones); n < size; n++)
        host_array_set(&ones, n, 1);
    return ones;
}

static void plan(exercise *e)
{
    e->in_place = ((const increment_options *)e->own)->in_place;
    elementwise_plan(e);
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return fl_increment(device, in[0], out[0], run);
}

const exercise_kind increment_exercise = {
    .name = "increment",
    .summary = "add one to each element",
    .help = "Adds one to each element. The largest integer wraps around to the smallest.\v"
            "FILE is a .npy file of f32, f64, i32 or i64 with up to four dimensions. Without it: 65,536 ones in f64 "
            "(--size, --shape, --dtype).\v"
            "\t65,536 ones on the best backend\n"
            "-b serial,simd,omp --size=16M\tthree backends side by side\n"
            "x.npy -o y.npy\tyour own array\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}},
    .dtypes = DTYPES_SIGNED,
    .file_dtypes = DTYPES_SIGNED,
    .lacks = TAKES_SEED,
    .options = options,
    .own_size = sizeof(increment_options),
    .made = "the course's ones",
    .size = 65536,
    .laws = {1 << 24, 1, NULL},
    .steady = true,
    .distributed = 1,
    .steps = {make, plan, call, NULL, NULL, NULL},
};
