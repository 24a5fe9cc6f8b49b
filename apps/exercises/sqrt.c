/* SPDX-License-Identifier: MIT
 *
 * flynn sqrt: the square root of each element.
 */
#include "elementwise.h"

static host_array make(const exercise *e, int i)
{
    const int64_t size = exercise_size(e);
    int64_t first;
    host_array range = exercise_share(exercise_dtype(e, FL_F32), 1, &size, &first);

    for (int64_t n = i, size = host_array_size(&range); n < size; n++)
        host_array_set(&range, n, (double)(first + n));
    return range;
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return fl_sqrt(device, in[0], out[0], run);
}

const exercise_kind sqrt_exercise = {
    .name = "sqrt",
    .summary = "the square root of each element",
    .help = "Takes the square root of each element; f32 is computed in f32, every other dtype in f64.\v"
            "FILE is a .npy or .png file with up to four dimensions. Without it: 0, 1, 2 ... 4095 in f32 (--size, "
            "--dtype).\v"
            "\tof 0 to 4095 on the best backend\n"
            "-b all --size=16M\tevery backend side by side\n"
            "x.npy -o root.npy\tyour own array\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}},
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_SEED,
    .made = "the course's range",
    .size = 4096,
    .laws = {1 << 24, 1, NULL},
    .distributed = 1,
    .steps = {make, elementwise_float_plan, call, NULL, NULL, NULL},
};
