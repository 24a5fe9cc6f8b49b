/* SPDX-License-Identifier: MIT
 *
 * flynn log_of_sum: log(x + y) for each element.
 */
#include "elementwise.h"

#include "view/json.h"
#include "view/row.h"
#include "support/print.h"

static host_array make(const exercise *e, int i)
{
    return exercise_random_input(e, i, 1, NULL);
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return fl_log_of_sum(device, in[0], in[1], out[0], run);
}

/* Adds the value, which is the answer of a call with two numbers. */
static void add_json(const exercise *e, const measurement *m, json_t *row)
{
    if (e->numbers && m->results[0].shape[0] > 0) /* rank 0's */
        json_put(row, "value", json_number(host_array_get(&m->results[0], 0)));
}

static void print(const exercise *e, const measurement *m, const json_t *row)
{
    if (e->numbers)
        text_print("%s: log(%g + %g) = %.17g\n", m->device.resource, host_array_get(&e->inputs[0], 0),
                   host_array_get(&e->inputs[1], 0), row_number(row, "value"));
}

const exercise_kind log_of_sum_exercise = {
    .name = "log_of_sum",
    .summary = "log(x + y) for each element",
    .help = "Computes log(x + y) for each element; f32 with f32 is computed in f32, every other pair in f64.\v"
            "X and Y are .npy files of one shape with up to four dimensions, or numbers (flynn log_of_sum 6 7). "
            "Without them: two vectors of ten million random f32 in 0..1 (--size, --dtype, --seed).\v"
            "\tof two vectors on the best backend\n"
            "6 7\tof two numbers\n"
            "-b serial,simd,omp --size=1M\tthree backends side by side\n",
    .arguments = "[X Y]",
    .input_count = 2,
    .inputs = {{"input", 1, FL_MAX_DIMS, true}, {"input", 1, FL_MAX_DIMS, true}},
    .least_files = 2,
    .numbers = true,
    .dtypes = DTYPES_ALL,
    .made = "the random vectors",
    .size = 10000000,
    .laws = {10000000, 1, NULL},
    .ulps = 4, /* flynn.h */
    .distributed = 3,
    .steps = {make, elementwise_float_plan, call, NULL, NULL, NULL},
    .add_json = add_json,
    .print = print,
};
