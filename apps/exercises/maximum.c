/* SPDX-License-Identifier: MIT
 *
 * flynn maximum: the larger of two elements.
 */
#include "elementwise.h"

static host_array make(const exercise *e, int i)
{
    return exercise_random_input(e, i, 3, NULL);
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return fl_maximum(device, in[0], in[1], out[0], run);
}

const exercise_kind maximum_exercise = {
    .name = "maximum",
    .summary = "the larger of two elements",
    .help = "Takes the larger of two elements, and NaN where either is NaN.\v"
            "X and Y are .npy files of one shape, of f32, f64, i32 or i64, with up to four dimensions. Without them: "
            "two cubes of random f32 with an edge of 256 (--size, --dtype, --seed).\v"
            "\tof two cubes on the best backend\n"
            "-b serial,simd,omp\tthree backends side by side\n"
            "x.npy y.npy -o most.npy\tyour own arrays\n",
    .arguments = "[X Y]",
    .input_count = 2,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}, {"input", 1, FL_MAX_DIMS, true}},
    .least_files = 2,
    .dtypes = DTYPES_SIGNED,
    .file_dtypes = DTYPES_SIGNED,
    .made = "the course's cubes",
    .size = 256,
    .largest = 1 << 20,
    .laws = {256, 3, NULL},
    .taxonomy_size = 256,
    .distributed = 3,
    .steps = {make, elementwise_plan, call, NULL, NULL, NULL},
};
