/* SPDX-License-Identifier: MIT
 *
 * flynn transpose: the last two dimensions exchanged.
 */
#include "run/registry.h"

#include <stdio.h>
#include <string.h>

typedef struct transpose_options {
    int64_t shape[FL_MAX_DIMS]; /* zeros: not given */
} transpose_options;

static const own_option options[] = {
    {"shape", OPTION_NUMBERS, offsetof(transpose_options, shape), "HxW",
     .help = "Random numbers in this shape, such as 3x1M", .least = 2, .most = FL_MAX_DIMS, .void_with = 1,
     .says_size = true},
    {0},
};

static host_array make(const exercise *e, int i)
{
    return exercise_random_input(e, i, 2, ((const transpose_options *)e->own)->shape);
}

static void plan(exercise *e)
{
    const host_array *in = &e->inputs[0];
    int64_t shape[FL_MAX_DIMS];

    memcpy(shape, in->shape, sizeof shape);
    shape[in->ndim - 1] = in->shape[in->ndim - 2];
    shape[in->ndim - 2] = in->shape[in->ndim - 1];
    exercise_output(e, in->dtype, in->ndim, shape);
    exercise_title(e, "transpose: %s %s", format_shape(in->ndim, in->shape).text, fl_dtype_name(in->dtype));
}

static fl_status call(const exercise *e, fl_device *device, fl_array *const *in, fl_array *const *out,
                      const fl_run *run)
{
    (void)e;
    return fl_transpose(device, in[0], out[0], run);
}

/* Compares element `from` of the input with element `to` of the result, bit for bit. */
static void compare_one(compare_result *found, const host_array *in, const host_array *result, int64_t from, int64_t to)
{
    const size_t size = fl_dtype_size(in->dtype);
    const char *expected = (const char *)in->data + (size_t)from * size;

    compare_add_exact(found, to, memcmp(expected, (const char *)result->data + (size_t)to * size, size) == 0,
                      host_array_get(result, to), host_array_get(in, from));
}

/* In squares, which stay in the processor's cache. */
static void compare_matrix(compare_result *found, const host_array *in, const host_array *result, int64_t first,
                           int64_t height, int64_t width)
{
    enum { EDGE = 32 };

    for (int64_t top = 0; top < height; top += EDGE)
        for (int64_t left = 0; left < width; left += EDGE)
            for (int64_t i = top; i < height && i < top + EDGE; i++)
                for (int64_t j = left; j < width && j < left + EDGE; j++)
                    compare_one(found, in, result, first + i * width + j, first + j * height + i);
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const host_array *in = &e->inputs[0];
    const int64_t height = in->shape[in->ndim - 2], width = in->shape[in->ndim - 1], all = host_array_size(in);
    compare_result found = compare_start();

    for (int64_t first = 0; first < all; first += height * width)
        compare_matrix(&found, in, &m->results[0], first, height, width);
    found.ok = found.failed == 0;
    snprintf(method, size, "a loop on the host: each element bit for bit");
    return found;
}

const exercise_kind transpose_exercise = {
    .name = "transpose",
    .summary = "exchange the rows and columns of a matrix",
    .help = "Exchanges the last two dimensions of an array, as numpy.swapaxes(x, -1, -2) and a copy do.\v"
            "FILE is a .npy file of two to four dimensions, of which the first ones are a batch, or a .png file (read "
            "as grey, 0..1). Without it: a matrix of random numbers of --dtype (f32) from --seed with --size (4096) "
            "rows and columns, or in --shape.\v"
            "\ta random matrix on the best backend\n"
            "-b hip --variant=all\tevery way to do it on a GPU\n"
            "--shape=3x1M\tfew long rows\n"
            "in.png -o out.png\tyour own picture\n",
    .arguments = "[FILE]",
    .input_count = 1,
    .inputs = {{"input", 2, FL_MAX_DIMS, true}},
    .dtypes = DTYPES_ALL,
    .lacks = TAKES_CHECK,
    .options = options,
    .own_size = sizeof(transpose_options),
    .made = "the random numbers",
    .size = 4096,
    .largest = 1 << 20,
    .laws = {4096, 2, NULL},
    .taxonomy_size = 2048,
    .steps = {make, plan, call, NULL, check, NULL},
};
