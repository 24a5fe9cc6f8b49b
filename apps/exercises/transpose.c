/* SPDX-License-Identifier: MIT
 *
 * flynn transpose: the last two dimensions exchanged.
 */
#include "run/reference.h"
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

enum { EDGE = 32 }; /* elements; the rows of a square of both arrays stay in the processor's cache */

/* The rows of the result that threads compare with the columns of the input, EDGE at a time. */
typedef struct comparison {
    const host_array *in, *result;
    int64_t height, width; /* of the input's matrices */
    int64_t bands;         /* that the result of one matrix has */
} comparison;

/* Copies the columns of a square of the input as rows of EDGE elements. */
#define TURN(type) \
    do { \
        const type *from = (const type *)c->in->data + matrix + top * c->width + left; \
        type *to = rows; \
        for (int64_t i = 0; i < count; i++) \
            for (int64_t j = 0; j < columns; j++) \
                to[j * EDGE + i] = from[i * c->width + j]; \
    } while (0)

static compare_result compare_band(const void *user, int64_t band)
{
    const comparison *c = user;
    const size_t size = fl_dtype_size(c->in->dtype);
    const int64_t matrix = band / c->bands * c->height * c->width, left = band % c->bands * EDGE;
    const int64_t columns = int64_smaller(EDGE, c->width - left);
    void *const rows = (uint64_t[EDGE * EDGE]){0};
    compare_result found = compare_start();

    for (int64_t top = 0; top < c->height; top += EDGE) {
        const int64_t count = int64_smaller(EDGE, c->height - top);
        switch (size) {
        case 1: TURN(uint8_t); break;
        case 4: TURN(uint32_t); break;
        default: TURN(uint64_t); break;
        }
        for (int64_t j = 0; j < columns; j++) {
            const int64_t to = matrix + (left + j) * c->height + top;
            const host_array row = {c->in->dtype, 1, {count, 1, 1, 1}, (char *)rows + (size_t)(j * EDGE) * size},
                             got = {c->in->dtype, 1, {count, 1, 1, 1}, (char *)c->result->data + (size_t)to * size};
            compare_add_same_bits(&found, to, &got, &row);
        }
    }
    return found;
}

static compare_result check(const exercise *e, const measurement *m, char *method, size_t size)
{
    const host_array *in = &e->inputs[0];
    const int64_t height = in->shape[in->ndim - 2], width = in->shape[in->ndim - 1], all = host_array_size(in);
    const comparison c = {in, &m->results[0], height, width, (width + EDGE - 1) / EDGE};
    compare_result found = reference_blocks(all == 0 ? 0 : all / (height * width) * c.bands, compare_band, &c);

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
