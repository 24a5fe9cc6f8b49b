/* SPDX-License-Identifier: MIT
 *
 * flynn increment: add one to each element.
 */
#include "elementwise.h"

#include "support/fail.h"

typedef struct increment_options {
    int64_t shape[FL_MAX_DIMS]; /* zeros: not given */
    bool in_place;
} increment_options;

static const own_option options[] = {
    {"shape", OPTION_NUMBERS, offsetof(increment_options, shape), "HxW",
     .help = "Ones in this shape, such as 256x256 (1 to 4 numbers)", .least = 1, .most = FL_MAX_DIMS, .void_with = 1},
    {"in-place", OPTION_FLAG, offsetof(increment_options, in_place),
     .help = "Increment the array itself, as the course does"},
    {0},
};

static void settle(exercise *e)
{
    const increment_options *own = e->own;

    if (own->shape[0])
        option_refuse(&e->common, TAKES_SIZE, "--shape says the size");
}

static host_array make(const exercise *e, int i)
{
    const increment_options *own = e->own;
    const int64_t line = exercise_size(e);
    int64_t first;
    int ndim = 0;
    host_array ones;

    while (ndim < FL_MAX_DIMS && own->shape[ndim])
        ndim++;
    ones = exercise_share(exercise_dtype(e, FL_F64), ndim ? ndim : 1, ndim ? own->shape : &line, &first);
    for (int64_t n = i; n < host_array_size(&ones); n++)
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
    .settle = settle,
    .distributed = 1,
    .steps = {make, plan, call, NULL, NULL, NULL},
};
